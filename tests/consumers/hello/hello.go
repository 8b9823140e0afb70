// SPDX-License-Identifier: Apache-2.0
// go run hello.go, where pkg-config finds libvscan

// Command hello scans a slice by one call, then with a context.
package main

// #cgo pkg-config: libvscan
// #include <stdlib.h>
// #include <vscan.h>
import "C"

import (
	"errors"
	"fmt"
	"log"
	"runtime"
	"unsafe"
)

// Error is what the library refused or could not do.
type Error struct {
	Status   int
	Sentence string
}

func (e *Error) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Sentence) }

// do runs a call and fetches its sentence on one thread: without a context sentences belong to threads.
func do(ctx *C.vscan_ctx, call func() C.vscan_status) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if status := call(); status != C.VSCAN_OK {
		return &Error{int(status), C.GoString(C.vscan_ctx_last_error(ctx))}
	}
	return nil
}

// pointer is where a slice begins; C keeps it no longer than a call.
func pointer(v []int32) unsafe.Pointer {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Pointer(&v[0])
}

// Sums returns the running sums of a slice.
func Sums(v []int32) ([]int32, error) {
	sums := make([]int32, len(v))
	err := do(nil, func() C.vscan_status {
		return C.vscan_host_scan(C.VSCAN_PLUS, C.VSCAN_INT, C.VSCAN_INCLUSIVE, C.VSCAN_FORWARD,
			pointer(v), C.int64_t(len(v)), pointer(sums))
	})
	return sums, err
}

// Context is for many calls, or for a GPU.
type Context struct{ ctx *C.vscan_ctx }

// NewContext makes a context on the CPU.
func NewContext() (*Context, error) {
	options := C.vscan_ctx_options{size: C.sizeof_vscan_ctx_options, backend: C.VSCAN_BACKEND_CPU}
	c := new(Context)
	err := do(nil, func() C.vscan_status { return C.vscan_ctx_create(&options, &c.ctx) })
	return c, err
}

// Close destroys the context.
func (c *Context) Close() { C.vscan_ctx_destroy(c.ctx) }

// Vector has memory of the library's own: it may not keep the address of Go's.
type Vector struct {
	buffer *C.vscan_buffer
	c      *Context
	n      int
}

// NewVector makes a vector of n elements.
func (c *Context) NewVector(n int) (*Vector, error) {
	v := &Vector{c: c, n: n}
	err := do(c.ctx, func() C.vscan_status {
		return C.vscan_buffer_create(c.ctx, C.VSCAN_INT, C.int64_t(n), &v.buffer)
	})
	return v, err
}

// Close destroys the vector.
func (v *Vector) Close() { C.vscan_buffer_destroy(v.buffer) }

// Upload copies a slice, which is not longer than the vector, to its beginning.
func (v *Vector) Upload(from []int32) error {
	return do(v.c.ctx, func() C.vscan_status {
		return C.vscan_buffer_upload(v.buffer, 0, C.int64_t(len(from)), pointer(from))
	})
}

// Download waits for all calls, and copies the vector.
func (v *Vector) Download() ([]int32, error) {
	to := make([]int32, v.n)
	err := do(v.c.ctx, func() C.vscan_status {
		return C.vscan_buffer_download(v.buffer, 0, C.int64_t(v.n), pointer(to))
	})
	return to, err
}

// ExclusiveSums fills out with what comes before each element of in.
func (c *Context) ExclusiveSums(in, out *Vector) error {
	options := C.vscan_scan_options{size: C.sizeof_vscan_scan_options, kind: C.VSCAN_EXCLUSIVE}
	return do(c.ctx, func() C.vscan_status {
		return C.vscan_scan(c.ctx, C.VSCAN_PLUS, in.buffer, out.buffer, &options)
	})
}

func run() error {
	v := []int32{3, 1, 4, 1, 5, 9, 2, 6}
	sums, err := Sums(v)
	if err != nil {
		return err
	}
	fmt.Println(sums)

	c, err := NewContext()
	if err != nil {
		return err
	}
	defer c.Close()
	in, err := c.NewVector(len(v))
	if err != nil {
		return err
	}
	defer in.Close()
	shorter, err := c.NewVector(len(v) - 1)
	if err != nil {
		return err
	}
	defer shorter.Close()
	if err := in.Upload(v); err != nil {
		return err
	}

	if err := c.ExclusiveSums(in, in); err != nil { // in place
		return err
	}
	if sums, err = in.Download(); err != nil {
		return err
	}
	fmt.Println(sums)

	var refused *Error
	if err := c.ExclusiveSums(in, shorter); errors.As(err, &refused) {
		fmt.Println(refused)
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
