/* SPDX-License-Identifier: Apache-2.0 */
/* What a report of an error needs: the build, the machine, what is taken and why. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "api/context.h"
#include "api/device.h"
#include "core/handle.h"
#include "core/internal.h"
#include "core/text.h"
#include "core/threads.h"

#ifndef VSCAN__COMMIT /* CMakeLists.txt asks git */
#define VSCAN__COMMIT "unknown"
#endif

#ifdef __clang__
#define COMPILER "Clang " __clang_version__
#else
#define COMPILER "GCC " __VERSION__
#endif

static void add_build(struct vscan__text *text) {
    struct utsname system;
    uname(&system); /* cannot fail where the pointer is right */
    vscan__add(text, "version: %s\n", vscan_version_text());
    vscan__add(text, "commit: %s\n", VSCAN__COMMIT);
    vscan__add(text, "compiler: %s\n", COMPILER);
    vscan__add(text, "system: %s %s %s\n", system.sysname, system.release, system.machine);
}

/* ---- The choice of a backend ------------------------------------------------------------------ */

static vscan_status try(vscan_backend backend, vscan_backend *found) {
    const vscan_ctx_options options = {.size = sizeof options, .backend = (int32_t)backend};
    vscan_ctx *ctx = NULL;
    TRY(vscan_ctx_create(&options, &ctx));
    *found = vscan_ctx_backend(ctx);
    vscan__ctx_end(vscan__find_ctx(ctx));
    return VSCAN_OK;
}

/* As a context that leaves it open would be made, which is tried. */
static void add_choice(struct vscan__text *text) {
    const char *word = getenv("VSCAN_BACKEND");
    vscan_backend taken, cuda;
    vscan_status status = try(VSCAN_BACKEND_AUTO, &taken);
    vscan__add(text, "backend: %s",
               status == VSCAN_OK ? vscan__backend_table(taken)->name : "none");
    if (word != NULL && word[0] != 0)
        vscan__add(text, ", as VSCAN_BACKEND is \"%.64s\" in the environment", word);
    else if (status == VSCAN_OK)
        status = try(VSCAN_BACKEND_CUDA, &cuda); /* if it cannot be had, that is the reason */
    if (status != VSCAN_OK)                      /* the sentence without "vscan_ctx_create" */
        vscan__add(text, ", %s%s", vscan_status_name(status),
                   strchr(vscan_ctx_last_error(NULL), ':'));
    vscan__add(text, "\n");
}

/* ---- Threads ---------------------------------------------------------------------------------- */

static void add_threads(struct vscan__text *text) {
    static const vscan_ctx any; /* in which no number was set */
    struct vscan__limits limits;
    vscan__find_limits("", &limits);
    int least = 0;
    for (int k = 1; k < VSCAN__LIMITS; k++)
        if (limits.number[k] > 0 && limits.number[k] < limits.number[least]) least = k;
    vscan__add(text, "threads: %d, limited by %s\n", vscan__threads(&any),
               vscan__limit_names[least]);
    for (int k = 0; k < VSCAN__LIMITS; k++)
        if (limits.number[k] > 0)
            vscan__add(text, "%s: %ld\n", vscan__limit_names[k], limits.number[k]);
        else
            vscan__add(text, "%s: no limit\n", vscan__limit_names[k]);
}

/* ---- All -------------------------------------------------------------------------------------- */

int64_t vscan_describe(char *text, int64_t capacity) {
    char saved[VSCAN__ERROR_CAPACITY]; /* what fails here is an answer */
    vscan__save_thread_error(saved);
    vscan__set_running(__func__);
    struct vscan__text all = {.at = text, .capacity = text != NULL ? capacity : 0};
    add_build(&all);
    vscan__cuda.describe(&all);
    vscan__cpu.describe(&all);
    add_choice(&all);
    add_threads(&all);
    vscan__restore_thread_error(saved);
    return all.length;
}
