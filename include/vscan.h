/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * vscan.h - prefix scans on GPUs, and on CPUs where there is no GPU.
 *
 * This header is the whole interface of libvscan, and its manual.
 *
 * An array in the host's memory is scanned by one call (see "Arrays on the host", at the end):
 *
 *     vscan_host_scan(VSCAN_PLUS, VSCAN_FLOAT, VSCAN_INCLUSIVE, VSCAN_FORWARD, in, n, out);
 *
 * For everything else, and for GPUs, a program makes a context (a backend, a device, a stream). It puts
 * vectors into buffers, which belong to the context, and scans them:
 *
 *     vscan_ctx *ctx;
 *     vscan_buffer *v;
 *     vscan_ctx_create(NULL, &ctx);
 *     vscan_buffer_create(ctx, VSCAN_FLOAT, n, &v);
 *     vscan_buffer_upload(v, 0, n, host);
 *     vscan_scan(ctx, VSCAN_PLUS, v, v, NULL);
 *     vscan_buffer_download(v, 0, n, host);
 *
 * Asynchrony. "Asynchronous" means: the call enqueues its work on the context's stream and returns. A
 * function that waits for work says so ("waits"). On the CPU backend the work is done when a call returns.
 *
 * Stream capture. "Can be captured" means: the call may be made while the context's stream is captured into
 * a CUDA graph. A call that would have to wait, or to allocate memory of the device, cannot be captured: it
 * returns VSCAN_ERROR_CAPTURE and does nothing.
 *
 * Lengths and positions count elements and are int64_t. n = 0 is legal everywhere. n stands for the length
 * of the vectors of a call.
 *
 * In place. "In place" means that an output consists of the very same elements as an input. An output must
 * not overlap any other argument, except where the function's comment allows it; otherwise the call is
 * refused (VSCAN_ERROR_OVERLAP). Inputs may overlap each other. No input is written, except in place.
 *
 * Changes from outside. Until the work of a call is done, nothing else may change its vectors. Where another
 * thread does so all the same, the results may be anything. On the CPU backend nothing outside the vectors is read
 * or written even then; on a GPU that holds only for some functions (README, "Safety").
 *
 * Threads. Any thread may use any context. Calls on one context are serialised by the library, and
 * different contexts are independent. The caller must prevent one thing: that a handle is destroyed while
 * another thread uses it.
 *
 * Handles. Contexts, buffers and carries are named by handles. The C type of a handle is a pointer, but its
 * value is a number, and no address. A handle that was destroyed is refused as long as the library is
 * loaded, because no other handle ever gets the same value. Any pointer that is no handle is refused too.
 * There can be about 67 million handles of each kind at a time.
 *
 * Fork. Children of fork() may use the CPU backend; CUDA does not work in them. If a thread was in a call on
 * a context during the fork, that context is refused in the child (VSCAN_ERROR_HANDLE). Its buffers and
 * carries can only be destroyed there, which releases no memory. All other contexts go on working. The child
 * starts threads of its own when it needs them. A fork waits for nothing that the library has. So it may come
 * at any moment, in a signal handler that has interrupted a call too; and handlers of pthread_atfork may make
 * calls. (In a signal handler fork() itself may wait for ever, for the C library's malloc that the thread is
 * in; _Fork() does not.) A child that was forked by a signal handler inside a call must not return into that
 * call, and may have no malloc. From Linux 4.14 on, all this holds also for forks that pthread_atfork knows
 * nothing of: _Fork(), clone(), and fork() where dlmopen has loaded the library.
 *
 * Unloading. The library stays loaded after the last dlclose, because its threads run its code. Loading it
 * again costs nothing, and no memory is lost if every handle was destroyed.
 *
 * Threads of the library. The CPU backend has one pool of threads for the process. The threads are named
 * "vscan". A call that gains by them starts those that are missing. It uses no more than the affinity mask of
 * its own thread and the quota of the control group (v1, v2; a quota of 1.5 processors counts as 1) allow, less
 * one for the caller, and never more than 255. Each has a stack of 1 MiB. If a thread cannot be started, calls
 * work with fewer threads, or with the caller's alone; no call fails for that.
 *     affinity      Every call goes by the mask that its thread has then, whoever called before: from a thread
 *                   that is pinned to one processor it works alone. (A call that takes less than about a
 *                   millisecond may go by the mask of a millisecond ago. Quotas are read once in a process.)
 *                   The library's threads run where the caller may: before a call uses one that has another
 *                   mask, it gives it its own, which takes some microseconds. Other threads' masks stay.
 *     use           One call at a time uses the pool; other calls work alone meanwhile. A call also works
 *                   alone where the pool would not make it faster: if it is short; if it takes less than
 *                   about a millisecond and no other call ended within the last 0.2 ms; and for some time
 *                   after a call that was slower with the pool than alone, as on a machine whose processors
 *                   are busy: eight times what was lost, and 0.2 s at most. An idle thread looks for work for
 *                   about 50 us. Then it sleeps in the kernel.
 *     signals       The threads of the library block all signals but those that an access to the caller's
 *                   memory may cause (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP). Calls go on after a
 *                   handler has returned; inside a handler no function may be called.
 *     cancellation  Calls on a context of the CPU backend have no cancellation point; asynchronous
 *                   cancellation inside a call is not supported. A thread may end while its contexts live.
 *     stacks        A call on the CPU backend uses less than 32 KiB of the caller's stack.
 *
 * Errors. Every function that can fail returns a vscan_status. Arguments are checked before anything is
 * enqueued, so a call that is refused has written nothing. vscan_ctx_last_error gives a sentence that says
 * which argument was refused, and why. Each function's comment lists its statuses, without the prefix
 * VSCAN_ERROR_. The lists leave out what holds for all functions:
 *
 *     NULL         ctx, or the handle that a function without ctx works on, is NULL. The lists have NULL
 *                  where another pointer must not be NULL.
 *     HANDLE       a handle is not live, or not of the right kind
 *     BACKEND, DEVICE_LOST, DEVICE_MEMORY   CUDA failed, perhaps because of earlier work; the device is
 *                  lost; the device has no memory to load a kernel. Any function that reaches the device
 *                  may return these.
 *     CAPTURE      the stream is in a capture that another call has made invalid
 *     VALUE, UNSUPPORTED   a variable VSCAN_TEST_..., which is for the library's own tests, is set in the
 *                  environment when a context is made
 *
 * Late errors are found in the data while the work runs (statuses from 400). They are reported later, by the
 * next call of vscan_ctx_synchronize, vscan_buffer_download, vscan_buffer_get or vscan_carry_save on the
 * context, and at the latest by vscan_ctx_destroy. That call has done its own work all the same.
 *
 * After a failure. What the library keeps is sound after every failure, and the call may be made again. A
 * call that was refused (100-199) or that lacked host memory has written nothing. After DEVICE_MEMORY,
 * BACKEND and DEVICE_LOST the outputs of the call, and a carry that it was given, may hold anything; its
 * inputs are unchanged. Handles can be destroyed after every failure, except during a capture (CAPTURE).
 *
 * CUDA errors. BACKEND is an error of one call, or of the caller's own work on the stream before it; the
 * context can still be used. DEVICE_LOST is what CUDA returns for ever after a kernel, of this library or of
 * other code in the process, has used an illegal address, failed an assertion, or hung. All CUDA contexts of
 * the process are then useless, and the contents of their buffers are gone. A new context fails as well, with
 * AUTO too: it does not silently take the CPU. Destroy all contexts and buffers, and go on in a new process,
 * or with a context of VSCAN_BACKEND_CPU. (cudaDeviceReset does not help: it destroys streams and memory that
 * contexts still use.) A call leaves the caller's current device as it was, or returns an error. An error
 * that the caller has not yet taken with cudaGetLastError is neither taken for the library's own nor removed.
 *
 * The same bits. For equal inputs every operation gives equal bits: in every run, on every GPU, on the CPU,
 * with any number of threads, in place or not, at any alignment. Only the payload of a NaN is open. Sums of
 * float and double are added in one fixed order (README, "The order of addition"). A scan, a segmented scan
 * without heads, a row or a column of a matrix, and a reduction of the same elements with the same initial
 * value have the same bits. Sums are monotone: if no element is negative, no result is less than the one
 * before it; if no element is positive, no result is greater.
 *
 * Versions are those of Semantic Versioning. In a major version nothing that a program relies on changes:
 * functions and their arguments, numbers of enums, members of structs, the results of calls that succeed, to
 * the bit, and the form of saved carries. A minor version may add functions, values of enums and members at
 * the end of options structs, and may accept what was refused. A patch version corrects and speeds up. So a
 * program that was built with an older header works with a newer library of the same major version, without
 * being built again.
 *
 * Enums. No number except 0, the default of some options, is a value of two enums. A value of another enum
 * is refused (VSCAN_ERROR_ENUM). Types have 11 - 29, operators 31 - 39, unary operators 41 - 49, binary
 * operators 51 - 69, relations 71 - 79, ways to scan and sort 81 - 89, backends 91 - 99, statuses 100 - 499.
 * Each enum ends with a FORCE_INT, which is no value of it. It gives the enum the size of an int, with
 * -fshort-enums too.
 */
#ifndef VSCAN_H
#define VSCAN_H

#include <stdint.h>

/** The version of this header. vscan_version() returns that of the library. */
#define VSCAN_VERSION_MAJOR 1
#define VSCAN_VERSION_MINOR 0
#define VSCAN_VERSION_PATCH 0

/* Empty for callers, so that parsers of C (cffi, LuaJIT) read the preprocessed header as it is. */
#ifdef VSCAN_BUILDING
#define VSCAN_API __attribute__((visibility("default")))
#else
#define VSCAN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** VSCAN_VERSION is 10000 * major + 100 * minor + patch, as vscan_version() returns it. */
enum {
    VSCAN_VERSION = 10000 * VSCAN_VERSION_MAJOR + 100 * VSCAN_VERSION_MINOR + VSCAN_VERSION_PATCH
};

/** A context: a backend, a device, a stream, workspace, the last error. */
typedef struct vscan_ctx vscan_ctx;

/** A typed vector that belongs to a context, or a view of a range of one. */
typedef struct vscan_buffer vscan_buffer;

/** What a scan leaves for the next one, where a vector is scanned in pieces. */
typedef struct vscan_carry vscan_carry;

/* ---- Statuses -------------------------------------------------------------------------------- */

/**
 * The result of a call. Numbers are grouped by cause and never change. What the caller can do:
 *
 *   NULL - VALUE    The call is wrong; the sentence names the argument. Correct the program.
 *   HANDLE, CONTEXT   The same; often a handle was destroyed too early.
 *   POINTER         The memory is no device memory of the context's device: copy it there first.
 *   STRUCT_SIZE     Set size to sizeof the struct. If it is, the library is older than the header: use only
 *                   the members that the library knows.
 *   CARRY           Use a carry of the same operator, type and direction, or another saved block.
 *   HOST_MEMORY, DEVICE_MEMORY   Release something, or use shorter pieces (vscan_carry_create); then call
 *                   again.
 *   NO_BACKEND, NO_DRIVER, NO_DEVICE, NO_KERNEL   Use the other backend, or AUTO.
 *   UNSUPPORTED     The backend has no such thing; do without it.
 *   CAPTURE         Make the call before or after the capture. Reserve workspace before it.
 *   BACKEND         Read the sentence; it has CUDA's own words.
 *   TOTALS_LENGTH, OUT_LENGTH   Make the buffer as long as the sentence or the count says; call again.
 *   DIVISION, POSITION, REPEATED, OFFSETS   The data is wrong. The function's comment says what the call
 *                   has written.
 */
typedef enum vscan_status {
    VSCAN_OK = 0, /**< all went well */

    /* 100-199: an argument was refused; nothing was enqueued, nothing was written */
    VSCAN_ERROR_NULL = 100,        /**< a pointer that must not be NULL is NULL */
    VSCAN_ERROR_HANDLE = 101,      /**< not a live handle of the kind asked for */
    VSCAN_ERROR_CONTEXT = 102,     /**< a buffer or a carry belongs to another context */
    VSCAN_ERROR_TYPE = 103,        /**< the wrong element type */
    VSCAN_ERROR_LENGTH = 104,      /**< a buffer has the wrong length, or a length is negative */
    VSCAN_ERROR_RANGE = 105,       /**< a position or range lies outside the buffer */
    VSCAN_ERROR_OVERLAP = 106,     /**< two buffers overlap in a way that is not allowed */
    VSCAN_ERROR_ENUM = 107,        /**< a number that is no value of the enum asked for */
    VSCAN_ERROR_PAIR = 108,        /**< the operator does not exist for the element type */
    VSCAN_ERROR_STRUCT_SIZE = 109, /**< the size member of an options struct is not understood */
    VSCAN_ERROR_OVERFLOW = 110,    /**< the size in bytes does not fit in memory's address range */
    VSCAN_ERROR_ALIGNMENT = 111,   /**< a pointer or offset is not aligned as its type needs */
    VSCAN_ERROR_POINTER = 112,     /**< a wrapped pointer is not memory that the backend can use */
    VSCAN_ERROR_VALUE = 113,       /**< an argument has a value outside what is documented */
    VSCAN_ERROR_CARRY = 114,       /**< a carry, or a saved one, that does not fit the call */

    /* 200-299: resources */
    VSCAN_ERROR_HOST_MEMORY = 200,   /**< the host has no memory left */
    VSCAN_ERROR_DEVICE_MEMORY = 201, /**< the device has no memory left */

    /* 300-399: backends and devices */
    VSCAN_ERROR_NO_BACKEND = 300,  /**< this libvscan was built without the backend asked for */
    VSCAN_ERROR_NO_DRIVER = 301,   /**< the backend's driver is missing or too old */
    VSCAN_ERROR_NO_DEVICE = 302,   /**< no device of that number */
    VSCAN_ERROR_NO_KERNEL = 303,   /**< the device is one that this libvscan has no kernels for */
    VSCAN_ERROR_UNSUPPORTED = 304, /**< this backend has no such thing (a stream on the CPU) */
    VSCAN_ERROR_CAPTURE = 305,     /**< not possible while the stream is being captured */
    VSCAN_ERROR_BACKEND = 306,     /**< the backend failed; vscan_ctx_last_error says how */
    VSCAN_ERROR_DEVICE_LOST = 307, /**< a fault on the device has ended its use by this process */

    /* 400-499: late errors, found in the data while the work ran */
    VSCAN_ERROR_TOTALS_LENGTH = 400, /**< more segments than the totals buffer has elements */
    VSCAN_ERROR_DIVISION = 401,      /**< an integer was divided by 0 */
    VSCAN_ERROR_POSITION = 402,      /**< a position outside the vector that it is a position in */
    VSCAN_ERROR_REPEATED = 403,      /**< a position that must occur once occurs more than once */
    VSCAN_ERROR_OUT_LENGTH = 404,    /**< more results than the output buffer has elements */
    VSCAN_ERROR_OFFSETS = 405, /**< an offset less than the one before it, or outside the vector */
    VSCAN_STATUS_FORCE_INT = 0x7fffffff
} vscan_status;

/**
 * The name of a status ("VSCAN_ERROR_NULL"), and a sentence that explains it. The strings are static and
 * never NULL. A number that is no status has the name "VSCAN_ERROR_UNKNOWN" and a sentence that says so.
 * Since 1.0.0.
 */
VSCAN_API const char *vscan_status_name(vscan_status status);
VSCAN_API const char *vscan_status_text(vscan_status status);

