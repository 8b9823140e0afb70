// SPDX-License-Identifier: Apache-2.0
// The steps of the look-back protocol under a weak memory model, that of C++, by Relacy: README.md.
//
// A thread is a block; one tile has one element. Two launches come one after the other, with the
// numbers 65535 and 0, so the number in the status words wraps, and the second one scrubs. All accesses to the workspace are
// relaxed. Elements and the carry are plain variables: Relacy reports two accesses to one of them,
// one of them a write, that nothing orders.
#include <cstdlib>
#include <cstring>

#include <relacy/relacy.hpp>

typedef unsigned long long uint64; // a status word, or a value

enum kind_of_launch { tickets, block_order, split };

static const unsigned blocks = 3, tiles = 3, launches = 2, capacity = 2 * tiles;
static const unsigned first_launch = 0xffff, last_launch = 0;
static const int kept[tiles] = {0, 1, 1}; // pack: elements of a tile that are
static const int patience = 2;

#define relaxed rl::memory_order_relaxed

// ---- Steps, as in kernels/protocol/lookback.cuh ---------------------------------------------------

static const unsigned odd_half = 1u << 31, even_half = 1u << 30;
static const unsigned number_mask = 0x7fff, number_shift = 15;
static const unsigned scrub_every = 128; // and a stretch is one status word

// The upper half of the status words of a launch.
static unsigned epoch_of(unsigned launch) {
    return (launch > number_mask ? odd_half : even_half) | (launch & number_mask) << number_shift;
}

static bool is_of(unsigned launch, uint64 w) {
    return w >> 32 == epoch_of(launch);
}

// The counter has the epoch with its even bit inverted.
static uint64 counter_of(unsigned launch) {
    return (uint64)(epoch_of(launch) ^ even_half) << 32;
}

static unsigned launch_in(uint64 counter) {
    const unsigned epoch = (unsigned)(counter >> 32) ^ even_half;
    return (epoch & odd_half ? number_mask + 1 : 0) | (epoch >> number_shift & number_mask);
}

struct workspace {
    rl::atomic<uint64> counter;
    rl::atomic<unsigned> arrived;
    rl::atomic<uint64> words[capacity];

    // The status words of the launch before, all with other values.
    void set_up() {
        counter.store(counter_of(first_launch), relaxed);
        arrived.store(0, relaxed);
        for (unsigned i = 0; i < capacity; ++i)
            words[i].store((uint64)epoch_of(first_launch - 1) << 32 | 1000, relaxed);
    }

    void publish(bool wide, unsigned launch, unsigned tile, uint64 value) {
#ifdef FORGET_PUBLISH
        if (tile == 1) return;
#endif
        const uint64 upper = (uint64)epoch_of(launch) << 32;
        if (!wide) {
            words[tile].store(upper | value, relaxed);
            return;
        }
        words[2 * tile].store(upper | (value & 0xffffffffu), relaxed);
        words[2 * tile + 1].store(upper | value >> 32, relaxed);
    }

    // Whether the aggregate is of this launch.
    bool read(bool wide, unsigned launch, unsigned tile, uint64 *value) {
        const uint64 low = words[wide ? 2 * tile : tile].load(relaxed);
        *value = low & 0xffffffffu;
        if (!wide) return is_of(launch, low);
        const uint64 high = words[2 * tile + 1].load(relaxed);
        *value |= high << 32;
#ifdef UNTAGGED
        return is_of(launch, low);
#else
        return is_of(launch, low) && is_of(launch, high);
#endif
    }

    uint64 wait_for(bool wide, unsigned launch, unsigned tile) {
        uint64 value;
        while (!read(wide, launch, tile, &value)) rl::yield(1, $);
        return value;
    }

    // Clears the other half's bit of the launch's stretch: words of that half become invalid, words of
    // this one stay as they are.
    void scrub(unsigned launch) {
        const unsigned number = launch & number_mask, at = number / scrub_every;
        if (number % scrub_every != 0 || at >= capacity) return;
        const uint64 other_half = (uint64)(launch > number_mask ? even_half : odd_half) << 32;
#ifdef SCRUB_NOT_ATOMIC
        const uint64 w = words[at].load(relaxed);
        words[at].store(w & ~other_half, relaxed);
#else
        words[at].fetch_and(~other_half, relaxed);
#endif
    }

