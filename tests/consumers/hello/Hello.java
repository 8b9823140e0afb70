// SPDX-License-Identifier: Apache-2.0
// By JNA, for any JDK: java -cp /usr/share/java/jna.jar -Djna.library.path=LIBDIR Hello.java
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.util.Arrays;

public class Hello {
    static final int PLUS = 31, INT = 11, INCLUSIVE = 0, EXCLUSIVE = 81, FORWARD = 0, ON_CPU = 91; // as in vscan.h

    /** The functions of vscan.h; JNA finds them by their names. */
    interface Vscan extends Library {
        Vscan LIB = Native.load("vscan", Vscan.class);

        int vscan_host_scan(int op, int type, int kind, int direction, int[] in, long n, int[] out);

        int vscan_ctx_create(long[] options, PointerByReference ctx);

        int vscan_ctx_destroy(Pointer ctx);

        int vscan_ctx_synchronize(Pointer ctx);

        String vscan_ctx_last_error(Pointer ctx);

        int vscan_buffer_wrap(Pointer ctx, int type, Pointer memory, long n, PointerByReference buffer);

        int vscan_buffer_destroy(Pointer buffer);

        int vscan_scan(Pointer ctx, int op, Pointer in, Pointer out, long[] options);
    }

    static class VscanException extends RuntimeException {
        VscanException(int status, String sentence) {
            super("status " + status + ": " + sentence);
        }
    }

    static void check(int status, Pointer ctx) {
        if (status != 0) throw new VscanException(status, Vscan.LIB.vscan_ctx_last_error(ctx));
    }

    /** Options of any call, longer than in vscan.h: the rest is 0. */
    static long[] options(int first) {
        long[] options = new long[32];
        options[0] = 8 * options.length;
        options[1] = first;
        return options;
    }

    /** The sums of an array: one call. */
    static int[] sums(int[] v) {
        int[] out = new int[v.length];
        check(Vscan.LIB.vscan_host_scan(PLUS, INT, INCLUSIVE, FORWARD, v, v.length, out), null);
        return out;
    }

    /** For many calls, or a GPU. */
    static class Context implements AutoCloseable {
        final Pointer handle;

        Context() {
            PointerByReference ctx = new PointerByReference();
            check(Vscan.LIB.vscan_ctx_create(options(ON_CPU), ctx), null);
            handle = ctx.getValue();
        }

        void scan(int kind, Vector in, Vector out) {
            check(Vscan.LIB.vscan_scan(handle, PLUS, in.handle, out.handle, options(kind)), handle);
        }

        @Override
        public void close() {
            Vscan.LIB.vscan_ctx_destroy(handle);
        }
    }

    /** Ints outside Java's heap, so that they stay where they are; the buffer is that memory itself. */
    static class Vector implements AutoCloseable {
        final Context ctx;
        final int length;
        final Memory memory;
        final Pointer handle;

        Vector(Context ctx, int length) {
            this.ctx = ctx;
            this.length = length;
            memory = new Memory(4L * length);
            PointerByReference buffer = new PointerByReference();
            check(Vscan.LIB.vscan_buffer_wrap(ctx.handle, INT, memory, length, buffer), ctx.handle);
            handle = buffer.getValue();
        }

        void set(int[] v) {
            memory.write(0, v, 0, v.length);
        }

        int[] get() {
            check(Vscan.LIB.vscan_ctx_synchronize(ctx.handle), ctx.handle);
            return memory.getIntArray(0, length);
        }

        @Override
        public void close() {
            Vscan.LIB.vscan_buffer_destroy(handle);
        }
    }

    public static void main(String[] arguments) {
        int[] v = {3, 1, 4, 1, 5, 9, 2, 6};
        System.out.println(Arrays.toString(sums(v)));
        try (Context ctx = new Context();
                Vector in = new Vector(ctx, 8);
                Vector out = new Vector(ctx, 8);
                Vector shorter = new Vector(ctx, 7)) {
            in.set(v);
            ctx.scan(EXCLUSIVE, in, out);
            System.out.println(Arrays.toString(out.get()));
            ctx.scan(EXCLUSIVE, in, shorter);
        } catch (VscanException refused) {
            System.out.println(refused.getMessage());
        }
    }
}
