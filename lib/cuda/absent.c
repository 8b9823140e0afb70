/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA backend of a build without CUDA. No context of it can be opened, as it has no devices, so
 * no slot but these is ever called.
 */
#include "core/internal.h"
#include "core/text.h"

static vscan_status device_count(int32_t *count) {
    *count = 0;
    return VSCAN__FAIL(NULL, VSCAN_ERROR_NO_BACKEND, "this libvscan was built without CUDA");
}

static void describe(struct vscan__text *text) {
    vscan__add(text, "CUDA that built it: none\n");
}

const struct vscan__backend vscan__cuda = {
    .name = "cuda", .device_count = device_count, .describe = describe};
