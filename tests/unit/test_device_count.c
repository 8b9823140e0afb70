/* SPDX-License-Identifier: Apache-2.0 */
/* vscan_device_count where the backend fails to count, in every way that it may: the answer is 0, and the
   thread's last error stays as it was. The library's own code with a CUDA backend that only fails. */
#include "api/device.c"

#include "core/internal.h"
#include "harness.h"

static vscan_status failure;

static vscan_status fail_to_count(int32_t *count) {
    *count = 77;
    return VSCAN__FAIL(NULL, failure, "the test wants it");
}

static vscan_status count_one(int32_t *count) {
    *count = 1;
    return VSCAN_OK;
}

const struct vscan__backend vscan__cuda = {.name = "cuda", .device_count = fail_to_count};
const struct vscan__backend vscan__cpu = {.name = "cpu", .device_count = count_one};

static void every_failure(void **state) {
    (void)state;
    int32_t count = -1;
    assert_int_equal(vscan_device_count(VSCAN_BACKEND_CPU, NULL), VSCAN_ERROR_NULL);
    for (int status = 100; status < 400; status++) {
        failure = (vscan_status)status;
        count = -1;
        assert_int_equal(vscan_device_count(VSCAN_BACKEND_CUDA, &count), VSCAN_OK);
        assert_int_equal(count, 0);
        assert_string_equal(vscan_ctx_last_error(NULL), "vscan_device_count: count is NULL");
    }
    assert_int_equal(vscan_device_count(VSCAN_BACKEND_CPU, &count), VSCAN_OK);
    assert_int_equal(count, 1);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_failure)};
    return harness_run(argc, argv, tests, sizeof tests / sizeof tests[0]);
}
