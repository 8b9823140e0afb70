/* SPDX-License-Identifier: Apache-2.0 */
/* Flags of a part: the first or the last one that is set, how many are, and room for so many results. */
#include <string.h>

#include "internal.h"

/* Whether one of these bytes is not 0. */
static bool any(const unsigned char *bytes, int64_t n) {
    unsigned char all = 0;
    for (int64_t i = 0; i < n; i++) all |= bytes[i];
    return all != 0;
}

static bool is_set(vscan_type type, const void *flags, int64_t i) {
    switch ((int)type) {
    case VSCAN_INT:
        return ((const int32_t *)flags)[i] != 0;
    case VSCAN_BYTE:
        return ((const uint8_t *)flags)[i] != 0;
    default:
        return (((const uint32_t *)flags)[i / 32] >> i % 32 & 1) != 0;
    }
}

/* Flags begin .. end - 1. */
struct piece {
    int64_t begin, end;
};

/* The first or the last of them, `most` or fewer; bits begin with a word. */
static struct piece take(struct piece all, int64_t most, bool last) {
    if (all.end - all.begin <= most) return all;
    if (last) return (struct piece){(all.end - most + 31) / 32 * 32, all.end};
    return (struct piece){all.begin, all.begin + most};
}

static struct piece leave(struct piece all, struct piece taken, bool last) {
    return last ? (struct piece){all.begin, taken.begin} : (struct piece){taken.end, all.end};
}

enum { SHORTEST = 1 << 10 }; /* of the pieces, which get longer up to a limit */

static int64_t longer(int64_t most, int64_t longest) {
    return most < longest ? 2 * most : most;
}

static bool has_any(vscan_type type, const void *flags, struct piece p) {
    const unsigned char *const bytes = flags;
    if (type == VSCAN_BIT) return any(bytes + p.begin / 8, (p.end - p.begin + 31) / 32 * 4);
    const int64_t size = vscan__ranks_size_of(type);
    return any(bytes + p.begin * size, (p.end - p.begin) * size);
}

/* The first or the last of these flags on the host that is set, or -1. Short pieces read backward are slow. */
static int64_t look(vscan_type type, const void *flags, struct piece all, bool last) {
    enum { LONGEST = 1 << 18 };
    for (int64_t most = SHORTEST; all.begin < all.end; most = longer(most, LONGEST)) {
        const struct piece p = take(all, most, last);
        const int64_t n = p.end - p.begin;
        all = leave(all, p, last);
        if (!has_any(type, flags, p)) continue;
        if (n > SHORTEST) {
            const int64_t found = look(type, flags, p, last);
            if (found >= 0) return found;
        }
        for (int64_t i = 0; n <= SHORTEST && i < n; i++)
            if (is_set(type, flags, last ? p.end - 1 - i : p.begin + i))
                return last ? p.end - 1 - i : p.begin + i;
    }
    return -1;
}

/* How many of a piece's flags are set. */
static vscan_status count(vscan__ranks *ranks, const vscan_buffer *flags, struct piece p,
                          int64_t *set) {
    vscan_buffer *one, *in;
    TRY(vscan__ranks_one(ranks, VSCAN_LONG, &one));
    vscan_status status =
        vscan_buffer_view((vscan_buffer *)(uintptr_t)flags, p.begin, p.end - p.begin, &in);
    TRY(vscan__ranks_say(ranks, ranks->ctx, status));
    status = vscan_count(ranks->ctx, in, one);
    if (status == VSCAN_OK) status = vscan_buffer_get(one, 0, set);
    (void)vscan_buffer_destroy(in);
    return vscan__ranks_say(ranks, ranks->ctx, status);
}

/* Numbers a piece's flags, each by how many are set before it in the piece: in ranks->scratch. */
static vscan_status number(vscan__ranks *ranks, const vscan_buffer *flags, struct piece p) {
    const int64_t n = p.end - p.begin;
    vscan_buffer **const numbers = &ranks->scratch[VSCAN_INT - VSCAN_INT], *in = NULL, *out = NULL;
    TRY(vscan__ranks_grow(ranks, numbers, VSCAN_INT, n));
    vscan_status status = vscan_buffer_view((vscan_buffer *)(uintptr_t)flags, p.begin, n, &in);
    if (status == VSCAN_OK) status = vscan_buffer_view(*numbers, 0, n, &out);
    if (status == VSCAN_OK) status = vscan_enumerate(ranks->ctx, in, out, NULL);
    (void)vscan_buffer_destroy(in);
    (void)vscan_buffer_destroy(out);
    return vscan__ranks_say(ranks, ranks->ctx, status);
}

