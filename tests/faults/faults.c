/* SPDX-License-Identifier: Apache-2.0 */
/* Counts events, and says which of them fail. */
#include "faults.h"

#include <stdatomic.h>

const char *const fault_kind_names[FAULT_KINDS] = {"nothing", "allocations", "thread starts",
                                                   "CUDA calls", "slots of the CPU's table"};
const char *const fault_mode_names[FAULT_MODES] = {"alone", "from there on", "device lost"};

/* Set while no event can happen. */
static struct {
    enum fault_kind kind;
    enum fault_mode mode;
    int64_t n;
} armed;

static _Atomic int64_t events[FAULT_KINDS], injected;
static _Atomic(const char *) last = "";

void faults_arm(enum fault_kind kind, enum fault_mode mode, int64_t n) {
    armed.kind = kind;
    armed.mode = mode;
    armed.n = n;
    for (int k = 0; k < FAULT_KINDS; k++) events[k] = 0;
    injected = 0;
    last = "";
}

void faults_disarm(void) {
    armed.kind = FAULT_NONE;
}

int64_t faults_events(enum fault_kind kind) {
    return events[kind];
}

int64_t faults_injected(void) {
    return injected;
}

const char *faults_last(void) {
    return last;
}

enum fault_mode faults_mode(void) {
    return armed.mode;
}

bool faults_strike(enum fault_kind kind, const char *function, bool reaches_device) {
    const int64_t number = atomic_fetch_add(&events[kind], 1) + 1;
    if (armed.kind != kind) return false;
    if (armed.mode == FAULT_ONCE ? number != armed.n : number < armed.n) return false;
    if (armed.mode == FAULT_LOST && !reaches_device) return false;
    injected++;
    last = function;
    return true;
}
