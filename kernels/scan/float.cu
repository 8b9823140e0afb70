/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of scans and segmented scans of floats. A file for each type of
   values, to compile them in parallel; scan/launch.cu launches them. */
#include "scan/launch.cuh"

SCANS_OF(op_plus, float)
SCANS_OF(op_max, float)
