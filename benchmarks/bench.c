/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times the operations of vscan beside its peers and a memcpy of the same run: one loop over all
 * combinations asked for. README.md says how to read the rows, notes/method.md how they are measured.
 *
 * Exit status: 0 all was measured and every result was right, 1 something failed, 2 wrong use,
 * 3 no CUDA device where one is needed, or none of the engines asked for is there.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "sweep.h"

const struct engine *const all_engines[] = {&engine_memcpy,
                                            &engine_memset,
                                            &engine_copy,
                                            &engine_vscan_cuda,
                                            &engine_cub,
                                            &engine_cub_key,
                                            &engine_cub_lifted,
                                            &engine_thrust,
                                            &engine_plain,
                                            &engine_empty,
                                            &engine_memcpy_cpu,
                                            &engine_vscan_cpu,
                                            &engine_vscan_cpu_plain,
                                            &engine_serial,
                                            &engine_tbb,
                                            &engine_openmp,
                                            &engine_thrust_omp,
                                            &engine_ntcopy_cpu,
                                            &engine_read_cpu,
                                            &engine_vscan_cuda_carry,
                                            &engine_vscan_cpu_carry};
const int all_engines_count = sizeof all_engines / sizeof all_engines[0];

static struct options all_options[PARTS_AT_MOST];
static struct options *options; /* of the part that is being measured */
static bool all_well = true;

/* ---- Memory ---------------------------------------------------------------------------------- */

/* One vector's memory at one place; grows. */
struct arena {
    void *memory;
    int64_t bytes;
};

static bool grow(struct arena *arena, enum place place, int64_t bytes) {
    if (bytes <= arena->bytes) return true;
    arena->bytes = 0;
    if (place == ON_DEVICE) {
        if (!device_grow(&arena->memory, bytes)) return false;
    } else {
        free(arena->memory);
        if (posix_memalign(&arena->memory, 4096, (size_t)bytes)) {
            arena->memory = NULL;
            fprintf(stderr, "bench: no memory\n");
            return false;
        }
        host_touch(arena->memory, bytes);
    }
    arena->bytes = bytes;
    return true;
}

/* Gives the operation its vectors. */
static bool provide(struct work *work, enum place place) {
    static struct arena in[2], out[2], flags[2], totals[2], keys;
    struct data *data = &work->data[place];
    const int64_t bytes = work->sets * work->stride;
    if (!grow(&in[place], place, bytes) || !grow(&out[place], place, bytes)) return false;
    if (!grow(&flags[place], place, work->sets * work->flag_stride)) return false;
    if (work->with_totals && !grow(&totals[place], place, bytes)) return false;
    if (place == ON_DEVICE && !grow(&keys, place, work->sets * work->key_stride)) return false;
    *data = (struct data){in[place].memory, out[place].memory, flags[place].memory,
                          totals[place].memory, keys.memory};
    return true;
}

/* Whether two operations have the same values in the same places. */
static bool same_values(const struct work *a, const struct work *b, enum place place) {
    return a->type == b->type && a->op == b->op && a->n == b->n && a->offset == b->offset &&
           a->sets == b->sets && a->stride == b->stride && work_span(a) == work_span(b) &&
           a->data[place].in == b->data[place].in;
}

/* Makes the input; values are made again only where they are not those of the operation before. */
static bool make_input(struct work *work, enum place place) {
    static struct work made[2];
    if (!provide(work, place)) return false;
    const bool same = same_values(work, &made[place], place);
    made[place] = *work;
    if (place == ON_HOST) {
        if (!same) host_make_values(work);
        if (work->flag_type) host_make_flags(work);
        return true;
    }
    return (same || device_make_values(work)) && (!work->flag_type || device_make_flags(work));
}

/* ---- Checks ---------------------------------------------------------------------------------- */

bool check_fetched(const struct work *work, const struct engine *engine) {
    static struct arena in, out, flags;
    struct work apart = *work; /* in place: in still has what out had */
    apart.in_place = false;
    const int64_t bytes = work->n * type_size(work->type);
    const int64_t out_bytes =
        engine->computes ? type_bytes(work_out_type(work), work_out_length(work)) : bytes;
    const int64_t flags_bytes = type_bytes(work->flag_type, work->n);
    if (!grow(&in, ON_HOST, bytes) || !grow(&out, ON_HOST, bytes > out_bytes ? bytes : out_bytes) ||
        !grow(&flags, ON_HOST, flags_bytes) ||
        !device_fetch(in.memory, work_in(&apart, ON_DEVICE, 0), bytes) ||
        !device_fetch(flags.memory, work_flags(work, ON_DEVICE, 0), flags_bytes) ||
        !device_fetch(out.memory, work_out(work, ON_DEVICE, 0), out_bytes))
        return false;
    if (engine->computes)
        return check_serially(work, engine->name, in.memory, flags.memory, out.memory);
    if (!memcmp(in.memory, out.memory, (size_t)bytes)) return true;
    fprintf(stderr, "bench: %s: wrong copy at n = %lld\n", engine->name, (long long)work->n);
    return false;
}