/* ---- Types and operators --------------------------------------------------------------------- */

/**
 * Element types.
 *
 *   int, long,      can be scanned and reduced with every operator, and sorted. Counts are of type long;
 *   float, double   positions and offsets are of int or long.
 *   byte, bit       flags: 0 is false, anything else is true; the library writes 0 and 1. Bit i of a
 *                   VSCAN_BIT vector is bit i % 32, counted from the lowest, of the 32-bit word i / 32.
 *                   Its memory consists of whole words. Bits after the last element are ignored and
 *                   never changed.
 *   uint8           a number of one byte: text, or a channel of a picture. It can be compared,
 *                   converted, selected, packed, split, gathered, permuted and distributed. It cannot
 *                   be used as a flag, in arithmetic, in scans, or in sorts.
 */
typedef enum vscan_type {
    VSCAN_NONE = 0,    /**< no type: there are no values, or there is no buffer */
    VSCAN_INT = 11,    /**< int32_t */
    VSCAN_FLOAT = 12,  /**< IEEE 754 binary32 */
    VSCAN_DOUBLE = 13, /**< IEEE 754 binary64 */
    VSCAN_BYTE = 14,   /**< uint8_t, a flag */
    VSCAN_BIT = 15,    /**< one bit, a flag */
    VSCAN_LONG = 16,   /**< int64_t */
    VSCAN_UINT8 = 17,  /**< uint8_t, a number, where VSCAN_BYTE is a flag */
    VSCAN_TYPE_FORCE_INT = 0x7fffffff
} vscan_type;

/**
 * Operators, each for int, long, float and double.
 *
 *   plus      int: modulo 2^32. long: modulo 2^64. float, double: IEEE 754 addition in the fixed order.
 *             Identity 0.
 *   max, min  IEEE 754-2019 maximum and minimum: if an operand is a NaN, so is the result; -0 is less than
 *             +0. Identities -infinity and +infinity; for int INT32_MIN and INT32_MAX, for long INT64_MIN and
 *             INT64_MAX.
 *   and, or   int, long: bitwise; identities ~0 and 0. float, double: logical. An operand is true if it is not
 *             equal to 0 (so a NaN is true); every result is exactly 1.0 or 0.0; identities 1.0 and 0.0. The
 *             initial value is an operand too: as the first result of an exclusive scan it is 1.0 or 0.0.
 */
typedef enum vscan_op {
    VSCAN_PLUS = 31, /**< sum */
    VSCAN_MAX = 32,  /**< IEEE 754-2019 maximum */
    VSCAN_MIN = 33,  /**< IEEE 754-2019 minimum */
    VSCAN_AND = 34,  /**< int, long: bitwise; float, double: logical */
    VSCAN_OR = 35,   /**< int, long: bitwise; float, double: logical */
    VSCAN_OP_FORCE_INT = 0x7fffffff
} vscan_op;

/**
 * One number, for a member of an options struct. A struct of zeros holds no number. Statuses of a call with a
 * value: ENUM (holds is no vscan_type), TYPE (holds is not the type that the option asks for), VALUE (unused
 * is not 0; or holds is 0, and a member is not equal to 0).
 */
typedef struct vscan_value {
    int32_t holds;    /**< the vscan_type of a number, not of flags; 0: none, no member is set */
    int32_t as_int;   /**< also for uint8 */
    float as_float;   /**< where holds is VSCAN_FLOAT */
    int32_t unused;   /**< 0 */
    double as_double; /**< where holds is VSCAN_DOUBLE */
    int64_t as_long;  /**< where holds is VSCAN_LONG */
} vscan_value;

/**
 * Options of the functions that count. vscan_buffer_get brings the count to the host.
 */
typedef struct vscan_count_options {
    int64_t size;        /**< sizeof(vscan_count_options) */
    vscan_buffer *count; /**< receives the count, or NULL; see the function */
} vscan_count_options;

/** Which elements a result of a scan covers. */
typedef enum vscan_kind {
    VSCAN_INCLUSIVE = 0,  /**< out[i] covers in[i]; the default */
    VSCAN_EXCLUSIVE = 81, /**< out[i] covers only what comes before in[i] */
    VSCAN_KIND_FORCE_INT = 0x7fffffff
} vscan_kind;

/** Where a scan begins. A backward scan is the forward scan of the reversed vector, reversed. */
typedef enum vscan_direction {
    VSCAN_FORWARD = 0,   /**< from the first element on; the default */
    VSCAN_BACKWARD = 83, /**< the forward scan of the reversed vector, reversed */
    VSCAN_DIRECTION_FORCE_INT = 0x7fffffff
} vscan_direction;

/* ---- Version, backends, devices -------------------------------------------------------------- */

/**
 * The version of the library that is loaded: 10000 * major + 100 * minor + patch, and as text, "1.0.0".
 * Since 1.0.0.
 */
VSCAN_API int32_t vscan_version(void);
VSCAN_API const char *vscan_version_text(void);

/**
 * Describes the library and the machine, a line for each thing: the version, the commit and the compiler that
 * it was built from and by; the CUDA that built it and that of the driver; devices with their memory; the
 * backend that AUTO takes, and why; the instruction set; the number of threads, and what limits it. It is for
 * people, and for reports of errors (the program vscan-info prints it). Names and values may change.
 *   text       receives as much of the text as there is room for, and a closing 0; or NULL: nothing is written
 *   capacity   bytes at text, at least 0. 4096 are enough for any machine with up to 16 GPUs
 * Returns the length of the whole text, without the closing 0. If it is not less than capacity, the text has
 * been cut. Lengths may differ from call to call, because free memory does.
 * To find out what AUTO takes, it makes a context and destroys it; so it may wait, may take as long as
 * vscan_ctx_create, and may not be called during a capture. It cannot fail, and leaves vscan_ctx_last_error
 * as it was. Since 1.0.0.
 */
VSCAN_API int64_t vscan_describe(char *text, int64_t capacity);

/**
 * Backends. AUTO is CUDA if a device with kernels for it can be used, else the CPU. The environment variable
 * VSCAN_BACKEND (cpu or cuda) decides in place of AUTO, but never in place of an explicit choice.
 */
typedef enum vscan_backend {
    VSCAN_BACKEND_AUTO = 0,  /**< CUDA if it can be used, else the CPU; the default */
    VSCAN_BACKEND_CPU = 91,  /**< the processor */
    VSCAN_BACKEND_CUDA = 92, /**< NVIDIA GPUs */
    VSCAN_BACKEND_FORCE_INT = 0x7fffffff
} vscan_backend;

/**
 * Sets *count to the number of devices of a backend. The CPU backend has one. CUDA has those that the driver
 * shows: 0 if it shows none, fails or is missing, or if the library was built without CUDA. The status is OK
 * then; vscan_device_name returns the reason. Does not wait.
 *   backend   VSCAN_BACKEND_CPU or VSCAN_BACKEND_CUDA
 *   count     not NULL
 * Statuses: NULL, ENUM. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_device_count(vscan_backend backend, int32_t *count);

/**
 * Copies a device's name, such as "NVIDIA H200", into an array, cut to its size. Does not wait.
 *   backend    VSCAN_BACKEND_CPU or VSCAN_BACKEND_CUDA
 *   device     0 .. count - 1
 *   name       not NULL; receives the name and a closing 0
 *   capacity   bytes at name, at least 1
 * Statuses: NULL, ENUM, LENGTH (capacity), NO_BACKEND, NO_DRIVER, NO_DEVICE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_device_name(vscan_backend backend, int32_t device, char *name,
                                         int64_t capacity);

/**
 * Gives a device's memory in bytes: all of it, and what is free now. For the CPU that is the machine's RAM.
 *   backend, device           as in vscan_device_name
 *   total_bytes, free_bytes   receive the numbers; either may be NULL
 * Does not wait for work. Statuses: ENUM, NO_BACKEND, NO_DRIVER, NO_DEVICE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_device_memory(vscan_backend backend, int32_t device,
                                           int64_t *total_bytes, int64_t *free_bytes);

/* ---- Context --------------------------------------------------------------------------------- */

/**
 * Options of vscan_ctx_create.
 *
 * All options structs begin with their size in bytes (sizeof the struct), and 0 in a member is always the
 * default. The library reads only the members that size covers, so a program that was built with an older
 * header works with a newer library. The status STRUCT_SIZE means: size is smaller than the struct ever was;
 * or it is above 4096; or a byte beyond what the library knows is not 0. Options are read before the call
 * returns.
 */
typedef struct vscan_ctx_options {
    int64_t size;    /**< sizeof(vscan_ctx_options) */
    int32_t backend; /**< a vscan_backend */
    int32_t device;  /**< which of the backend's devices, from 0 */
    int32_t threads; /**< CPU: how many threads at most; 0: see vscan_ctx_set_threads */
    int32_t unused;  /**< 0 */
    void *stream;    /**< CUDA: a cudaStream_t of the caller; NULL: a stream of the context's own */
} vscan_ctx_options;

/**
 * Makes a context. Its backend and device never change.
 *   options   NULL: all defaults
 *   ctx       not NULL; receives the context, and is unchanged after a failure
 * With AUTO and device 0, the CPU is taken if CUDA cannot be used. Every other request that cannot be met
 * fails, and vscan_ctx_last_error(NULL) says why. A GPU that is lost (DEVICE_LOST) or has no memory left is a
 * failure, and no reason to take the CPU.
 * May wait for the device. Statuses: NULL, STRUCT_SIZE, ENUM, VALUE (threads, unused, or VSCAN_BACKEND in the
 * environment), HOST_MEMORY, DEVICE_MEMORY, NO_BACKEND, NO_DRIVER, NO_DEVICE, NO_KERNEL, UNSUPPORTED (a
 * stream for the CPU), CAPTURE (options->stream is being captured). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ctx_create(const vscan_ctx_options *options, vscan_ctx **ctx);

/**
 * Waits for the context's work, and releases the context with all memory of its buffers and carries. Handles
 * of those that are left can then only be destroyed; every other use of them is VSCAN_ERROR_HANDLE. Memory that
 * was wrapped stays the caller's. A late error that no call has reported is the status (1.0.0 dropped it), and
 * vscan_ctx_last_error(NULL) has its sentence; the context is gone all the same. Failures of CUDA are dropped.
 *   ctx   NULL: nothing happens, and the status is OK
 * Statuses: HANDLE, CAPTURE (the context stays), and late errors (from 400). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ctx_destroy(vscan_ctx *ctx);

/**
 * Waits until all work of the context is done, and reports what went wrong in it since the last report: a
 * late error, or BACKEND. Of several late errors it reports the first one, and drops the others. The sentence
 * names the function that found it, one of the elements at fault, and the other functions that found errors.
 * (On CUDA, the first error is one of the function that was called first.)
 * Statuses: CAPTURE, and late errors (from 400). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ctx_synchronize(vscan_ctx *ctx);

/**
 * Makes the context use another stream. Work that was enqueued on the old stream comes first, before what is
 * enqueued on the new one. If one of the two streams is being captured, the library adds no such order; the
 * caller is then responsible for it. Asynchronous.
 *   stream   a cudaStream_t of the context's device; NULL: the context's own stream. It must exist as long
 *            as the context uses it
 * Statuses: UNSUPPORTED (CPU). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ctx_set_stream(vscan_ctx *ctx, void *stream);

/**
 * Gives the stream that the context uses, for example to begin a capture. Does not wait.
 *   stream   not NULL; *stream receives a cudaStream_t
 * Statuses: NULL, UNSUPPORTED (CPU). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ctx_get_stream(vscan_ctx *ctx, void **stream);

/**
 * The context's backend and device. If ctx is no context, the backend is VSCAN_BACKEND_AUTO (0) and the
 * device is -1. They do not wait. Since 1.0.0.
 */
VSCAN_API vscan_backend vscan_ctx_backend(const vscan_ctx *ctx);
VSCAN_API int32_t vscan_ctx_device(const vscan_ctx *ctx);

/**
 * Sets and gives how many threads the CPU backend uses at most, the caller's thread included. No more are
 * used than there are processors for: see "Threads of the library". Results do not depend on it. On CUDA the
 * number is kept and has no effect.
 *   threads   at least 0. 0: the number in the environment variable VSCAN_NUM_THREADS; without it, the first
 *             number in OMP_NUM_THREADS; without it, one for each processor that the process may use. A
 *             variable that does not have a number above 0 is ignored. Both are read once in a process
 * vscan_ctx_threads returns the number in force: what a call from the same thread would use at most now, so
 * never more than this thread has processors for, whatever was set; at least 1, or 0 if ctx is no context.
 * Neither waits. Statuses: VALUE (threads < 0). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ctx_set_threads(vscan_ctx *ctx, int32_t threads);
VSCAN_API int32_t vscan_ctx_threads(const vscan_ctx *ctx);

/**
 * Enlarges the context's workspace, so that later calls on vectors of up to n elements allocate no memory.
 * One workspace serves all types. It never becomes smaller. What allocates memory, and when:
 *
 *     functions                                     allocate                        to avoid it
 *     scan, scan_segmented, reduce,                 for a vector longer than any    vscan_ctx_reserve
 *     reduce_segmented, reduce_by_offsets,          before, if the workspace is
 *     scan_by_offsets, pack, pack_compare,          too small
 *     enumerate, heads_to_offsets,
 *     lengths_to_offsets, flags_to_positions,
 *     scan_extreme, reduce_extreme,
 *     distribute_segmented, distribute_totals
 *     scan_rows, scan_columns, reduce_rows,         for a new shape                 the same call once,
 *     reduce_columns, reduce_columns_by_offsets,                                    before
 *     reduce_extreme_rows,
 *     reduce_extreme_columns,
 *     scan_extreme_rows, scan_extreme_columns,
 *     reduce_extreme_by_offsets
 *     sort, sort_by_offsets                         for a sort that needs more      vscan_sort_reserve
 *                                                   than any before
 *     split, split_segmented, split_positions,      for a call that needs more      the same call once,
 *     split_segmented_positions, runs,              than any before                 before
 *     reduce_by_key
 *     vscan_ctx_create, vscan_buffer_create,        always                          -
 *     vscan_carry_create
 *     vscan_buffer_wrap, vscan_buffer_view          a handle, on the host; that     -
 *                                                   is no hindrance to a capture
 *     all others on buffers and carries             never                           -
 *
 * A call that would have to allocate cannot be captured (VSCAN_ERROR_CAPTURE).
 *   type   int, long, float or double
 *   n      elements, at least 0
 * May wait. Statuses: ENUM, TYPE, LENGTH, OVERFLOW, HOST_MEMORY, DEVICE_MEMORY, CAPTURE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_ctx_reserve(vscan_ctx *ctx, vscan_type type, int64_t n);

/**
 * The sentence of the last call on this context that failed: function, argument, reason, and the backend's
 * own words if it had any. "" if no call has failed. Does not wait for work.
 *   ctx   NULL, or no live context: the sentence of this thread's last failed call that had no live context
 *         (vscan_ctx_create, vscan_device_..., vscan_host_..., vscan_ctx_destroy, or a call with a NULL or
 *         dead handle)
 * The string belongs to the calling thread, and lasts until the thread's next call of this function. Never
 * NULL. Since 1.0.0.
 */
VSCAN_API const char *vscan_ctx_last_error(const vscan_ctx *ctx);

/* ---- Buffer ---------------------------------------------------------------------------------- */

