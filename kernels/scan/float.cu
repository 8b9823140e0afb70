/* SPDX-License-Identifier: Apache-2.0 */
/* The launchers of the pairs in lib/core/pairs.h with type float. A file for each size or kind of element, to
   compile them in parallel. */
#include "scan/launch.cuh"

#define ROW_FLOAT(name, op, type) ROW(name, op, type)
#define ROW_INT(name, op, type)
#define ROW_LONG(name, op, type)
#define ROW_DOUBLE(name, op, type)

#define X(pair, op, type, OP, TYPE) ROW_##TYPE(pair, op, type)
VSCAN__PAIRS(X)
