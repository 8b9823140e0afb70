/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of scans and segmented scans of ints, and of floats' or. A file for each type of
   values, to compile them in parallel; scan/launch.cu launches them. */
#include "scan/launch.cuh"

SCANS_OF(op_plus, int)
SCANS_OF(op_max, int)
SCANS_OF(op_or, int)
