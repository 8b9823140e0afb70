/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A captured graph: calls that are made again and again, recorded once and replayed.
 *
 * Of every price in a row, how far is it below the highest one so far, and what is the deepest such fall
 * (drawdown)? Prices are running sums of their changes; the highest so far is a running maximum; then a
 * subtraction and a reduction. With short vectors the time goes into launching four kernels. Recorded in a CUDA
 * graph they are one launch. Everything is made, and the calls are done once, before the recording: then the
 * workspace is large enough, and no call allocates or waits. A replay works on the same buffers; new data are
 * uploaded into them. (In Python: torch.cuda.graph, captured_graph.py.)
 *
 *     cc captured_graph.c program.c $(pkg-config --cflags --libs libvscan) -I/usr/local/cuda/include \
 *         -L/usr/local/cuda/lib64 -lcudart
 *     captured_graph [n [seed]]   n changes
 *
 * Checked with a serial loop. Exits with 77 where there is no GPU.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime_api.h>

#include "program.h"

static void check_cuda(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
}

struct vectors {
    vscan_buffer *changes, *prices, *highest, *deepest;
};

/* What is recorded: four calls, none of which waits. */
static void drawdown(vscan_ctx *ctx, struct vectors v) {
    check(vscan_scan(ctx, VSCAN_PLUS, v.changes, v.prices, NULL));
    check(vscan_scan(ctx, VSCAN_MAX, v.prices, v.highest, NULL));
    check(vscan_map_binary(ctx, VSCAN_BINARY_SUBTRACT, v.highest, v.prices, v.highest));
    check(vscan_reduce(ctx, VSCAN_MAX, v.highest, v.deepest, NULL));
}

static cudaGraphExec_t record(vscan_ctx *ctx, struct vectors v) {
    void *stream;
    cudaGraph_t graph;
    cudaGraphExec_t recorded;
    check(vscan_ctx_get_stream(ctx, &stream));
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    drawdown(ctx, v);
    check_cuda(cudaStreamEndCapture(stream, &graph));
    check_cuda(cudaGraphInstantiate(&recorded, graph, 0));
    check_cuda(cudaGraphDestroy(graph));
    return recorded;
}

static int64_t deepest_by_loop(int64_t n, const int64_t *changes) {
    int64_t price = 0, highest = INT64_MIN, deepest = INT64_MIN;
    for (int64_t i = 0; i < n; i++) {
        price += changes[i];
        if (price > highest) highest = price;
        if (highest - price > deepest) deepest = highest - price;
    }
    return deepest;
}

int main(int argc, char **argv) {
    int64_t n = read_n_and_seed(argc, argv, 10000, 1, INT64_C(1) << 30);
    int64_t *changes = allocate(n, sizeof *changes);
    vscan_ctx *ctx = open_context();
    void *stream;
    if (vscan_ctx_get_stream(ctx, &stream) != VSCAN_OK) {
        printf("skipped: graphs are of GPUs\n");
        vscan_ctx_destroy(ctx);
        free(changes);
        return 77;
    }
    struct vectors v = {.changes = new_vector_of(ctx, VSCAN_LONG, n, changes),
                        .prices = new_vector(ctx, VSCAN_LONG, n),
                        .highest = new_vector(ctx, VSCAN_LONG, n),
                        .deepest = new_vector(ctx, VSCAN_LONG, 1)};
    drawdown(ctx, v);
    check(vscan_ctx_synchronize(ctx));
    cudaGraphExec_t recorded = record(ctx, v);

    bool right = true;
    for (int round = 0; round < 5; round++) {
        for (int64_t i = 0; i < n; i++) changes[i] = random_below(2001) - 1000;
        check(vscan_buffer_upload(v.changes, 0, n, changes));
        check_cuda(cudaGraphLaunch(recorded, stream));
        int64_t deepest;
        check(vscan_buffer_download(v.deepest, 0, 1, &deepest)); /* waits for the stream */
        printf("deepest  %" PRId64 "\n", deepest);
        right = right && deepest == deepest_by_loop(n, changes);
    }

    const int rounds = 200;
    double begin = seconds();
    for (int round = 0; round < rounds; round++) drawdown(ctx, v);
    check(vscan_ctx_synchronize(ctx));
    double calls = seconds() - begin;
    begin = seconds();
    for (int round = 0; round < rounds; round++) check_cuda(cudaGraphLaunch(recorded, stream));
    check(vscan_ctx_synchronize(ctx));
    printf("a round  %.1f us by calls, %.1f us by the graph\n", 1e6 * calls / rounds,
           1e6 * (seconds() - begin) / rounds);

    check_cuda(cudaGraphExecDestroy(recorded));
    check(vscan_buffer_destroy(v.changes));
    check(vscan_buffer_destroy(v.prices));
    check(vscan_buffer_destroy(v.highest));
    check(vscan_buffer_destroy(v.deepest));
    free(changes);
    return close_context(ctx, right);
}
