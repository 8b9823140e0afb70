/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of scans and segmented scans of longs; of maxima: scan/double.cu. A file for each type of
   values, to compile them in parallel; scan/launch.cu launches them. */
#include "scan/launch.cuh"

SCANS_OF(op_plus, long)
SCANS_OF(op_or, long)
