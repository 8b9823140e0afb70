! SPDX-License-Identifier: Apache-2.0
! gfortran hello.f90 $(pkg-config --libs libvscan)

!> What of vscan.h this program uses.
module vscan
    use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_ptr, c_null_ptr, c_char, c_loc, c_sizeof, &
        c_f_pointer, c_size_t
    implicit none
    private
    public :: c_int32_t, c_ptr, c_null_ptr, options, host_sums, sentence, make_context, wrap, scan_vector, synchronize, &
        vscan_buffer_destroy, vscan_ctx_destroy

    integer(c_int), parameter :: plus = 31, int = 11, inclusive = 0, forward = 0, on_cpu = 91
    integer(c_int), parameter, public :: ok = 0, exclusive = 81

    !> Options of any call: longer than those of vscan.h, which is allowed where the rest is 0.
    type, bind(c) :: options
        integer(c_int64_t) :: size = 256
        integer(c_int32_t) :: first = 0
        integer(c_int32_t) :: rest(61) = 0
    end type

    interface
        function vscan_host_scan(op, type, kind, direction, in, n, out) bind(c) result(status)
            import :: c_int, c_int32_t, c_int64_t
            integer(c_int), value :: op, type, kind, direction
            integer(c_int64_t), value :: n
            integer(c_int32_t), intent(in) :: in(*)
            integer(c_int32_t), intent(out) :: out(*)
            integer(c_int) :: status
        end function
        function vscan_ctx_create(with, ctx) bind(c) result(status)
            import :: c_int, c_ptr, options
            type(options), intent(in) :: with
            type(c_ptr), intent(out) :: ctx
            integer(c_int) :: status
        end function
        function vscan_ctx_destroy(ctx) bind(c) result(status)
            import :: c_int, c_ptr
            type(c_ptr), value :: ctx
            integer(c_int) :: status
        end function
        function vscan_ctx_synchronize(ctx) bind(c) result(status)
            import :: c_int, c_ptr
            type(c_ptr), value :: ctx
            integer(c_int) :: status
        end function
        function vscan_ctx_last_error(ctx) bind(c) result(text)
            import :: c_ptr
            type(c_ptr), value :: ctx
            type(c_ptr) :: text
        end function
        function vscan_buffer_wrap(ctx, type, pointer, n, buffer) bind(c) result(status)
            import :: c_int, c_int64_t, c_ptr
            type(c_ptr), value :: ctx, pointer
            integer(c_int), value :: type
            integer(c_int64_t), value :: n
            type(c_ptr), intent(out) :: buffer
            integer(c_int) :: status
        end function
        function vscan_buffer_destroy(buffer) bind(c) result(status)
            import :: c_int, c_ptr
            type(c_ptr), value :: buffer
            integer(c_int) :: status
        end function
        function vscan_scan(ctx, op, in, out, with) bind(c) result(status)
            import :: c_int, c_ptr, options
            type(c_ptr), value :: ctx, in, out
            integer(c_int), value :: op
            type(options), intent(in) :: with
            integer(c_int) :: status
        end function
        function strlen(text) bind(c) result(length)
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
            integer(c_size_t) :: length
        end function
    end interface

contains

    !> The running sums of an array: one call.
    function host_sums(v) result(sums)
        integer(c_int32_t), intent(in) :: v(:)
        integer(c_int32_t) :: sums(size(v))
        call check(vscan_host_scan(plus, int, inclusive, forward, v, size(v, kind=c_int64_t), sums), c_null_ptr)
    end function

    function make_context() result(ctx)
        type(c_ptr) :: ctx
        call check(vscan_ctx_create(options(first=on_cpu), ctx), c_null_ptr)
    end function

    !> The array itself, no copy of it; it must live as long as the buffer.
    function wrap(ctx, v) result(buffer)
        type(c_ptr), intent(in) :: ctx
        integer(c_int32_t), intent(inout), target, contiguous :: v(:)
        type(c_ptr) :: buffer
        call check(vscan_buffer_wrap(ctx, int, c_loc(v), size(v, kind=c_int64_t), buffer), ctx)
    end function

    integer(c_int) function scan_vector(ctx, in, out, kind) result(status)
        type(c_ptr), intent(in) :: ctx, in, out
        integer(c_int), intent(in) :: kind
        status = vscan_scan(ctx, plus, in, out, options(first=kind))
    end function

    !> Waits for all calls, before an array is read.
    subroutine synchronize(ctx)
        type(c_ptr), intent(in) :: ctx
        call check(vscan_ctx_synchronize(ctx), ctx)
    end subroutine

    function sentence(ctx) result(text)
        type(c_ptr), intent(in) :: ctx
        character(:), allocatable :: text
        character(kind=c_char), pointer :: characters(:)
        type(c_ptr) :: at
        integer :: i
        at = vscan_ctx_last_error(ctx)
        call c_f_pointer(at, characters, [strlen(at)])
        allocate (character(size(characters)) :: text)
        do i = 1, size(characters)
            text(i:i) = characters(i)
        end do
    end function

    subroutine check(status, ctx)
        integer(c_int), intent(in) :: status
        type(c_ptr), intent(in) :: ctx
        if (status /= ok) error stop sentence(ctx)
    end subroutine

end module

program hello
    use vscan
    implicit none
    integer(c_int32_t), target :: v(8) = [3, 1, 4, 1, 5, 9, 2, 6], sums(8), shorter(7)
    type(c_ptr) :: ctx, in, out, too_short
    integer :: status

    print '(*(i0, :, " "))', host_sums(v)

    ! Many calls, or a GPU: a context, and buffers.
    ctx = make_context()
    in = wrap(ctx, v)
    out = wrap(ctx, sums)
    too_short = wrap(ctx, shorter)
    if (scan_vector(ctx, in, out, exclusive) /= ok) error stop sentence(ctx)
    call synchronize(ctx)
    print '(*(i0, :, " "))', sums

    ! What is refused has a status and a sentence.
    status = scan_vector(ctx, in, too_short, exclusive)
    print '("status ", i0, ": ", a)', status, sentence(ctx)

    status = vscan_buffer_destroy(in) + vscan_buffer_destroy(out) + vscan_buffer_destroy(too_short)
    status = vscan_ctx_destroy(ctx)
end program
