// SPDX-License-Identifier: Apache-2.0
// By the JDK's own means, from 22 on: java --enable-native-access=ALL-UNNAMED HelloFfm.java LIBDIR/libvscan.so
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Arrays;

public class HelloFfm {
    static final int PLUS = 31, INT = 11, INCLUSIVE = 0, EXCLUSIVE = 81, FORWARD = 0, ON_CPU = 91; // as in vscan.h

    static class VscanException extends RuntimeException {
        VscanException(int status, String sentence) {
            super("status " + status + ": " + sentence);
        }
    }

    /** The library, and a context of it on the CPU. jextract makes all declarations from vscan.h. */
    static class Vscan implements AutoCloseable {
        private final Arena arena = Arena.ofConfined();
        private final SymbolLookup symbols;
        private final MethodHandle hostScan, wrap, scan, synchronize, destroyBuffer, destroyContext, lastError;
        private final MemorySegment ctx;

        Vscan(Path library) {
            symbols = SymbolLookup.libraryLookup(library, arena);
            hostScan = status("vscan_host_scan", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS);
            wrap = status("vscan_buffer_wrap", ADDRESS, JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS);
            scan = status("vscan_scan", ADDRESS, JAVA_INT, ADDRESS, ADDRESS, ADDRESS);
            synchronize = status("vscan_ctx_synchronize", ADDRESS);
            destroyBuffer = status("vscan_buffer_destroy", ADDRESS);
            destroyContext = status("vscan_ctx_destroy", ADDRESS);
            lastError = function("vscan_ctx_last_error", FunctionDescriptor.of(ADDRESS, ADDRESS));
            MemorySegment made = arena.allocate(ADDRESS);
            check(() -> (int) status("vscan_ctx_create", ADDRESS, ADDRESS).invokeExact(options(ON_CPU), made),
                    MemorySegment.NULL);
            ctx = made.get(ADDRESS, 0);
        }

        private MethodHandle function(String name, FunctionDescriptor descriptor) {
            return Linker.nativeLinker().downcallHandle(symbols.find(name).orElseThrow(), descriptor);
        }

        private MethodHandle status(String name, MemoryLayout... arguments) {
            return function(name, FunctionDescriptor.of(JAVA_INT, arguments));
        }

        private interface Call {
            int run() throws Throwable;
        }

        private void check(Call call, MemorySegment ctx) {
            try {
                int status = call.run();
                if (status == 0) return;
                MemorySegment sentence = (MemorySegment) lastError.invokeExact(ctx);
                throw new VscanException(status, sentence.reinterpret(1024).getString(0));
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable e) {
                throw new AssertionError(e); // a call of C throws nothing
            }
        }

        /** Options of any call, longer than in vscan.h: the rest is 0. */
        private MemorySegment options(int first) {
            MemorySegment options = arena.allocate(256, 8);
            options.set(JAVA_LONG, 0, options.byteSize());
            options.set(JAVA_INT, 8, first);
            return options;
        }

        /** The sums of an array: one call. */
        int[] sums(int[] v) {
            try (Arena call = Arena.ofConfined()) {
                MemorySegment in = call.allocateFrom(JAVA_INT, v);
                MemorySegment out = call.allocate(JAVA_INT, v.length);
                check(() -> (int) hostScan.invokeExact(PLUS, INT, INCLUSIVE, FORWARD, in, (long) v.length, out),
                        MemorySegment.NULL);
                return out.toArray(JAVA_INT);
            }
        }

        /** Ints that lie where the library can use them. */
        class Vector implements AutoCloseable {
            private final Arena own = Arena.ofConfined();
            private final MemorySegment memory, handle;

            Vector(int... values) {
                memory = own.allocateFrom(JAVA_INT, values);
                MemorySegment made = own.allocate(ADDRESS);
                check(() -> (int) wrap.invokeExact(ctx, INT, memory, (long) values.length, made), ctx);
                handle = made.get(ADDRESS, 0);
            }

            int[] get() {
                check(() -> (int) synchronize.invokeExact(ctx), ctx);
                return memory.toArray(JAVA_INT);
            }

            @Override
            public void close() {
                check(() -> (int) synchronize.invokeExact(ctx), ctx);
                check(() -> (int) destroyBuffer.invokeExact(handle), ctx);
                own.close();
            }
        }

        void exclusiveSums(Vector in, Vector out) {
            check(() -> (int) scan.invokeExact(ctx, PLUS, in.handle, out.handle, options(EXCLUSIVE)), ctx);
        }

        @Override
        public void close() {
            check(() -> (int) destroyContext.invokeExact(ctx), MemorySegment.NULL);
            arena.close();
        }
    }

    public static void main(String[] arguments) {
        int[] v = {3, 1, 4, 1, 5, 9, 2, 6};
        try (Vscan vscan = new Vscan(Path.of(arguments[0]));
                Vscan.Vector in = vscan.new Vector(v);
                Vscan.Vector out = vscan.new Vector(new int[8]);
                Vscan.Vector shorter = vscan.new Vector(new int[7])) {
            System.out.println(Arrays.toString(vscan.sums(v)));
            vscan.exclusiveSums(in, out);
            System.out.println(Arrays.toString(out.get()));
            vscan.exclusiveSums(in, shorter);
        } catch (VscanException refused) {
            System.out.println(refused.getMessage());
        }
    }
}
