// SPDX-License-Identifier: Apache-2.0
// c++ hello.cpp $(pkg-config --cflags --libs libvscan)
#include <cstdio>
#include <memory>
#include <vector>
#include <vscan.h>

int main() {
    std::vector<int32_t> v{3, 1, 4, 1, 5, 9, 2, 6};
    vscan_ctx_options on_cpu{};
    vscan_scan_options scan{};
    on_cpu.size = sizeof on_cpu, on_cpu.backend = VSCAN_BACKEND_CPU, scan.size = sizeof scan;
    vscan_ctx *ctx = nullptr;
    if (vscan_ctx_create(&on_cpu, &ctx)) return std::puts(vscan_ctx_last_error(nullptr));
    std::unique_ptr<vscan_ctx, decltype(&vscan_ctx_destroy)> owner(ctx, vscan_ctx_destroy);
    vscan_buffer *w = nullptr; // v itself, no copy of it
    if (vscan_buffer_wrap(ctx, VSCAN_INT, v.data(), 8, &w)) return std::puts(vscan_ctx_last_error(ctx));
    std::unique_ptr<vscan_buffer, decltype(&vscan_buffer_destroy)> wrap(w, vscan_buffer_destroy);
    for (int32_t kind : {VSCAN_INCLUSIVE, VSCAN_EXCLUSIVE}) {
        scan.kind = kind;
        if (vscan_scan(ctx, VSCAN_PLUS, w, w, &scan) || vscan_ctx_synchronize(ctx))
            return std::puts(vscan_ctx_last_error(ctx));
        for (size_t i = 0; i < v.size(); i++) std::printf("%d%c", v[i], i < 7 ? ' ' : '\n');
    }
    int refused = vscan_scan(ctx, VSCAN_PLUS, w, nullptr, nullptr);
    std::printf("status %d: %s\n", refused, vscan_ctx_last_error(ctx));
}