/**
 * Makes a vector of n elements in the backend's memory. Its elements are undefined.
 *   type     any vscan_type but VSCAN_NONE
 *   n        elements, at least 0
 *   buffer   not NULL; receives the buffer, and is unchanged after a failure
 * May wait. Statuses: NULL, ENUM, LENGTH, OVERFLOW, HOST_MEMORY, DEVICE_MEMORY, CAPTURE (n > 0).
 * Since 1.0.0.
 */
VSCAN_API vscan_status vscan_buffer_create(vscan_ctx *ctx, vscan_type type, int64_t n,
                                           vscan_buffer **buffer);

/**
 * Makes a buffer of memory that belongs to the caller. The memory must be valid while the buffer or a view of
 * it lives. The caller orders his own use of it with respect to the context's stream. Destroying the buffer
 * does not free it. Does not wait.
 * Call vscan_ctx_synchronize before reading results there, on the CPU too: it waits, and its status tells of
 * wrong positions, divisions by 0 and other late errors, with which the results may be wrong.
 *   type      any vscan_type but VSCAN_NONE
 *   pointer   CUDA: device memory of the context's device, or managed memory; CPU: host memory. Aligned to
 *             the element (bits: to 4 bytes). It may be NULL if n = 0
 *   n         elements at pointer, at least 0
 *   buffer    not NULL; receives the buffer, and is unchanged after a failure
 * Statuses: NULL, ENUM, LENGTH, OVERFLOW, ALIGNMENT, POINTER (CUDA), HOST_MEMORY. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_buffer_wrap(vscan_ctx *ctx, vscan_type type, void *pointer, int64_t n,
                                         vscan_buffer **buffer);

/**
 * Makes a view: a buffer of the elements offset .. offset + n - 1 of another one, in the same memory. The
 * memory is released when the buffer and all views of it are destroyed, in any order, or with the context.
 * Does not wait.
 *   offset   at least 0; for bits a multiple of 32
 *   n        at least 0; offset + n is at most the buffer's length
 *   view     not NULL; receives the view, and is unchanged after a failure
 * Statuses: NULL, RANGE, ALIGNMENT, HOST_MEMORY. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_buffer_view(vscan_buffer *buffer, int64_t offset, int64_t n,
                                         vscan_buffer **view);

/**
 * Releases a buffer. If no view of its memory is left, it waits for the context's work, and releases the
 * memory. If the memory is the caller's, it waits too, so that the caller can free it. After the context it
 * has nothing to wait for and nothing to release.
 *   buffer   NULL: nothing happens, and the status is OK
 * Statuses: HANDLE, CAPTURE (the buffer stays). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_buffer_destroy(vscan_buffer *buffer);

/**
 * A buffer's length in elements, its type, and the address of its first element in the backend's memory (NULL
 * if the length is 0). If buffer is no buffer, or its context is destroyed: -1, VSCAN_NONE (0) and NULL.
 * They do not wait. Since 1.0.0.
 */
VSCAN_API int64_t vscan_buffer_length(const vscan_buffer *buffer);
VSCAN_API vscan_type vscan_buffer_type(const vscan_buffer *buffer);
VSCAN_API void *vscan_buffer_pointer(const vscan_buffer *buffer);

/**
 * Copies n elements from the host: buffer[offset + i] = host[i]. The host memory may be used again when the
 * call returns. May wait for the copy, but reports no late errors.
 *   offset   at least 0; for bits a multiple of 32
 *   n        at least 0; offset + n is at most the buffer's length. 0: nothing happens
 *   host     n elements (bits: (n + 31) / 32 words); may be NULL if n = 0
 * Statuses: NULL, RANGE, ALIGNMENT, CAPTURE (n > 0). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_buffer_upload(vscan_buffer *buffer, int64_t offset, int64_t n,
                                           const void *host);

/**
 * Copies n elements to the host: host[i] = buffer[offset + i]. Waits for all work of the context, and reports
 * its late errors as vscan_ctx_synchronize does; the elements have then been copied all the same. n = 0 waits
 * and reports, too.
 *   offset   at least 0; for bits a multiple of 32
 *   n        at least 0; offset + n is at most the buffer's length
 *   host     receives n elements (bits: (n + 31) / 32 words, where bits after the n-th become 0); may be
 *            NULL if n = 0
 * Statuses: NULL, RANGE, ALIGNMENT, CAPTURE, and late errors (from 400). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_buffer_download(const vscan_buffer *buffer, int64_t offset, int64_t n,
                                             void *host);

/**
 * Sets every element: buffer[i] = *value. n = 0: nothing happens. Asynchronous; can be captured.
 *   value   not NULL; one element on the host, read before the call returns (bits: a uint8_t, 0 or not 0)
 * Statuses: NULL. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_buffer_fill(vscan_buffer *buffer, const void *value);

/**
 * Sets one element: buffer[i] = *value. Asynchronous; can be captured.
 *   i       0 .. length - 1
 *   value   as in vscan_buffer_fill
 * Statuses: NULL, RANGE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_buffer_set(vscan_buffer *buffer, int64_t i, const void *value);

/**
 * Copies one element to the host: *value = buffer[i]. Waits, and reports late errors, as
 * vscan_buffer_download does.
 *   i       0 .. length - 1
 *   value   not NULL; receives one element (bits: a uint8_t, 0 or 1)
 * Statuses: NULL, RANGE, CAPTURE, and late errors (from 400). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_buffer_get(const vscan_buffer *buffer, int64_t i, void *value);

/**
 * Copies a vector: to[i] = from[i]. n = 0: nothing happens. Asynchronous; can be captured.
 *   from   any buffer
 *   to     of from's context, type and length; the very same elements as from, or no overlap
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_buffer_copy(const vscan_buffer *from, vscan_buffer *to);

/* ---- Carry ----------------------------------------------------------------------------------- */

/*
 * A carry lets a vector be scanned or reduced in pieces: because it does not fit in memory, or because only a
 * part of it is known yet. A carry belongs to a context, an operator, a type and a direction, and lies in the
 * backend's memory. A call that is given a carry continues where the call before ended, and leaves in the
 * carry where it ends itself. Pieces may have any lengths, 0 and 1 included. The results have exactly the
 * bits of one call on the whole vector:
 *
 *     vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, &carry);
 *     vscan_scan_options options = {.size = sizeof options, .carry = carry};
 *     while (... read a piece into v ...) vscan_scan(ctx, VSCAN_PLUS, v, v, &options);
 *
 * Forward, pieces follow one another from the vector's first element on; backward, from its last element
 * down. Scans and reductions may be mixed. Segmented scans need a carry of their own: a piece continues the
 * segment that is open, unless the piece's first element starts a new one. After vscan_carry_create a carry
 * is as after vscan_carry_reset(carry, NULL).
 *
 * A carry has a constant size. For float and double plus it holds one running total for each level of the
 * order of addition, and the elements of the unfinished group (README, "The order of addition"). For the
 * other pairs of an operator and a type it holds the total so far.
 *
 * Calls on one context follow one another, so no two use a carry at the same time. This is true of captured
 * work too, if graphs that use the carry do not run at the same time as each other or as a call that uses it.
 * Each replay of a graph continues where the carry is then.
 */

/**
 * Makes a carry. May wait.
 *   op, type    an operator and a type that vscan_scan takes
 *   direction   VSCAN_FORWARD or VSCAN_BACKWARD
 *   carry       not NULL; receives the carry, and is unchanged after a failure
 * Statuses: NULL, ENUM, PAIR (type is byte, bit or uint8), HOST_MEMORY, DEVICE_MEMORY, CAPTURE.
 * Since 1.0.0.
 */
VSCAN_API vscan_status vscan_carry_create(vscan_ctx *ctx, vscan_op op, vscan_type type,
                                          vscan_direction direction, vscan_carry **carry);

/**
 * Waits for the context's work, and releases a carry. The carry's context may have been destroyed before; the
 * memory has gone with it then.
 *   carry   NULL: nothing happens, and the status is OK
 * Statuses: HANDLE, CAPTURE (the carry stays). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_carry_destroy(vscan_carry *carry);

/**
 * Begins a new vector: the next element is its first. Asynchronous; can be captured.
 *   initial   the vector's initial value: one element on the host, of the carry's type, read before the call
 *             returns. In a segmented scan every segment begins with it. NULL: there is no initial value
 * Statuses: none but those of all functions. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_carry_reset(vscan_carry *carry, const void *initial);

/**
 * Makes to hold what from holds. Asynchronous; can be captured.
 *   from, to   carries of one context, one operator, one type and one direction; may be the same carry
 * Statuses: NULL, CONTEXT, CARRY (operator, type or direction differ). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_carry_copy(const vscan_carry *from, vscan_carry *to);

/** The size of a saved carry in bytes. */
enum { VSCAN_CARRY_BYTES = 384 };

/**
 * Writes what a carry holds to the host. The block can be restored in another context or process, on another
 * machine or backend. All numbers in it are little-endian. An element takes 8 bytes, and its bits are in the
 * first of them.
 *
 *     byte    0   8 bytes: "VSCARRY" and a 0
 *             8   uint32_t version: 1
 *            12   uint8_t operator, type, direction: the numbers of their enums, so 16 is long; uint8_t
 *                 flags: bit 0: there is an initial value; bit 1: the next element starts a segment
 *            16   int64_t number of elements so far
 *            24   the initial value, or 0
 *            32   the running totals R1, R2, R3, R4 of the order of addition, before the next element. Pairs
 *                 other than float plus and double plus have 0 in R1, R2, R3, and their total so far in R4
 *            64   the inclusive result of the last element
 *            72   float plus, double plus: the elements of the unfinished group, the number of elements modulo
 *                 32 of them; then 0
 *           328   48 bytes: 0
 *           376   uint64_t FNV-1a hash of the bytes before it (Fowler, Noll, Vo)
 *
 * Before the first element, bytes 32 - 375 are 0. From then on, in float plus and double plus, -0.0 stands for
 * what is absent, since adding it changes nothing: a running total that covers no element (R4 begins with the
 * initial value, if there is one), and elements of the unfinished group before the segment that is open. So
 * carries with the same past have the same bytes, but for payloads of NaNs, on every backend and in whatever
 * pieces the elements came.
 *
 *   block   not NULL; receives VSCAN_CARRY_BYTES bytes
 *   bytes   the size of block, at least VSCAN_CARRY_BYTES
 * Waits, and reports late errors as vscan_ctx_synchronize does; the block has then been written all the same.
 * Statuses: NULL, LENGTH, CAPTURE, and late errors (from 400). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_carry_save(const vscan_carry *carry, void *block, int64_t bytes);

/**
 * Makes a carry hold what was saved. A block that is refused changes nothing. May wait.
 *   block   not NULL; written by vscan_carry_save; read before the call returns
 *   bytes   the size of block, at least VSCAN_CARRY_BYTES
 * Statuses: NULL, LENGTH (bytes), CARRY (block is no saved carry, is of another version, was altered, is of
 * another operator, type or direction, has another byte where the form above has 0, or has seen more than 2^62
 * elements), CAPTURE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_carry_restore(vscan_carry *carry, const void *block, int64_t bytes);

/* ---- Scan ------------------------------------------------------------------------------------ */

/** Options of vscan_scan, which explains the members. */
typedef struct vscan_scan_options {
    int64_t size;                       /**< sizeof(vscan_scan_options) */
    int32_t kind;                       /**< a vscan_kind */
    int32_t direction;                  /**< a vscan_direction */
    vscan_value initial;                /**< a value of out's type, or none */
    const vscan_buffer *initial_buffer; /**< the same in a buffer of one element, or NULL */
    vscan_buffer *total;                /**< a buffer of one element for the total, or NULL */
    vscan_carry *carry;                 /**< the carry to continue from, or NULL */
} vscan_scan_options;

/**
 * Scan, also called prefix sum (Blelloch, Vector Models for Data-Parallel Computing, 1990, ch. 3). With z for
 * the initial value, if there is one, and + for the operator, forward:
 *
 *     inclusive   out[i] = z + in[0] + in[1] + ... + in[i]
 *     exclusive   out[i] = z + in[0] + in[1] + ... + in[i-1];  out[0] = z, or the identity without z
 *     total              = z + in[0] + in[1] + ... + in[n-1]
 *
 * and backward with in[n-1], in[n-2], ... in place of in[0], in[1], ... Every exclusive result but the first
 * has exactly the bits of the inclusive result before it, and the total those of the last inclusive result.
 *
 *   op        a vscan_op
 *   in        int, long, float or double
 *   out       of in's type and length; in place, or no overlap. Or long, where in is int and op is VSCAN_PLUS:
 *             elements are then added as long, and out does not overlap in
 *   options   NULL: inclusive, forward, no initial value, no total, no carry
 *     kind, direction   0: inclusive, forward
 *     initial           a value of out's type
 *     initial_buffer    one element of out's type that does not overlap out. At most one of initial and
 *                       initial_buffer may be set
 *     total             one element of out's type, receives the total. It overlaps no other argument, but may
 *                       be the same element as initial_buffer. vscan_buffer_get brings it to the host
 *     carry             of this operator and direction and of out's type; z + ... is then what the carry holds,
 *                       and the total covers all pieces so far. No initial value may be set beside it
 * n = 0: only the total is written: z, or the identity (+0.0 for float and double plus).
 * Asynchronous; can be captured. The data is read and written once. Allocation: see vscan_ctx_reserve.
 *
 * The total of one call may be the initial value of the next, to scan a vector in chunks. The results have
 * the bits of one call if the operator is not float or double plus, or if all chunks but the last are
 * multiples of 2^24 elements. A carry has no such limit.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, ENUM, PAIR (in is byte, bit or uint8), STRUCT_SIZE,
 * VALUE (two initial values, or one beside a carry), CARRY, HOST_MEMORY, DEVICE_MEMORY, CAPTURE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_scan(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                  vscan_buffer *out, const vscan_scan_options *options);

/** Options of vscan_scan_segmented, which explains the members. */
typedef struct vscan_scan_segmented_options {
    int64_t size;                       /**< sizeof(vscan_scan_segmented_options) */
    int32_t kind;                       /**< a vscan_kind */
    int32_t direction;                  /**< a vscan_direction */
    vscan_value initial;                /**< a value of in's type, or none */
    const vscan_buffer *initial_buffer; /**< the same in a buffer of one element, or NULL */
    vscan_buffer *totals;               /**< a buffer for the totals of segments, or NULL */
    vscan_buffer *count;                /**< a buffer of one long element, or NULL */
    vscan_carry *carry;                 /**< the carry to continue from, or NULL */
} vscan_scan_segmented_options;

