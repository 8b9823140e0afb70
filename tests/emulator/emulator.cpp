/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a kernel on a CPU, so that what its warps and blocks tell each other is tested where there is
 * no GPU. Each thread of a kernel has a stack of its own, and the operating-system thread of its
 * block runs them one after the other: a thread runs until it waits. Some warps, chosen again from
 * time to time, are skipped in most passes, and copies take effect in a random order, so that every
 * run has another order. What it does not show: races within what a GPU does between two waits, and
 * anything about speed.
 *
 * Up to 8 blocks run at a time, or fewer (random, at least one): kernels must not depend on more.
 * Blocks of a cluster run together.
 */
#include <atomic>
#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "emulated.h"

namespace emulated {

thread_local thread *self;

namespace {

/* ---- Stacks ------------------------------------------------------------------------------------ */

#if !defined(__x86_64__)
#error "switch_stacks is written for x86-64"
#endif
/* Saves what a call must preserve, and the stack pointer at *from; goes on where to was saved. */
extern "C" void switch_stacks(void **from, void *to);
asm(".text\n.globl switch_stacks\nswitch_stacks:\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
    "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
    "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");

constexpr size_t stack_bytes = 48 << 10;

struct fiber : thread {
    void *at = nullptr; /* its stack pointer while it waits */
    bool done = false;
};

struct warp_barrier {
    uint64_t values[2][32];
    int arrived = 0;
    unsigned phase = 0;
};
struct block_barrier {
    int arrived = 0, agreed[2] = {};
    unsigned phase = 0;
};

/* ---- A block ----------------------------------------------------------------------------------- */

struct launch {
    const std::function<void()> *kernel;
    int blocks, threads, shared_bytes;
    std::atomic<int> next{0};
    std::atomic<long> cluster_arrivals{0};
    std::atomic<char *> first_block{nullptr}; /* its operating-system thread's pointer */
    std::atomic<long> progress{0};
};

struct block {
    launch *of;
    std::vector<fiber> fibers;
    std::vector<warp_barrier> warps;
    block_barrier barriers[16];
    char *shared;
    std::deque<std::function<void()>> loads, stores;
    std::mt19937_64 random;
};
thread_local block *here;
thread_local void *scheduler; /* its stack pointer while a thread runs */

void begin() {
    (*here->of->kernel)();
    static_cast<fiber *>(self)->done = true;
    for (;;) wait();
}

void run_block(launch *of, int number, uint64_t seed, std::vector<char *> &stacks) {
    block b;
    b.of = of;
    b.random.seed(seed);
    b.fibers.resize((size_t)of->threads);
    b.warps.resize((size_t)(of->threads + 31) / 32);
    b.shared = (char *)aligned_alloc(1024, (size_t)(of->shared_bytes + 1023) / 1024 * 1024 + 1024);
    memset(b.shared, 0xa5, (size_t)of->shared_bytes);
    while (stacks.size() < b.fibers.size())
        stacks.push_back((char *)aligned_alloc(64, stack_bytes));
    for (int t = 0; t < of->threads; ++t) {
        fiber &f = b.fibers[(size_t)t];
        f.index = dim3((unsigned)t);
        f.block = dim3((unsigned)number);
        f.grid = dim3((unsigned)of->threads);
        f.blocks = dim3((unsigned)of->blocks);
        f.lane = t % 32;
        f.warp = t / 32;
        void **stack = (void **)(stacks[(size_t)t] + stack_bytes - 64);
        *--stack = nullptr;
        *--stack = (void *)begin;
        for (int k = 0; k < 6; ++k) *--stack = nullptr;
        f.at = stack;
    }
    here = &b;
    if (number == 0) of->first_block = (char *)__builtin_thread_pointer();

    std::vector<unsigned> slow(b.warps.size()); /* of 8 passes, so many are skipped */
    size_t left = b.fibers.size();
    long seen = 0, passes = 0; /* since a thread of any block ended */
    for (long pass = 0; left > 0; ++pass) {
        if (pass % 64 == 0)
            for (unsigned &s : slow) s = b.random() % 4 == 0 ? (unsigned)(b.random() % 8) : 0;
        const size_t before = left;
        for (fiber &f : b.fibers) {
            if (f.lane == 0 && slow[(size_t)f.warp] && b.random() % 8 < slow[(size_t)f.warp])
                slow[(size_t)f.warp] |= 8; /* in this pass */
            if (f.done || slow[(size_t)f.warp] & 8) continue;
            self = &f;
            switch_stacks(&scheduler, f.at);
            left -= f.done;
        }
        for (unsigned &s : slow) s &= 7;
        if (!b.loads.empty() && b.random() % 4 == 0) {
            const size_t k = b.random() % std::min<size_t>(b.loads.size(), 6);
            const std::function<void()> copy = b.loads[k];
            b.loads.erase(b.loads.begin() + (long)k);
            copy();
        }
        if (!b.stores.empty() && b.random() % 4 == 0) {
            const std::function<void()> copy = b.stores.front();
            b.stores.pop_front();
            copy();
        }
        if (left < before) ++of->progress;
        passes = seen == of->progress ? passes + 1 : 0;
        seen = of->progress;
        expect(passes < 20000000, "an end: the kernel waits for ever");
        std::this_thread::yield();
    }
    expect(b.loads.empty() && b.stores.empty(), "no copy under way when a block ends");
    free(b.shared);
    here = nullptr;
}

uint64_t draw_seed() {
    static std::mt19937_64 random(20260729);
    static std::mutex lock; /* several contexts may launch at a time */
    const std::lock_guard<std::mutex> alone(lock);
    return random();
}

} /* namespace */

void run(int blocks, int threads, int shared_bytes, const std::function<void()> &kernel) {
    launch of;
    of.kernel = &kernel;
    of.blocks = blocks;
    of.threads = threads;
    of.shared_bytes = shared_bytes;
    const int at_once = blocks <= 8 ? blocks : 1 + (int)(draw_seed() % 8);
    std::vector<std::thread> workers;
    for (int w = 0; w < at_once; ++w) {
        const uint64_t seed = draw_seed();
        workers.emplace_back([&of, seed] {
            fesetenv(FE_DFL_ENV); /* a GPU knows nothing of the caller's */
            std::vector<char *> stacks;
            for (int number; (number = of.next++) < of.blocks;)
                run_block(&of, number, seed + (uint64_t)number, stacks);
            for (char *stack : stacks) free(stack);
        });
    }
    for (std::thread &worker : workers) worker.join();
}

void wait() {
    switch_stacks(&static_cast<fiber *>(self)->at, scheduler);
}

const uint64_t *exchange(uint64_t mine) {
    warp_barrier &m = here->warps[(size_t)self->warp];
    const int lanes = std::min(32, here->of->threads - 32 * self->warp);
    const unsigned phase = m.phase;
    m.values[phase & 1][self->lane] = mine;
    if (++m.arrived == lanes) {
        m.arrived = 0;
        ++m.phase;
    }
    while (m.phase == phase) wait();
    return m.values[phase & 1];
}

bool synchronize(int barrier, int threads, bool agrees) {
    expect((size_t)barrier < std::size(here->barriers), "a barrier that there is");
    block_barrier &m = here->barriers[barrier];
    const unsigned phase = m.phase;
    m.agreed[phase & 1] += agrees;
    if (++m.arrived == threads) {
        m.arrived = 0;
        m.agreed[++m.phase & 1] = 0;
    }
    while (m.phase == phase) wait();
    return m.agreed[phase & 1] == threads;
}

char *dynamic_shared() {
    return here->shared;
}

void later(std::function<void()> copy) {
    here->loads.push_back(std::move(copy));
}
void later_store(std::function<void()> copy) {
    here->stores.push_back(std::move(copy));
}

void cluster_arrive() {
    ++self->cluster_arrivals;
    ++here->of->cluster_arrivals;
}
void cluster_wait() {
    const long all = self->cluster_arrivals * here->of->blocks * here->of->threads;
    while (here->of->cluster_arrivals < all) wait();
}
void *in_first_block(void *at) {
    return here->of->first_block + ((char *)at - (char *)__builtin_thread_pointer());
}

void expect(bool condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "emulator: expected %s\n", what);
    abort();
}

} /* namespace emulated */
