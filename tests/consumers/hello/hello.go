// SPDX-License-Identifier: Apache-2.0
// go run hello.go, where pkg-config finds libvscan
package main

// #cgo pkg-config: libvscan
// #include <stdlib.h>
// #include <vscan.h>
import "C"
import "fmt"
import "unsafe"

func main() {
	v := unsafe.Slice((*int32)(C.malloc(8*4)), 8) // C's memory, as the library keeps its address
	copy(v, []int32{3, 1, 4, 1, 5, 9, 2, 6})
	onCpu := C.vscan_ctx_options{size: C.sizeof_vscan_ctx_options, backend: C.VSCAN_BACKEND_CPU}
	exclusive := C.vscan_scan_options{size: C.sizeof_vscan_scan_options, kind: C.VSCAN_EXCLUSIVE}
	var ctx *C.vscan_ctx
	var wrapped *C.vscan_buffer      // v itself, no copy of it
	C.vscan_ctx_create(&onCpu, &ctx) // where a call fails, the next one says that it was given NULL
	C.vscan_buffer_wrap(ctx, C.VSCAN_INT, unsafe.Pointer(&v[0]), 8, &wrapped)
	for _, options := range []*C.vscan_scan_options{nil, &exclusive} {
		if C.vscan_scan(ctx, C.VSCAN_PLUS, wrapped, wrapped, options) != C.VSCAN_OK ||
			C.vscan_ctx_synchronize(ctx) != C.VSCAN_OK {
			panic(C.GoString(C.vscan_ctx_last_error(ctx)))
		}
		fmt.Println(v)
	}
	refused := C.vscan_scan(ctx, C.VSCAN_PLUS, wrapped, nil, nil)
	fmt.Printf("status %d: %s\n", refused, C.GoString(C.vscan_ctx_last_error(ctx)))
}
