/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where CUDA was not built: the engines on the device are listed as absent. None of them is chosen
 * then, so the functions below are only there to be linked.
 */
#include "timing.h"

#include <stdio.h>

#define ABSENT(NAME, TEXT)                                                                         \
    const struct engine NAME = {.name = TEXT, .place = ON_DEVICE, .absent = BENCH_NO_CUDA}

ABSENT(engine_memcpy, "memcpy");
ABSENT(engine_memset, "memset");
ABSENT(engine_copy, "copy");
ABSENT(engine_empty, "empty");
ABSENT(engine_cub, "cub");
ABSENT(engine_cub_key, "cub-key");
ABSENT(engine_cub_lifted, "cub-lifted");
ABSENT(engine_thrust, "thrust");
ABSENT(engine_plain, "plain");

bool device_open(void) {
    return false;
}
void device_describe(char *text, size_t size) {
    snprintf(text, size, "without CUDA");
}
void *device_stream_handle(void) {
    return NULL;
}
bool device_synchronize(void) {
    return false;
}
bool device_grow(void **memory, int64_t bytes) {
    (void)memory, (void)bytes;
    return false;
}
bool device_fetch(void *to, const void *from, int64_t bytes) {
    (void)to, (void)from, (void)bytes;
    return false;
}
int64_t device_cache_bytes(void) {
    return 0;
}
bool device_make_values(const struct work *work) {
    (void)work;
    return false;
}
bool device_make_flags(struct work *work) {
    (void)work;
    return false;
}
bool device_prepare_checked_call(const struct work *work) {
    (void)work;
    return false;
}
bool device_check(const struct work *work, const char *engine) {
    (void)work, (void)engine;
    return false;
}
bool device_sample(struct runner *runner, double *us) {
    (void)runner, (void)us;
    return false;
}
bool device_capture(struct runner *runner) {
    (void)runner;
    return false;
}
void device_release(struct runner *runner) {
    (void)runner;
}
