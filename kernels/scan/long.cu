/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of scans and segmented scans for longs, but their maxima, which are kernels of doubles. A file for each type of
   values, to compile them in parallel; scan/launch.cu calls them. */
#include "scan/launch.cuh"

SCANS_OF(op_plus, long)
SCANS_OF(op_or, long)
