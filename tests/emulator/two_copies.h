/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs have in common that compare emulated kernels with the CPU backend. */
#ifndef TESTS_TWO_COPIES_H
#define TESTS_TWO_COPIES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

#include "cuda/launch.h"
#include "values.h"
#include "vscan.h"

static vscan_ctx *ctx;
static void ok(vscan_status status) {
    if (status == VSCAN_OK) return;
    fprintf(stderr, "%s\n", vscan_ctx_last_error(ctx));
    exit(1);
}

static int64_t size_of(int type) {
    if (type == VSCAN_UINT8) return 1;
    return type == VSCAN_BYTE ? 1 : type == VSCAN_DOUBLE || type == VSCAN_LONG ? 8 : 4;
}
static int64_t bytes_of(int type, int64_t n) {
    return type == VSCAN_BIT ? (n + 31) / 32 * 4 : n * size_of(type);
}

/* n elements somewhere in memory, twice: for the kernels and for the CPU backend. */
struct two_copies {
    int type;
    int64_t n;
    size_t before;
    std::vector<char> mine, other;

    two_copies(int type_, int64_t n_, int shift)
        : type(type_), n(n_), before(64 + (size_t)(shift * size_of(type_))) {
        mine.resize((size_t)bytes_of(type, n) + 256);
        for (char &c : mine) c = (char)random_bits();
        other = mine; /* both begin at multiples of 16, as all that malloc gives */
    }
    virtual ~two_copies() = default;
    void *at() { return mine.data() + before; }
    vscan_buffer *buffer() {
        vscan_buffer *b;
        ok(vscan_buffer_wrap(ctx, (vscan_type)type, other.data() + before, n, &b));
        return b;
    }
    virtual bool same() const { return mine == other; }
};

static vscan__late late;
static vscan__launch launch;
static int cases, bad;

static void check(const char *family, int row, int64_t n, cudaError_t error,
                  vscan_status other_late, const std::vector<const two_copies *> &vectors) {
    ++cases;
    bool good = error == cudaSuccess && late.status == (int32_t)other_late;
    size_t k = 0;
    for (; good && k < vectors.size(); ++k) good = vectors[k]->same();
    if (!good) {
        ++bad;
        printf("WRONG: %s %d, n %lld, vector %d, late %d, expected %d\n", family, row, (long long)n,
               (int)k - 1, (int)late.status, (int)other_late);
    }
    late.status = 0;
}

/* ---- Programs: NAME [REPETITIONS [SEED]] ----------------------------------------------------- */

static std::vector<unsigned long long> workspace;

/* The repetitions. Afterwards there are a context, and a workspace of so many words. */
static int begin_program(const char *name, int argc, char **argv, int repetitions, uint64_t seed,
                         int64_t words) {
    if (argc > 1) repetitions = atoi(argv[1]);
    if (argc > 2) seed = strtoull(argv[2], nullptr, 10);
    random_bits.seed(seed);
    printf("%s: %d repetitions, seed %llu\n", name, repetitions, (unsigned long long)seed);
    vscan_ctx_options options = {};
    options.size = sizeof options;
    options.backend = VSCAN_BACKEND_CPU;
    ok(vscan_ctx_create(&options, &ctx));
    workspace.resize((size_t)(VSCAN__WORKSPACE_HEADER / 8 + words + 2));
    launch.workspace = workspace.data(); /* at a multiple of 16 bytes, as all that malloc gives */
    launch.words = words;
    launch.late = &late;
    return repetitions;
}

static int end_program(const char *name) {
    vscan_ctx_destroy(ctx);
    printf("%s: %d cases, %d wrong: %s\n", name, cases, bad, bad ? "FAILED" : "PASSED");
    return bad != 0;
}

#endif
