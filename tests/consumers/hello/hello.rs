// SPDX-License-Identifier: Apache-2.0
// rustc -L LIBDIR hello.rs; bindgen makes declarations of everything from vscan.h
use std::{ffi::CStr, os::raw::c_char, ptr::{null, null_mut}};
type Ptr = *mut u8; // a handle
#[link(name = "vscan")]
extern "C" {
    fn vscan_ctx_create(options: *const [i64; 32], ctx: *mut Ptr) -> i32;
    fn vscan_ctx_last_error(ctx: Ptr) -> *const c_char;
    fn vscan_buffer_wrap(ctx: Ptr, kind: i32, at: *mut i32, n: i64, buffer: *mut Ptr) -> i32;
    fn vscan_ctx_synchronize(ctx: Ptr) -> i32;
    fn vscan_scan(ctx: Ptr, op: i32, from: Ptr, to: Ptr, options: *const [i64; 32]) -> i32;
}
const PLUS: i32 = 31; const INT: i32 = 11; const EXCLUSIVE: i64 = 81; const ON_CPU: i64 = 91;
fn main() { unsafe {
    let (mut on_cpu, mut exclusive) = ([0; 32], [0; 32]); // longer than in vscan.h: the rest is 0
    (on_cpu[0], on_cpu[1], exclusive[0], exclusive[1]) = (256, ON_CPU, 256, EXCLUSIVE);
    let (mut v, mut ctx, mut wrapped) = ([3, 1, 4, 1, 5, 9, 2, 6], null_mut(), null_mut());
    assert_eq!(vscan_ctx_create(&on_cpu, &mut ctx), 0);
    assert_eq!(vscan_buffer_wrap(ctx, INT, v.as_mut_ptr(), 8, &mut wrapped), 0); // v itself, no copy
    for options in [null(), &exclusive as *const _] {
        assert_eq!((vscan_scan(ctx, PLUS, wrapped, wrapped, options), vscan_ctx_synchronize(ctx)), (0, 0));
        println!("{}", v.map(|x| x.to_string()).join(" "));
    }
    assert_eq!(vscan_scan(ctx, PLUS, wrapped, null_mut(), null()), 100); // VSCAN_ERROR_NULL
    println!("status 100: {}", CStr::from_ptr(vscan_ctx_last_error(ctx)).to_string_lossy());
} }
