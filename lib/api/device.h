/* SPDX-License-Identifier: Apache-2.0 */
/* What device.c offers to context.c. */
#ifndef VSCAN_DEVICE_H
#define VSCAN_DEVICE_H

#include "core/internal.h"

/* The table of CPU or CUDA. */
const struct vscan__backend *vscan__backend_table(vscan_backend backend);

/* ENUM unless the argument of that name is one of these two. The sentence goes to the thread. */
vscan_status vscan__check_backend(const char *name, int32_t backend);

/* NO_BACKEND, NO_DRIVER, NO_DEVICE unless the backend has a device of that number. The sentence
   goes to the thread. */
vscan_status vscan__check_device(const struct vscan__backend *backend, int32_t device);

#endif
