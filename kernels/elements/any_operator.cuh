/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All operators on values of one size, for kernels of which the operator is an argument: what the pairs of
 * operators.cuh do. The transform makes of a minimum a maximum of keys, and of `and` an `or` of complements.
 */
#pragma once

#include "elements/operators.cuh"

namespace vscan {

enum any_op { add_reals, add_integers, maximum, bitwise_or };

template <class Op, class T>
static constexpr any_op any_op_of(pair<Op, T>) {
    return !pair<Op, T>::in_any_order    ? add_reals
           : std::is_same_v<Op, op_max>  ? maximum
           : std::is_same_v<Op, op_plus> ? add_integers
                                         : bitwise_or;
}

/* Values are passed as bits. */
template <class Real>
struct any_operator {
    using U = std::conditional_t<sizeof(Real) == 4, uint32_t, uint64_t>;
    using I = std::conditional_t<sizeof(Real) == 4, int32_t, int64_t>;
    static constexpr U sign = (U)1 << (8 * sizeof(U) - 1);

    const int op;
    const pair_transform &t;

    static DEVICE Real real(U x) {
        Real y;
        memcpy(&y, &x, sizeof y);
        return y;
    }
    static DEVICE U bits(Real x) {
        U y;
        memcpy(&y, &x, sizeof y);
        return y;
    }
    static DEVICE Real add(Real a, Real b) { return pair<op_plus, Real>::combine(a, b); }
    static DEVICE U flip_negative(U x, U flipped) {
        return x ^ ((U)((I)x >> (8 * sizeof(U) - 1)) & flipped);
    }

    DEVICE U identity() const { return op == add_reals || op == maximum ? sign : 0; }
    DEVICE U visible() const { return op == maximum ? sign : 0; }
    DEVICE U in(U x) const {
        if (op == bitwise_or) {
            const U y = x & (U)t.mask, most = (U)t.number;
            return (y < most ? y : most) ^ (U)t.flip;
        }
        return flip_negative(x ^ (U)t.flip, (U)t.mask) + (U)t.number; /* of sums x */
    }
    DEVICE U out(U x) const {
        if (op == bitwise_or) return (x ^ (U)t.flip) * (U)t.factor;
        return flip_negative(x - (U)t.number, (U)t.mask) ^ (U)t.flip;
    }
    DEVICE U combine_integers(U a, U b) const {
        return op == add_integers ? a + b : op == maximum ? (U)((I)a > (I)b ? a : b) : a | b;
    }
    /* Not inlined, as others below: there is little room for code, and it is not called for each element. */
    static __device__ __noinline__ U combine_any(int op, U a, U b) {
        return op == add_reals      ? bits(add(real(a), real(b)))
               : op == add_integers ? a + b
               : op == maximum      ? (U)((I)a > (I)b ? a : b)
                                    : a | b;
    }
    DEVICE U combine(U a, U b) const { return combine_any(op, a, b); }
};

/* The transform of a pair; that of a maximum of floats makes keys of them, as that of doubles does. */
template <class Op, class T>
static pair_transform any_transform() {
    using form = form<Op, T>;
    pair_transform t = form::transform;
    if (std::is_same_v<typename form::kernel, pair<op_max, float>>) {
        t.mask = (uint32_t)key_of_float::below_zero;
        t.number = key_of_float::offset;
    }
    return t;
}

} /* namespace vscan */
