/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of scans and segmented scans of 4-byte elements; scan/launch.cu launches them. One file for all:
   what is alike in kernels takes little room in the library if they are compressed together. */
#include "scan/launch.cuh"

VSCAN__FORMS_OF_4_BYTES(SCANS_OF)
