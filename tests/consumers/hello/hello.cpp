// SPDX-License-Identifier: Apache-2.0
// c++ hello.cpp $(pkg-config --cflags --libs libvscan)
#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>
#include <vscan.h>

namespace {

struct deleter {
    void operator()(vscan_ctx *ctx) const { vscan_ctx_destroy(ctx); }
    void operator()(vscan_buffer *buffer) const { vscan_buffer_destroy(buffer); }
};
using context = std::unique_ptr<vscan_ctx, deleter>;
using buffer = std::unique_ptr<vscan_buffer, deleter>;

struct error : std::runtime_error {
    error(vscan_status s, const vscan_ctx *ctx)
        : runtime_error(vscan_ctx_last_error(ctx)), status(s) {}
    vscan_status status;
};

void check(vscan_status status, const context &ctx = nullptr) {
    if (status != VSCAN_OK) throw error(status, ctx.get());
}

context make_context(vscan_backend backend) {
    vscan_ctx_options options{};
    options.size = sizeof options;
    options.backend = backend;
    vscan_ctx *ctx = nullptr;
    check(vscan_ctx_create(&options, &ctx));
    return context(ctx);
}

// The vector itself, no copy of it; it must live, and stay where it is, as long as the buffer.
buffer wrap(const context &ctx, std::vector<int32_t> &v) {
    vscan_buffer *wrapped = nullptr;
    check(
        vscan_buffer_wrap(ctx.get(), VSCAN_INT, v.data(), static_cast<int64_t>(v.size()), &wrapped),
        ctx);
    return buffer(wrapped);
}

void print(const std::vector<int32_t> &v) {
    for (int32_t x : v) std::printf("%d ", x);
    std::puts("");
}

} // namespace

int main() try {
    std::vector<int32_t> v{3, 1, 4, 1, 5, 9, 2, 6}, sums(v.size()), shorter(v.size() - 1);

    // An array: one call.
    check(vscan_host_scan(VSCAN_PLUS, VSCAN_INT, VSCAN_INCLUSIVE, VSCAN_FORWARD, v.data(),
                          static_cast<int64_t>(v.size()), sums.data()));
    print(sums);

    // Many calls, or a GPU: a context, and buffers.
    const context ctx = make_context(VSCAN_BACKEND_CPU);
    const buffer in = wrap(ctx, v), out = wrap(ctx, sums), too_short = wrap(ctx, shorter);
    vscan_scan_options exclusive{};
    exclusive.size = sizeof exclusive;
    exclusive.kind = VSCAN_EXCLUSIVE;
    check(vscan_scan(ctx.get(), VSCAN_PLUS, in.get(), out.get(), &exclusive), ctx);
    check(vscan_ctx_synchronize(ctx.get()), ctx); // before sums is read
    print(sums);

    // What is refused has a status and a sentence.
    try {
        check(vscan_scan(ctx.get(), VSCAN_PLUS, in.get(), too_short.get(), nullptr), ctx);
    } catch (const error &refused) {
        std::printf("status %d: %s\n", refused.status, refused.what());
    }
} catch (const std::exception &failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
