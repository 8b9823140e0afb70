/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPI_STAND_IN_H
#define MPI_STAND_IN_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this rank's contexts are taken for those of a GPU. */
extern bool pretends_gpu;

/* Memory whose pages are locked, and not unlocked yet. */
extern int64_t locked;

#endif
