/* SPDX-License-Identifier: Apache-2.0 */
/* Scans and reductions of rows and columns, of matrices in a batch, and segmented scans of rows, for
   emulated_maps.cpp. */
#ifndef TESTS_CASES_MATRICES_H
#define TESTS_CASES_MATRICES_H

#include "cases_vectors.h"

static int64_t draw_lines() {
    return below(3) ? 1 + below(5) : 1 + below(300);
}

/* Up to some tiles, unless there are many lines. */
static int64_t draw_line_length(int64_t lines, int64_t tile) {
    static const int64_t edges[] = {0, 1, 4, 16, 17, 32, 33, 64, 100, 101, 128, 191, 256, 1024};
    if (lines >= 256 && below(4) == 0) return 257 + below(127);
    if (lines <= 5 && below(3) == 0) return (2 + below(3)) * tile - 32 * below(50);
    if (lines <= 5 && below(2)) return (1 + below(5)) * tile / 2 + below(9) - 4;
    if (below(2)) return edges[below(lines <= 40 ? 14 : lines <= 150 ? 12 : 8)];
    return below(lines <= 5 ? 3 * tile : lines <= 40 ? 2000 : 70);
}

template <class T>
static void draw_numbers(twins &v, bool plus) {
    if (!plus) return; /* those that operators treat specially will do */
    for (int64_t i = 0; i < v.n; ++i) {
        const T x = (T)((double)(below(2000001) - 1000000) / 997);
        for (std::vector<char> *bytes : {&v.mine, &v.other})
            memcpy(bytes->data() + v.before + i * (int64_t)sizeof x, &x, sizeof x);
    }
}

/* Segments of many groups. */
static void leave_few_flags(twins &flags) {
    const int64_t bytes = bytes_of(flags.type, flags.n);
    memset(flags.at(), 0, (size_t)bytes);
    for (int64_t left = bytes > 0 ? below(5) : 0; left > 0; --left)
        ((char *)flags.at())[below(bytes)] = 1;
    flags.other = flags.mine;
}

static void matrix_case(int pair, vscan_op op, int type, vscan__matrix_launcher *launcher) {
    const int64_t tile = size_of(type) == 8 ? VSCAN__TILE_DOUBLE : VSCAN__TILE_FLOAT;
    const bool by_columns = below(2), reduce = below(4) == 0, in_place = below(3) == 0;
    /* more tiles than a look-back reads at a time */
    const bool tall = by_columns && below(8) == 0;
    /* columns for the kernel with stages in shared memory, more chunks than it has stages */
    const bool stage = by_columns && !tall && !reduce && below(2);
    const bool strips = stage && below(2); /* as boxes */
    const int64_t lines = tall     ? 1 + below(3)
                          : strips ? 36 + 4 * below(below(3)   ? 10
                                                    : below(9) ? 75
                                                               : 750)
                          : stage  ? 8 + below(25)
                                   : draw_lines();
    const int most = lines < 45 ? 80 : lines < 800 ? 6 : 1; /* chunks of a strip: several tiles */
    const int64_t length = tall     ? (30 + below(40)) * tile + below(9) - 4
                           : strips ? below(most) * 512 + 1 + below(600)
                           : stage  ? (1 + below(40)) * (4096 / lines) + below(40)
                                    : draw_line_length(lines, tile);
    const int64_t rows = by_columns ? length : lines, columns = by_columns ? lines : length;
    int64_t pitch = columns;
    if (strips) pitch += 4 * below(3);
    if (!stage && below(2)) pitch += below(3) ? 4 * below(5) : below(20);
    /* rows of several matrices are rows of one */
    const int64_t matrices = by_columns && !tall && below(3) == 0 ? 2 + below(2) : 1;
    const bool segmented = !by_columns && !reduce && below(3) == 0;
    const int64_t n = matrices * rows * pitch;
    std::vector<int> shift = draw_shifts(4);
    if (stage) shift[0] = shift[1] = 0;
    const int64_t all = matrices * lines;
    twins in(type, n, shift[0]), apart(type, n, shift[1]), totals(type, all, shift[2]),
        initial(type, below(2) ? 1 : all, shift[3]);
    static const int head_types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};
    twins heads(head_types[below(3)], segmented ? n : 0, 0);
    if (below(2)) leave_few_flags(heads);
    for (twins *v : {&in, &initial}) {
        if (type == VSCAN_INT) draw_numbers<int32_t>(*v, op == VSCAN_PLUS);
        if (type == VSCAN_LONG) draw_numbers<int64_t>(*v, op == VSCAN_PLUS);
        if (type == VSCAN_FLOAT) draw_numbers<float>(*v, op == VSCAN_PLUS);
        if (type == VSCAN_DOUBLE) draw_numbers<double>(*v, op == VSCAN_PLUS);
    }
    twins &out = in_place ? in : apart;
    vscan_matrix_options o = {};
    o.size = sizeof o, o.direction = below(2) ? VSCAN_BACKWARD : VSCAN_FORWARD, o.pitch = pitch;
    o.matrices = matrices;
    vscan__matrix m = {};
    m.lines = all, m.each = lines, m.apart = rows * pitch, m.length = length;
    m.line_step = by_columns ? 1 : pitch;
    m.step = by_columns ? pitch : 1, m.in = in.at(), m.columns = by_columns;
    m.backward = o.direction == VSCAN_BACKWARD;
    if (!reduce) {
        m.out = out.at();
        m.exclusive = (int32_t)below(2);
        o.kind = m.exclusive ? VSCAN_EXCLUSIVE : VSCAN_INCLUSIVE;
    }
    if (segmented) m.heads = heads.at(), m.head_type = heads.type;
    if (below(2)) o.initial_buffer = initial.buffer(), m.has_initial = 2;
    m.initial_at = initial.at(), m.initial_step = initial.n != 1;
    if (reduce || below(2)) m.totals = totals.at();
    launch.shared_memory = stage || below(2) ? VSCAN__TMA_SHARED : 0;
    const int64_t words = vscan__matrix_words_needed((vscan_type)type, &m);
    if (words > launch.words) {
        fprintf(stderr, "a workspace of %lld status words\n", (long long)words);
        exit(1);
    }
    const cudaError_t error =
        length > 0 || m.totals != nullptr ? launcher(&launch, &m) : cudaSuccess;
    launch.shared_memory = 0;
    vscan_buffer *const from = in.buffer(), *const to = out.buffer(), *const sums = totals.buffer();
    if (reduce) {
        ok(by_columns ? vscan_reduce_columns(ctx, op, from, rows, columns, sums, &o)
                      : vscan_reduce_rows(ctx, op, from, rows, columns, sums, &o));
    } else {
        o.totals = m.totals != nullptr ? sums : nullptr;
        ok(segmented
               ? vscan_scan_rows_segmented(ctx, op, from, heads.buffer(), rows, columns, to, &o)
           : by_columns ? vscan_scan_columns(ctx, op, from, rows, columns, to, &o)
                        : vscan_scan_rows(ctx, op, from, rows, columns, to, &o));
    }
    check(segmented    ? "segmented rows"
          : by_columns ? "columns"
                       : "rows",
          pair, lines * 1000000 + length, error, vscan_ctx_synchronize(ctx),
          {&in, &apart, &totals, &initial});
}

#endif