/* A call of vscan in a sweep: against the CPU backend, on the CPU where it can be against a loop, too. */
static bool check_drawn(const struct work *work, const struct engine *engine, const char **how) {
    const bool on_host = engine->place == ON_HOST;
    if (on_host) {
        host_prepare_checked_call(work);
        if (engine->computes && work_is_plain(work) && work->n <= options->check_most) {
            struct work apart = *work;
            apart.in_place = false;
            if (!engine->run(work, 0) ||
                !check_serially(work, engine->name, work_in(&apart, ON_HOST, 0),
                                work_flags(work, ON_HOST, 0), work_out(work, ON_HOST, 0)))
                return false;
            host_prepare_checked_call(work);
        }
    }
    *how = "cpu";
    return (on_host || device_prepare_checked_call(work)) && vscan_check(work, engine);
}

/* One call on set 0, checked. *how says in which way. */
static bool check_call(const struct work *work, const struct engine *engine, const char **how) {
    if (options->sweep_count && !options->no_check && vscan_is(engine))
        return check_drawn(work, engine, how);
    *how = "serial";
    if (options->no_check) {
        *how = "-";
        if (work->in_place && engine->place == ON_HOST) host_prepare_checked_call(work);
        if (work->in_place && engine->place == ON_DEVICE && !device_prepare_checked_call(work))
            return false;
        return engine->run(work, 0) && (engine->place == ON_HOST || device_synchronize());
    }
    if (engine->place == ON_HOST) {
        struct work apart = *work;
        apart.in_place = false;
        host_prepare_checked_call(work);
        if (!engine->run(work, 0)) return false;
        if (!engine->computes || work->n > options->check_most) return *how = "-", true;
        return check_serially(work, engine->name, work_in(&apart, ON_HOST, 0),
                              work_flags(work, ON_HOST, 0), work_out(work, ON_HOST, 0));
    }
    if (!device_prepare_checked_call(work) || !engine->run(work, 0)) return false;
    if (!device_synchronize()) return false;
    /* what a carry went on from, the reference does not know; test_carry compares such scans */
    if (engine == &engine_empty || engine == &engine_memset || engine == &engine_vscan_cuda_carry)
        return *how = "-", true;
    const bool many = work->n > options->check_most;
    if (many && (!engine->computes || !work_is_checked_long(work))) return *how = "-", true;
    if (!many || work->family >= FAMILY_MAP)
        return check_fetched(work, engine); /* the device checks scans and reductions alone */
    return *how = "device", device_check(work, engine->name);
}

/* ---- One configuration ----------------------------------------------------------------------- */

static double bytes_of(const struct work *work, const struct engine *engine) {
    return (double)(engine->bytes ? engine->bytes(work) : work_bytes(work));
}

static bool has(const struct engine *engine) {
    for (int k = 0; k < options->engines.count; k++)
        if (all_engines[options->engines.items[k]] == engine) return true;
    return false;
}

/* The rate of the memcpy that alternated with the engine; 0 where there was none. */
static double scale_of(const struct work *work, enum place place,
                       const struct engine *const engines[], int count,
                       const struct timing timings[]) {
    const struct engine *scale = place == ON_DEVICE ? &engine_memcpy : &engine_memcpy_cpu;
    for (int e = 0; e < count; e++)
        if (engines[e] == scale) return bytes_of(work, scale) / timings[e].median;
    return 0;
}

/* The number of the engine that those on the host are compared with sample by sample; -1: none. */
static int reference_of(const struct engine *const engines[], int count) {
    for (int e = 0; e < count; e++)
        if (engines[e] == &engine_ntcopy_cpu || engines[e] == &engine_read_cpu ||
            engines[e] == &engine_vscan_cpu_plain)
            return e;
    return -1;
}

