/* SPDX-License-Identifier: Apache-2.0 */
/* Segmented scans of random parts. */
#include "scan_case.h"

/* Flags: rare, frequent or none, often at the cuts. */
static void draw_flags(uint8_t *flags, int64_t n, const int64_t *cut) {
    static const int64_t every[] = {1, 2, 50, 3000, 60000, INT64_MAX};
    const int64_t mean = every[draw_below(6)];
    for (int64_t i = 0; i < n; i++)
        flags[i] = draw_below(mean) == 0 ? (uint8_t)(1 + draw_below(255)) : 0;
    if (draw_below(3) == 0) { /* segments that are whole parts, or several */
        memset(flags, 0, (size_t)n);
        for (int r = 0; r < ranks; r++)
            if (cut[r] < n) flags[cut[r]] = (uint8_t)draw_below(2);
        return;
    }
    for (int r = 0; r <= ranks && draw_below(3) > 0; r++) {
        const int64_t i = cut[r] + draw_below(3) - 1;
        if (i >= 0 && i < n) flags[i] = (uint8_t)draw_below(2);
    }
}

/* Flags first .. first + n - 1 as a buffer of a type. */
static struct part new_flags(vscan_type type, const uint8_t *flags, int64_t n) {
    if (type == VSCAN_BYTE) return new_part(type, flags, n);
    int32_t *const words = calloc((size_t)n + 1, sizeof *words);
    CHECK(words != NULL, "no memory");
    for (int64_t i = 0; i < n; i++)
        if (type == VSCAN_INT)
            words[i] = flags[i] != 0 ? -(int32_t)flags[i] : 0;
        else
            words[i / 32] |= (int32_t)((uint32_t)(flags[i] != 0) << i % 32);
    if (type == VSCAN_BIT && n % 32 != 0)
        words[n / 32] |= (int32_t)(UINT32_MAX << n % 32); /* ignored */
    struct part part = new_part(VSCAN_INT, words, type == VSCAN_INT ? n : (n + 31) / 32);
    if (type == VSCAN_BIT) {
        OK(vscan_buffer_destroy(part.buffer));
        OK(vscan_buffer_wrap(ctx, VSCAN_BIT, elements_of(&part), n, &part.buffer));
    }
    free(words);
    return part;
}

static uint8_t flags[LONGEST + 64];

/* The case with these flags, against one call on the whole vector. */
static void check_segmented(struct scan_case *c) {
    static const vscan_type forms[] = {VSCAN_BYTE, VSCAN_INT, VSCAN_BIT};
    const int64_t form = draw_below(3);
    struct part heads = new_flags(VSCAN_BYTE, flags, c->n);
    struct part own = new_flags(forms[(form + rank) % 3], flags + c->first, c->length);
    struct part count = new_part(VSCAN_LONG, NULL, 1), all = new_part(VSCAN_LONG, NULL, 1);
    vscan_scan_segmented_options options = {.size = sizeof options,
                                            .kind = c->kind,
                                            .direction = c->direction,
                                            .initial = c->value,
                                            .initial_buffer = c->buffer,
                                            .count = count.buffer};
    OK(vscan_scan_segmented(ctx, c->op, c->all, heads.buffer, c->result, &options));
    const bool counts = draw_below(2);
    options.count = counts && rank % 3 < 2 ? all.buffer : NULL;
    const struct counted before = counted;
    OK(vscan_mpi_scan_segmented(mpi, c->op, c->in.buffer, own.buffer, c->out.buffer, &options));
    if (!counts)
        check_counts(c->op, c->type, c->direction == VSCAN_BACKWARD, true, c->cut, &before);
    compare_case(c);
    CHECK(options.count == NULL || memcmp(elements_of(&count), elements_of(&all), 8) == 0,
          "case %lld: %lld segments, not %lld", (long long)c->number,
          (long long)*(int64_t *)elements_of(&all), (long long)*(int64_t *)elements_of(&count));
    end_part(&heads);
    end_part(&own);
    end_part(&count);
    end_part(&all);
    end_case(c);
}

void test_segmented(int64_t number) {
    struct scan_case c = draw_case(number);
    draw_flags(flags, c.n, c.cut);
    check_segmented(&c);
}

/* Parts are whole blocks, and one of them begins a segment. So backward a segment begins at the end of a
   part that is the end of a block; from four parts on it shows where another one does not hear of that. */
void test_segmented_blocks(void) {
    enum { MOST_BLOCKS = LONGEST / VSCAN__LEVEL_3 };
    const int parts = ranks < MOST_BLOCKS ? ranks : MOST_BLOCKS;
    for (int i = 0; i < 4 * parts; i++) {
        struct scan_case c = {.number = i,
                              .n = parts * VSCAN__LEVEL_3,
                              .type = i & 1 ? VSCAN_FLOAT : VSCAN_DOUBLE,
                              .op = VSCAN_PLUS,
                              .direction = i & 2 ? VSCAN_FORWARD : VSCAN_BACKWARD};
        for (int r = 0; r <= ranks; r++) c.cut[r] = (r < parts ? r : parts) * VSCAN__LEVEL_3;
        for (int64_t k = 0; k < c.n; k++)
            if (c.type == VSCAN_FLOAT)
                ((float *)whole)[k] = (float)(1 + k % 5);
            else
                ((double *)whole)[k] = (double)(1 + k % 5);
        make_case(&c);
        memset(flags, 0, (size_t)c.n);
        flags[c.cut[i / 4]] = 1;
        check_segmented(&c);
    }
}
