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
    const int64_t size = vscan__mpi_size_of(type);
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

vscan_status vscan__mpi_find_head(vscan__mpi *mpi, const vscan_buffer *flags, bool last,
                                  int64_t *found) {
    enum { LONGEST = 1 << 20 }; /* of the pieces that are copied */
    const vscan_type type = vscan_buffer_type(flags);
    struct piece all = {0, vscan_buffer_length(flags)};
    *found = -1;
    if (!vscan__mpi_is_on_gpu(mpi)) {
        *found = look(type, vscan_buffer_pointer(flags), all, last);
        return VSCAN_OK;
    }
    char *const room = vscan__mpi_room(mpi, &mpi->room_edges, LONGEST * sizeof(int32_t));
    if (room == NULL) return VSCAN_ERROR_HOST_MEMORY;
    for (int64_t most = SHORTEST; *found < 0 && all.begin < all.end; most = longer(most, LONGEST)) {
        const struct piece p = take(all, most, last);
        TRY(vscan__mpi_say(mpi, mpi->ctx,
                           vscan_buffer_download(flags, p.begin, p.end - p.begin, room)));
        const int64_t at = look(type, room, (struct piece){0, p.end - p.begin}, last);
        if (at >= 0) *found = p.begin + at;
        all = leave(all, p, last);
    }
    return VSCAN_OK;
}

vscan_status vscan__mpi_count_flags(vscan__mpi *mpi, const vscan_buffer *flags, int64_t *count) {
    const int64_t n = vscan_buffer_length(flags), piece = vscan__mpi_piece(mpi);
    vscan_buffer **const scratch = &mpi->scratch[VSCAN_INT - VSCAN_INT], *one;
    *count = 0;
    TRY(vscan__mpi_one(mpi, VSCAN_LONG, &one));
    TRY(vscan__mpi_grow(mpi, scratch, VSCAN_INT, n < piece ? n : piece));
    const vscan_count_options options = {.size = sizeof options, .count = one};
    for (int64_t at = 0; at < n; at += piece) {
        const int64_t length = n - at < piece ? n - at : piece;
        vscan_buffer *in = NULL, *out = NULL;
        int64_t set = 0;
        vscan_status status = vscan_buffer_view((vscan_buffer *)(uintptr_t)flags, at, length, &in);
        if (status == VSCAN_OK) status = vscan_buffer_view(*scratch, 0, length, &out);
        if (status == VSCAN_OK) status = vscan_enumerate(mpi->ctx, in, out, &options);
        if (status == VSCAN_OK) status = vscan_buffer_get(one, 0, &set);
        (void)vscan_buffer_destroy(in);
        (void)vscan_buffer_destroy(out);
        TRY(vscan__mpi_say(mpi, mpi->ctx, status));
        *count += set;
    }
    return VSCAN_OK;
}

vscan_status vscan__mpi_note_head(vscan__mpi *mpi, const vscan_buffer *heads,
                                  struct vscan__mpi_record *record) {
    int32_t flag = 0;
    if (record->n == 0) return VSCAN_OK;
    TRY(vscan__mpi_say(mpi, mpi->ctx, vscan_buffer_get(heads, 0, &flag)));
    if (flag != 0) record->facts |= FACT_HEAD;
    return VSCAN_OK;
}

vscan_status vscan__mpi_check_places(vscan__mpi *mpi, const char *name, const vscan_buffer *out,
                                     const vscan_buffer *heads, int64_t more, vscan_status status,
                                     struct vscan__mpi_record *record, int64_t *set) {
    const int64_t places = vscan_buffer_length(out) - more;
    *set = -1;
    if (places >= record->n) return VSCAN_OK;
    TRY(vscan__mpi_count_flags(mpi, heads, set));
    if (places < *set)
        return vscan__mpi_fail(mpi, status, "%s has %lld elements, must have %lld at least", name,
                               (long long)(places + more), (long long)(*set + more));
    if (places == *set) record->facts |= FACT_FULL;
    return VSCAN_OK;
}
