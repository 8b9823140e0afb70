/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lengths of segments to offsets: out[i] = in[0] + ... + in[i - 1], one more than there are
 * lengths.
 *
 * A block owns the tiles that it takes by ticket (protocol/chained_tiles.cuh). The tile in hand
 * stands in shared memory (32 KiB) as sums from its own beginning on, until the sum of the tiles
 * before it is known. A lane of a warp has `chunks` chunks of 16 bytes of lengths; the chunks with
 * the same number of all lanes are consecutive.
 *
 * The aggregate of a tile is its sum in 64 bits, whatever the type of the offsets. Sums ascend if
 * no length is negative, so the sums of tiles alone show whether an offset does not fit into an
 * int. The first sum that does not fit into a long has its sign bit set, as what was added had it
 * clear; later ones may not, so each that is written is looked at. Relaxed order is enough, because
 * a status word has value and epoch in one access (kernels/README.md).
 */
#include "protocol/chained_tiles.cuh"
#include "segments/segments.cuh"

namespace vscan {

template <class Out>
static constexpr int lengths_items = lengths_shared / (int)sizeof(Out);

/* U: Out without a sign, as sums may be too large. */
template <class In, class Out, class U>
struct lengths_kernel : chained_kernel {
    using sum_type = unsigned long long;
    static constexpr int V = 16 / (int)sizeof(In), Q = 16 / (int)sizeof(Out);
    static constexpr int items = lengths_items<Out>, chunks = items / (V * segments_threads);
    static constexpr int ticket_warp = segments_warps - 1;

    struct shared_memory {
        __align__(16) Out offsets[items]; /* of the tile in hand, from its own beginning on */
        sum_type warp_sums[segments_warps], looked_back[segments_warps];
    };

    const segments_work<vscan__ranges> &a;
    shared_memory &shared;
    const int64_t n = a.work.n;
    const int tiles = (int)(n / items + 1); /* the last offset, the total, is in a tile, too */
    const In *const in = (const In *)a.work.in;
    Out *const out = (Out *)a.work.out;
    U x[chunks][V], base;               /* sums in the warp of the next tile, and before the warp */
    sum_type before = 0;                /* lengths before the tile in hand */
    sum_type next_sum = 0, in_hand = 0; /* of the next tile and of the tile in hand */
    int64_t wrong = -1;

    DEVICE lengths_kernel(const segments_work<vscan__ranges> &a, shared_memory &shared)
        : a(a), shared(shared) {}

    DEVICE void prefetch(int tile, bool) const {
#ifdef VSCAN__TMA
        if (a.wide_in && ((int64_t)tile + 1) * items <= n)
            tma_prefetch(in + (int64_t)tile * items, items * sizeof(In));
#endif
    }

    DEVICE void stage() {
        UNROLL_FOR (int r = 0; r < chunks; ++r) {
            Out y[V];
            UNROLL_FOR (int j = 0; j < V; ++j) y[j] = (Out)(x[r][j] + base);
            Out *const to = shared.offsets + ((warp * chunks + r) * 32 + lane) * V;
            UNROLL_FOR (int k = 0; k < V; k += Q) {
                Out chunk[Q];
                memcpy(chunk, y + k, sizeof chunk);
                store_wide<Out, Q>(to + k, chunk);
            }
        }
    }

    DEVICE void count(int next) {
        const int64_t first = (int64_t)next * items + (warp * chunks * 32 + lane) * V;
        In raw[chunks][V];
        if (a.wide_in && ((int64_t)next + 1) * items <= n)
            load_chunks(raw, in + first, 32 * V, true);
        else
            load_chunks_where(raw, in + first, 32 * V, (In)0,
                              [&](int r, int j) { return first + (r * 32 * V + j) < n; });
        U carry = 0;
        sum_type sum = 0;
        bool negative = false;
        UNROLL_FOR (int r = 0; r < chunks; ++r) {
            U own = 0;
            UNROLL_FOR (int j = 0; j < V; ++j) {
                negative |= raw[r][j] < 0;
                if (sizeof(Out) < 8) sum += (sum_type)(long long)raw[r][j];
                x[r][j] = own;
                own += (U)(long long)raw[r][j];
            }
            const U upto = warp_inclusive_sum(own);
            UNROLL_FOR (int j = 0; j < V; ++j) x[r][j] += carry + upto - own;
            carry += __shfl_sync(warp_mask, upto, 31);
        }
        if (negative) wrong = first;
        sum = sizeof(Out) < 8 ? warp_sum(sum) : (sum_type)carry;
        if (lane == 0) shared.warp_sums[warp] = sum;
    }

    DEVICE void publish(const chained_launch &launch, int next) {
        next_sum = 0;
        UNROLL_FOR (int w = 0; w < segments_warps; ++w) {
            if (w == warp) base = (U)next_sum;
            next_sum += shared.warp_sums[w];
        }
        if (threadIdx.x == 0) launch.publish(next, next_sum);
    }

    DEVICE void look_back(const chained_launch &launch, int seen, int tile) {
        /* without the last warp, which waits for its ticket */
        const int end = warp == ticket_warp ? seen : tile;
        launch.sum_by_warps<sum_type>(shared.looked_back, seen, end, 32 * ticket_warp);
    }

    DEVICE void write(int tile) {
        UNROLL_FOR (int w = 0; w < segments_warps; ++w) before += shared.looked_back[w];
        const int64_t first = (int64_t)tile * items;
        Out seen = 0; /* all bits of what is written */
        if (a.wide_out && first + items <= n + 1) {
#pragma unroll 4
            for (int k = (int)threadIdx.x * Q; k < items; k += segments_threads * Q) {
                Out y[Q];
                load_wide<Out, Q>(y, shared.offsets + k);
                UNROLL_FOR (int j = 0; j < Q; ++j) {
                    y[j] = (Out)((U)y[j] + (U)before);
                    seen |= y[j];
                }
                store_wide<Out, Q>(out + first + k, y);
            }
        } else {
#pragma unroll 2
            for (int k = threadIdx.x; k < items; k += segments_threads)
                if (first + k <= n) {
                    const Out y = (Out)((U)shared.offsets[k] + (U)before);
                    out[first + k] = y;
                    seen |= y;
                }
        }
        if (sizeof(Out) < 8 ? (long long)(before + in_hand) > INT32_MAX : seen < 0) wrong = first;
    }

    DEVICE void keep() {
        in_hand = next_sum;
    }
};

template <class In, class Out, class U>
__global__ void __launch_bounds__(segments_threads, lengths_blocks)
    add_lengths(const __grid_constant__ segments_work<vscan__ranges> a) {
    using kernel = lengths_kernel<In, Out, U>;
    __shared__ typename kernel::shared_memory shared;
    kernel lengths(a, shared);
    chain_tiles(lengths, a.lookback, lengths.tiles);
    report(a.late, VSCAN_ERROR_OFFSETS, lengths.wrong);
}

} /* namespace vscan */

using namespace vscan;

extern "C" cudaError_t vscan__launch_add(const vscan__launch *launch, const vscan__ranges *ranges) {
    const bool narrow = ranges->out_type == VSCAN_INT;
    const int64_t items = narrow ? lengths_items<int32_t> : lengths_items<int64_t>;
    return start(narrow                      ? add_lengths<int32_t, int32_t, uint32_t>
                 : ranges->type == VSCAN_INT ? add_lengths<int32_t, int64_t, unsigned long long>
                                             : add_lengths<int64_t, int64_t, unsigned long long>,
                 blocks_of(launch, lengths_blocks, ranges->n / items + 1), segments_threads, 0,
                 launch->stream, work_of(launch, ranges));
}