static void measure_memory(const struct work *work, const char *segment) {
    double bytes = 0;
    if (vscan_context_bytes(work, &bytes))
        print_row(options, &(struct row){.mode = MODE_MEMORY,
                                         .work = work,
                                         .engine = &engine_vscan_cuda,
                                         .segment = segment,
                                         .bytes = bytes,
                                         .check = "-"});
    else
        all_well = false;
}

/* Whether the engine measures a work that was drawn: with a carry or without, peers what they have. */
static bool measures(const struct work *work, const struct engine *engine, enum mode mode) {
    if (!engine->supports(work, mode)) return false;
    if (!options->sweep_count) return true;
    if (engine == &engine_vscan_cuda_carry || engine == &engine_vscan_cpu_carry)
        return work->carried;
    if (!engine->computes) return true;
    return !(work->carried || (!vscan_is(engine) && !work_is_plain(work)) ||
             (engine == &engine_thrust && (mode == MODE_GRAPH || engine_cub.supports(work, mode))));
}

/* Ends the peers among the engines of a sweep; returns how many are left. */
static int without_peers(const struct engine *engines[], const char *checks[], int count) {
    int left = 0;
    for (int e = 0; e < count; e++) {
        const struct engine *const engine = engines[e];
        if (vscan_is(engine) || !engine->computes) {
            engines[left] = engine;
            checks[left++] = checks[e];
        } else if (engine->finish) {
            engine->finish();
        }
    }
    return left;
}

static void measure(const struct work *work, const char *segment, enum mode mode,
                    int64_t cache_bytes) {
    const struct engine *engines[LIST_AT_MOST] = {NULL};
    struct timing timings[LIST_AT_MOST];
    const char *checks[LIST_AT_MOST] = {NULL};
    int count = 0;
    const struct timing_plan plan = {
        mode, options->runs, options->sample_us, options->calls_most, options->cold, cache_bytes};
    if (mode == MODE_MEMORY) {
        if (has(&engine_vscan_cuda)) measure_memory(work, segment);
        return;
    }
    for (int k = 0; k < options->engines.count; k++) {
        const struct engine *engine = all_engines[options->engines.items[k]];
        if (!measures(work, engine, mode)) continue;
        engines[count] = engine;
        if ((!engine->prepare || engine->prepare(work)) &&
            check_call(work, engine, &checks[count])) {
            count++;
            continue;
        }
        fprintf(stderr, "bench: %s is left out of %s at n = %lld, %s %s, segment %s\n",
                engine->name, name_of_family(work->family), (long long)work->n,
                name_of_op(work->op), name_of_type(work->type), segment);
        if (engine->finish) engine->finish();
        all_well = false;
    }
    if (!count) return;
    const int reference = reference_of(engines, count);
    bool timed = time_engines(&plan, work, engines, count, reference, timings);
    if (!timed && options->sweep_count) { /* a peer may have failed */
        all_well = false;
        count = without_peers(engines, checks, count);
        timed = time_engines(&plan, work, engines, count, -1, timings);
    }
    if (timed) {
        if (options->sweep_count) sweep_take(work, engines, timings, count);
        for (int e = 0; e < count; e++) {
            const double bytes = bytes_of(work, engines[e]);
            const double scale = mode == MODE_HOST || mode == MODE_LATENCY
                                     ? 0
                                     : scale_of(work, engines[e]->place, engines, count, timings);
            const double fraction = scale > 0 ? bytes / timings[e].median / scale : 0;
            const struct engine *const compared = reference >= 0 ? engines[reference] : NULL;
            print_row(options, &(struct row){mode, work, engines[e], segment, &timings[e], bytes,
                                             fraction, checks[e], compared});
        }
    } else {
        all_well = false;
    }
    for (int e = 0; e < count; e++)
        if (engines[e]->finish) engines[e]->finish();
}

/* ---- All configurations ---------------------------------------------------------------------- */

static bool needs(enum place place) {
    for (int k = 0; k < options->engines.count; k++)
        if (all_engines[options->engines.items[k]]->place == place) return true;
    return false;
}