/**
 * Segmented scan: a scan of every segment on its own (Blelloch 1990, ch. 3; Schwartz, Ultracomputers, 1980).
 * Segments are given by head flags. In all functions an argument with the name heads means: element i starts
 * a segment if heads[i] is set; element 0 starts one in any case; a segment ends before the next one starts.
 * (An argument with the name flags, as in vscan_pack, has no such rule for element 0.)
 *
 * For a segment of elements s .. e, with z for the initial value, if there is one, forward:
 *
 *     inclusive   out[i] = z + in[s] + in[s+1] + ... + in[i]
 *     exclusive   out[i] = z + in[s] + in[s+1] + ... + in[i-1];  out[s] = z, or the identity without z
 *     total              = z + in[s] + in[s+1] + ... + in[e]
 *
 * and backward with in[e], in[e-1], ... in place of in[s], in[s+1], ... Float and double plus follow the
 * fixed order of the whole vector, as if all elements before the segment were absent.
 *
 *   op        a vscan_op
 *   in        int, long, float or double
 *   heads     int, byte or bit, of in's length; does not overlap out
 *   out       of in's type and length; in place, or no overlap
 *   options   NULL: inclusive, forward, no initial value, no totals, no count, no carry
 *     kind, direction, initial, initial_buffer   as in vscan_scan; z begins every segment
 *     totals   of in's type, any length; totals[k] receives the total of segment k. Segments are counted from
 *              element 0 in both directions. Elements after the last segment's stay as they are. If there are
 *              more segments than totals has elements, the totals that fit are written, and TOTALS_LENGTH is
 *              reported late. Overlaps no other argument
 *     count    one long element, receives the number of segments. Overlaps no other argument
 *     carry    as in vscan_scan; every segment begins with the initial value of vscan_carry_reset. A segment
 *              that continues from the piece before counts as one of this piece, and its total covers all
 *              pieces so far. Forward it counts, and has a total, also if element 0 starts a new segment and
 *              so ends it
 * n = 0: only the count is written, 0.
 * Asynchronous; can be captured. The data is read and written once; but backward with totals, the heads are
 * read twice, because the segments must be counted first. Allocation: see vscan_ctx_reserve.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, ENUM, PAIR, STRUCT_SIZE, VALUE, CARRY, HOST_MEMORY,
 * DEVICE_MEMORY, CAPTURE; late: TOTALS_LENGTH. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_scan_segmented(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                            const vscan_buffer *heads, vscan_buffer *out,
                                            const vscan_scan_segmented_options *options);

/* ---- Reduce ---------------------------------------------------------------------------------- */

/** Options of vscan_reduce, which explains the members. */
typedef struct vscan_reduce_options {
    int64_t size;        /**< sizeof(vscan_reduce_options) */
    int32_t direction;   /**< a vscan_direction; matters to the bits of sums of floats */
    int32_t unused;      /**< 0 */
    vscan_value initial; /**< a value of the total's type, or none */
    const vscan_buffer *initial_buffer; /**< the same in a buffer of one element, or NULL */
    vscan_carry *carry;                 /**< the carry to continue from, or NULL */
} vscan_reduce_options;

/**
 * Reduction (Iverson, A Programming Language, 1962): with z for the initial value, if there is one,
 *
 *     total = z + in[0] + in[1] + ... + in[n-1]
 *
 * It has exactly the bits of the total of vscan_scan.
 *   op        a vscan_op
 *   in        int, long, float or double
 *   total     one element of in's type, receives the total. Or long, where in is int and op is VSCAN_PLUS:
 *             elements are then added as long. It does not overlap in, but may be the same element as
 *             initial_buffer. It may be NULL if options has a carry, which then has the total's type
 *   options   NULL: forward, no initial value, no carry
 *     direction, initial, initial_buffer, carry   as in vscan_scan, of the total's type. The direction matters
 *                                                 only to the bits of float and double plus
 *     unused                                      0
 * n = 0: the total is z, or the identity.
 * Asynchronous; can be captured. The data is read once. Allocation: see vscan_ctx_reserve.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, ENUM, PAIR, STRUCT_SIZE, VALUE (two initial values, or one
 * beside a carry, or unused is not 0), CARRY, HOST_MEMORY, DEVICE_MEMORY, CAPTURE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_reduce(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                    vscan_buffer *total, const vscan_reduce_options *options);

/* ---- Maximum and minimum with positions ------------------------------------------------------ */

/** Options of vscan_scan_extreme and vscan_reduce_extreme. */
typedef struct vscan_extreme_options {
    int64_t size;      /**< sizeof(vscan_extreme_options) */
    int32_t direction; /**< a vscan_direction */
    int32_t unused;    /**< 0 */
} vscan_extreme_options;

/**
 * Running maximum or minimum with positions (cummax and cummin in other libraries). Forward:
 *
 *     out[i]       = in[0] + in[1] + ... + in[i], where + is op; as an inclusive vscan_scan
 *     positions[i] = the least j in 0 .. i for which in[j] equals out[i]
 *
 * and backward:
 *
 *     out[i]       = in[n-1] + in[n-2] + ... + in[i]
 *     positions[i] = the greatest j in i .. n-1 for which in[j] equals out[i]
 *
 * So of equal elements the first one counts, in the direction of the scan. Equal means equal for max and min:
 * -0 is less than +0, and all NaNs are equal. From the first NaN on, every result is a NaN, and its position
 * that of the first NaN.
 *   op          VSCAN_MAX or VSCAN_MIN
 *   in          int, long, float or double
 *   out         of in's type and length; in place, or no overlap. NULL: only the positions are written
 *   positions   int or long, of in's length, int for at most INT32_MAX elements. Overlaps no other argument
 *   options     NULL: forward
 *     direction   0: forward
 *     unused      0
 * n = 0: nothing happens. Asynchronous; can be captured. Allocation: see vscan_ctx_reserve.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH (also: too long for int), OVERLAP, ENUM (also: another operator),
 * STRUCT_SIZE, VALUE (unused is not 0), HOST_MEMORY, DEVICE_MEMORY, CAPTURE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_scan_extreme(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                          vscan_buffer *out, vscan_buffer *positions,
                                          const vscan_extreme_options *options);

/**
 * Maximum or minimum of a vector, and its position (argmax and argmin in other libraries). Forward it is the
 * least, backward the greatest position of an element that equals the total, as in vscan_scan_extreme:
 * vscan_reduce_extreme gives the last results of that scan.
 *   op, in     as in vscan_scan_extreme
 *   total      one element of in's type, receives the maximum or minimum. Overlaps no other argument. NULL:
 *              only the position is written
 *   position   one element, int or long, int for at most INT32_MAX elements; receives the position. Overlaps
 *              no other argument
 *   options    as in vscan_scan_extreme
 * n = 0: the total is the identity, as in vscan_reduce, and the position is -1.
 * Asynchronous; can be captured. Allocation: see vscan_ctx_reserve.
 * Statuses: as vscan_scan_extreme. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_reduce_extreme(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                            vscan_buffer *total, vscan_buffer *position,
                                            const vscan_extreme_options *options);

/* ---- Segmented reduction --------------------------------------------------------------------- */

/** Options of vscan_reduce_segmented, which explains the members. */
typedef struct vscan_reduce_segmented_options {
    int64_t size;                       /**< sizeof(vscan_reduce_segmented_options) */
    vscan_value initial;                /**< a value of the totals' type, or none */
    const vscan_buffer *initial_buffer; /**< the same in a buffer of one element, or NULL */
    vscan_buffer *count;                /**< a buffer of one long element, or NULL */
} vscan_reduce_segmented_options;

/**
 * Segmented reduction, one total for each segment (Blelloch 1990, ch. 3). For segment k of elements s .. e:
 *
 *     totals[k] = z + in[s] + in[s+1] + ... + in[e]
 *
 * It has exactly the bits of totals[k] of a forward vscan_scan_segmented. Nothing else is written.
 *   op        a vscan_op
 *   in        int, long, float or double
 *   heads     int, byte or bit, of in's length; as in vscan_scan_segmented
 *   totals    of in's type, any length. Or long, where in is int and op is VSCAN_PLUS: elements are then added as
 *             long, and initial values are of long. Overlaps no other argument. Elements after the last segment's
 *             stay as they are. If there are more segments than elements, the totals that fit are written, and
 *             TOTALS_LENGTH is reported late
 *   options   NULL: no initial value, no count
 *     initial, initial_buffer   as in vscan_scan; z begins every segment
 *     count                     one long element, receives the number of segments. Overlaps no other argument
 * n = 0: only the count is written, 0.
 * Asynchronous; can be captured. The data is read once. Allocation: see vscan_ctx_reserve; totals of long of an in of
 * int need offsets, as vscan_reduce_by_key does.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, ENUM, PAIR, STRUCT_SIZE, VALUE (two initial values),
 * HOST_MEMORY, DEVICE_MEMORY, CAPTURE; late: TOTALS_LENGTH. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_reduce_segmented(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                              const vscan_buffer *heads, vscan_buffer *totals,
                                              const vscan_reduce_segmented_options *options);

/** Options of vscan_scan_by_offsets, which explains the members. */
typedef struct vscan_scan_by_offsets_options {
    int64_t size;                       /**< sizeof(vscan_scan_by_offsets_options) */
    int32_t kind;                       /**< a vscan_kind */
    int32_t direction;                  /**< a vscan_direction */
    vscan_value initial;                /**< a value of in's type, or none */
    const vscan_buffer *initial_buffer; /**< the same in a buffer of one element, or NULL */
    vscan_buffer *totals;               /**< a buffer for the totals of segments, or NULL */
} vscan_scan_by_offsets_options;

/**
 * A scan of every segment, with segments given by offsets as in vscan_reduce_by_offsets. For segment k, with
 * s = offsets[k], e = offsets[k+1] - 1, and z for the initial value, if there is one, forward:
 *
 *     inclusive   out[i] = z + in[s] + in[s+1] + ... + in[i]
 *     exclusive   out[i] = z + in[s] + in[s+1] + ... + in[i-1];  out[s] = z, or the identity without z
 *     totals[k]          = z + in[s] + in[s+1] + ... + in[e]
 *
 * and backward with in[e], in[e-1], ... in place of in[s], in[s+1], ...
 *   op        a vscan_op
 *   in        int, long, float or double
 *   offsets   as in vscan_reduce_by_offsets. Does not overlap out
 *   out       of in's type and length; in place, or no overlap. Elements in no segment stay as they are
 *   options   NULL: inclusive, forward, no initial value, no totals
 *     kind, direction   0: inclusive, forward
 *     initial, initial_buffer   as in vscan_scan; z begins every segment
 *     totals    of in's type, one element less than offsets, in the order of the offsets also backward. That of an
 *               empty segment is z, or the identity. Overlaps no other argument
 * A segment is a vector of its own: its results have the bits of vscan_scan of its elements alone, and depend on
 * nothing else, wherever the segment lies.
 * A wrong offset (less than the one before it, or outside 0 .. n) is not followed: nothing outside the
 * vectors is read or written, OFFSETS is reported late, and out and the totals may hold anything.
 * n = 0: all segments are empty. Asynchronous; can be captured. The data is read and written once. Allocation: see
 * vscan_ctx_reserve.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, ENUM, PAIR, STRUCT_SIZE, VALUE (two initial values),
 * HOST_MEMORY, DEVICE_MEMORY, CAPTURE; late: OFFSETS. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_scan_by_offsets(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                             const vscan_buffer *offsets, vscan_buffer *out,
                                             const vscan_scan_by_offsets_options *options);

/** Options of vscan_reduce_by_offsets, which explains the members. */
typedef struct vscan_reduce_by_offsets_options {
    int64_t size;                       /**< sizeof(vscan_reduce_by_offsets_options) */
    vscan_value initial;                /**< a value of the totals' type, or none */
    const vscan_buffer *initial_buffer; /**< the same in a buffer of one element, or NULL */
} vscan_reduce_by_offsets_options;

/**
 * Segmented reduction with segments given by offsets, as the rows of a sparse matrix are in the CSR format:
 *
 *     totals[k] = z + in[offsets[k]] + ... + in[offsets[k+1] - 1]
 *
 *   op        a vscan_op
 *   in        int, long, float or double
 *   offsets   int or long, one element more than there are segments, so at least 1. None is less than the one
 *             before it; all are in 0 .. n. Elements before the first offset, and from the last one on, are
 *             in no segment. If offsets[k] = offsets[k+1], segment k is empty: its total is z, or the
 *             identity (+0.0 for float and double plus)
 *   totals    of in's type, one element less than offsets; or long, as in vscan_reduce_segmented. Overlaps no other
 *             argument
 *   options   NULL: no initial value
 *     initial, initial_buffer   as in vscan_scan; z begins every segment
 * A segment is a vector of its own: its total has the bits of vscan_reduce of its elements alone, and depends on
 * nothing else, wherever the segment lies.
 * A wrong offset (less than the one before it, or outside 0 .. n) is not followed: nothing outside the
 * vectors is read or written, OFFSETS is reported late, and the totals may hold anything.
 * n = 0: all segments are empty. Asynchronous; can be captured. Allocation: see vscan_ctx_reserve.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, ENUM, PAIR, STRUCT_SIZE, VALUE (two initial values),
 * HOST_MEMORY, DEVICE_MEMORY, CAPTURE; late: OFFSETS. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_reduce_by_offsets(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                               const vscan_buffer *offsets, vscan_buffer *totals,
                                               const vscan_reduce_by_offsets_options *options);

/* ---- Rows and columns ------------------------------------------------------------------------ */

/**
 * Options of the scans and reductions of rows and columns. A matrix is a buffer in which row r consists of
 * the elements r * pitch, r * pitch + 1, ..., r * pitch + columns - 1. Elements between the end of a row and
 * the beginning of the next one, and elements after the last row, are never read and never written. A line is
 * a row in the functions for rows, and a column in those for columns.
 *
 * Several matrices of one shape may follow each other, as in an array with three axes, of which the last or
 * the middle one is scanned: row r of matrix m begins at element (m * rows + r) * pitch. Their lines are
 * numbered through: row r of matrix m is line m * rows + r, and column c of matrix m is line m * columns + c.
 */
typedef struct vscan_matrix_options {
    int64_t size;        /**< sizeof(vscan_matrix_options) */
    int32_t kind;        /**< a vscan_kind; 0 in a reduction */
    int32_t direction;   /**< a vscan_direction */
    int64_t pitch;       /**< elements from one row to the next, at least columns; 0: columns */
    vscan_value initial; /**< a value of in's type, or none */
    const vscan_buffer *initial_buffer; /**< one element, or one for each line, or NULL */
    vscan_buffer *totals;               /**< one element for each line, or NULL; NULL in a
                                           reduction */
    int64_t matrices;                   /**< how many matrices there are; 0: 1 */
} vscan_matrix_options;

