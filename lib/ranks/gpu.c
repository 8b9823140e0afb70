/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What concerns ranks with a GPU: copies between GPUs of a process, and page-locked memory on the host, from and to which a
 * GPU copies two to four times as fast. The library does not need CUDA: it asks the driver that libvscan has
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
enum {
    FOR_ALL_CONTEXTS = 1,
    NON_BLOCKING = 1
}; /* CU_MEMHOSTREGISTER_PORTABLE, CU_STREAM_NON_BLOCKING */
struct driver {
    int (*device_get)(int *device, int number);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*lock)(void *memory, size_t bytes, unsigned flags);
    int (*unlock)(void *memory);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_synchronize)(void *stream);
    int (*stream_destroy)(void *stream);
    int (*enable_peer)(void *context, unsigned flags);
    int (*copy)(uintptr_t to, uintptr_t from, size_t bytes, void *stream);
    int (*copy_peer)(uintptr_t to, void *to_context, uintptr_t from, void *from_context,
                     size_t bytes, void *stream);
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
           find(library, "cuMemHostUnregister", &driver->unlock) &&
           find(library, "cuStreamCreate", &driver->stream_create) &&
           find(library, "cuStreamSynchronize", &driver->stream_synchronize) &&
           find(library, "cuStreamDestroy_v2", &driver->stream_destroy) &&
           find(library, "cuCtxEnablePeerAccess", &driver->enable_peer) &&
           find(library, "cuMemcpyAsync", &driver->copy) &&
           find(library, "cuMemcpyPeerAsync", &driver->copy_peer);
}

/* The driver that is loaded already, or NULL. */
static void *open_driver(struct driver *driver) {
    void *const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL || find_all(library, driver)) return library;
    (void)dlclose(library);
    return NULL;
}

/* Makes the context current that libvscan uses on the device. */
static bool enter(const struct driver *driver, int number, int *device, void **context) {
    if (driver->device_get(device, number) != 0) return false;
    if (driver->retain(context, *device) != 0) return false;
    if (driver->push(*context) == 0) return true;
    (void)driver->release(*device);
    return false;
}

static void leave(const struct driver *driver, int device) {
    void *context;
    (void)driver->pop(&context);
    (void)driver->release(device);
}

/* Locks, or unlocks where bytes is 0. */
static bool with_driver(const vscan__ranks *ranks, void *memory, int64_t bytes) {
    struct driver driver;
    int device;
    void *context, *const library = open_driver(&driver);
    bool done = false;
    if (library == NULL) return false;
    if (enter(&driver, ranks->device, &device, &context)) {
        done = (bytes > 0 ? driver.lock(memory, (size_t)bytes, FOR_ALL_CONTEXTS)
                          : driver.unlock(memory)) == 0;
        leave(&driver, device);
    }
    (void)dlclose(library);
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
    struct driver driver;
    void *const library = open_driver(&driver);
    if (library != NULL) (void)dlclose(library);
    return library != NULL;
}

/* On a stream of its own, which waits for no other work; with the device's context current. */
static bool copy_here(const struct driver *driver, void *context, void *peer, void *to,
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
    struct driver driver;
    int device, peer_device;
    void *context, *peer = NULL, *const library = open_driver(&driver);
    bool done = false;
    if (library == NULL) return false;
    const bool is_far = here != there;
    if (!is_far ||
        (driver.device_get(&peer_device, there) == 0 && driver.retain(&peer, peer_device) == 0)) {
        if (enter(&driver, here, &device, &context)) {
            done = copy_here(&driver, context, peer, to, from, bytes);
            leave(&driver, device);
        }
        if (is_far) (void)driver.release(peer_device);
    }
    (void)dlclose(library);
    return done;
}