static void measure_modes(struct work work, const char *segment) {
    /* four times the last cache; on the host, where nothing says how large it is, 256 MiB */
    const int64_t cache_bytes = needs(ON_DEVICE) ? 4 * device_cache_bytes() : INT64_C(1) << 28;
    work_lay_out(&work, options->cold ? cache_bytes : 0);
    if ((needs(ON_DEVICE) && !make_input(&work, ON_DEVICE)) ||
        (needs(ON_HOST) && !make_input(&work, ON_HOST))) {
        all_well = false;
        return;
    }
    const int all_threads = omp_get_max_threads();
    for (int t = 0; t < options->threads.count; t++) {
        work.threads = (int)options->threads.items[t];
        omp_set_num_threads(work.threads);
        for (int m = 0; m < options->modes.count; m++)
            measure(&work, segment, (enum mode)options->modes.items[m], cache_bytes);
        omp_set_num_threads(all_threads); /* making the next input */
        if (!needs(ON_HOST)) break;
    }
}

static void measure_flagged(struct work work) {
    work.with_totals = options->with_totals && work.family == FAMILY_SEGMENTED;
    for (int f = 0; f < options->flags.count; f++)
        for (int s = 0; s < options->segments_count; s++) {
            work.flag_type = (vscan_type)options->flags.items[f];
            if (!work.flag_type) continue;
            work.segments = options->segments[s];
            measure_modes(work, options->segment_names[s]);
        }
}

/* Rows of so many elements, where they make up a matrix. */
static void measure_matrix(struct work work) {
    for (int s = 0; s < options->segments_count; s++) {
        work.segments = options->segments[s];
        if (work.segments.kind != SEGMENT_FIXED || work.segments.length > work.n) continue;
        struct work whole = work;
        whole.matrices = 1;
        whole.columns = work.segments.length;
        whole.n -= work.n % whole.columns;
        whole.segments = (struct segments){SEGMENT_RANDOM, 100};
        const bool flagged = work_traits[work.family].traits & BY_FLAGS;
        for (int f = 0; f < (flagged ? options->flags.count : 1); f++) {
            whole.flag_type = flagged ? (vscan_type)options->flags.items[f] : 0;
            if (whole.flag_type || !flagged) measure_modes(whole, options->segment_names[s]);
        }
    }
}

static void measure_families(struct work work) {
    for (int f = 0; f < options->families.count; f++) {
        work.family = (enum family)options->families.items[f];
        if (!work_takes(&work)) continue;
        const unsigned traits = work_traits[work.family].traits;
        const bool by_kind = traits & BY_KIND && !(traits & OF_MATRIX);
        const bool by_direction = traits & BY_DIRECTION && !(traits & OF_MATRIX);
        for (int d = 0; d < (by_direction ? options->directions.count : 1); d++)
            for (int k = 0; k < (by_kind ? options->kinds.count : 1); k++) {
                work.direction =
                    by_direction ? (vscan_direction)options->directions.items[d] : VSCAN_FORWARD;
                work.kind = by_kind ? (vscan_kind)options->kinds.items[k] : VSCAN_INCLUSIVE;
                if (traits & OF_MATRIX)
                    measure_matrix(work);
                else if (traits & BY_FLAGS)
                    measure_flagged(work);
                else
                    measure_modes(work, "-");
            }
    }
}

static void measure_all(void) {
    for (int t = 0; t < options->types.count; t++)
        for (int o = 0; o < options->ops.count; o++)
            for (int n = 0; n < options->n.count; n++)
                for (int s = 0; s < options->offsets.count; s++) {
                    const struct work work = {.type = (vscan_type)options->types.items[t],
                                              .op = (vscan_op)options->ops.items[o],
                                              .n = options->n.items[n],
                                              .offset = options->offsets.items[s],
                                              .carry_at = options->carry_at,
                                              .in_place = options->in_place,
                                              .steps = options->steps};
                    measure_families(work);
                }
}

/* Works drawn from a seed. */
static void measure_sweep(void) {
    const double begin = now_us();
    sweep_begin();
    for (int64_t k = options->sweep_from; k < options->sweep_count; k++) {
        struct drawn drawn = sweep_draw(options, k);
        if (options->seconds > 0 && now_us() - begin > 1e6 * options->seconds) {
            printf("# stopped after %.0f s, before work %lld of %lld\n", options->seconds,
                   (long long)k, (long long)options->sweep_count);
            break;
        }
        if (needs(ON_HOST)) drawn.mode = MODE_STREAM;
        options->modes = (struct list){{drawn.mode}, 1};
        measure_modes(drawn.work, drawn.segment);
    }
    sweep_end();
}

/* ---- Start ----------------------------------------------------------------------------------- */

static void want(const struct engine *engine) {
    for (int e = 0; e < all_engines_count; e++)
        if (all_engines[e] == engine) options->engines.items[options->engines.count++] = e;
}

