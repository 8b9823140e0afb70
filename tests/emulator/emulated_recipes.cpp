/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of "Write a kernel" in kernels/README.md, as they stand there (recipes.cuh), run by the emulator. */
#include "elements/elementwise.cuh"
#include "machine/launch.cuh"
#include "protocol/chained_tiles.cuh"
#include "protocol/pipeline.cuh"

#include "recipes.cuh"
#include "two_copies.h"

enum recipe { TWICE, BY_PARTITION, BY_TILE, BY_PIPELINE, RECIPES };

static cudaError_t run(recipe r, int64_t n, const uint32_t *in, uint32_t *out) {
    const sums_arguments a = {n, in, out, lookback_of(&launch)};
    const int64_t blocks = 1 + below(3);
    vscan__map map = {};
    map.n = n, map.a = in, map.out = out, map.type = map.out_type = VSCAN_INT;
    if (r == TWICE) return launch_twice(&launch, &map);
    if (r == BY_PARTITION)
        return start(sums_by_partition, (n + 255) / 256, 256, 0, launch.stream, a);
    if (r == BY_TILE) return start(sums_by_tile, blocks, 256, 0, launch.stream, a);
    const int bytes = (int)sizeof(twice_shared);
    const cudaError_t error = allow_shared_memory(&launch, twice_by_pipeline, bytes);
    return error != cudaSuccess ? error
                                : start(twice_by_pipeline, blocks, twice_shared::readers + 32,
                                        bytes, launch.stream, a);
}

int main(int argc, char **argv) {
    const int repetitions = begin_program("recipes", argc, argv, 40, 20261128, 64);
    for (int k = 0; k < repetitions * RECIPES; ++k) {
        const recipe r = (recipe)(k % RECIPES);
        const int64_t n = r == BY_PIPELINE ? twice_shared::items * (1 + below(7)) : 1 + below(5000);
        alignas(16) static uint32_t in[8192], out[8192];
        for (uint32_t &x : in) x = (uint32_t)random_bits();
        launch.test_delay = below(2) ? (uint32_t)random_bits() | 1 : 0;
        bool well = run(r, n, in, out) == cudaSuccess;
        uint32_t sum = 0;
        for (int64_t i = 0; i < n; ++i) {
            sum += in[i];
            well &= out[i] == (r == TWICE || r == BY_PIPELINE ? 2 * in[i] : sum);
        }
        ++cases;
        if (!well) printf("WRONG: recipe %d, n %lld\n", (int)r, (long long)n);
        bad += !well;
    }
    return end_program("recipes");
}
