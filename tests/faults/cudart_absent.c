/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests ask the stand-in for CUDA in a build without CUDA. */
#include "faults.h"

struct cudart_live cudart_live(void) {
    return (struct cudart_live){0};
}
int64_t cudart_wrong(const char **first) {
    *first = "";
    return 0;
}
int64_t cudart_launches(void) {
    return 0;
}
int64_t cudart_cleared_sorts(void) {
    return 0;
}
int cudart_current_device(void) {
    return 0;
}
void cudart_set_current_device(int device) {
    (void)device;
}
void *cudart_callers_memory(void) {
    return NULL;
}
void *cudart_callers_stream(void) {
    return NULL;
}
void cudart_destroy_callers_stream(void) {}
void cudart_set_pending(int error) {
    (void)error;
}
int cudart_pending(void) {
    return 0;
}
void check_late_errors(struct tour *tour) {
    (void)tour;
}
void check_answers(struct tour *tour) {
    (void)tour;
}
void check_pairs(struct tour *tour) {
    (void)tour;
}
void cudart_capture(enum cudart_capture capture) {
    (void)capture;
}