/**
 * Scans every row, or every column, of a matrix on its own. With z for the initial value of the line, if
 * there is one, forward and inclusive:
 *
 *     vscan_scan_rows      out[r, c] = z + in[r, 0] + in[r, 1] + ... + in[r, c]
 *     vscan_scan_columns   out[r, c] = z + in[0, c] + in[1, c] + ... + in[r, c]
 *
 * The results and the total of a line have exactly the bits that vscan_scan gives for a vector of the line's
 * elements, with the same kind, direction and initial value. Backward, a line begins at its last element.
 *
 *   op              a vscan_op
 *   in              int, long, float or double, of at least (matrices * rows - 1) * pitch + columns elements;
 *                   of any length if rows or columns is 0
 *   rows, columns   of a matrix, at least 0
 *   out             of in's type and length, with in's pitch; in place, or no overlap of the two buffers
 *   options         NULL: inclusive, forward, pitch = columns, no initial value, no totals, one matrix
 *     kind, direction   as in vscan_scan
 *     pitch             elements from the beginning of a row to that of the next, at least columns; 0:
 *                       columns
 *     initial           a value of in's type, for every line
 *     initial_buffer    of in's type: one element for every line, or as many elements as there are lines, one
 *                       each. It does not overlap out or totals. At most one of initial and initial_buffer
 *                       may be set
 *     totals            of in's type, one element for each line; totals[l] receives the total of line l. The
 *                       total of a line without elements is its initial value, or the identity. Overlaps no
 *                       other argument
 *     matrices          how many, at least 0; 0: one
 * If rows or columns is 0, only the totals are written.
 * Asynchronous; can be captured. The data is read and written once. Allocation: see vscan_ctx_reserve, which
 * does not know shapes; so make the call once before a capture.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH (of a buffer, or rows or columns < 0), OVERLAP, ENUM, PAIR,
 * STRUCT_SIZE, VALUE (two initial values, pitch or matrices), OVERFLOW (longer than any buffer),
 * HOST_MEMORY, DEVICE_MEMORY, CAPTURE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_scan_rows(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                       int64_t rows, int64_t columns, vscan_buffer *out,
                                       const vscan_matrix_options *options);
VSCAN_API vscan_status vscan_scan_columns(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                          int64_t rows, int64_t columns, vscan_buffer *out,
                                          const vscan_matrix_options *options);

/**
 * Segmented scan of every row of a matrix. Row r has the results that vscan_scan_segmented gives for a vector of
 * the row's elements and its head flags, with exactly these bits: a segment lies in one row.
 *
 *   op, in, rows, columns, out   as in vscan_scan_rows
 *   heads     int (any value but 0), byte or bit, of in's length: the flag of an element has the element's number,
 *             heads[r * pitch + c]. A set flag starts a segment at its element; the first element of a row starts
 *             one in any case. Flags of elements that are in no row do not matter. Does not overlap out
 *   options   as in vscan_scan_rows. Every segment of a line begins with the line's initial value, and a line's
 *             total is the last inclusive result of it, in the direction of the scan: that of its last segment,
 *             backward of its first
 * If rows or columns is 0, only the totals are written.
 * Asynchronous; can be captured. The data is read and written once. Allocation as vscan_scan_rows.
 * Statuses: as vscan_scan_rows; TYPE also where heads are no flags, LENGTH where they are not of in's length. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_scan_rows_segmented(vscan_ctx *ctx, vscan_op op,
                                                 const vscan_buffer *in, const vscan_buffer *heads,
                                                 int64_t rows, int64_t columns, vscan_buffer *out,
                                                 const vscan_matrix_options *options);

/**
 * Reduces every row, or every column, of a matrix (Iverson 1962: row and column reduction): totals[l] is the
 * total of line l, with exactly the bits of the totals of vscan_scan_rows and vscan_scan_columns. With z for
 * the initial value, if there is one:
 *
 *     vscan_reduce_rows      totals[r] = z + in[r, 0] + in[r, 1] + ... + in[r, columns - 1]
 *     vscan_reduce_columns   totals[c] = z + in[0, c] + in[1, c] + ... + in[rows - 1, c]
 *
 *   op, in, rows, columns   as in vscan_scan_rows
 *   totals    of in's type, `rows` elements (vscan_reduce_columns: `columns`) for each matrix. Or long, where in is
 *             int and op is VSCAN_PLUS: elements are then added as long. Overlaps no other argument
 *   options   NULL: forward, pitch = columns, no initial value. The members are as in vscan_scan_rows, but
 *             kind is 0, totals is NULL, and initial values are of the totals' type
 * The total of a line without elements is its initial value, or the identity.
 * Asynchronous; can be captured. The data is read once. Allocation as vscan_scan_rows.
 * Statuses: as vscan_scan_rows; VALUE also if kind or options->totals is set. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_reduce_rows(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                         int64_t rows, int64_t columns, vscan_buffer *totals,
                                         const vscan_matrix_options *options);
VSCAN_API vscan_status vscan_reduce_columns(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                            int64_t rows, int64_t columns, vscan_buffer *totals,
                                            const vscan_matrix_options *options);

/**
 * Reduces the columns of groups of adjacent rows, with groups given by offsets: one row of totals for each group, as
 * in an embedding bag, or in the product of a sparse and a dense matrix. With z for the initial value, if there is one:
 *
 *     totals[k * columns + c] = z + in[offsets[k], c] + ... + in[offsets[k+1] - 1, c]
 *
 * This has exactly the bits that vscan_reduce_columns gives for the group's rows alone: they depend on nothing else,
 * wherever the group lies.
 *
 *   op, in, rows, columns   as in vscan_scan_rows
 *   offsets   int or long, one element more than there are groups, so at least 1. None is less than the one before it;
 *             all are in 0 .. rows. Rows before the first offset, and from the last one on, are in no group
 *   totals    of in's type, `columns` elements for each group, without gaps. Overlaps no other argument. Those of an
 *             empty group are its initial values, or the identity (+0.0 for float and double plus)
 *   options   NULL: forward, pitch = columns, no initial value
 *     direction, pitch   as in vscan_scan_rows; backward, a group begins at its last row
 *     initial, initial_buffer   as in vscan_scan_rows: one for all, or one for each column, for every group
 *     kind, totals, matrices    0 and NULL; matrices may be 1
 * A wrong offset (less than the one before it, or outside 0 .. rows) is not followed: nothing outside the buffers is
 * read or written, OFFSETS is reported late, and the totals may hold anything.
 * rows = 0: all groups are empty. columns = 0: nothing happens. Asynchronous; can be captured. The data is read once.
 * Allocation as vscan_scan_rows.
 * Statuses: as vscan_scan_rows; TYPE also where offsets are neither int nor long, VALUE also if kind, options->totals or
 * more matrices than one are set; late: OFFSETS. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_reduce_columns_by_offsets(vscan_ctx *ctx, vscan_op op,
                                                       const vscan_buffer *in,
                                                       const vscan_buffer *offsets, int64_t rows,
                                                       int64_t columns, vscan_buffer *totals,
                                                       const vscan_matrix_options *options);

/* ---- Maximum and minimum of rows, columns and segments --------------------------------------- */

/**
 * Options of vscan_reduce_extreme_rows and _columns, which explain the members, of vscan_scan_extreme_rows and
 * _columns, and of vscan_reduce_extreme_by_offsets.
 */
typedef struct vscan_extreme_lines_options {
    int64_t size;      /**< sizeof(vscan_extreme_lines_options) */
    int32_t direction; /**< a vscan_direction */
    int32_t in_vector; /**< 0: positions are counted in the line; 1: in the vector */
    int64_t pitch;     /**< elements from a row to the next, or 0 */
    int64_t matrices;  /**< how many, or 0 */
} vscan_extreme_lines_options;

/**
 * Maximum or minimum of every row, or every column, of a matrix, and its position (argmax and argmin along an
 * axis in other libraries): totals[l] and positions[l] are what vscan_reduce_extreme gives for line l alone.
 * So of equal elements the first one counts, backward the last one; -0 is less than +0; and where a line has
 * a NaN, the result is a NaN, at the first one's position.
 *   op              VSCAN_MAX or VSCAN_MIN
 *   in              int, long, float or double, of the length that vscan_scan_rows asks for
 *   rows, columns   of a matrix, at least 0
 *   totals          of in's type, `rows` elements (vscan_reduce_extreme_columns: `columns`) for each matrix.
 *                   Overlaps no other argument. NULL: only the positions are written
 *   positions       int or long, as many elements. Overlaps no other argument. int only where a line, or with
 *                   in_vector the vector, has at most INT32_MAX elements
 *   options         NULL: forward, positions in the line, pitch = columns, one matrix
 *     direction         as in vscan_reduce_extreme
 *     in_vector         0: positions count the elements of the line, from 0 on, in either direction; 1: those of
 *                       in, so that in[positions[l]] is the element
 *     pitch, matrices   as in vscan_scan_rows
 * A line without elements has the identity, as in vscan_reduce, and position -1.
 * Asynchronous; can be captured. The data is read once. Allocation as vscan_scan_rows.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH (also: too long for int), OVERLAP, ENUM (also: another operator),
 * STRUCT_SIZE, VALUE (in_vector, pitch or matrices), OVERFLOW, HOST_MEMORY, DEVICE_MEMORY, CAPTURE.
 * Since 1.0.0.
 */
VSCAN_API vscan_status vscan_reduce_extreme_rows(vscan_ctx *ctx, vscan_op op,
                                                 const vscan_buffer *in, int64_t rows,
                                                 int64_t columns, vscan_buffer *totals,
                                                 vscan_buffer *positions,
                                                 const vscan_extreme_lines_options *options);
VSCAN_API vscan_status vscan_reduce_extreme_columns(vscan_ctx *ctx, vscan_op op,
                                                    const vscan_buffer *in, int64_t rows,
                                                    int64_t columns, vscan_buffer *totals,
                                                    vscan_buffer *positions,
                                                    const vscan_extreme_lines_options *options);

/**
 * Running maximum or minimum of every row, or every column, of a matrix, with positions (cummax and cummin along an
 * axis in other libraries): the results of a line are what vscan_scan_extreme gives for that line alone.
 *   op, in, rows, columns   as in vscan_reduce_extreme_rows
 *   out         of in's type and length, with in's pitch; in place, or no overlap. NULL: only the positions are written
 *   positions   int or long, of in's length, with in's pitch. Overlaps no other argument. int only where a line, or with
 *               in_vector the vector, has at most INT32_MAX elements
 *   options     as in vscan_reduce_extreme_rows
 * Elements and positions outside the rows stay as they are. If rows or columns is 0, nothing happens.
 * Asynchronous; can be captured. The data is read and written once. Allocation as vscan_scan_rows.
 * Statuses: as vscan_reduce_extreme_rows. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_scan_extreme_rows(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                               int64_t rows, int64_t columns, vscan_buffer *out,
                                               vscan_buffer *positions,
                                               const vscan_extreme_lines_options *options);
VSCAN_API vscan_status vscan_scan_extreme_columns(vscan_ctx *ctx, vscan_op op,
                                                  const vscan_buffer *in, int64_t rows,
                                                  int64_t columns, vscan_buffer *out,
                                                  vscan_buffer *positions,
                                                  const vscan_extreme_lines_options *options);

/**
 * Maximum or minimum of every segment, and its position, with segments given by offsets as in
 * vscan_reduce_by_offsets: totals[k] and positions[k] are what vscan_reduce_extreme gives for segment k alone.
 *   op, in      as in vscan_reduce_extreme_rows; in is of any length
 *   offsets     as in vscan_reduce_by_offsets
 *   totals      of in's type, one element less than offsets. Overlaps no other argument. NULL: only the
 *               positions are written
 *   positions   int or long, one element less than offsets. Overlaps no other argument. int only where in has
 *               at most INT32_MAX elements
 *   options     NULL: forward, positions in the segment
 *     direction, in_vector   as in vscan_reduce_extreme_rows
 *     pitch, matrices        0
 * An empty segment has the identity, as in vscan_reduce, and position -1. Wrong offsets as in
 * vscan_reduce_by_offsets.
 * n = 0: all segments are empty. Asynchronous; can be captured. Allocation as vscan_scan_rows.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH (also: too long for int), OVERLAP, ENUM (also: another operator),
 * STRUCT_SIZE, VALUE (in_vector; pitch or matrices is set), HOST_MEMORY, DEVICE_MEMORY, CAPTURE; late:
 * OFFSETS. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_reduce_extreme_by_offsets(vscan_ctx *ctx, vscan_op op,
                                                       const vscan_buffer *in,
                                                       const vscan_buffer *offsets,
                                                       vscan_buffer *totals,
                                                       vscan_buffer *positions,
                                                       const vscan_extreme_lines_options *options);

/* ---- Map ------------------------------------------------------------------------------------- */

/*
 * Element-by-element functions (elementwise instructions in Blelloch 1990, ch. 12). What they have in common:
 *   All vectors of a call have the same length n. n = 0: nothing happens.
 *   The output may be in place of any input that has its type, unless the function's comment says otherwise.
 *   A scalar is one element on the host, of the vectors' type, not NULL, and read before the call returns.
 *   Asynchronous; can be captured. They never allocate. Each vector is read or written once.
 */

/**
 * Unary operators, for int, long, float and double.
 *
 *   negate        -a. The least integer stays as it is.
 *   not           int, long: bitwise ~a. float, double: 1.0 if a equals 0, else 0.0 (so a NaN gives 0.0).
 *                 byte, bit: 1 if a is 0, else 0.
 *   absolute      a without its sign. The least integer stays as it is.
 *   square        a * a; int modulo 2^32, long modulo 2^64.
 *   square root   float and double only; correctly rounded; NaN for a number less than 0.
 *   floor, ceil, round even   float and double only: the nearest integer that is not greater than a; that is not
 *                 less; the nearest of all, and of two that are equally near the even one (2.5 gives 2). Results
 *                 are of the same type. Their sign is a's, of 0 too (-0.3 is rounded up to -0). Infinities, NaNs
 *                 and all numbers too large for a fraction stay as they are. Before vscan_convert, which rounds
 *                 towards 0, they choose another way of rounding.
 */
typedef enum vscan_unary {
    VSCAN_UNARY_NEGATE = 41,      /**< -a */
    VSCAN_UNARY_NOT = 42,         /**< integers: ~a; float, double: 1.0 if a equals 0, else 0.0 */
    VSCAN_UNARY_ABSOLUTE = 43,    /**< a without its sign */
    VSCAN_UNARY_SQUARE = 44,      /**< a * a */
    VSCAN_UNARY_SQUARE_ROOT = 45, /**< float and double only */
    VSCAN_UNARY_FLOOR = 46,       /**< rounded down; float and double only */
    VSCAN_UNARY_CEIL = 47,        /**< rounded up; float and double only */
    VSCAN_UNARY_ROUND_EVEN = 48,  /**< to the nearest integer, ties to even; float and double only */
    VSCAN_UNARY_FORCE_INT = 0x7fffffff
} vscan_unary;

/**
 * Binary operators, for int, long, float and double.
 *
 *   add, subtract, multiply   int: modulo 2^32. long: modulo 2^64. float, double: IEEE 754.
 *   divide                    float, double: IEEE 754, correctly rounded. int, long: rounded towards 0. The
 *                             least integer divided by -1 is the least integer. a / 0 is 0, and DIVISION is
 *                             reported late.
 *   remainder                 int and long only: a - (a / b) * b, with a's sign. For b = 0 it is a, and
 *                             DIVISION is reported late.
 *   max, min                  as in vscan_op
 *   and, or, xor              int, long: bitwise. float, double: logical, as in vscan_op. byte, bit: logical,
 *                             with results 0 and 1.
 *   shift left                int and long only: a * 2^b, modulo 2^32 or 2^64.
 *   shift right               int and long only: a / 2^b, rounded down; copies of the sign bit come in from
 *                             the left. In both shifts, a count b that is negative, or greater than 31 (long:
 *                             63), shifts out all bits: the result is 0, or -1 if a negative a is shifted
 *                             right.
 */
typedef enum vscan_binary {
    VSCAN_BINARY_ADD = 51,         /**< a + b */
    VSCAN_BINARY_SUBTRACT = 52,    /**< a - b */
    VSCAN_BINARY_MULTIPLY = 53,    /**< a * b */
    VSCAN_BINARY_DIVIDE = 54,      /**< a / b; integers: towards 0 */
    VSCAN_BINARY_REMAINDER = 55,   /**< int and long only, of a's sign */
    VSCAN_BINARY_MAX = 56,         /**< as VSCAN_MAX */
    VSCAN_BINARY_MIN = 57,         /**< as VSCAN_MIN */
    VSCAN_BINARY_AND = 58,         /**< integers: bitwise; else logical */
    VSCAN_BINARY_OR = 59,          /**< integers: bitwise; else logical */
    VSCAN_BINARY_XOR = 60,         /**< integers: bitwise; else logical */
    VSCAN_BINARY_SHIFT_LEFT = 61,  /**< int and long only */
    VSCAN_BINARY_SHIFT_RIGHT = 62, /**< int and long only; copies of the sign come in */
    VSCAN_BINARY_FORCE_INT = 0x7fffffff
} vscan_binary;

