/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What concerns ranks with a GPU: copies between GPUs of a process, and page-locked memory on the host, from and to which a
 * GPU copies two to four times as fast. The library does not need CUDA: it asks the driver that libvscan has
 * loaded. Where that fails, memory is not locked, and all goes on.
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "gpu.h"
#include "internal.h"

bool vscan__ranks_is_on_gpu(const vscan__ranks *ranks) {
    return vscan_ctx_backend(ranks->ctx) != VSCAN_BACKEND_CPU;
}

/* ---- Page-locked memory ---------------------------------------------------------------------- */

bool vscan__ranks_find(void *library, const char *name, void *function) {
    void *const found = dlsym(library, name);
    *(void **)function = found;
    return found != NULL;
}

static bool find_all(void *library, struct vscan__ranks_driver *driver) {
    return vscan__ranks_find(library, "cuDeviceGet", &driver->device_get) &&
           vscan__ranks_find(library, "cuDevicePrimaryCtxRetain", &driver->retain) &&
           vscan__ranks_find(library, "cuDevicePrimaryCtxRelease_v2", &driver->release) &&
           vscan__ranks_find(library, "cuCtxPushCurrent_v2", &driver->push) &&
           vscan__ranks_find(library, "cuCtxPopCurrent_v2", &driver->pop) &&
           vscan__ranks_find(library, "cuMemHostRegister_v2", &driver->lock) &&
           vscan__ranks_find(library, "cuMemHostUnregister", &driver->unlock) &&
           vscan__ranks_find(library, "cuStreamCreate", &driver->stream_create) &&
           vscan__ranks_find(library, "cuStreamQuery", &driver->stream_query) &&
           vscan__ranks_find(library, "cuStreamSynchronize", &driver->stream_synchronize) &&
           vscan__ranks_find(library, "cuStreamDestroy_v2", &driver->stream_destroy) &&
           vscan__ranks_find(library, "cuCtxEnablePeerAccess", &driver->enable_peer) &&
           vscan__ranks_find(library, "cuMemcpyAsync", &driver->copy) &&
           vscan__ranks_find(library, "cuMemcpyPeerAsync", &driver->copy_peer);
}

bool vscan__ranks_open_driver(struct vscan__ranks_driver *driver) {
    driver->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver->library == NULL || find_all(driver->library, driver))
        return driver->library != NULL;
    vscan__ranks_close_driver(driver);
    return false;
}

void vscan__ranks_close_driver(struct vscan__ranks_driver *driver) {
    if (driver->library != NULL) (void)dlclose(driver->library);
    driver->library = NULL;
}

bool vscan__ranks_enter_device(const struct vscan__ranks_driver *driver, int number, int *device,
                               void **context) {
    if (driver->device_get(device, number) != 0) return false;
    if (driver->retain(context, *device) != 0) return false;
    if (driver->push(*context) == 0) return true;
    (void)driver->release(*device);
    return false;
}

void vscan__ranks_leave_device(const struct vscan__ranks_driver *driver, int device) {
    void *context;
    (void)driver->pop(&context);
    (void)driver->release(device);
}

/* Locks, or unlocks where bytes is 0. */
static bool with_driver(const vscan__ranks *ranks, void *memory, int64_t bytes) {
    struct vscan__ranks_driver driver;
    int device;
    void *context;
    bool done = false;
    if (!vscan__ranks_open_driver(&driver)) return false;
    if (vscan__ranks_enter_device(&driver, ranks->device, &device, &context)) {
        done = (bytes > 0 ? driver.lock(memory, (size_t)bytes, FOR_ALL_CONTEXTS)
                          : driver.unlock(memory)) == 0;
        vscan__ranks_leave_device(&driver, device);
    }
    vscan__ranks_close_driver(&driver);
    return done;
}

bool vscan__ranks_lock_pages(const vscan__ranks *ranks, void *memory, int64_t bytes) {
    return with_driver(ranks, memory, bytes);
}

void vscan__ranks_unlock_pages(const vscan__ranks *ranks, void *memory) {
    (void)with_driver(ranks, memory, 0);
}

/* ---- Copies between GPUs of a process -------------------------------------------------------- */

bool vscan__ranks_can_copy(void) {
    struct vscan__ranks_driver driver;
    const bool can = vscan__ranks_open_driver(&driver);
    vscan__ranks_close_driver(&driver);
    return can;
}

/* On a stream of its own, which waits for no other work; with the device's context current. */
static bool copy_here(const struct vscan__ranks_driver *driver, void *context, void *peer, void *to,
                      const void *from, int64_t bytes) {
    void *stream;
    if (driver->stream_create(&stream, NON_BLOCKING) != 0) return false;
    bool done;
    if (peer == NULL) {
        done = driver->copy((uintptr_t)to, (uintptr_t)from, (size_t)bytes, stream) == 0;
    } else {
        (void)driver->enable_peer(peer, 0); /* copies are right without that, but slower */
        done = driver->copy_peer((uintptr_t)to, context, (uintptr_t)from, peer, (size_t)bytes,
                                 stream) == 0;
    }
    done = driver->stream_synchronize(stream) == 0 && done;
    (void)driver->stream_destroy(stream);
    return done;
}

bool vscan__ranks_copy(int32_t here, int32_t there, void *to, const void *from, int64_t bytes) {
    struct vscan__ranks_driver driver;
    int device, peer_device = 0;
    void *context, *peer = NULL;
    bool done = false;
    if (!vscan__ranks_open_driver(&driver)) return false;
    const bool is_far = here != there;
    if (!is_far ||
        (driver.device_get(&peer_device, there) == 0 && driver.retain(&peer, peer_device) == 0)) {
        if (vscan__ranks_enter_device(&driver, here, &device, &context)) {
            done = copy_here(&driver, context, peer, to, from, bytes);
            vscan__ranks_leave_device(&driver, device);
        }
        if (is_far) (void)driver.release(peer_device);
    }
    vscan__ranks_close_driver(&driver);
    return done;
}
