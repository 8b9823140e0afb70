/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What coaxes the compiler: functions that compute nothing, but tell it what it may not assume, or where a value
 * is to be. Each was measured with nvcc 13.0 on sm_90a, where it saves registers, moves or spills; with another
 * compiler the results are the same and only the speed may differ.
 */
#pragma once

#include <stdint.h>
#include <string.h>

namespace vscan {

/* Returns x. The compiler does not know that, so it cannot reuse what it derived from x before. */
template <class X>
static DEVICE X opaque(X x) {
    if constexpr (sizeof(X) == 8)
        asm("" : "+l"(x));
    else
        asm("" : "+r"(x));
    return x;
}

/* Returns x, computed here each time: not kept in a register from one iteration of a loop to the
   next. */
static DEVICE int made_here(int x) {
    asm volatile("" : "+r"(x));
    return x;
}

/* x = y, in the register of x: a branch that changes many registers then needs no copies of
   them. */
template <class X>
static DEVICE void move_here(X &x, X y) {
    if constexpr (sizeof(X) == 8) {
        uint64_t to, from;
        memcpy(&to, &x, 8);
        memcpy(&from, &y, 8);
        asm volatile("mov.b64 %0, %1;" : "+l"(to) : "l"(from));
        memcpy(&x, &to, 8);
    } else {
        uint32_t to, from;
        memcpy(&to, &x, 4);
        memcpy(&from, &y, 4);
        asm volatile("mov.b32 %0, %1;" : "+r"(to) : "r"(from));
        memcpy(&x, &to, 4);
    }
}

/* Tells the compiler that x changes here. What this branch did to x is then done under a predicate,
   not always with a selection afterwards. */
template <class X>
static DEVICE void changed_here(X &x) {
    if constexpr (sizeof(X) == 8) {
        uint64_t bits;
        memcpy(&bits, &x, 8);
        asm volatile("" : "+l"(bits));
        memcpy(&x, &bits, 8);
    } else {
        uint32_t bits;
        memcpy(&bits, &x, 4);
        asm volatile("" : "+r"(bits));
        memcpy(&x, &bits, 4);
    }
}

/*
 * x = y if `there` and y > x. By predicated moves, which share a pipe with
 * multiplications. The selections that the compiler would use share one with comparisons and bit
 * operations. The branch in the PTX becomes a predicate, never a jump.
 */
static DEVICE void take_where(bool there, int64_t y, int64_t &x) {
    asm("{.reg .pred p, q; setp.ne.u32 p, %2, 0; setp.gt.and.s64 q, %1, %0, p;\n\t"
        "@!q bra kept; mov.b64 %0, %1; kept:}"
        : "+l"(x)
        : "l"(y), "r"((uint32_t)there));
}

/* Swaps x and y in their registers. */
template <class X>
static DEVICE void exchange_here(X &x, X &y) {
    if constexpr (sizeof(X) == 8) {
        uint64_t a, b;
        memcpy(&a, &x, 8);
        memcpy(&b, &y, 8);
        asm volatile("{.reg .b64 t; mov.b64 t, %0; mov.b64 %0, %1; mov.b64 %1, t;}"
                     : "+l"(a), "+l"(b));
        memcpy(&x, &a, 8);
        memcpy(&y, &b, 8);
    } else {
        uint32_t a, b;
        memcpy(&a, &x, 4);
        memcpy(&b, &y, 4);
        asm volatile("{.reg .b32 t; mov.b32 t, %0; mov.b32 %0, %1; mov.b32 %1, t;}"
                     : "+r"(a), "+r"(b));
        memcpy(&x, &a, 4);
        memcpy(&y, &b, 4);
    }
}

/* The same object; its address is computed once, not before each access. */
template <class T>
static DEVICE T &address_once(T &object) {
    uint32_t address = (uint32_t)__cvta_generic_to_shared(&object);
    asm volatile("" : "+r"(address));
    return *(T *)__cvta_shared_to_generic(address);
}

/* The same for an address in global memory. */
template <class T>
static DEVICE T *address_once(T *p) {
    size_t address = __cvta_generic_to_global(p);
    asm volatile("" : "+l"(address));
    return (T *)__cvta_global_to_generic(address);
}

} /* namespace vscan */
