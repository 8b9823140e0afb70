/* SPDX-License-Identifier: Apache-2.0
 * An addon of Node, for hello.js:
 *     cc -shared -fPIC -I/usr/include/node -o vscan.node hello_node.c $(pkg-config --cflags --libs libvscan) */
#include <node_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <vscan.h>

/* What Node refuses becomes an exception. */
#define NODE(call)                                                                                 \
    do {                                                                                           \
        if ((call) != napi_ok) {                                                                   \
            napi_throw_type_error(env, NULL, #call " failed");                                     \
            return NULL;                                                                           \
        }                                                                                          \
    } while (0)

/* What the library refuses, too: its status is the code, its sentence the message. */
static bool refused(napi_env env, vscan_status status, const vscan_ctx *ctx) {
    if (status == VSCAN_OK) return false;
    char text[600];
    snprintf(text, sizeof text, "status %d: %s", status, vscan_ctx_last_error(ctx));
    napi_throw_error(env, vscan_status_name(status), text);
    return true;
}

static napi_status find_ints(napi_env env, napi_value array, void **ints, size_t *n) {
    napi_typedarray_type type;
    napi_status status = napi_get_typedarray_info(env, array, &type, n, ints, NULL, NULL);
    return status == napi_ok && type != napi_int32_array ? napi_invalid_arg : status;
}

/* sums(Int32Array): a new one, in one call. */
static napi_value sums(napi_env env, napi_callback_info info) {
    size_t count = 1, n;
    napi_value in, memory, out;
    void *from, *to;
    NODE(napi_get_cb_info(env, info, &count, &in, NULL, NULL));
    NODE(find_ints(env, in, &from, &n));
    NODE(napi_create_arraybuffer(env, n * sizeof(int32_t), &to, &memory));
    NODE(napi_create_typedarray(env, napi_int32_array, n, memory, 0, &out));
    vscan_status status = vscan_host_scan(VSCAN_PLUS, VSCAN_INT, VSCAN_INCLUSIVE, VSCAN_FORWARD,
                                          from, (int64_t)n, to);
    return refused(env, status, NULL) ? NULL : out;
}

/* ---- class Context, for many calls ---- */

static void destroy(napi_env env, void *ctx, void *hint) {
    (void)env, (void)hint;
    vscan_ctx_destroy(ctx);
}

static napi_value construct(napi_env env, napi_callback_info info) {
    vscan_ctx_options on_cpu = {.size = sizeof on_cpu, .backend = VSCAN_BACKEND_CPU};
    vscan_ctx *ctx = NULL;
    napi_value self;
    NODE(napi_get_cb_info(env, info, NULL, NULL, &self, NULL));
    if (refused(env, vscan_ctx_create(&on_cpu, &ctx), NULL)) return NULL;
    if (napi_wrap(env, self, ctx, destroy, NULL, NULL) != napi_ok) vscan_ctx_destroy(ctx);
    return self;
}

/* ctx.scan(in, out, kind): of the arrays' own memory, no copies; waits, so that it can be read, and go. */
static napi_value scan(napi_env env, napi_callback_info info) {
    size_t count = 3, n_in, n_out;
    napi_value arguments[3], self;
    void *ctx, *from, *to;
    vscan_scan_options options = {.size = sizeof options};
    vscan_buffer *in = NULL, *out = NULL;
    NODE(napi_get_cb_info(env, info, &count, arguments, &self, NULL));
    NODE(napi_unwrap(env, self, &ctx));
    NODE(find_ints(env, arguments[0], &from, &n_in));
    NODE(find_ints(env, arguments[1], &to, &n_out));
    NODE(napi_get_value_int32(env, arguments[2], &options.kind));
    vscan_status status = vscan_buffer_wrap(ctx, VSCAN_INT, from, (int64_t)n_in, &in);
    if (!status) status = vscan_buffer_wrap(ctx, VSCAN_INT, to, (int64_t)n_out, &out);
    if (!status) status = vscan_scan(ctx, VSCAN_PLUS, in, out, &options);
    if (!status) status = vscan_ctx_synchronize(ctx);
    refused(env, status, ctx);
    vscan_buffer_destroy(out);
    vscan_buffer_destroy(in);
    return NULL;
}

/* ---- The module ---- */

NAPI_MODULE_INIT() {
    napi_property_descriptor method = {.utf8name = "scan", .method = scan};
    napi_value context, function, inclusive, exclusive;
    NODE(
        napi_define_class(env, "Context", NAPI_AUTO_LENGTH, construct, NULL, 1, &method, &context));
    NODE(napi_create_function(env, "sums", NAPI_AUTO_LENGTH, sums, NULL, &function));
    NODE(napi_create_int32(env, VSCAN_INCLUSIVE, &inclusive));
    NODE(napi_create_int32(env, VSCAN_EXCLUSIVE, &exclusive));
    NODE(napi_set_named_property(env, exports, "Context", context));
    NODE(napi_set_named_property(env, exports, "sums", function));
    NODE(napi_set_named_property(env, exports, "INCLUSIVE", inclusive));
    NODE(napi_set_named_property(env, exports, "EXCLUSIVE", exclusive));
    return exports;
}
