/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream compaction: of n random numbers, keep those greater than 0, in their order.
 *
 * Where does a number that is kept go? To the place whose number is the count of kept ones before it,
 * and these counts are the exclusive plus-scan of the flags "is kept". So the classic form of the vector
 * model is three steps: compare (flags), enumerate (the scan of the flags), and permute (each kept number
 * to its place); here numbers that are not kept go, from the back, to places behind, so that the
 * positions are a permutation: that is a split. vscan_pack_compare does all of it in one pass over the
 * numbers and stores neither flags nor positions. Literature: Blelloch, Prefix Sums and Their
 * Applications, 1990, section 1.3; Horn, Stream Reduction Operations for GPGPU Applications, GPU Gems 2,
 * 2005; Billeter, Olsson and Assarsson, Efficient Stream Compaction on Wide SIMD Many-Core
 * Architectures, 2009.
 *
 *     compaction [n [seed]]
 */
#include "program.h"

int main(int argc, char **argv) {
    read_n_and_seed(argc, argv, 1 << 20, 0, INT64_C(1) << 40);
    return close_context(open_context(), true);
}
