// SPDX-License-Identifier: Apache-2.0
// java -cp /usr/share/java/jna.jar -Djna.library.path=LIBDIR Hello.java
import com.sun.jna.*;
import com.sun.jna.ptr.*;
import java.util.Arrays;

public class Hello {
    static final int PLUS = 31, INT = 11, EXCLUSIVE = 81, ON_CPU = 91; // as in vscan.h
    static final NativeLibrary lib = NativeLibrary.getInstance("vscan");
    static int call(String name, Object... arguments) { return lib.getFunction(name).invokeInt(arguments); }
    static long[] options(int first) { return Arrays.copyOf(new long[] {256, first}, 32); }
    public static void main(String[] none) {
        Memory v = new Memory(8 * 4); // outside Java's heap, so that it stays where it is
        v.write(0, new int[] {3, 1, 4, 1, 5, 9, 2, 6}, 0, 8);
        PointerByReference ctx = new PointerByReference(), wrapped = new PointerByReference();
        call("vscan_ctx_create", options(ON_CPU), ctx); // where it fails, the next call is given NULL
        call("vscan_buffer_wrap", ctx.getValue(), INT, v, 8L, wrapped);
        Pointer c = ctx.getValue(), w = wrapped.getValue(); // w is v itself, no copy of it
        for (long[] options : new long[][] {null, options(EXCLUSIVE)}) {
            if (call("vscan_scan", c, PLUS, w, w, options) != 0) throw new RuntimeException("vscan_scan");
            if (call("vscan_ctx_synchronize", c) == 0) System.out.println(Arrays.toString(v.getIntArray(0, 8)));
        }
        int refused = call("vscan_scan", c, PLUS, w, null, null);
        Function sentence = lib.getFunction("vscan_ctx_last_error");
        System.out.println("status " + refused + ": " + sentence.invokeString(new Object[] {c}, false));
    }
}