    void advance(unsigned launch) {
        unsigned next = (epoch_of(launch) ^ even_half) + (1u << number_shift);
        next |= next << 1 & odd_half;
        counter.store((uint64)next << 32, relaxed);
    }
};

// __threadfence() where a kernel has one.
static void fence_before_publishing(bool needed) {
#ifndef NO_FENCE_BEFORE_PUBLISHING
    if (needed) rl::atomic_thread_fence(rl::memory_order_seq_cst);
#endif
}

static void fence_after_reading(bool needed) {
#ifndef NO_FENCE_AFTER_READING
    if (needed) rl::atomic_thread_fence(rl::memory_order_seq_cst);
#endif
}

// ---- Launches -----------------------------------------------------------------------------------

//   InPlace   a pack whose results go where elements of this or earlier tiles were
//   Carry     the last tile's block writes the total where every block has read the initial value
//   Wide      values of 8 bytes
template <kind_of_launch Kind, bool InPlace, bool Carry, bool Wide>
struct test : rl::test_suite<test<Kind, InPlace, Carry, Wide>, blocks> {
    workspace space;
    rl::var<uint64> elements[tiles], carry, results[tiles];
    rl::atomic<unsigned> ended; // blocks of all launches

    static uint64 scale() {
        return Wide ? 0x100000001ull : 1; // both status words of a wide value count
    }

    void before() {
        space.set_up();
        for (unsigned t = 0; t < tiles; ++t) {
            elements[t]($) = (t + 1) * scale();
            results[t]($) = 0;
        }
        carry($) = 7 * scale();
        ended.store(0, relaxed);
    }

    // An element, but in the last launch 10 more, so that no two launches publish the same.
    static uint64 of_launch(unsigned launch, uint64 element) {
        return element + (!InPlace && launch == last_launch ? 10 * scale() : 0);
    }

    // Loads of a tile: before its word is published.
    uint64 load(unsigned launch, unsigned tile, uint64 *initial) {
        if (Carry) *initial = carry($);
        return of_launch(launch, elements[tile]($));
    }

    // What a tile publishes.
    static uint64 aggregate(unsigned launch, unsigned tile) {
        return InPlace ? (uint64)kept[tile] : of_launch(launch, (tile + 1) * scale());
    }

    uint64 taken(unsigned launch, unsigned tile, uint64 value) {
        const bool of_this_launch = value == aggregate(launch, tile);
        RL_ASSERT(of_this_launch);
        return value;
    }

    void store(unsigned tile, uint64 element, uint64 sum_before, uint64 initial) {
        if (InPlace) {
            if (kept[tile]) elements[sum_before]($) = element;
        } else {
            results[tile]($) = initial + sum_before;
        }
        if (Carry && tile == tiles - 1) carry($) = initial + sum_before + element;
    }

    // A tile: loads, publishes, waits, stores.
    void process(unsigned launch, unsigned tile) {
        uint64 initial = 0;
        const uint64 element = load(launch, tile, &initial);
        if (tile < tiles - 1) {
            fence_before_publishing(InPlace || Carry);
            space.publish(Wide, launch, tile, InPlace ? (uint64)kept[tile] : element);
        }
        const bool closes = Kind == block_order && tile == tiles - 1;
        if (closes) space.scrub(launch);
        uint64 sum = 0;
        for (unsigned t = 0; t < tile; ++t)
            sum += taken(launch, t, space.wait_for(Wide, launch, t));
        fence_after_reading(InPlace || Carry);
        if (closes) space.advance(launch);
        store(tile, element, sum, initial);
    }

    void take_tiles() {
        for (;;) {
            const uint64 before = space.counter.fetch_add(1, relaxed);
            const unsigned launch = launch_in(before), ticket = (unsigned)before;
            if (ticket == tiles + blocks - 1) {
                space.scrub(launch);
                space.advance(launch);
            }
            if (ticket >= tiles) return;
            process(launch, ticket);
        }
    }

