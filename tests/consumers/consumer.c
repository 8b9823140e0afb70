/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user's program, in the language that C99 and C++ share: sums 1 to 1000 with the installed
 * library, and compares the versions of header, library and package (EXPECTED_VERSION).
 */
#include <stdio.h>
#include <string.h>
#include <vscan.h>

enum { N = 1000 };

static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, vscan_ctx_last_error(NULL));
    return 1;
}

int main(void) {
    int32_t values[N];
    vscan_ctx_options options;
    vscan_ctx *ctx = NULL;
    vscan_buffer *buffer = NULL;
    int i;

    if (vscan_version() != VSCAN_VERSION) return failed("header and library differ");
    if (strcmp(vscan_version_text(), EXPECTED_VERSION) != 0) return failed("package differs");

    memset(&options, 0, sizeof options);
    options.size = (int64_t)sizeof options;
    options.backend = VSCAN_BACKEND_CPU;
    for (i = 0; i < N; i++) values[i] = i + 1;
    if (vscan_ctx_create(&options, &ctx) != VSCAN_OK) return failed("vscan_ctx_create");
    if (vscan_buffer_create(ctx, VSCAN_INT, N, &buffer) != VSCAN_OK ||
        vscan_buffer_upload(buffer, 0, N, values) != VSCAN_OK ||
        vscan_scan(ctx, VSCAN_PLUS, buffer, buffer, NULL) != VSCAN_OK ||
        vscan_buffer_download(buffer, 0, N, values) != VSCAN_OK) {
        fprintf(stderr, "%s\n", vscan_ctx_last_error(ctx));
        return 1;
    }
    for (i = 0; i < N; i++)
        if (values[i] != (i + 1) * (i + 2) / 2) return failed("a wrong sum");
    vscan_buffer_destroy(buffer);
    vscan_ctx_destroy(ctx);
    printf("1 + ... + %d = %d\n", (int)N, (int)values[N - 1]);
    return 0;
}
