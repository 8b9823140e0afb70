/* SPDX-License-Identifier: Apache-2.0 */
/* The count that a call may be asked for; see counted.h. */
#include "counted.h"

#include "maps.h"

void counted_make(vscan_ctx *ctx, struct counted *c, struct inputs_random *random) {
    const bool asked = inputs_below(random, 2);
    *c = (struct counted){.device =
                              guarded_make(ctx, VSCAN_LONG, 1, (int)inputs_below(random, 3), NULL)};
    if (asked) c->to_device = c->device.view;
}

void counted_check(vscan_ctx *ctx, struct counted *c, vscan_status status, vscan_status late,
                   int64_t count, const char *what) {
    if (status != VSCAN_OK) {
        print_error("%s: got %s: %s\n", what, vscan_status_name(status), vscan_ctx_last_error(ctx));
        fail();
    }
    maps_late(ctx, late, what);
    maps_check(&c->device, c->to_device != NULL ? &count : guarded_original(&c->device), what);
    guarded_free(&c->device);
}
