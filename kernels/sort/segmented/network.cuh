/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting networks. A warp sorts up to 512 numbers in registers, in one group or in several groups
 * of a power of two of lanes. A lane has 16 consecutive numbers and sorts them by Batcher's
 * odd-even merge sort. Then groups of 2, 4, ... lanes are merged: each number of the lower half is
 * compared with its mirror image in the upper half, then with the numbers 1/2, 1/4, ... as far
 * away, first in other lanes and then in the same lane. Which numbers are compared does not depend
 * on the data. The sort is not stable: a caller that needs the order of equal keys must make the
 * numbers differ.
 */
#pragma once

#include "sort/tile.cuh"

namespace vscan {

template <class T>
static DEVICE void compare_exchange(T &a, T &b) {
    const bool flipped = b < a;
    const T low = flipped ? b : a;
    b = flipped ? a : b;
    a = low;
}

/* Merges sorted runs of Have items of a lane into runs of 2 * Have: compares items Apart apart,
   then nearer ones. */
template <int Have, int Apart = Have, class T, int N>
static DEVICE void merge_runs(T (&x)[N]) {
    constexpr int first = Apart % Have;
    UNROLL_FOR (int i = first; i + Apart < N; ++i)
        if ((i - first) / Apart % 2 == 0 && i / (2 * Have) == (i + Apart) / (2 * Have))
            compare_exchange(x[i], x[i + Apart]);
    if constexpr (Apart > 1) merge_runs<Have, Apart / 2>(x);
}

/* Sorts the N items of a lane; N is a power of two. */
template <int Have = 1, class T, int N>
static DEVICE void sort_items(T (&x)[N]) {
    merge_runs<Have>(x);
    if constexpr (2 * Have < N) sort_items<2 * Have>(x);
}

/* Sorts the items of a lane, which are a bitonic sequence. */
template <int Apart, class T>
static DEVICE void merge_bitonic(T (&x)[network_items]) {
    UNROLL_FOR (int i = 0; i < network_items; ++i)
        if ((i & Apart) == 0) compare_exchange(x[i], x[i + Apart]);
    if constexpr (Apart > 1) merge_bitonic<Apart / 2>(x);
}

/* x = the smaller of x and y, or the larger. */
template <class T>
static DEVICE void keep_one(T &x, T y, bool smaller) {
    if constexpr (sizeof(T) == 4)
        x = smaller ? (x < y ? x : y) : (x < y ? y : x);
    else
        x = (y < x) == smaller ? y : x;
}

/* Sorts groups of `lanes` lanes, a power of two. half: the upper 8 items of every lane are already
   the greatest. */
template <class T>
static DEVICE void sort_by_network(T (&x)[network_items], int lanes, bool half) {
    constexpr int I = network_items;
    const int lane = threadIdx.x % 32;
    merge_runs<1>(x);
    merge_runs<2>(x);
    merge_runs<4>(x);
    if (!half) merge_runs<8>(x);
    ROLLED_FOR (int merged = 2; merged <= lanes; merged *= 2) {
        bool smaller = (lane & merged / 2) == 0;
        UNROLL_FOR (int i = 0; i < I / 2; ++i) {
            const T low = __shfl_xor_sync(warp_mask, x[I - 1 - i], merged - 1);
            const T high = __shfl_xor_sync(warp_mask, x[i], merged - 1);
            keep_one(x[i], low, smaller);
            keep_one(x[I - 1 - i], high, smaller);
        }
        ROLLED_FOR (int apart = merged / 4; apart > 0; apart /= 2) {
            smaller = (lane & apart) == 0;
            UNROLL_FOR (int i = 0; i < I; ++i)
                keep_one(x[i], __shfl_xor_sync(warp_mask, x[i], apart), smaller);
        }
        merge_bitonic<I / 2>(x);
    }
}

/* The index of number p in shared memory: an XOR layout without bank conflicts, both for lanes that
   read 16 consecutive numbers and for lanes that read one each. */
template <class T>
static DEVICE int swizzled_index(int p) {
    return sizeof(T) == 4 ? p ^ (p >> 5 & 3) << 2 : p ^ (p >> 4 & 7) << 1;
}

/* A lane's 16 numbers, from and to that layout. */
template <class T>
static DEVICE void load_numbers(T (&x)[network_items], const T *buffer) {
    constexpr int V = 16 / (int)sizeof(T);
    const int first = threadIdx.x % 32 * network_items;
    UNROLL_FOR (int i = 0; i < network_items; i += V) {
        T vector[V];
        load_wide<T, V>(vector, buffer + swizzled_index<T>(first + i));
        UNROLL_FOR (int k = 0; k < V; ++k) x[i + k] = vector[k];
    }
}
template <class T>
static DEVICE void store_numbers(T *buffer, const T (&x)[network_items]) {
    constexpr int V = 16 / (int)sizeof(T);
    const int first = threadIdx.x % 32 * network_items;
    UNROLL_FOR (int i = 0; i < network_items; i += V) {
        T vector[V];
        UNROLL_FOR (int k = 0; k < V; ++k) vector[k] = x[i + k];
        store_wide<T, V>(buffer + swizzled_index<T>(first + i), vector);
    }
}

} /* namespace vscan */
