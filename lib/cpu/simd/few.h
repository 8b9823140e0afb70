/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans and reductions of a few elements, one after the other: to fill vectors with them takes
 * longer. Included once for each kind of element, after keys.h; the operator is a constant
 * parameter. The order of additions is that of core/order.h, with trees like the bits of a binary
 * counter: after m elements, stack[b] has the sum of 2^b of them for every bit b of m.
 */
static ALWAYS_INLINE void NAME(few)(enum vscan_op op, const struct vscan__scan *scan) {
    const T *in = scan->in;
    T *out = scan->out;
    K before = NAME(identity)(op), stack[4];
    K result =
        SUM ? 0 : before; /* the inclusive one so far; what callers see where there is none */
    if (scan->has_initial != 0) {
        const void *initial = scan->has_initial == 2 ? scan->initial_at : &scan->initial;
        before = result = NAME(take1)(op, initial);
    }
    for (int i = 0; i < scan->n; i++) {
        const int64_t at = scan->backward ? scan->n - 1 - i : i;
        const K first = result;
        K node = NAME(take1)(op, in + at);
        if (EXACT) {
            result = NAME(combine1)(op, result, node);
        } else {
            int bit = 0;
            for (; (i >> bit & 1) != 0; bit++) node = NAME(combine1)(op, stack[bit], node);
            stack[bit] = node;
            while (i >> ++bit != 0)
                if ((i >> bit & 1) != 0) node = NAME(combine1)(op, stack[bit], node);
            result = NAME(combine1)(op, before, node);
        }
        if (out != NULL) NAME(put1)(op, out + at, scan->exclusive ? first : result);
    }
    if (scan->total != NULL) NAME(put1)(op, scan->total, result);
}

#include "cpu/simd/keys_end.h" /* ready for the next kind of element */
