/* SPDX-License-Identifier: Apache-2.0 */
/* Random vectors, lengths and addresses for the cases of emulated_maps.cpp. */
#ifndef TESTS_CASES_VECTORS_H
#define TESTS_CASES_VECTORS_H

#include "two_copies.h"

struct twins : two_copies {
    twins(int type_, int64_t n_, int shift) : two_copies(type_, n_, shift) {
        draw();
        other = mine;
    }

  private:
    template <class T>
    static T number() {
        const T some[] = {(T)0, (T)-0.0, (T)1, (T)-1, (T)2, (T)31, (T)32, (T)33, (T)1e9};
        return some[below(9)];
    }
    /* besides random bits, numbers that operators treat specially, and flags that are not set */
    void draw() {
        if (type == VSCAN_BIT) return;
        for (int64_t i = 0; i < n; ++i) {
            if (below(3) == 0) continue;
            char *const to = mine.data() + before + i * size_of(type);
            const int32_t as_int = below(8) ? number<int32_t>() : INT32_MIN;
            const int64_t as_long = below(8) ? number<int64_t>() : INT64_MIN;
            const float as_float = below(8) ? number<float>() : below(2) ? 1 / 0.0f : -0.0f / 0.0f;
            const double as_double = below(8) ? number<double>() : below(2) ? 1 / 0.0 : 0.0 / 0.0;
            if (type == VSCAN_INT) memcpy(to, &as_int, 4);
            if (type == VSCAN_LONG) memcpy(to, &as_long, 8);
            if (type == VSCAN_FLOAT) memcpy(to, &as_float, 4);
            if (type == VSCAN_DOUBLE) memcpy(to, &as_double, 8);
            if (type == VSCAN_BYTE) *to = 0;
        }
    }

  public:
    bool same() const override {
        if (mine == other) return true;
        for (size_t k = 0; k < mine.size(); ++k) {
            if (mine[k] == other[k]) continue;
            if (k < before || k >= before + (size_t)bytes_of(type, n)) return false;
            const size_t at = before + (k - before) / (size_t)size_of(type) * (size_t)size_of(type);
            float x, y;
            double v, w;
            memcpy(&x, &mine[at], 4);
            memcpy(&y, &other[at], 4);
            if (type == VSCAN_FLOAT && x != x && y != y) continue; /* NaNs are all the same */
            if (type != VSCAN_DOUBLE) return false;
            memcpy(&v, &mine[at], 8);
            memcpy(&w, &other[at], 8);
            if (v != v && w != w) continue;
            return false;
        }
        return true;
    }
};

static int64_t draw_length() {
    static const int64_t edges[] = {1, 32, 1024, 2048, 4096, 8192};
    if (below(3) == 0) return 1 + below(5000);
    const int64_t n = edges[below(6)] + below(9) - 4;
    return n > 0 ? n : 1;
}

/* Shifts of count vectors: alike, or not. */
static std::vector<int> draw_shifts(int count) {
    std::vector<int> shifts((size_t)count);
    const bool alike = below(2);
    const int all = below(2) ? 0 : (int)below(16);
    for (int &s : shifts) s = alike ? all : (int)below(16);
    return shifts;
}

static int draw_flag_type() {
    const int types[] = {VSCAN_INT, VSCAN_BYTE, VSCAN_BIT};
    return types[below(3)];
}

#endif
