/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what was measured, as CSV or as a table for reading. */
#include "output.h"

#include <omp.h>
#include <stdio.h>

#if defined __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "GCC " __VERSION__
#endif

void print_head(const struct options *options, const char *command) {
    char device[512] = "";
    device_describe(device, sizeof device);
    for (int k = 0; k < options->notes_count; k++) printf("# %s\n", options->notes[k]);
    printf("# libvscan %s, %s\n", vscan_version_text(), device);
    printf("# compiler %s, %d threads, loops on the CPU for %s\n", COMPILER, omp_get_max_threads(),
           BENCH_MARCH);
    for (int e = 0; e < all_engines_count; e++)
        if (all_engines[e]->absent && all_engines[e]->place == ON_HOST)
            printf("# absent %s: %s\n", all_engines[e]->name, all_engines[e]->absent);
    printf("# command %s\n", command);
    if (options->csv)
        printf("mode,engine,family,type,operator,kind,direction,flags,segment,n,cache,offset,"
               "in_place,totals,threads,calls,us,p10,p90,bytes,GBps,frac_of_memcpy,check,"
               "reference,of_reference\n");
}

void print_row(const struct options *options, const struct row *row) {
    const struct work *work = row->work;
    const struct engine *engine = row->engine;
    const struct timing *timing = row->timing;
    char numbers[128] = ",,", rate[64] = "", part[32] = "", threads[16] = "-", compared[64] = ",";
    if (engine->place == ON_HOST) snprintf(threads, sizeof threads, "%d", work->threads);
    if (timing) {
        snprintf(numbers, sizeof numbers, "%.4f,%.4f,%.4f", timing->median, timing->p10,
                 timing->p90);
        if (row->mode != MODE_HOST && row->bytes > 0)
            snprintf(rate, sizeof rate, "%.2f", row->bytes / timing->median * 1e-3);
    }
    if (row->fraction > 0) snprintf(part, sizeof part, "%.4f", row->fraction);
    if (timing && row->reference)
        snprintf(compared, sizeof compared, "%s,%.4f", row->reference->name, timing->of_reference);
    if (options->csv)
        printf("%s,%s,%s,%s,%s,%s,%s,%s,%s,%lld,%s,%lld,%d,%d,%s,%lld,%s,%.0f,%s,%s,%s,%s\n",
               name_of_mode(row->mode), engine->name, name_of_family(work->family),
               name_of_type(work->type), name_of_op(work->op),
               work->kind == VSCAN_EXCLUSIVE ? "exclusive" : "inclusive",
               work->direction == VSCAN_BACKWARD ? "backward" : "forward",
               name_of_type(work->flag_type), row->segment, (long long)work->n,
               options->cold ? "cold" : "warm", (long long)work->offset, work->in_place,
               work->with_totals, threads, timing ? (long long)timing->calls : 0LL, numbers,
               row->bytes, rate, part, row->check, compared);
    else
        printf("%-7s %-15s %2s %-9s %-6s %-4s %s %s %-4s %-10s %11lld  %-32s us %9s GB/s  %s  %s\n",
               name_of_mode(row->mode), engine->name, threads, name_of_family(work->family),
               name_of_type(work->type), name_of_op(work->op),
               work->kind == VSCAN_EXCLUSIVE ? "excl" : "incl",
               work->direction == VSCAN_BACKWARD ? "bwd" : "fwd", name_of_type(work->flag_type),
               row->segment, (long long)work->n, numbers, rate, part,
               row->reference ? compared : "");
    fflush(stdout);
}
