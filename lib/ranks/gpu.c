/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What concerns ranks with a GPU: page-locked memory on the host, from and to which a GPU copies two to four times as fast. The library does not need CUDA: it asks the driver that libvscan has
 * loaded. Where that fails, memory is not locked, and all goes on.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "internal.h"

bool vscan__ranks_is_on_gpu(const vscan__ranks *ranks) {
    return vscan_ctx_backend(ranks->ctx) != VSCAN_BACKEND_CPU;
}

/* ---- Page-locked memory ---------------------------------------------------------------------- */

/* Functions of the driver's interface, which does not change; 0 is success. */
enum { FOR_ALL_CONTEXTS = 1 }; /* CU_MEMHOSTREGISTER_PORTABLE */
struct driver {
    int (*device_get)(int *device, int number);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*lock)(void *memory, size_t bytes, unsigned flags);
    int (*unlock)(void *memory);
};

static bool find(void *library, const char *name, void *function) {
    void *const found = dlsym(library, name);
    *(void **)function = found;
    return found != NULL;
}

static bool find_all(void *library, struct driver *driver) {
    return find(library, "cuDeviceGet", &driver->device_get) &&
           find(library, "cuDevicePrimaryCtxRetain", &driver->retain) &&
           find(library, "cuDevicePrimaryCtxRelease_v2", &driver->release) &&
           find(library, "cuCtxPushCurrent_v2", &driver->push) &&
           find(library, "cuCtxPopCurrent_v2", &driver->pop) &&
           find(library, "cuMemHostRegister_v2", &driver->lock) &&
           find(library, "cuMemHostUnregister", &driver->unlock);
}

/* Locks, or unlocks where bytes is 0, with the context that libvscan uses on the device. */
static bool lock_or_unlock(const struct driver *driver, int device_number, void *memory,
                           int64_t bytes) {
    int device;
    void *context;
    if (driver->device_get(&device, device_number) != 0) return false;
    if (driver->retain(&context, device) != 0) return false;
    bool done = false;
    if (driver->push(context) == 0) {
        done = (bytes > 0 ? driver->lock(memory, (size_t)bytes, FOR_ALL_CONTEXTS)
                          : driver->unlock(memory)) == 0;
        (void)driver->pop(&context);
    }
    (void)driver->release(device);
    return done;
}

static bool with_driver(const vscan__ranks *ranks, void *memory, int64_t bytes) {
    struct driver driver;
    void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD); /* only if it is there */
    if (library == NULL) return false;
    const bool done =
        find_all(library, &driver) && lock_or_unlock(&driver, ranks->device, memory, bytes);
    (void)dlclose(library);
    return done;
}

bool vscan__ranks_lock_pages(const vscan__ranks *ranks, void *memory, int64_t bytes) {
    return with_driver(ranks, memory, bytes);
}

void vscan__ranks_unlock_pages(const vscan__ranks *ranks, void *memory) {
    (void)with_driver(ranks, memory, 0);
}
