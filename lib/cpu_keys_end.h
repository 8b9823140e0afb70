/* SPDX-License-Identifier: Apache-2.0 */
/* Takes back what cpu_keys.h and its includer have defined, for the next kind of element. No guard. */
#undef T
#undef T_REAL
#undef K
#undef K_BITS
#undef SUM
#undef NAME
#undef S
#undef U
#undef S_MAX
#undef S_MIN
#undef S_INFINITY
#undef S_ONE
#undef LANES
#undef LANES_LITERAL
#undef LANE_PATTERN
#undef SHIFT_PATTERN
#undef vec
#undef ivec
#undef tvec
