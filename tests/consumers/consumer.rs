// SPDX-License-Identifier: Apache-2.0
//! Scans a vector from Rust, with declarations written after vscan.h:
//!
//!     rustc consumer.rs -L LIBDIR && LD_LIBRARY_PATH=LIBDIR ./consumer

use std::ffi::{c_char, c_int, c_void, CStr};
use std::ptr::{null, null_mut};

#[repr(C)]
struct Ctx([u8; 0]);
#[repr(C)]
struct Buffer([u8; 0]);

const FLOAT: c_int = 12; // vscan_type
const PLUS: c_int = 31; // vscan_op

#[link(name = "vscan")]
extern "C" {
    fn vscan_ctx_create(options: *const c_void, ctx: *mut *mut Ctx) -> c_int;
    fn vscan_ctx_destroy(ctx: *mut Ctx) -> c_int;
    fn vscan_ctx_last_error(ctx: *const Ctx) -> *const c_char;
    fn vscan_buffer_create(ctx: *mut Ctx, kind: c_int, n: i64, buffer: *mut *mut Buffer) -> c_int;
    fn vscan_buffer_destroy(buffer: *mut Buffer) -> c_int;
    fn vscan_buffer_upload(buffer: *mut Buffer, offset: i64, n: i64, host: *const c_void) -> c_int;
    fn vscan_buffer_download(buffer: *const Buffer, offset: i64, n: i64, host: *mut c_void)
        -> c_int;
    fn vscan_host_scan(op: c_int, kind: c_int, way: c_int, direction: c_int, from: *const c_void,
        n: i64, to: *mut c_void) -> c_int;
    fn vscan_scan(ctx: *mut Ctx, op: c_int, from: *const Buffer, to: *mut Buffer,
        options: *const c_void) -> c_int;
}

fn check(ctx: *const Ctx, status: c_int) {
    let said = unsafe { CStr::from_ptr(vscan_ctx_last_error(ctx)) };
    assert_eq!(status, 0, "{}", said.to_string_lossy());
}

fn main() {
    let mut v: [f32; 8] = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0];
    let (n, mut ctx, mut buffer) = (v.len() as i64, null_mut(), null_mut());
    unsafe {
        check(null(), vscan_ctx_create(null(), &mut ctx));
        check(ctx, vscan_buffer_create(ctx, FLOAT, n, &mut buffer));
        check(ctx, vscan_buffer_upload(buffer, 0, n, v.as_ptr().cast()));
        check(ctx, vscan_scan(ctx, PLUS, buffer, buffer, null()));
        check(ctx, vscan_buffer_download(buffer, 0, n, v.as_mut_ptr().cast()));
        // An array is scanned by one call, without all this: inclusive and forward are 0.
        let (plain, mut out) = ([3.0f32, 1.0, 4.0], [0.0f32; 3]);
        check(null(), vscan_host_scan(PLUS, FLOAT, 0, 0, plain.as_ptr().cast(), 3,
            out.as_mut_ptr().cast()));
        assert_eq!(out, [3.0, 4.0, 8.0]);
        // A wrong call is refused with a sentence, and changes nothing.
        assert_eq!(vscan_scan(ctx, 99, buffer, buffer, null()), 107);
        println!("{}", CStr::from_ptr(vscan_ctx_last_error(ctx)).to_string_lossy());
        check(ctx, vscan_buffer_destroy(buffer));
        check(null(), vscan_ctx_destroy(ctx));
    }
    println!("{v:?}");
    assert_eq!(v, [3.0, 4.0, 8.0, 9.0, 14.0, 23.0, 25.0, 31.0]);
}
