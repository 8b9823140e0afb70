/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of lib/pairs.h for float. One file a type, so that they compile side by side. */
#include "scan/launch.cuh"

#define ROW_FLOAT(name, op, type) ROW(name, op, type)
#define ROW_INT(name, op, type)
#define ROW_DOUBLE(name, op, type)

#define X(pair, op, type, OP, TYPE) ROW_##TYPE(pair, op, type)
VSCAN__PAIRS(X)
