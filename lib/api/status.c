/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses: the name and the sentence of every number; the version. */
#include "vscan.h"

/* X(name without VSCAN_, sentence). The numbers are those of the header. */
#define STATUSES(X)                                                                                \
    X(OK, "the call did what was asked")                                                           \
    X(ERROR_NULL, "a pointer that must not be NULL is NULL")                                       \
    X(ERROR_HANDLE, "not a live handle of the kind asked for")                                     \
    X(ERROR_CONTEXT, "a buffer or a carry belongs to another context")                             \
    X(ERROR_TYPE, "the wrong element type")                                                        \
    X(ERROR_LENGTH, "a buffer has the wrong length, or a length is negative")                      \
    X(ERROR_RANGE, "a position or range lies outside the buffer")                                  \
    X(ERROR_OVERLAP, "two buffers overlap in a way that is not allowed")                           \
    X(ERROR_ENUM, "a number that is no value of the enum asked for")                               \
    X(ERROR_PAIR, "the operator does not exist for the element type")                              \
    X(ERROR_STRUCT_SIZE, "the size member of an options struct is not understood")                 \
    X(ERROR_OVERFLOW, "the size in bytes does not fit in memory's address range")                  \
    X(ERROR_ALIGNMENT, "a pointer or offset is not aligned as its type needs")                     \
    X(ERROR_POINTER, "a wrapped pointer is not memory that the backend can use")                   \
    X(ERROR_VALUE, "an argument has a value outside what is documented")                           \
    X(ERROR_CARRY, "a carry, or a saved one, does not fit the call")                               \
    X(ERROR_HOST_MEMORY, "the host has no memory left")                                            \
    X(ERROR_DEVICE_MEMORY, "the device has no memory left")                                        \
    X(ERROR_NO_BACKEND, "this libvscan was built without the backend asked for")                   \
    X(ERROR_NO_DRIVER, "the backend's driver is missing or too old")                               \
    X(ERROR_NO_DEVICE, "no device of that number")                                                 \
    X(ERROR_NO_KERNEL, "the device is one that this libvscan has no kernels for")                  \
    X(ERROR_UNSUPPORTED, "this backend has no such thing")                                         \
    X(ERROR_CAPTURE, "not possible while the stream is being captured")                            \
    X(ERROR_BACKEND, "the backend failed; vscan_ctx_last_error has its words")                     \
    X(ERROR_DEVICE_LOST, "a fault on the device has ended its use by this process")                \
    X(ERROR_TOTALS_LENGTH, "more segments than the totals buffer has elements")                    \
    X(ERROR_DIVISION, "an integer was divided by 0")                                               \
    X(ERROR_POSITION, "a position outside the vector that it is a position in")                    \
    X(ERROR_REPEATED, "a position that must stand only once stands more than once")                \
    X(ERROR_OUT_LENGTH, "more results than the output buffer has elements")                        \
    X(ERROR_OFFSETS, "an offset that is less than the one before it, or outside the vector")

const char *vscan_status_name(vscan_status status) {
    switch (status) {
#define X(name, text)                                                                              \
    case VSCAN_##name:                                                                             \
        return "VSCAN_" #name;
        STATUSES(X)
#undef X
    case VSCAN_STATUS_FORCE_INT:
        break;
    }
    return "VSCAN_ERROR_UNKNOWN";
}

const char *vscan_status_text(vscan_status status) {
    switch (status) {
#define X(name, text)                                                                              \
    case VSCAN_##name:                                                                             \
        return text;
        STATUSES(X)
#undef X
    case VSCAN_STATUS_FORCE_INT:
        break;
    }
    return "a number that is no status of this libvscan";
}

int32_t vscan_version(void) {
    return VSCAN_VERSION;
}

/* Twice, so that the numbers and not their names are made into text. */
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *vscan_version_text(void) {
    return TEXT(VSCAN_VERSION_MAJOR) "." TEXT(VSCAN_VERSION_MINOR) "." TEXT(VSCAN_VERSION_PATCH);
}
