/* SPDX-License-Identifier: Apache-2.0 */
/* Data in the host's memory. */
#include "bench.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

void host_make_values(const struct work *work) {
    struct work apart = *work;
    apart.in_place = false;
    const int64_t n = work_span(work);
    for (int64_t set = 0; set < work->sets; set++) {
        void *to = work_in(&apart, ON_HOST, set);
        const uint64_t salt = (uint64_t)set;
#pragma omp parallel for
        for (int64_t i = 0; i < n; i++) {
            const bool steps = work->steps;
            if (work->type == VSCAN_INT)
                ((int32_t *)to)[i] = steps ? value_step(i) : value_int(work->op, i, n, salt);
            else if (work->type == VSCAN_LONG)
                ((int64_t *)to)[i] = steps ? value_step(i) : value_long(work->op, i, n, salt);
            else if (work->type == VSCAN_UINT8)
                ((uint8_t *)to)[i] = value_uint8(i, salt);
            else if (work->type == VSCAN_FLOAT)
                ((float *)to)[i] = value_float(work->op, i, n, salt);
            else
                ((double *)to)[i] = steps ? value_step(i) : value_double(work->op, i, n, salt);
        }
    }
}

void host_touch(void *memory, int64_t bytes) {
    char *to = memory;
    const int64_t chunk = 1 << 20;
#pragma omp parallel for
    for (int64_t at = 0; at < bytes; at += chunk)
        memset(to + at, 0, (size_t)(bytes - at < chunk ? bytes - at : chunk));
}

void host_make_flags(struct work *work) {
    const int64_t n = work_span(work);
    int64_t heads = 0;
    for (int64_t set = 0; set < work->sets; set++) {
        void *to = work_flags(work, ON_HOST, set);
        heads = 0;
#pragma omp parallel for reduction(+ : heads)
        for (int64_t w = 0; w < (n + 31) / 32; w++) {
            uint32_t word = 0;
            for (int64_t i = 32 * w; i < n && i < 32 * w + 32; i++) {
                const bool head = value_head(work->segments, i);
                heads += head;
                word |= (uint32_t)head << (i % 32);
                if (work->flag_type == VSCAN_INT) ((int32_t *)to)[i] = head;
                if (work->flag_type == VSCAN_BYTE) ((uint8_t *)to)[i] = head;
            }
            if (work->flag_type == VSCAN_BIT) ((uint32_t *)to)[w] = word;
        }
    }
    work->segment_count = heads;
}

void host_flush(int64_t bytes, int threads) {
    static char *memory;
    static int64_t held;
    static volatile uint64_t sink;
    if (held < bytes) {
        free(memory);
        memory = malloc((size_t)bytes);
        held = memory ? bytes : 0;
        if (!memory) return;
        memset(memory, 1, (size_t)bytes);
    }
    uint64_t sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum) if (threads > 1)
    for (int64_t i = 0; i < bytes; i += 64) sum += (uint8_t)memory[i];
    sink = sum;
    (void)sink;
}

void host_prepare_checked_call(const struct work *work) {
    if (work->in_place)
        memcpy(work->data[ON_HOST].out, work->data[ON_HOST].in,
               (size_t)(work->sets * work->stride));
    else
        memset(work_out(work, ON_HOST, 0), 0xa5, (size_t)(work_span(work) * type_size(work->type)));
}

bool host_mode(const struct work *work, enum mode mode) {
    (void)work;
    return mode == MODE_STREAM || mode == MODE_LATENCY;
}

void host_end_openmp(void) {
    omp_pause_resource_all(omp_pause_hard);
}