/** Comparisons, as in IEEE 754: if a or b is a NaN, only "not equal" is true; -0 equals +0. */
typedef enum vscan_relation {
    VSCAN_EQUAL = 71,            /**< a == b */
    VSCAN_NOT_EQUAL = 72,        /**< a != b; also with a NaN */
    VSCAN_LESS = 73,             /**< a < b */
    VSCAN_LESS_OR_EQUAL = 74,    /**< a <= b */
    VSCAN_GREATER = 75,          /**< a > b */
    VSCAN_GREATER_OR_EQUAL = 76, /**< a >= b */
    VSCAN_RELATION_FORCE_INT = 0x7fffffff
} vscan_relation;

/**
 * Unary operator: out[i] = op in[i].
 *   op    a vscan_unary
 *   in    any type that op works on
 *   out   of in's type and length; in place, or no overlap
 * n = 0, asynchrony, capture: see the beginning of this part.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, ENUM, PAIR (op does not work on in's type). Since 1.0.0.
 */
VSCAN_API vscan_status vscan_map_unary(vscan_ctx *ctx, vscan_unary op, const vscan_buffer *in,
                                       vscan_buffer *out);

/**
 * Binary operator: out[i] = a[i] op b[i].
 *   op    a vscan_binary
 *   a     any type that op works on
 *   b     of a's type and length; may be a
 *   out   of a's type and length; in place of a, of b, or of both, or no overlap
 * n = 0, asynchrony, capture: see the beginning of this part.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, ENUM, PAIR (op does not work on a's type); late: DIVISION.
 * Since 1.0.0.
 */
VSCAN_API vscan_status vscan_map_binary(vscan_ctx *ctx, vscan_binary op, const vscan_buffer *a,
                                        const vscan_buffer *b, vscan_buffer *out);

/**
 * Binary operator with a scalar:
 *
 *     vscan_map_right   out[i] = a[i] op right
 *     vscan_map_left    out[i] = left op b[i]
 *
 *   op            a vscan_binary
 *   a, b          int, long, float or double, of which op works on some or all; not byte or bit
 *   right, left   a scalar
 *   out           of the vector's type and length; in place, or no overlap
 * n = 0, asynchrony, capture: see the beginning of this part.
 * Statuses: as vscan_map_binary. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_map_right(vscan_ctx *ctx, vscan_binary op, const vscan_buffer *a,
                                       const void *right, vscan_buffer *out);
VSCAN_API vscan_status vscan_map_left(vscan_ctx *ctx, vscan_binary op, const void *left,
                                      const vscan_buffer *b, vscan_buffer *out);

/**
 * Comparison: flags[i] = 1 if a[i] relation b[i] is true, else 0.
 *   relation   a vscan_relation
 *   a          int, long, float, double or uint8
 *   b          of a's type and length; may be a
 *   flags      int, byte or bit, of a's length; in place only if a and flags are both int
 * n = 0, asynchrony, capture: see the beginning of this part.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, ENUM. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_compare(vscan_ctx *ctx, vscan_relation relation, const vscan_buffer *a,
                                     const vscan_buffer *b, vscan_buffer *flags);

/**
 * Comparison with a scalar: flags[i] = 1 if a[i] relation right is true, else 0.
 *   relation, a, flags   as in vscan_compare
 *   right                a scalar
 * n = 0, asynchrony, capture: see the beginning of this part.
 * Statuses: as vscan_compare. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_compare_right(vscan_ctx *ctx, vscan_relation relation,
                                           const vscan_buffer *a, const void *right,
                                           vscan_buffer *flags);

/**
 * Selection: out[i] = a[i] if flags[i] is set, else b[i].
 *   flags   int, byte or bit, of a's length; does not overlap out
 *   a       any type. Bytes keep their value, also values other than 0 and 1
 *   b       of a's type and length; may be a
 *   out     of a's type and length; in place of a, of b, or of both, or no overlap
 * n = 0, asynchrony, capture: see the beginning of this part.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_select(vscan_ctx *ctx, const vscan_buffer *flags,
                                    const vscan_buffer *a, const vscan_buffer *b,
                                    vscan_buffer *out);

/**
 * Selection with a scalar:
 *
 *     vscan_select_right   out[i] = a[i] if flags[i] is set, else right
 *     vscan_select_left    out[i] = left if flags[i] is set, else b[i]
 *
 *   flags, a, b, out   as in vscan_select
 *   right, left        a scalar (bits: a uint8_t, 0 or not 0)
 * n = 0, asynchrony, capture: see the beginning of this part.
 * Statuses: as vscan_select. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_select_right(vscan_ctx *ctx, const vscan_buffer *flags,
                                          const vscan_buffer *a, const void *right,
                                          vscan_buffer *out);
VSCAN_API vscan_status vscan_select_left(vscan_ctx *ctx, const vscan_buffer *flags,
                                         const void *left, const vscan_buffer *b,
                                         vscan_buffer *out);

/**
 * Conversion: out[i] = in[i], in out's type.
 *   float, double to int, long   rounded towards 0. A number that does not fit becomes the nearest one that
 *                                does; a NaN becomes 0
 *   long to int                  a number that does not fit becomes the nearest one that does
 *   all numbers to uint8         as to int; so -1 becomes 0, and 300 becomes 255
 *   to float, double             rounded to nearest, ties to even
 *   to byte, bit                 1 if in[i] is not equal to 0 (so for a NaN), else 0
 *   from byte, bit               1 if the flag is set, else 0
 *   to the same type             the same value; but a byte becomes 0 or 1
 * uint8 is a number here: 7 becomes 7.0.
 *   in    any type
 *   out   any type, of in's length; in place only if it has in's type
 * n = 0, asynchrony, capture: see the beginning of this part.
 * Statuses: NULL, CONTEXT, LENGTH, OVERLAP. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_convert(vscan_ctx *ctx, const vscan_buffer *in, vscan_buffer *out);

/* ---- Positions ------------------------------------------------------------------------------- */

/**
 * Numbers the elements: out[i] = first + i * step, computed modulo 2^64. The result is then taken modulo 2^32
 * if out is int, and rounded to nearest if out is float or double.
 *   first, step   any numbers
 *   out           int, long, float or double
 * n = 0: nothing happens. Asynchronous; can be captured. Never allocates.
 * Statuses: NULL, CONTEXT, TYPE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_index(vscan_ctx *ctx, int64_t first, int64_t step, vscan_buffer *out);

/**
 * Distribute: out[i] = value[0] (Blelloch 1990, ch. 12). Unlike vscan_buffer_fill, it takes the value from a
 * buffer: a total, for example, or a view of one element of a vector.
 *   value   one element of any type; does not overlap out
 *   out     of value's type, any length
 * n = 0: nothing happens. Asynchronous; can be captured. Never allocates.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH (value has not 1 element), OVERLAP. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_distribute(vscan_ctx *ctx, const vscan_buffer *value,
                                        vscan_buffer *out);

/**
 * Gather: out[i] = in[positions[i]].
 *   in          any type but bit, any length
 *   positions   int or long, any length n, each in 0 .. in's length - 1. A position may occur more than once
 *   out         of in's type and positions' length; overlaps no other argument
 * If positions[i] lies outside in, nothing is read, out[i] stays as it is, and POSITION is reported late.
 * n = 0: nothing happens. Asynchronous; can be captured. Never allocates.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP; late: POSITION. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_gather(vscan_ctx *ctx, const vscan_buffer *in,
                                    const vscan_buffer *positions, vscan_buffer *out);

/** Options of vscan_permute, which explains the members. */
typedef struct vscan_permute_options {
    int64_t size;          /**< sizeof(vscan_permute_options) */
    vscan_buffer *written; /**< a bit buffer of out's length, or NULL */
} vscan_permute_options;

/**
 * Permute, also called scatter (Blelloch 1990, ch. 12): out[positions[i]] = in[i]. Elements of out that no
 * position names stay as they are.
 *   in          any type but bit
 *   positions   int or long, of in's length, each in 0 .. out's length - 1, and none twice
 *   out         of in's type, any length; overlaps no other argument
 *   options     NULL: positions are not checked for repetition
 *     written   a bit buffer of out's length, or NULL. Bit j becomes 1 if out[j] was written, else 0.
 *               Positions are then checked for repetition, and REPEATED is reported late. Overlaps no other
 *               argument
 * If positions[i] lies outside out, nothing is written for it, and POSITION is reported late, also if a
 * position is repeated. If several elements have the same position, one of them is written; which one is
 * open.
 * n = 0: nothing happens, except that written becomes 0. Asynchronous; can be captured. Never allocates.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, STRUCT_SIZE; late: POSITION, REPEATED. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_permute(vscan_ctx *ctx, const vscan_buffer *in,
                                     const vscan_buffer *positions, vscan_buffer *out,
                                     const vscan_permute_options *options);

/* ---- Pack ------------------------------------------------------------------------------------ */

/**
 * Pack, also called compact, filter, or stream compaction (compression in Iverson 1962): the elements whose
 * flag is set move to the front of out, in their order. With k(i) for the number of set flags before i:
 *
 *     out[k(i)] = in[i]   for all i with flags[i] set
 *     count = the number of set flags
 *
 *   in        any type but bit
 *   flags     int, byte or bit, of in's length; does not overlap out
 *   out       of in's type, any length. It begins with the very same element as in (in place), or does not
 *             overlap in. Elements from count on stay as they are
 *   options   NULL: no count
 *     count   one long element, receives the count. Overlaps no other argument
 * If out has fewer elements than there are set flags, the elements that fit are written, count is the number
 * of all set flags, and OUT_LENGTH is reported late.
 * n = 0: only the count is written, 0. Asynchronous; can be captured. Each vector is read or written once.
 * Allocation: see vscan_ctx_reserve.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, STRUCT_SIZE, HOST_MEMORY, DEVICE_MEMORY, CAPTURE; late:
 * OUT_LENGTH. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_pack(vscan_ctx *ctx, const vscan_buffer *in, const vscan_buffer *flags,
                                  vscan_buffer *out, const vscan_count_options *options);

/**
 * Pack by a comparison: like vscan_pack, with 1 for flags[i] if in[i] relation right is true, else 0. There
 * are no flags in memory.
 *   relation       a vscan_relation
 *   in             int, long, float, double or uint8
 *   right          not NULL; one element of in's type on the host, read before the call returns
 *   out, options   as in vscan_pack
 * n = 0, asynchrony, capture, allocation: as vscan_pack.
 * Statuses: as vscan_pack, and ENUM. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_pack_compare(vscan_ctx *ctx, vscan_relation relation,
                                          const vscan_buffer *in, const void *right,
                                          vscan_buffer *out, const vscan_count_options *options);

/**
 * Enumerate (Blelloch 1990, ch. 3): out[i] = the number of set flags before i. So out[0] = 0, and out[i] is
 * where vscan_pack puts element i if its flag is set.
 *   flags     int, byte or bit
 *   out       int or long, of flags' length, int for at most INT32_MAX elements; in place only if flags and
 *             out are both int
 *   options   as in vscan_pack
 * n = 0, asynchrony, capture, allocation: as vscan_pack.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH (also: too long for int), OVERLAP, STRUCT_SIZE, HOST_MEMORY,
 * DEVICE_MEMORY, CAPTURE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_enumerate(vscan_ctx *ctx, const vscan_buffer *flags, vscan_buffer *out,
                                       const vscan_count_options *options);

/**
 * Count: the number of set flags, as vscan_pack and vscan_enumerate count them.
 *   flags   int, byte or bit
 *   count   one long element, receives the number. Does not overlap flags
 * n = 0: the count is 0. Asynchronous; can be captured. Never allocates. Flags are read once.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_count(vscan_ctx *ctx, const vscan_buffer *flags, vscan_buffer *count);

/* ---- Sort ------------------------------------------------------------------------------------ */

/** The order of a sort. Elements with equal keys keep their order in both. */
typedef enum vscan_order {
    VSCAN_ASCENDING = 0,   /**< the smallest key first; the default */
    VSCAN_DESCENDING = 85, /**< the largest key first */
    VSCAN_ORDER_FORCE_INT = 0x7fffffff
} vscan_order;

/** Options of the sorts; see vscan_sort. */
typedef struct vscan_sort_options {
    int64_t size;      /**< sizeof(vscan_sort_options) */
    int32_t order;     /**< a vscan_order */
    int32_t first_bit; /**< keys of int and long: the lowest bit that is compared */
    int32_t bits;      /**< how many bits are compared; 0: all from first_bit on */
    int32_t unused;    /**< 0 */
} vscan_sort_options;

