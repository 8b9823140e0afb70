/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of the driver that libvscan has loaded. */
#ifndef VSCAN_RANKS_GPU_H
#define VSCAN_RANKS_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions of its interface, which does not change; 0 is success. */
enum { FOR_ALL_CONTEXTS = 1 }; /* CU_MEMHOSTREGISTER_PORTABLE */
enum { NON_BLOCKING = 1 };     /* CU_STREAM_NON_BLOCKING */
enum { NOT_READY = 600 };      /* CUDA_ERROR_NOT_READY */
struct vscan__ranks_driver {
    void *library;
    int (*device_get)(int *device, int number);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*lock)(void *memory, size_t bytes, unsigned flags);
    int (*unlock)(void *memory);
    int (*stream_create)(void **stream, unsigned flags);
    int (*stream_query)(void *stream);
    int (*stream_synchronize)(void *stream);
    int (*stream_destroy)(void *stream);
    int (*enable_peer)(void *context, unsigned flags);
    int (*copy)(uintptr_t to, uintptr_t from, size_t bytes, void *stream);
    int (*copy_peer)(uintptr_t to, void *to_context, uintptr_t from, void *from_context,
                     size_t bytes, void *stream);
};

/* A function of a library that was opened; false: it has none of that name. */
bool vscan__ranks_find(void *library, const char *name, void *function);

/* The driver, if it is loaded. */
bool vscan__ranks_open_driver(struct vscan__ranks_driver *driver);
void vscan__ranks_close_driver(struct vscan__ranks_driver *driver);

/* Makes the context current that libvscan uses on the device; and the one before. */
bool vscan__ranks_enter_device(const struct vscan__ranks_driver *driver, int number, int *device,
                               void **context);
void vscan__ranks_leave_device(const struct vscan__ranks_driver *driver, int device);

#endif