    // All wait for all, or count themselves what is not there.
    void split_tile(unsigned launch, unsigned tile) {
        space.publish(false, launch, tile, of_launch(launch, elements[tile]($)));
        const unsigned before_me = space.arrived.fetch_add(1, relaxed);
        uint64 sum = 0;
        for (unsigned t = 0; t < tiles; ++t) {
            uint64 value = 0;
            bool missing = true;
            for (int k = 0; k < patience && missing; ++k) {
                missing = !space.read(false, launch, t, &value);
                if (missing) rl::yield(1, $);
            }
            sum += taken(launch, t, missing ? of_launch(launch, elements[t]($)) : value);
        }
        if (before_me == blocks - 1) {
#ifndef FORGET_ARRIVED
            space.arrived.store(0, relaxed);
#endif
            space.scrub(launch);
            space.advance(launch);
        }
        results[tile]($) = sum;
    }

    void thread(unsigned me) {
        for (unsigned k = 0; k < launches; ++k) {
            const unsigned launch = launch_in(space.counter.load(relaxed));
            if (Kind == tickets) take_tiles();
            if (Kind != tickets) RL_ASSERT(launch == ((first_launch + k) & 0xffff));
            if (Kind == block_order) process(launch, me);
            if (Kind == split) split_tile(launch, me);
            end_of_launch(k);
        }
    }

    // The wait for the grid before: it orders everything.
    void end_of_launch(unsigned k) {
#ifdef NO_WAIT
        ended.fetch_add(1, relaxed);
        while (ended.load(relaxed) < (k + 1) * blocks) rl::yield(1, $);
#else
        ended.fetch_add(1, rl::memory_order_acq_rel);
        while (ended.load(rl::memory_order_acquire) < (k + 1) * blocks) rl::yield(1, $);
#endif
    }

    void after() {
        const bool clean_counter = space.counter.load(relaxed) == counter_of(last_launch + 1);
        RL_ASSERT(clean_counter);
        const bool nobody_arrived = space.arrived.load(relaxed) == 0;
        RL_ASSERT(nobody_arrived);
        // of 11, 12, 13, the sums before each, or of all; a pack makes {2, 3, 3} of {1, 2, 3}
        const uint64 right[2][tiles] = {{0, 11, 23}, {36, 36, 36}}, packed[tiles] = {3, 3, 3};
        for (unsigned t = 0; t < tiles; ++t) {
            const uint64 initial = Carry ? 7 + 6 : 0; /* of the second launch */
            const bool right_results =
                InPlace ? elements[t]($) == packed[t] * scale()
                        : results[t]($) == (initial + right[Kind == split][t]) * scale();
            RL_ASSERT(right_results);
        }
        const bool right_carry = !Carry || carry($) == (7 + 6 + 36) * scale();
        RL_ASSERT(right_carry);
    }
};

// ---- Runs ---------------------------------------------------------------------------------------

static bool all_right = true;
static unsigned long total;

template <class Test>
static void run(const char *name, const char *only, unsigned long executions) {
    if (only != NULL && strcmp(only, name) != 0) return;
    if (!all_right) return;
    const rl::scheduler_type_e schedulers[] = {rl::sched_random, rl::sched_bound};
    for (int k = 0; k < 2 && all_right; ++k) {
        rl::test_params p;
        p.search_type = schedulers[k];
        p.context_bound = 1;
        p.iteration_count = executions;
        p.execution_depth_limit = 5000;
        p.progress_stream = p.output_stream;
        all_right = rl::simulate<Test>(p);
        total += (unsigned long)p.stop_iteration;
        std::cout << name << ": " << p.stop_iteration << " executions, "
                  << rl::format(p.search_type) << ", " << (all_right ? "no error" : "an error")
                  << std::endl;
    }
}

int main(int count, char **arguments) {
    const unsigned long executions = count > 1 ? strtoul(arguments[1], NULL, 10) : 1000;
    const char *const only = count > 2 ? arguments[2] : NULL;
    run<test<tickets, false, false, false>>("tickets", only, executions);
    run<test<tickets, true, false, false>>("tickets_in_place", only, executions);
    run<test<tickets, false, true, false>>("tickets_carry", only, executions);
    run<test<tickets, false, false, true>>("tickets_wide", only, executions);
    run<test<block_order, false, true, true>>("block_order_carry_wide", only, executions);
    run<test<block_order, true, false, false>>("block_order_in_place", only, executions);
    run<test<split, false, false, false>>("split", only, executions);
    std::cout << "all together: " << total << " executions, "
              << (all_right ? "no error" : "an error") << std::endl;
    return all_right ? 0 : 1;
}