/**
 * Stable sort of keys, and of values by their keys. Let p be the permutation of 0 .. n - 1 for which, for all
 * i < j, keys[p(i)] comes before keys[p(j)], or the two are equal and p(i) < p(j). Then
 *
 *     keys_out[i] = keys[p(i)],  values_out[i] = values[p(i)]
 *
 * Ascending, integers are in the order of their values. If only some bits are compared, these are compared as
 * an unsigned number; but where the sign bit is among them, keys that have it set come first. Floating-point
 * keys are in the order -infinity, ..., -0, +0, ..., +infinity, NaN. All NaNs are equal to one another,
 * whatever their sign and payload. Descending is the reverse: NaNs come first, then +infinity, and +0 comes
 * before -0. Every element keeps all its bits, also a NaN its payload.
 *
 * **NOT THE ORDER OF CUB: here both inputs come first, then both outputs.** cub::DeviceRadixSort::SortPairs has
 * keys, keys_out, values, values_out. Four vectors of one type and length are accepted here in that order too:
 * the sorted keys then overwrite what was meant as values, and what was meant as keys_out is only read.
 *
 *   keys         int, float, double or long
 *   values       int, float, double or long, of keys' length; or NULL: the positions 0, 1, 2, ..., so that
 *                values_out becomes p (what others call argsort), or with values_out NULL no values
 *   keys_out     of keys' type and length; in place of keys, or no overlap with keys
 *   values_out   of values' type and length; in place of values, or no overlap with values. Where values is
 *                NULL, int or long, of keys' length, or NULL. keys_out and values_out do not overlap, nor do
 *                keys_out and values, nor values_out and keys
 *   options      NULL: ascending, all bits
 *     order             a vscan_order
 *     first_bit, bits   for keys of int and long: the bits first_bit .. first_bit + bits - 1 are compared,
 *                       counted from the lowest; bits = 0: all from first_bit on. For float and double both
 *                       are 0
 *     unused            0
 * n = 0: nothing happens. Asynchronous; can be captured.
 * It is a radix sort (Adinets and Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs,
 * 2022): its time is proportional to n and to the number of 8-bit digits in the bits compared. On the CPU a
 * long vector is divided by its highest digit, and keys that are in order already are read once and copied.
 * There one thread sorts up to 2^24 keys (long: 2^20) without values by vectors: networks, and above
 * them a quicksort (Bramas, A Novel Hybrid Quicksort Algorithm Vectorized using AVX-512 on Intel Skylake, 2017),
 * where the processor has AVX2. The bits are the same.
 * The context keeps memory for sorts: as much as the vectors have, a tenth more, and 64 KiB (on the CPU as
 * much as the vectors have, and 96 KiB for each thread). A sort that needs more than any before allocates it;
 * see vscan_sort_reserve.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, ENUM, STRUCT_SIZE, VALUE (bits that the keys do not have,
 * bits of floating-point keys, or unused is not 0), HOST_MEMORY, DEVICE_MEMORY, CAPTURE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_sort(vscan_ctx *ctx, const vscan_buffer *keys,
                                  const vscan_buffer *values, vscan_buffer *keys_out,
                                  vscan_buffer *values_out, const vscan_sort_options *options);

/**
 * Sorts every segment on its own. Segment k has the elements offsets[k] .. offsets[k+1] - 1, as in the CSR
 * format of sparse matrices. Elements before the first offset, and from the last one on, are copied to the
 * outputs. **The inputs come first, unlike in CUB** (vscan_sort).
 *   keys, values, keys_out, values_out, options   as in vscan_sort. Where values is NULL, positions are counted
 *             in the vector, not in the segment
 *   offsets   int or long, one element more than there are segments, so at least 1. None is less than the one
 *             before it; all are in 0 .. n. Overlaps no output
 * If a segment has a wrong offset (less than the one before it, or outside 0 .. n), that segment is not
 * sorted, nothing outside the vectors is read or written, OFFSETS is reported late, and the outputs may hold
 * anything.
 * n = 0: nothing is written; offsets are checked. Asynchronous; can be captured.
 * On CUDA a short segment is sorted by a few threads, and those of more than 11264 elements by all threads
 * together; the device finds out how many there are of each. The context keeps memory for sorts: as much as
 * the vectors have, and 55 % of the keys' more. See vscan_sort_reserve.
 * Statuses: as vscan_sort; late: OFFSETS. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_sort_by_offsets(vscan_ctx *ctx, const vscan_buffer *keys,
                                             const vscan_buffer *values,
                                             const vscan_buffer *offsets, vscan_buffer *keys_out,
                                             vscan_buffer *values_out,
                                             const vscan_sort_options *options);

/**
 * Enlarges the context's memory for sorts, which vscan_ctx_reserve does not do, so that later sorts of up to
 * n elements of these types allocate nothing, by offsets or not. Without it a sort must be called once before
 * it can be captured. Memory that a captured graph uses is kept as long as the context; other memory is
 * released when it is replaced. May wait.
 *   keys     int, float, double or long
 *   values   int, float, double or long; or VSCAN_NONE: no values
 *   n        elements, at least 0
 * Statuses: ENUM, TYPE, LENGTH, OVERFLOW, HOST_MEMORY, DEVICE_MEMORY, CAPTURE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_sort_reserve(vscan_ctx *ctx, vscan_type keys, vscan_type values,
                                          int64_t n);

/**
 * Binary search: the place of every value in a sorted vector.
 *
 *     vscan_lower_bound   positions[i] = the number of elements of sorted that are less than values[i]
 *     vscan_upper_bound   positions[i] = the number of elements of sorted that are not greater than values[i]
 *
 * They are the first and the last position at which values[i] can be inserted. The elements between them are
 * equal to it. "Less" is the order of vscan_sort: -0 is less than +0; NaNs are greater than all numbers, and
 * equal to one another.
 *   sorted      int, long, float or double, any length, ascending. If it is not, each position is some number
 *               in 0 .. sorted's length
 *   values      of sorted's type, any length, in any order. If they are sorted too, less memory is read
 *   positions   int or long, of values' length; int only if sorted has at most INT32_MAX elements. Overlaps
 *               no other argument
 * If values has length 0, nothing happens. Asynchronous; can be captured. Never allocates.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_lower_bound(vscan_ctx *ctx, const vscan_buffer *sorted,
                                         const vscan_buffer *values, vscan_buffer *positions);
VSCAN_API vscan_status vscan_upper_bound(vscan_ctx *ctx, const vscan_buffer *sorted,
                                         const vscan_buffer *values, vscan_buffer *positions);

/* ---- Split ----------------------------------------------------------------------------------- */

/**
 * Split (Blelloch 1990, ch. 3): the elements whose flag is clear come first, then those whose flag is set,
 * each in their order. With z(i) and k(i) for the numbers of clear and of set flags before i:
 *
 *     out[z(i)] = in[i]           for all i with flags[i] clear
 *     out[count + k(i)] = in[i]   for all i with flags[i] set
 *     count = the number of clear flags
 *
 *   in        any type but bit
 *   flags     int, byte or bit, of in's length; does not overlap out
 *   out       of in's type and length; overlaps no other argument (never in place)
 *   options   NULL: no count
 *     count   one long element, receives the count: where the elements with a set flag begin. Overlaps no
 *             other argument
 * n = 0: only the count is written, 0. Asynchronous; can be captured. Elements are read and written once;
 * flags are read once, and once more as bits. On CUDA the context keeps memory for that: n / 8 bytes for
 * flags that are not bits, as much for heads that are not bits, and n / 100 bytes more. A call that needs
 * more than any before allocates it. vscan_ctx_reserve does not, so make the call once before a capture.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, STRUCT_SIZE, HOST_MEMORY, DEVICE_MEMORY, CAPTURE.
 * Since 1.0.0.
 */
VSCAN_API vscan_status vscan_split(vscan_ctx *ctx, const vscan_buffer *in,
                                   const vscan_buffer *flags, vscan_buffer *out,
                                   const vscan_count_options *options);

/**
 * Segmented split: a split of every segment in its own place (Blelloch 1990, ch. 3; it is one step of a
 * quicksort of all segments at once). In a segment of elements s .. e with c clear flags, with z(i) and k(i)
 * counted from s:
 *
 *     out[s + z(i)] = in[i]       for all i in s .. e with flags[i] clear
 *     out[s + c + k(i)] = in[i]   for all i in s .. e with flags[i] set
 *     count = the number of clear flags of the whole vector
 *
 *   in, flags, out, options   as in vscan_split
 *   heads                     int, byte or bit, of in's length, whatever type flags have; as in
 *                             vscan_scan_segmented. Does not overlap out; may be flags
 * n = 0, asynchrony, capture, allocation: as vscan_split. Heads are read as often as flags.
 * Statuses: as vscan_split. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_split_segmented(vscan_ctx *ctx, const vscan_buffer *in,
                                             const vscan_buffer *flags, const vscan_buffer *heads,
                                             vscan_buffer *out, const vscan_count_options *options);

/**
 * The positions of a split and of a segmented split: out[i] = where the split puts element i. They are a
 * permutation: vscan_permute with these positions splits any vector in the same way, and vscan_gather
 * reverses it.
 *   flags     int, byte or bit
 *   heads     int, byte or bit, of flags' length, as in vscan_split_segmented
 *   out       int or long, of flags' length, int for at most INT32_MAX elements. Overlaps no other argument
 *   options   as in vscan_split
 * n = 0, asynchrony, capture, allocation: as vscan_split.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH (also: too long for int), OVERLAP, STRUCT_SIZE, HOST_MEMORY,
 * DEVICE_MEMORY, CAPTURE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_split_positions(vscan_ctx *ctx, const vscan_buffer *flags,
                                             vscan_buffer *out, const vscan_count_options *options);
VSCAN_API vscan_status vscan_split_segmented_positions(vscan_ctx *ctx, const vscan_buffer *flags,
                                                       const vscan_buffer *heads, vscan_buffer *out,
                                                       const vscan_count_options *options);

/* ---- Segments -------------------------------------------------------------------------------- */

/** Which element of a segment. */
typedef enum vscan_end {
    VSCAN_FIRST = 86, /**< the first element of a segment */
    VSCAN_LAST = 87,  /**< the last element of a segment */
    VSCAN_END_FORCE_INT = 0x7fffffff
} vscan_end;

/**
 * Segmented distribute, also called segmented copy (Blelloch 1990, ch. 3): copies one element of each segment
 * to all its places. For every i in a segment of elements s .. e:
 *
 *     VSCAN_FIRST   out[i] = in[s]
 *     VSCAN_LAST    out[i] = in[e]
 *
 *   which   VSCAN_FIRST or VSCAN_LAST
 *   in      any type but bit
 *   heads   int, byte or bit, of in's length; as in vscan_scan_segmented. Does not overlap out
 *   out     of in's type and length; in place, or no overlap with in
 * n = 0: nothing happens. Asynchronous; can be captured. The data is read and written once. Allocation: see
 * vscan_ctx_reserve.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, ENUM, HOST_MEMORY, DEVICE_MEMORY, CAPTURE. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_distribute_segmented(vscan_ctx *ctx, vscan_end which,
                                                  const vscan_buffer *in, const vscan_buffer *heads,
                                                  vscan_buffer *out);

/**
 * Copies the total of each segment to all its places. For every i in a segment of elements s .. e:
 *
 *     out[i] = in[s] + in[s+1] + ... + in[e]
 *
 * with exactly the bits of vscan_reduce_segmented.
 *   op      a vscan_op
 *   in      int, long, float or double
 *   heads   as in vscan_distribute_segmented
 *   out     of in's type and length; in place, or no overlap with in
 * n = 0: nothing happens. Asynchronous; can be captured. Two passes over the data. Allocation: see
 * vscan_ctx_reserve.
 * Statuses: as vscan_distribute_segmented, and PAIR. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_distribute_totals(vscan_ctx *ctx, vscan_op op, const vscan_buffer *in,
                                               const vscan_buffer *heads, vscan_buffer *out);

/** Options of vscan_runs, which explains the members. */
typedef struct vscan_runs_options {
    int64_t size;               /**< sizeof(vscan_runs_options) */
    const vscan_buffer *within; /**< flags at which a run begins whatever the keys are, or NULL */
    vscan_buffer *count;        /**< a buffer of one long element, or NULL */
} vscan_runs_options;

/**
 * Runs of equal keys: the key of each, and where it begins (run-length encoding; of a sorted vector, the unique
 * keys). With the heads of vscan_keys_to_heads, for run k, whose first element is number i:
 *
 *     keys_out[k] = keys[i],   offsets[k] = i,   and behind the last run offsets[count] = n
 *
 *   keys       int, long, float or double. Equal means equal for vscan_sort, see vscan_keys_to_heads
 *   keys_out   of keys' type, any length, or NULL
 *   offsets    int or long, at least one element, one more than there are runs to hold all, or NULL; int for at most
 *              INT32_MAX keys. (Lengths: vscan_offsets_to_lengths)
 *   options    NULL: no flags, no count
 *     within   int, byte or bit, of keys' length, as in vscan_keys_to_heads: runs of rows that are equal in several
 *              columns
 *     count    receives the number of runs
 * keys_out, offsets and count overlap no other argument. Elements behind the last that is written stay as they are.
 * If keys_out or offsets have too few elements, those that fit are written, and OUT_LENGTH is reported late.
 * n = 0: only the count is written, 0, and offsets[0] = 0. Asynchronous; can be captured. Allocation: see
 * vscan_ctx_reserve.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, STRUCT_SIZE, HOST_MEMORY, DEVICE_MEMORY, CAPTURE; late:
 * OUT_LENGTH. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_runs(vscan_ctx *ctx, const vscan_buffer *keys, vscan_buffer *keys_out,
                                  vscan_buffer *offsets, const vscan_runs_options *options);

/** Options of vscan_reduce_by_key, which explains the members. */
typedef struct vscan_reduce_by_key_options {
    int64_t size;                       /**< sizeof(vscan_reduce_by_key_options) */
    vscan_value initial;                /**< a value of the totals' type, or none */
    const vscan_buffer *initial_buffer; /**< the same in a buffer of one element, or NULL */
    const vscan_buffer *within;         /**< as in vscan_runs, or NULL */
    vscan_buffer *count;                /**< a buffer of one long element, or NULL */
} vscan_reduce_by_key_options;

/**
 * One total for each run of equal keys (group by, where keys are sorted): for run k, of elements i .. j,
 *
 *     keys_out[k] = keys[i],   totals[k] = z + in[i] + ... + in[j]
 *
 *   op         a vscan_op
 *   keys       int, long, float or double, as in vscan_runs
 *   in         int, long, float or double, of keys' length
 *   keys_out   of keys' type, any length, or NULL
 *   totals     of in's type, any length; or long, as in vscan_reduce_segmented
 *   options    NULL: no initial value, no flags, no count
 *     initial, initial_buffer   as in vscan_scan; z begins every run
 *     within, count             as in vscan_runs
 * keys_out, totals and count overlap no other argument. Elements behind the last that is written stay as they are. If
 * there are more runs than elements, those that fit are written, and OUT_LENGTH (keys_out) or TOTALS_LENGTH is
 * reported late.
 * A run is a vector of its own: its total has the bits of vscan_reduce of its elements alone.
 * n = 0: only the count is written, 0. Asynchronous; can be captured. Allocation: see vscan_ctx_reserve.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, ENUM, PAIR, STRUCT_SIZE, VALUE (two initial values), HOST_MEMORY,
 * DEVICE_MEMORY, CAPTURE; late: OUT_LENGTH, TOTALS_LENGTH. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_reduce_by_key(vscan_ctx *ctx, vscan_op op, const vscan_buffer *keys,
                                           const vscan_buffer *in, vscan_buffer *keys_out,
                                           vscan_buffer *totals,
                                           const vscan_reduce_by_key_options *options);

/*
 * The following functions turn one description of segments into another. (vscan_convert turns flags of one
 * type into flags of another.) What they have in common: no output overlaps another argument, unless the
 * function's comment says otherwise; and whatever the numbers are, nothing outside the vectors is read or
 * written.
 */

