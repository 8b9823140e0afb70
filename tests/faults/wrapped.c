/* SPDX-License-Identifier: Apache-2.0 */
/* What the linker puts in place of the C library's allocations, of fopen and of what threads need. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "faults.h"

static _Atomic int64_t live;

int64_t wrapped_live(void) {
    return live;
}

static void *counted(void *memory) {
    if (memory != NULL) live++;
    return memory;
}

static bool no_memory(const char *function) {
    if (!faults_strike(FAULT_MEMORY, function, false)) return false;
    errno = ENOMEM;
    return true;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) {
    return no_memory("malloc") ? NULL : counted(__real_malloc(bytes));
}

void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes) {
    return no_memory("calloc") ? NULL : counted(__real_calloc(count, bytes));
}

void *__real_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes) {
    if (no_memory("realloc")) return NULL;
    void *const grown = __real_realloc(memory, bytes);
    return memory == NULL ? counted(grown) : grown;
}

void *__real_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
    return no_memory("aligned_alloc") ? NULL : counted(__real_aligned_alloc(alignment, bytes));
}

int __real_posix_memalign(void **memory, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes) {
    if (no_memory("posix_memalign")) return ENOMEM;
    const int error = __real_posix_memalign(memory, alignment, bytes);
    if (error == 0) live++;
    return error;
}

void __real_free(void *memory);
void __wrap_free(void *memory);
void __wrap_free(void *memory) {
    if (memory != NULL) live--;
    __real_free(memory);
}

void *__real_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
    if (no_memory("mmap")) return MAP_FAILED;
    void *const memory = __real_mmap(at, bytes, protection, flags, file, offset);
    if (memory != MAP_FAILED) live++;
    return memory;
}

int __real_munmap(void *memory, size_t bytes);
int __wrap_munmap(void *memory, size_t bytes);
int __wrap_munmap(void *memory, size_t bytes) {
    live--;
    return __real_munmap(memory, bytes);
}

/* As of a machine that tells nothing of itself: with VSCAN_FAULTS_EMPTY_FILES every file is empty. As of one
   with a driver: VSCAN_FAULTS_MODULE is what its file has. */
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode) {
    if (no_memory("fopen")) return NULL;
    char *const module = getenv("VSCAN_FAULTS_MODULE");
    if (module != NULL && strcmp(path, "/proc/driver/nvidia/version") == 0)
        return fmemopen(module, strlen(module), "r");
    return __real_fopen(getenv("VSCAN_FAULTS_EMPTY_FILES") != NULL ? "/dev/null" : path, mode);
}

/* Called when the program is loaded, before any fault can be armed. A kernel before 4.14 refuses MADV_WIPEONFORK. */
int __real_madvise(void *memory, size_t bytes, int advice);
int __wrap_madvise(void *memory, size_t bytes, int advice);
int __wrap_madvise(void *memory, size_t bytes, int advice) {
    if (getenv("VSCAN_FAULTS_NO_WIPE") != NULL && advice == MADV_WIPEONFORK) {
        errno = EINVAL;
        return -1;
    }
    return __real_madvise(memory, bytes, advice);
}

int __real_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
    if (getenv("VSCAN_FAULTS_NO_ATFORK") != NULL) return ENOMEM;
    return __real_pthread_atfork(prepare, parent, child);
}

int __real_pthread_attr_init(pthread_attr_t *attributes);
int __wrap_pthread_attr_init(pthread_attr_t *attributes);
int __wrap_pthread_attr_init(pthread_attr_t *attributes) {
    if (faults_strike(FAULT_THREAD, "pthread_attr_init", false)) return ENOMEM;
    return __real_pthread_attr_init(attributes);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument) {
    if (faults_strike(FAULT_THREAD, "pthread_create", false)) return EAGAIN;
    return __real_pthread_create(thread, attributes, start, argument);
}
