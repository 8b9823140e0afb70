/* SPDX-License-Identifier: Apache-2.0 */
/* Peers on the host that are not installed where this was built. */
#include "bench.h"

#ifndef BENCH_TBB
const struct engine engine_tbb = {
    .name = "tbb", .place = ON_HOST, .absent = "TBB was not found when bench was built"};
#endif
#ifndef BENCH_THRUST_OMP
const struct engine engine_thrust_omp = {
    .name = "thrust-omp",
    .place = ON_HOST,
    .absent = "Thrust's headers were not found when bench was built"};
#endif
