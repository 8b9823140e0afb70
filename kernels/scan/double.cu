/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of scans and segmented scans of doubles, and of maxima of longs. A file for each type of
   values, to compile them in parallel; scan/launch.cu launches them. */
#include "scan/launch.cuh"

SCANS_OF(op_plus, double)
SCANS_OF(op_max, double)
