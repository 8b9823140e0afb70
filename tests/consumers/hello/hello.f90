! SPDX-License-Identifier: Apache-2.0
! gfortran hello.f90 $(pkg-config --libs libvscan)
program hello
    use iso_c_binding, only: i => c_int, l => c_int64_t ! handles are 64-bit integers here
    interface
        integer(i) function vscan_ctx_create(options, ctx) bind(c)
            import i, l; integer(l) :: options(32), ctx; end function
        integer(i) function vscan_buffer_wrap(ctx, type, v, n, buffer) bind(c)
            import i, l; integer(l), value :: ctx, n; integer(i), value :: type
            integer(i) :: v(*); integer(l) :: buffer; end function
        integer(i) function vscan_scan(ctx, op, from, to, options) bind(c)
            import i, l; integer(l), value :: ctx, from, to; integer(i), value :: op
            integer(l), optional :: options(32); end function
        integer(i) function vscan_ctx_synchronize(ctx) bind(c); import i, l; integer(l), value :: ctx; end function
    end interface
    integer(i), target :: v(8) = [3, 1, 4, 1, 5, 9, 2, 6] ! wrapped, no copy of it
    integer(l) :: ctx, wrapped, on_cpu(32) = 0, exclusive(32) = 0
    on_cpu(1:2) = [256, 91]; exclusive(1:2) = [256, 81] ! longer than in vscan.h: the rest is 0
    if (vscan_ctx_create(on_cpu, ctx) /= 0) error stop "vscan_ctx_create"
    if (vscan_buffer_wrap(ctx, 11_i, v, 8_l, wrapped) /= 0) error stop "vscan_buffer_wrap"
    if (vscan_scan(ctx, 31_i, wrapped, wrapped) /= 0) error stop "vscan_scan"
    if (vscan_ctx_synchronize(ctx) /= 0) error stop "late"; print '(*(i0, :, " "))', v
    if (vscan_scan(ctx, 31_i, wrapped, wrapped, exclusive) /= 0) error stop "vscan_scan"
    if (vscan_ctx_synchronize(ctx) /= 0) error stop "late"; print '(*(i0, :, " "))', v
    print '("status ", i0)', vscan_scan(ctx, 31_i, wrapped, 0_l) ! 100: out is NULL
end program
