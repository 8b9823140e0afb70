/* SPDX-License-Identifier: Apache-2.0 */
/* What memory allows on the host: copies and a reading loop by all threads that an engine may use. */
#include "bench.h"

#include <string.h>
#if defined __SSE2__
#include <immintrin.h>
#endif

/* What is no longer than this lies in a cache, and is not worth a second thread. */
enum { CHUNK = 1 << 20, LINE = 64 };

static int64_t vector_bytes(const struct work *work) {
    return work->n * type_size(work->type);
}

static int64_t copied_bytes(const struct work *work) {
    return 2 * vector_bytes(work);
}

static const char *copied_from(const struct work *work, int64_t set) {
    struct work apart = *work; /* a copy in place would be none */
    apart.in_place = false;
    return work_in(&apart, ON_HOST, set);
}

/* ---- memcpy-cpu ------------------------------------------------------------------------------ */

static bool run_memcpy(const struct work *work, int64_t set) {
    const int64_t bytes = vector_bytes(work);
    const char *from = copied_from(work, set);
    char *to = work_out(work, ON_HOST, set);
    if (bytes <= CHUNK) return memcpy(to, from, (size_t)bytes), true;
#pragma omp parallel for num_threads(work->threads)
    for (int64_t at = 0; at < bytes; at += CHUNK)
        memcpy(to + at, from + at, (size_t)(bytes - at < CHUNK ? bytes - at : CHUNK));
    return true;
}

const struct engine engine_memcpy_cpu = {.name = "memcpy-cpu",
                                         .place = ON_HOST,
                                         .supports = host_mode,
                                         .run = run_memcpy,
                                         .bytes = copied_bytes};

/* ---- ntcopy-cpu: stores go past the caches, so that no line is read only to be overwritten ---- */

/* Whole lines; to is aligned to one. */
static void copy_lines(char *to, const char *from, int64_t bytes) {
#if defined __AVX512F__
    for (int64_t at = 0; at < bytes; at += LINE)
        _mm512_stream_si512((void *)(to + at), _mm512_loadu_si512(from + at));
#elif defined __AVX__
    for (int64_t at = 0; at < bytes; at += LINE / 2)
        _mm256_stream_si256((void *)(to + at), _mm256_loadu_si256((const void *)(from + at)));
#elif defined __SSE2__
    for (int64_t at = 0; at < bytes; at += LINE / 4)
        _mm_stream_si128((void *)(to + at), _mm_loadu_si128((const void *)(from + at)));
#else
    memcpy(to, from, (size_t)bytes);
#endif
#if defined __SSE2__
    _mm_sfence();
#endif
}

static bool run_ntcopy(const struct work *work, int64_t set) {
    const int64_t bytes = vector_bytes(work);
    const char *from = copied_from(work, set);
    char *to = work_out(work, ON_HOST, set);
    const int64_t head = -(int64_t)(uintptr_t)to & (LINE - 1);
    const int64_t lines = (bytes - head) / LINE, parts = work->threads;
    const int64_t tail = head + lines * LINE;
    if (bytes <= CHUNK) return memcpy(to, from, (size_t)bytes), true;
    memcpy(to, from, (size_t)head);
#pragma omp parallel for num_threads(work->threads) schedule(static, 1)
    for (int64_t part = 0; part < parts; part++) {
        const int64_t first = lines * part / parts * LINE, last = lines * (part + 1) / parts * LINE;
        copy_lines(to + head + first, from + head + first, last - first);
    }
    memcpy(to + tail, from + tail, (size_t)(bytes - tail));
    return true;
}

const struct engine engine_ntcopy_cpu = {.name = "ntcopy-cpu",
                                         .place = ON_HOST,
                                         .supports = host_mode,
                                         .run = run_ntcopy,
                                         .bytes = copied_bytes};

/* ---- read-cpu: the sum of the vector's 32-bit values, so that all of them must be read -------- */

static bool supports_read(const struct work *work, enum mode mode) {
    return work->family == FAMILY_REDUCE && host_mode(work, mode);
}

static bool run_read(const struct work *work, int64_t set) {
    static volatile uint32_t sink;
    const int64_t count = vector_bytes(work) / (int64_t)sizeof(uint32_t);
    const uint32_t *from = (const uint32_t *)(const void *)copied_from(work, set);
    uint32_t sum = 0;
#pragma omp parallel for simd num_threads(work->threads) reduction(+ : sum) \
    if (parallel : count > CHUNK / 4) /* without "parallel", smaller vectors would get no simd */
    for (int64_t i = 0; i < count; i++) sum += from[i];
    sink = sum;
    (void)sink;
    return true;
}

const struct engine engine_read_cpu = {.name = "read-cpu",
                                       .place = ON_HOST,
                                       .supports = supports_read,
                                       .run = run_read,
                                       .bytes = vector_bytes};