static void leave_out_absent(void) {
    struct list *list = &options->engines;
    int kept = 0;
    for (int k = 0; k < list->count; k++) {
        const struct engine *engine = all_engines[list->items[k]];
        if (engine->absent)
            fprintf(stderr, "bench: %s is absent: %s\n", engine->name, engine->absent);
        else
            list->items[kept++] = list->items[k];
    }
    list->count = kept;
}

/* The engines asked for, or the default ones, as far as they were built; and the memcpy that figures
   are fractions of, on the host only where nothing else is there to compare with. */
static void choose_engines(void) {
    const bool sweeps = options->sweep_count > 0;
    if (!options->engines.count && sweeps) {
        want(BENCH_NO_CUDA ? &engine_vscan_cpu : &engine_vscan_cuda);
    } else if (!options->engines.count && BENCH_NO_CUDA) {
        want(&engine_vscan_cpu);
        want(&engine_serial);
        want(&engine_tbb);
        want(&engine_openmp);
        want(&engine_thrust_omp);
        want(&engine_ntcopy_cpu);
    } else if (!options->engines.count) {
        want(&engine_memcpy);
        want(&engine_vscan_cuda);
        want(&engine_cub);
        want(&engine_cub_key);
        want(&engine_cub_lifted);
    }
    if (sweeps && has(&engine_vscan_cuda)) {
        want(&engine_vscan_cuda_carry);
        if (!options->no_peers) {
            want(&engine_cub);
            want(&engine_cub_key);
            want(&engine_cub_lifted);
            want(&engine_thrust);
        }
    }
    if (sweeps && has(&engine_vscan_cpu)) want(&engine_vscan_cpu_carry);
    leave_out_absent();
    if (options->no_copy) return;
    if (needs(ON_DEVICE) && !has(&engine_memcpy)) want(&engine_memcpy);
    if (needs(ON_HOST) && !has(&engine_memcpy_cpu) && !has(&engine_ntcopy_cpu) &&
        !has(&engine_read_cpu) && !has(&engine_vscan_cpu_plain))
        want(&engine_memcpy_cpu);
}

static char *joined(int argc, char **argv) {
    size_t length = 1;
    for (int k = 0; k < argc; k++) length += strlen(argv[k]) + 1;
    char *text = calloc(1, length);
    for (int k = 0; text && k < argc; k++) {
        if (k && !strcmp(argv[k - 1], "--note")) continue; /* has a line of its own */
        if (!strcmp(argv[k], "--note")) continue;
        const char *slash = k ? NULL : strrchr(argv[k], '/');
        strcat(strcat(text, k ? " " : ""), slash ? slash + 1 : argv[k]);
    }
    return text;
}

/* Reads the options of all parts, which --next separates; returns how many there are. */
static int read_parts(int argc, char **argv) {
    int parts = 0;
    for (int first = 1, k = 1; k <= argc; k++) {
        if (k < argc && strcmp(argv[k], "--next") != 0) continue;
        if (parts == PARTS_AT_MOST) {
            fprintf(stderr, "bench: --next: too often\n");
            exit(2);
        }
        options_read(&all_options[parts++], k - first, argv + first);
        first = k + 1;
    }
    return parts;
}

/* Measures one part; false: a device is needed, or none of its engines is there. */
static bool measure_part(const char *command, int part, int parts) {
    static bool opened;
    options = &all_options[part];
    choose_engines();
    if (!options->engines.count || (needs(ON_DEVICE) && !opened && !device_open())) return false;
    opened = opened || needs(ON_DEVICE);
    if (part == 0) print_head(options, command);
    if (parts > 1) printf("# part %d\n", part + 1);
    for (int pass = 0; pass < options->passes; pass++) {
        if (options->sweep_count)
            measure_sweep();
        else
            measure_all();
        options->check_most = 0; /* later passes repeat calls that have been checked */
    }
    return true;
}

int main(int argc, char **argv) {
    char *command = joined(argc, argv); /* before the options are read, which cuts lists apart */
    const int parts = read_parts(argc, argv);
    const double begin = now_us();
    for (int part = 0; part < parts; part++)
        if (!measure_part(command ? command : "", part, parts)) {
            fprintf(stderr, "bench: without a device, only engines on the CPU can run\n");
            free(command);
            return 3;
        }
    fprintf(stderr, "bench: %.1f s\n", 1e-6 * (now_us() - begin));
    free(command);
    return all_well ? 0 : 1;
}
