/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The size in bytes of each options struct in the first version that had it. A struct may grow at its end. No
 * header ever had a smaller one, so a smaller size is refused; members that a caller's size does not cover are 0.
 * These numbers never change. The test consumer.later_library has a library in which all structs have grown.
 */
#ifndef VSCAN_FIRST_SIZES_H
#define VSCAN_FIRST_SIZES_H

enum {
    VSCAN__FIRST_COUNT = 16,
    VSCAN__FIRST_CTX = 32,
    VSCAN__FIRST_SCAN = 72,
    VSCAN__FIRST_SCAN_SEGMENTED = 80,
    VSCAN__FIRST_REDUCE = 64,
    VSCAN__FIRST_EXTREME = 16,
    VSCAN__FIRST_REDUCE_SEGMENTED = 56,
    VSCAN__FIRST_REDUCE_BY_OFFSETS = 48,
    VSCAN__FIRST_MATRIX = 80,
    VSCAN__FIRST_PERMUTE = 16,
    VSCAN__FIRST_SORT = 24,
    VSCAN__FIRST_MPI_PACK = 24,
};

#endif