/* Where in the piece the first or the last of the set flags is, by their numbers. */
static vscan_status find_number(vscan__ranks *ranks, struct piece p, bool last, int64_t set,
                                int64_t *found) {
    /* after the first set flag numbers are greater than 0, after the last one `set`; before it they are not */
    const int32_t number = last ? (int32_t)set : 0;
    vscan_buffer *numbers, *of, *one;
    TRY(vscan__ranks_one(ranks, VSCAN_INT, &of));
    TRY(vscan__ranks_one(ranks, VSCAN_LONG, &one));
    vscan_status status =
        vscan_buffer_view(ranks->scratch[VSCAN_INT - VSCAN_INT], 0, p.end - p.begin, &numbers);
    TRY(vscan__ranks_say(ranks, ranks->ctx, status));
    status = vscan_buffer_set(of, 0, &number);
    if (status == VSCAN_OK)
        status = (last ? vscan_lower_bound : vscan_upper_bound)(ranks->ctx, numbers, of, one);
    if (status == VSCAN_OK) status = vscan_buffer_get(one, 0, found);
    (void)vscan_buffer_destroy(numbers);
    *found += p.begin - 1;
    return vscan__ranks_say(ranks, ranks->ctx, status);
}

vscan_status vscan__ranks_find_head(vscan__ranks *ranks, const vscan_buffer *flags, bool last,
                                    int64_t *found) {
    struct piece all = {0, vscan_buffer_length(flags)};
    *found = -1;
    if (!vscan__ranks_is_on_gpu(ranks)) {
        *found = look(vscan_buffer_type(flags), vscan_buffer_pointer(flags), all, last);
        return VSCAN_OK;
    }
    for (int64_t most = SHORTEST; all.begin < all.end;
         most = longer(most, vscan__ranks_piece(ranks))) {
        const struct piece p = take(all, most, last);
        int64_t set = 0;
        TRY(count(ranks, flags, p, &set));
        if (set > 0) {
            TRY(number(ranks, flags, p));
            return find_number(ranks, p, last, set, found);
        }
        all = leave(all, p, last);
        if (most > SHORTEST || all.begin == all.end) continue;
        TRY(count(ranks, flags, all, &set)); /* a part without any is known at once */
        if (set == 0) return VSCAN_OK;
    }
    return VSCAN_OK;
}

vscan_status vscan__ranks_count_flags(vscan__ranks *ranks, const vscan_buffer *flags,
                                      int64_t *set) {
    return count(ranks, flags, (struct piece){0, vscan_buffer_length(flags)}, set);
}

vscan_status vscan__ranks_note_head(vscan__ranks *ranks, const vscan_buffer *heads,
                                    struct vscan__ranks_record *record) {
    int32_t flag = 0;
    if (record->n == 0) return VSCAN_OK;
    TRY(vscan__ranks_say(ranks, ranks->ctx, vscan_buffer_get(heads, 0, &flag)));
    if (flag != 0) record->facts |= FACT_HEAD;
    return VSCAN_OK;
}

vscan_status vscan__ranks_check_places(vscan__ranks *ranks, const char *name,
                                       const vscan_buffer *out, const vscan_buffer *heads,
                                       int64_t more, vscan_status status,
                                       struct vscan__ranks_record *record, int64_t *set) {
    const int64_t places = vscan_buffer_length(out) - more;
    *set = -1;
    if (places >= record->n) return VSCAN_OK;
    TRY(vscan__ranks_count_flags(ranks, heads, set));
    if (places < *set)
        return vscan__ranks_fail(ranks, status, "%s has %lld elements, must have %lld at least",
                                 name, (long long)(places + more), (long long)(*set + more));
    if (places == *set) record->facts |= FACT_FULL;
    return VSCAN_OK;
}
