// SPDX-License-Identifier: Apache-2.0
// rustc --edition 2021 -L LIBDIR hello.rs; bindgen makes declarations of everything from vscan.h
use std::{ffi::CStr, fmt, marker::PhantomData, ptr::null, ptr::null_mut};

mod ffi {
    use std::os::raw::{c_char, c_int, c_void};

    #[repr(C)]
    pub struct Ctx([u8; 0]);
    #[repr(C)]
    pub struct Buffer([u8; 0]);
    /// Options of any call: longer than those of vscan.h, which is allowed where the rest is 0.
    #[repr(C)]
    pub struct Options {
        pub size: i64,
        pub first: i32,
        pub rest: [i32; 61],
    }
    pub const INT: c_int = 11; // the numbers of vscan.h never change

    #[link(name = "vscan")]
    extern "C" {
        pub fn vscan_host_scan(
            op: c_int,
            element: c_int,
            kind: c_int,
            direction: c_int,
            input: *const c_void,
            n: i64,
            out: *mut c_void,
        ) -> c_int;
        pub fn vscan_ctx_create(options: *const Options, ctx: *mut *mut Ctx) -> c_int;
        pub fn vscan_ctx_destroy(ctx: *mut Ctx) -> c_int;
        pub fn vscan_ctx_synchronize(ctx: *mut Ctx) -> c_int;
        pub fn vscan_ctx_last_error(ctx: *const Ctx) -> *const c_char;
        pub fn vscan_buffer_wrap(
            ctx: *mut Ctx,
            element: c_int,
            pointer: *mut c_void,
            n: i64,
            buffer: *mut *mut Buffer,
        ) -> c_int;
        pub fn vscan_buffer_destroy(buffer: *mut Buffer) -> c_int;
        pub fn vscan_scan(
            ctx: *mut Ctx,
            op: c_int,
            input: *mut Buffer,
            out: *mut Buffer,
            options: *const Options,
        ) -> c_int;
    }
}

#[derive(Debug)]
pub struct Error {
    pub status: i32,
    pub sentence: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "status {}: {}", self.status, self.sentence)
    }
}

impl std::error::Error for Error {}

fn check(status: i32, ctx: *const ffi::Ctx) -> Result<(), Error> {
    if status == 0 {
        return Ok(());
    }
    // The sentence is valid until this thread's next call.
    let sentence = unsafe { CStr::from_ptr(ffi::vscan_ctx_last_error(ctx)) };
    let sentence = sentence.to_string_lossy().into_owned();
    Err(Error { status, sentence })
}

#[derive(Clone, Copy)]
pub enum Op {
    Plus = 31,
    Max = 32,
    Min = 33,
}

#[derive(Clone, Copy)]
pub enum Kind {
    Inclusive = 0,
    Exclusive = 81,
}

/// Scans an array: one call.
pub fn scan(op: Op, kind: Kind, input: &[i32]) -> Result<Vec<i32>, Error> {
    let mut out = vec![0; input.len()];
    let (from, to) = (input.as_ptr().cast(), out.as_mut_ptr().cast());
    let n = input.len() as i64;
    let status =
        unsafe { ffi::vscan_host_scan(op as i32, ffi::INT, kind as i32, FORWARD, from, n, to) };
    check(status, null()).map(|()| out)
}

const FORWARD: i32 = 0;
const ON_CPU: i32 = 91;

/// For many calls, or a GPU.
pub struct Context(*mut ffi::Ctx);

impl Context {
    pub fn on_cpu() -> Result<Self, Error> {
        let options = options(ON_CPU);
        let mut ctx = null_mut();
        check(unsafe { ffi::vscan_ctx_create(&options, &mut ctx) }, null())?;
        Ok(Context(ctx))
    }

    /// The slice itself, no copy of it: nobody else has it as long as the buffer lives.
    pub fn wrap<'a>(&'a self, slice: &'a mut [i32]) -> Result<Buffer<'a>, Error> {
        let (pointer, n) = (slice.as_mut_ptr().cast(), slice.len() as i64);
        let mut handle = null_mut();
        let status = unsafe { ffi::vscan_buffer_wrap(self.0, ffi::INT, pointer, n, &mut handle) };
        check(status, self.0)?;
        Ok(Buffer {
            ctx: self,
            handle,
            slice: PhantomData,
        })
    }

    pub fn scan(&self, op: Op, kind: Kind, input: &Buffer, out: &mut Buffer) -> Result<(), Error> {
        let options = options(kind as i32);
        let (from, to) = (input.handle, out.handle);
        let status = unsafe { ffi::vscan_scan(self.0, op as i32, from, to, &options) };
        check(status, self.0)
    }

    /// Waits for all calls so far; their late errors arrive here.
    pub fn synchronize(&self) -> Result<(), Error> {
        check(unsafe { ffi::vscan_ctx_synchronize(self.0) }, self.0)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        unsafe { ffi::vscan_ctx_destroy(self.0) };
    }
}

pub struct Buffer<'a> {
    ctx: &'a Context,
    handle: *mut ffi::Buffer,
    slice: PhantomData<&'a mut [i32]>,
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // Whoever has the slice next must not meet work that is still under way.
        unsafe { ffi::vscan_ctx_synchronize(self.ctx.0) };
        unsafe { ffi::vscan_buffer_destroy(self.handle) };
    }
}

fn options(first: i32) -> ffi::Options {
    let size = std::mem::size_of::<ffi::Options>() as i64;
    ffi::Options {
        size,
        first,
        rest: [0; 61],
    }
}

fn main() -> Result<(), Error> {
    let mut v = [3, 1, 4, 1, 5, 9, 2, 6];
    println!("{:?}", scan(Op::Plus, Kind::Inclusive, &v)?);

    let (mut sums, mut shorter) = ([0; 8], [0; 7]);
    let ctx = Context::on_cpu()?;
    let input = ctx.wrap(&mut v)?;
    {
        let mut out = ctx.wrap(&mut sums)?;
        ctx.scan(Op::Plus, Kind::Exclusive, &input, &mut out)?;
        ctx.synchronize()?;
    }
    println!("{sums:?}");

    let mut out = ctx.wrap(&mut shorter)?;
    if let Err(refused) = ctx.scan(Op::Plus, Kind::Inclusive, &input, &mut out) {
        println!("{refused}");
    }
    Ok(())
}