/**
 * Heads of runs of equal keys:
 *
 *     heads[i] = 1 if i = 0, or keys[i] differs from keys[i-1], or within[i] is set; else 0
 *
 * For keys of several columns, call it once for each column, with the heads of one call as within of the
 * next. A segment is then a run of rows that are equal in all columns.
 *   keys     int, long, float or double. Equal means equal for vscan_sort: -0 and +0 differ, and all NaNs are
 *            equal. To make -0 equal to +0, add 0 first (vscan_map_right)
 *   within   int, byte or bit, of keys' length: flags at which a segment begins whatever the keys are; or
 *            NULL: none
 *   heads    int, byte or bit, of keys' length; in place of within, or no overlap with within; does not
 *            overlap keys
 * n = 0: nothing happens. Asynchronous; can be captured. Each vector is read or written once. Never
 * allocates.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_keys_to_heads(vscan_ctx *ctx, const vscan_buffer *keys,
                                           const vscan_buffer *within, vscan_buffer *heads);

/**
 * Offsets of the segments that head flags give: offsets[k] = where segment k begins, for k < count, and
 * offsets[count] = n, where count is the number of segments.
 *   heads     int, byte or bit; as in vscan_scan_segmented
 *   offsets   int or long, at least 1 element; int for at most INT32_MAX heads. Elements after offsets[count]
 *             stay as they are. If there are fewer than count + 1 elements, the offsets that fit are written,
 *             and OUT_LENGTH is reported late
 *   options   NULL: no count
 *     count   one long element, receives the number of segments. Overlaps no other argument
 * n = 0: offsets[0] = 0, and the count is 0. Asynchronous; can be captured. Allocation: see
 * vscan_ctx_reserve.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, STRUCT_SIZE, HOST_MEMORY, DEVICE_MEMORY, CAPTURE; late:
 * OUT_LENGTH. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_heads_to_offsets(vscan_ctx *ctx, const vscan_buffer *heads,
                                              vscan_buffer *offsets,
                                              const vscan_count_options *options);

/**
 * Positions of set flags: positions[k] = the position of the k-th set flag, counted from 0, so in ascending
 * order. vscan_pack of the vector 0, 1, 2, ... gives the same, but has to read that vector.
 *   flags       int, byte or bit
 *   positions   int or long, any length; int for at most INT32_MAX flags. Elements from count on stay as they
 *               are. If there are fewer elements than set flags, the positions that fit are written, and
 *               OUT_LENGTH is reported late
 *   options     NULL: no count
 *     count     one long element, receives the number of set flags. Overlaps no other argument
 * n = 0: only the count is written, 0. Asynchronous; can be captured. Allocation: see vscan_ctx_reserve.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, STRUCT_SIZE, HOST_MEMORY, DEVICE_MEMORY, CAPTURE; late:
 * OUT_LENGTH. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_flags_to_positions(vscan_ctx *ctx, const vscan_buffer *flags,
                                                vscan_buffer *positions,
                                                const vscan_count_options *options);

/**
 * Head flags of the segments that offsets give: heads[i] = 1 if i is one of the offsets, else 0. Heads cannot
 * show empty segments: an offset that occurs more than once sets one flag. An offset that is heads' length
 * sets none.
 *   offsets   int or long, any length, each in 0 .. heads' length, and none less than the one before it
 *   heads     int, byte or bit, any length
 * A wrong offset (less than the one before it, or outside 0 .. heads' length) sets no flag, and OFFSETS is
 * reported late.
 * No offsets: all heads become 0. Asynchronous; can be captured. Never allocates.
 * Statuses: NULL, CONTEXT, TYPE, OVERLAP; late: OFFSETS. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_offsets_to_heads(vscan_ctx *ctx, const vscan_buffer *offsets,
                                              vscan_buffer *heads);

/**
 * Lengths of the segments that offsets give: lengths[k] = offsets[k+1] - offsets[k], modulo 2^32 for int and
 * 2^64 for long.
 *   offsets   int or long, at least 1 element, none less than the one before it, the first at least 0
 *   lengths   of offsets' type, one element less
 * A wrong offset (less than the one before it, or less than 0) gives a length as above, and OFFSETS is
 * reported late. One offset gives no length: it is not looked at, and nothing happens.
 * Asynchronous; can be captured. Never allocates.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP; late: OFFSETS. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_offsets_to_lengths(vscan_ctx *ctx, const vscan_buffer *offsets,
                                                vscan_buffer *lengths);

/**
 * Offsets of segments with these lengths: offsets[k] = lengths[0] + lengths[1] + ... + lengths[k-1]. So
 * offsets[0] = 0, and the last offset is the sum of all lengths.
 *   lengths   int or long, none less than 0
 *   offsets   of lengths' type or long, one element more than lengths
 * If a length is less than 0, or a sum does not fit in an offset, sums are modulo 2^32 for int and 2^64 for
 * long, and OFFSETS is reported late.
 * No lengths: offsets[0] = 0. Asynchronous; can be captured. Allocation: see vscan_ctx_reserve.
 * Statuses: NULL, CONTEXT, TYPE, LENGTH, OVERLAP, HOST_MEMORY, DEVICE_MEMORY, CAPTURE; late: OFFSETS.
 * Since 1.0.0.
 */
VSCAN_API vscan_status vscan_lengths_to_offsets(vscan_ctx *ctx, const vscan_buffer *lengths,
                                                vscan_buffer *offsets);

/* ---- Arrays on the host ---------------------------------------------------------------------- */

/*
 * Functions for arrays in the host's memory: one call, without context, buffers and options. They run on the
 * CPU backend, with as many threads as a new context would use, and are done when they return. (A GPU would
 * have to receive the array and send it back, which takes longer than the scan: 2^30 floats take 81 ms on a
 * machine with 16 cores and 890 ms through its GPU, of which the scan is 2 ms. Use contexts and buffers for
 * data that is on a GPU, or stays there for several calls.)
 *
 * What the functions have in common:
 *   op, type          an operator and a type that vscan_scan takes
 *   kind, direction   VSCAN_INCLUSIVE or VSCAN_EXCLUSIVE, VSCAN_FORWARD or VSCAN_BACKWARD
 *   in                n elements of the type
 *   n                 elements, at least 0
 *   offset_type       VSCAN_INT or VSCAN_LONG
 *   offsets           not NULL; segments + 1 numbers of this type, from 0 to n, none less than the one before it.
 *                     Segment k has the elements offsets[k] .. offsets[k+1] - 1, and may be empty. The first need
 *                     not be 0, nor the last n: other elements are in no segment
 *   segments          at least 0
 *   out               n elements; in place, or no overlap
 * Their arguments have one order:
 *   1. what is done: op and the type of in, or the order of a sort; kind, direction
 *   2. the inputs, as in the function on buffers
 *   3. the outputs, likewise
 * The type of any other array stands directly before it. A number of elements stands directly behind the array
 * that it counts; where it counts several inputs, behind the last of them.
 *
 * Arrays are aligned to their elements. An array without elements may be NULL. The results have the bits of
 * the functions on buffers. Any number of threads may call at the same time. vscan_ctx_last_error(NULL) has
 * the sentence of a failure. The library keeps up to 16 contexts of the CPU backend for these functions, with
 * their workspace; so a scan of 100 floats takes about a tenth of a microsecond.
 */

/**
 * Scan of an array: out is what vscan_scan gives for in.
 *   op, type, kind, direction, in, n, out   see above
 * n = 0: nothing happens. Done when it returns.
 * Statuses: NULL, LENGTH (n), OVERLAP, ENUM, PAIR, OVERFLOW, ALIGNMENT, HOST_MEMORY. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_host_scan(vscan_op op, vscan_type type, vscan_kind kind,
                                       vscan_direction direction, const void *in, int64_t n,
                                       void *out);

/**
 * Sums of an array of ints as longs: out is what vscan_scan gives for VSCAN_PLUS with an out of long.
 *   kind, direction, n   see above
 *   in    n ints
 *   out   n longs. Does not overlap in
 * n = 0: nothing happens. Done when it returns.
 * Statuses: NULL, LENGTH (n), OVERLAP, ENUM, OVERFLOW, ALIGNMENT, HOST_MEMORY. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_host_scan_as_long(vscan_kind kind, vscan_direction direction,
                                               const int32_t *in, int64_t n, int64_t *out);

/**
 * Segmented scan of an array: out is what vscan_scan_segmented gives for in and heads.
 *   op, type, kind, direction, in, n, out   see above
 *   heads   n bytes. Element i starts a segment if heads[i] is not 0; element 0 starts one in any case. Does
 *           not overlap out
 * n = 0: nothing happens. Done when it returns.
 * Statuses: as vscan_host_scan. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_host_scan_segmented(vscan_op op, vscan_type type, vscan_kind kind,
                                                 vscan_direction direction, const void *in,
                                                 const uint8_t *heads, int64_t n, void *out);

/**
 * Scan of every segment of an array, segments given by offsets: out is what vscan_scan_by_offsets gives. Each segment
 * is a vector of its own: its results have the bits of vscan_host_scan of its elements alone.
 *   op, type, kind, direction, in, n, offset_type, offsets, segments, out   see above. offsets do not overlap out
 * Elements of out that are in no segment stay as they are.
 * n = 0: offsets are checked; nothing is written. Done when it returns.
 * Statuses: as vscan_host_scan, TYPE (offset_type), LENGTH (also segments < 0), and OFFSETS, at once: nothing is
 * written then. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_host_scan_by_offsets(vscan_op op, vscan_type type, vscan_kind kind,
                                                  vscan_direction direction, const void *in,
                                                  int64_t n, vscan_type offset_type,
                                                  const void *offsets, int64_t segments, void *out);

/**
 * Reduction of an array: *total is what vscan_reduce gives for in.
 *   op, type, in, n   see above
 *   direction         matters only to the bits of float and double plus
 *   total             not NULL; receives one element of the type. Does not overlap in
 * n = 0: the total is the identity. Done when it returns.
 * Statuses: as vscan_host_scan. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_host_reduce(vscan_op op, vscan_type type, vscan_direction direction,
                                         const void *in, int64_t n, void *total);

/**
 * Sum of an array of ints as a long: *total is what vscan_reduce gives for VSCAN_PLUS with a total of long.
 *   in      n ints
 *   n       elements, at least 0
 *   total   not NULL; receives one long. Does not overlap in
 * n = 0: the total is 0. Done when it returns.
 * Statuses: NULL, LENGTH (n), OVERLAP, OVERFLOW, ALIGNMENT, HOST_MEMORY. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_host_reduce_as_long(const int32_t *in, int64_t n, int64_t *total);

/**
 * One total for each segment of an array, segments given by offsets: totals are what vscan_reduce_by_offsets gives.
 *   op, type, in, n, offset_type, offsets, segments   see above
 *   totals   one element of the type for each segment; of an empty one the identity. Does not overlap in, nor offsets
 * n = 0: all totals are the identity. Done when it returns.
 * Statuses: NULL, TYPE (offset_type), LENGTH (n, segments), OVERLAP, ENUM, PAIR, OVERFLOW, ALIGNMENT, HOST_MEMORY; and
 * OFFSETS, at once: nothing is written then. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_host_reduce_by_offsets(vscan_op op, vscan_type type, const void *in,
                                                    int64_t n, vscan_type offset_type,
                                                    const void *offsets, int64_t segments,
                                                    void *totals);

/**
 * One total for each run of equal keys of an array: keys_out, totals and count are what vscan_reduce_by_key gives. Sort
 * first (vscan_host_sort) to have one for each key.
 *   op, type, in, n   see above
 *   key_type   int, float, double or long
 *   keys       n elements
 *   keys_out   room for n elements, or NULL. The key of each run
 *   totals     room for n elements of type. The total of each run
 *   count      not NULL; receives the number of runs
 * No output overlaps another argument. Elements behind the last run's stay as they are.
 * n = 0: the count is 0, and nothing else is written. Done when it returns. Memory as for vscan_reduce_by_key.
 * Statuses: NULL, TYPE (key_type), LENGTH (n), OVERLAP, ENUM, PAIR, OVERFLOW, ALIGNMENT, HOST_MEMORY. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_host_reduce_by_key(vscan_op op, vscan_type type, vscan_type key_type,
                                                const void *keys, const void *in, int64_t n,
                                                void *keys_out, void *totals, int64_t *count);

/**
 * The elements of an array whose flag is set, in their order: out and count are what vscan_pack gives.
 *   type    any vscan_type but VSCAN_NONE and VSCAN_BIT
 *   in      n elements
 *   flags   n bytes; element i is kept if flags[i] is not 0
 *   n       elements, at least 0
 *   out     room for n elements; in place of in, or no overlap with in. Does not overlap flags
 *   count   not NULL; receives the number of set flags. Overlaps no other argument
 * Elements of out from count on stay as they are.
 * n = 0: the count is 0, and nothing else is written. Done when it returns.
 * Statuses: NULL, TYPE, LENGTH (n), OVERLAP, ENUM, OVERFLOW, ALIGNMENT, HOST_MEMORY. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_host_pack(vscan_type type, const void *in, const uint8_t *flags,
                                       int64_t n, void *out, int64_t *count);

/**
 * Positions of set flags of an array: positions and count are what vscan_flags_to_positions gives.
 *   flags           n bytes; set where they are not 0
 *   n               elements, at least 0
 *   position_type   VSCAN_INT or VSCAN_LONG; int for n of at most INT32_MAX
 *   positions       room for n numbers of this type; ascending, counted from 0. Does not overlap flags
 *   count           not NULL; receives the number of set flags. Overlaps no other argument
 * Elements of positions from count on stay as they are.
 * n = 0: the count is 0, and nothing else is written. Done when it returns.
 * Statuses: NULL, TYPE (position_type), LENGTH (n), OVERLAP, ENUM, OVERFLOW, ALIGNMENT, HOST_MEMORY. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_host_positions(const uint8_t *flags, int64_t n,
                                            vscan_type position_type, void *positions,
                                            int64_t *count);

/**
 * Stable sort of an array of keys, and of values by their keys: the outputs are what vscan_sort gives. **The
 * inputs come first, unlike in CUB** (vscan_sort).
 *   order        VSCAN_ASCENDING or VSCAN_DESCENDING
 *   key_type     int, float, double or long
 *   keys         n elements
 *   value_type   int, float, double or long; or VSCAN_NONE: no values; values and values_out are NULL then
 *   values       n elements
 *   n            elements, at least 0
 *   keys_out     n elements; in place of keys, or no overlap with keys
 *   values_out   n elements; in place of values, or no overlap with values. keys_out and values_out do not
 *                overlap, nor do keys_out and values, nor values_out and keys
 * n = 0: nothing happens. Done when it returns. Memory as for vscan_sort on the CPU.
 * Statuses: NULL, TYPE, LENGTH (n), OVERLAP, ENUM, OVERFLOW, ALIGNMENT, VALUE (value_type is VSCAN_NONE, and
 * values or values_out is not NULL), HOST_MEMORY. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_host_sort(vscan_order order, vscan_type key_type, const void *keys,
                                       vscan_type value_type, const void *values, int64_t n,
                                       void *keys_out, void *values_out);

/**
 * The permutation that sorts an array of keys: keys[positions[0]], keys[positions[1]], ... are in order, and where keys
 * are equal the positions ascend. It is what vscan_host_sort gives for the values 0, 1, 2, ...
 *   order           VSCAN_ASCENDING or VSCAN_DESCENDING
 *   key_type        int, float, double or long
 *   keys            n elements
 *   n               elements, at least 0
 *   position_type   VSCAN_INT or VSCAN_LONG; int for n of at most INT32_MAX
 *   positions       n numbers of this type. Does not overlap keys
 * n = 0: nothing happens. Done when it returns. Memory as for vscan_sort on the CPU, and for the keys once more.
 * Statuses: NULL, TYPE, LENGTH (n), OVERLAP, ENUM, OVERFLOW, ALIGNMENT, HOST_MEMORY. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_host_argsort(vscan_order order, vscan_type key_type, const void *keys,
                                          int64_t n, vscan_type position_type, void *positions);

/**
 * Binary search: the place of every value in a sorted array, as vscan_lower_bound and vscan_upper_bound give it.
 *
 *     vscan_host_lower_bound   positions[i] = the number of elements of sorted that are less than values[i]
 *     vscan_host_upper_bound   positions[i] = the number of elements of sorted that are not greater than values[i]
 *
 *   type            int, float, double or long: of sorted and values
 *   sorted          n elements, ascending in the order of vscan_sort. If they are not, each position is some number in
 *                   0 .. n
 *   n               elements, at least 0
 *   values          m elements, in any order
 *   m               values, at least 0
 *   position_type   VSCAN_INT or VSCAN_LONG; int for n of at most INT32_MAX
 *   positions       m numbers of this type. Overlaps neither sorted nor values
 * m = 0: nothing happens. n = 0: all positions are 0. Done when it returns.
 * Statuses: NULL, TYPE, LENGTH (n, m), OVERLAP, ENUM, OVERFLOW, ALIGNMENT, HOST_MEMORY. Since 1.0.0.
 */
VSCAN_API vscan_status vscan_host_lower_bound(vscan_type type, const void *sorted, int64_t n,
                                              const void *values, int64_t m,
                                              vscan_type position_type, void *positions);
VSCAN_API vscan_status vscan_host_upper_bound(vscan_type type, const void *sorted, int64_t n,
                                              const void *values, int64_t m,
                                              vscan_type position_type, void *positions);

#ifdef __cplusplus
}
#endif

#endif
