/* SPDX-License-Identifier: Apache-2.0 */
/* Backends and their devices, before there is a context. */
#include "api/device.h"

#include <inttypes.h>

#include "api/check.h"

const struct vscan__backend *vscan__backend_table(vscan_backend backend) {
    return backend == VSCAN_BACKEND_CUDA ? &vscan__cuda : &vscan__cpu;
}

vscan_status vscan__check_backend(const char *name, int32_t backend) {
    if (backend == VSCAN_BACKEND_CPU || backend == VSCAN_BACKEND_CUDA) return VSCAN_OK;
    return vscan__refuse_enum(NULL, name, backend, "vscan_backend");
}

vscan_status vscan__check_device(const struct vscan__backend *backend, int32_t device) {
    int32_t count = 0;
    TRY(backend->device_count(&count));
    if (device >= 0 && device < count) return VSCAN_OK;
    return VSCAN__FAIL(NULL, VSCAN_ERROR_NO_DEVICE,
                       "device is %" PRId32 ", the %s backend has %" PRId32 " of them, from 0",
                       device, backend->name, count);
}

vscan_status vscan_device_count(vscan_backend backend, int32_t *count) {
    vscan__set_running(__func__);
    TRY(vscan__check_backend("backend", (int32_t)backend));
    if (count == NULL) return VSCAN__FAIL(NULL, VSCAN_ERROR_NULL, "count is NULL");
    char saved[VSCAN__ERROR_CAPACITY];
    vscan__save_thread_error(saved);
    int32_t found = 0;
    if (vscan__backend_table(backend)->device_count(&found) != VSCAN_OK) {
        found = 0; /* an answer, not a failure: none can be used */
        vscan__restore_thread_error(saved);
    }
    *count = found;
    return VSCAN_OK;
}

vscan_status vscan_device_name(vscan_backend backend, int32_t device, char *name,
                               int64_t capacity) {
    vscan__set_running(__func__);
    TRY(vscan__check_backend("backend", (int32_t)backend));
    if (name == NULL) return VSCAN__FAIL(NULL, VSCAN_ERROR_NULL, "name is NULL");
    if (capacity < 1)
        return VSCAN__FAIL(NULL, VSCAN_ERROR_LENGTH, "capacity is %" PRId64 ", must be at least 1",
                           capacity);
    const struct vscan__backend *table = vscan__backend_table(backend);
    TRY(vscan__check_device(table, device));
    return table->device_name(device, name, capacity);
}

vscan_status vscan_device_memory(vscan_backend backend, int32_t device, int64_t *total_bytes,
                                 int64_t *free_bytes) {
    vscan__set_running(__func__);
    TRY(vscan__check_backend("backend", (int32_t)backend));
    const struct vscan__backend *table = vscan__backend_table(backend);
    TRY(vscan__check_device(table, device));
    int64_t total = 0, available = 0;
    TRY(table->device_memory(device, &total, &available));
    if (total_bytes != NULL) *total_bytes = total;
    if (free_bytes != NULL) *free_bytes = available;
    return VSCAN_OK;
}
