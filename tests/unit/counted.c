/* SPDX-License-Identifier: Apache-2.0 */
/* The count that a call may be asked for; see counted.h. */
#include "counted.h"

#include "maps.h"

#include <inttypes.h>

enum { NOT_WRITTEN = -77 };

void counted_make(vscan_ctx *ctx, struct counted *c, struct inputs_random *random) {
    const bool on_device = inputs_below(random, 2), on_host = inputs_below(random, 3) == 0;
    *c = (struct counted){.host = NOT_WRITTEN};
    c->device = guarded_make(ctx, VSCAN_LONG, 1, (int)inputs_below(random, 3), NULL);
    if (on_device) c->to_device = c->device.view;
    if (on_host) c->to_host = &c->host;
}

void counted_check(vscan_ctx *ctx, struct counted *c, vscan_status status, vscan_status late,
                   int64_t count, const char *what) {
    const bool on_host = c->to_host != NULL;
    const vscan_status expected = on_host ? late : VSCAN_OK;
    if (status != expected) {
        print_error("%s: expected %s, got %s: %s\n", what, vscan_status_name(expected),
                    vscan_status_name(status), vscan_ctx_last_error(ctx));
        fail();
    }
    maps_late(ctx, on_host ? VSCAN_OK : late, what);
    maps_check(&c->device, c->to_device != NULL ? &count : guarded_original(&c->device), what);
    if (c->host != (on_host ? count : NOT_WRITTEN)) {
        print_error("%s: expected count %" PRId64 ", got %" PRId64 " on the host\n", what, count,
                    c->host);
        fail();
    }
    guarded_free(&c->device);
}
