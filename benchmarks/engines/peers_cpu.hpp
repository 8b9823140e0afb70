// SPDX-License-Identifier: Apache-2.0
// What the peers in C++ share: the operators as function objects, and the step from an operation
// to its types. Inputs hold no NaN and no -0, and logical values are 0 and 1 (values.h), so the plain
// forms give what vscan promises.
#ifndef BENCH_PEERS_CPU_HPP
#define BENCH_PEERS_CPU_HPP

#include <cstdio>
#include <exception>
#include <type_traits>

extern "C" {
#include "peers_cpu.h"
}

template <class Call>
void peer_with_operator(vscan_op op, Call call) {
    switch (op) {
    case VSCAN_MAX:
        return call([](auto a, auto b) { return a < b ? b : a; });
    case VSCAN_MIN:
        return call([](auto a, auto b) { return b < a ? b : a; });
    case VSCAN_AND:
        return call([](auto a, auto b) {
            if constexpr (std::is_integral_v<decltype(a)>)
                return a & b;
            else
                return decltype(a)(a != 0 && b != 0);
        });
    case VSCAN_OR:
        return call([](auto a, auto b) {
            if constexpr (std::is_integral_v<decltype(a)>)
                return a | b;
            else
                return decltype(a)(a != 0 || b != 0);
        });
    case VSCAN_PLUS:
    case VSCAN_OP_FORCE_INT:
        break;
    }
    call([](auto a, auto b) {
        if constexpr (std::is_integral_v<decltype(a)>)
            return decltype(a)(std::make_unsigned_t<decltype(a)>(a) +
                               std::make_unsigned_t<decltype(a)>(b));
        else
            return a + b;
    });
}

// scan(in, out, op) on the work's vectors, with their types.
template <class Scan>
bool peer_run(const struct engine *engine, const struct work *work, int64_t set, Scan scan) {
    const void *in = work_in(work, ON_HOST, set);
    void *out = work_out(work, ON_HOST, set);
    try {
        peer_with_operator(work->op, [&](auto op) {
            if (work->type == VSCAN_INT)
                scan(static_cast<const int32_t *>(in), static_cast<int32_t *>(out), op);
            else if (work->type == VSCAN_LONG)
                scan(static_cast<const int64_t *>(in), static_cast<int64_t *>(out), op);
            else if (work->type == VSCAN_FLOAT)
                scan(static_cast<const float *>(in), static_cast<float *>(out), op);
            else
                scan(static_cast<const double *>(in), static_cast<double *>(out), op);
        });
        return true;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "bench: %s: %s\n", engine->name, e.what());
        return false;
    }
}

#endif
