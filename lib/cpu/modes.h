/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point modes. The caller's thread may round in another way or flush denormals (programs linked
 * with -ffast-math do), and so may the threads of a pool that it started. Results must not depend on
 * that, so all that adds or compares numbers runs with the default modes. Writing the modes can take
 * longer than the smallest calls, so that is done only where they differ.
 */
#ifndef VSCAN_CPU_MODES_H
#define VSCAN_CPU_MODES_H

#include <stdbool.h>
#include <string.h>
#if !defined __SSE__
#include <fenv.h>
#endif

#if defined __SSE__
enum {
    VSCAN__MODES = 0xffc0,        /* of MXCSR; the other six bits are exceptions so far */
    VSCAN__DEFAULT_MODES = 0x1f80 /* to nearest, denormals kept, exceptions masked */
};
#endif

struct vscan__modes {
#if defined __SSE__
    unsigned int word;
#else
    fenv_t environment;
#endif
};

static inline struct vscan__modes vscan__set_modes(bool arithmetic) {
    struct vscan__modes modes;
    if (!arithmetic) {
        memset(&modes, 0, sizeof modes);
        return modes;
    }
#if defined __SSE__
    modes.word = __builtin_ia32_stmxcsr();
    if ((modes.word & VSCAN__MODES) != VSCAN__DEFAULT_MODES)
        __builtin_ia32_ldmxcsr(VSCAN__DEFAULT_MODES);
#else
    fegetenv(&modes.environment);
    fesetenv(FE_DFL_ENV);
#endif
    return modes;
}

static inline void vscan__restore_modes(bool arithmetic, const struct vscan__modes *modes) {
    if (!arithmetic) return;
#if defined __SSE__
    if ((modes->word & VSCAN__MODES) != VSCAN__DEFAULT_MODES) __builtin_ia32_ldmxcsr(modes->word);
#else
    fesetenv(&modes->environment);
#endif
}

#endif
