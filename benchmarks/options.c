/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command line of the benchmark. */
#include "options.h"
#include "pairs.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const usage =
    "usage: bench [option value]...   every list is separated by commas\n"
    "  --engine LIST     on a GPU: vscan-cuda vscan-cuda-carry cub cub-key cub-lifted thrust\n"
    "                    memcpy memset copy empty;\n"
    "                    on the CPU: vscan-cpu vscan-cpu-carry vscan-cpu-plain serial tbb openmp\n"
    "                    thrust-omp ntcopy-cpu memcpy-cpu read-cpu; default: vscan, its peers and\n"
    "                    a copy, on the CPU where CUDA was not built\n"
    "  --mode LIST       stream graph latency host memory; default stream\n"
    "  --family LIST     scan segmented scanoffsets reduce map map2 compare unary select convert\n"
    "                    copy fill\n"
    "                    index distribute element sort sortpairs pack packif enumerate split\n"
    "                    count splitseg reduceflags reduceoffsets sortoffsets distributefirst\n"
    "                    distributetotals flagsflags flagsoffsets offsetsflags offsetslengths\n"
    "                    lengthsoffsets flagspositions keysheads lowerbound lowersorted\n"
    "                    scanextreme reduceextreme (max or min), scanwidening reducewidening\n"
    "                    (plus of int), gather permute (where n is a power of two), rows columns\n"
    "                    rowsums columnsums rowssegmented (of a matrix: --segment is the length "
    "of\n"
    "                    its rows; the last one's segments are of 100 elements on average);\n"
    "                    default scan\n"
    "  --type LIST       int long float double; default int float double; uint8, for compare "
    "select\n"
    "                    convert copy fill distribute gather permute pack packif split\n"
    "  --op LIST         plus max min and or, or all; default plus\n"
    "  --kind LIST       inclusive exclusive; default inclusive\n"
    "  --direction LIST  forward backward; default forward\n"
    "  --n LIST          elements: 1000, 2^20, 2^0..2^30 (powers of two), 2^0..2^30:2 (every "
    "other\n"
    "                    one); default 2^26\n"
    "  --flags LIST      int byte bit: the flags of a segmented scan, pack or split; default byte\n"
    "  --segment LIST    L: a segment at every L-th element; random:L: lengths are random and L "
    "on\n"
    "                    average; blocks:K: at a random element of every K-th block of 1024; one\n"
    "  --totals          segmented scans of vscan also write a total for each segment\n"
    "  --offset LIST     elements by which all vectors miss their alignment; default 0\n"
    "  --carry-at N      where carries are before the first call, in elements; default 12345\n"
    "  --in-place        out is in\n"
    "  --values WHICH    random, or steps: 0 1 2 3 4 0 1 ..., whose sums are checked against "
    "their\n"
    "                    formula at every length (scan, plus, not float); default random\n"
    "  --cold, --warm    whether the data have left the caches before a call; default cold\n"
    "  --threads LIST    that engines on the CPU may use: 1, 2, all; default all\n"
    "  --runs N          samples an engine; default 11\n"
    "  --passes N        everything N times over, with rows of their own; default 1\n"
    "  --sample-us T     how long a sample takes; default 1500\n"
    "  --calls-most N    calls a sample has at most; default as many as the time takes\n"
    "  --check-most N    longest vectors that are checked by a serial loop; default 2^24\n"
    "                    (longer ones are checked on the device, and not at all on the CPU)\n"
    "  --no-check        checks no result (but those of graphs): to compare builds that are right\n"
    "  --no-copy         no memcpy where none is asked for, so no fractions of one\n"
    "  --note TEXT       one more line at the head of the CSV; can be repeated\n"
    "  --csv             CSV (default: a table for reading)\n"
    "  --next            ends the options of one part; those of the next part begin anew, from\n"
    "                    the defaults. The parts are measured one after the other, each after a\n"
    "                    line '# part K'; the head, with the first part's notes, is printed once\n";

static const char *const usage_of_sweeps =
    "  --sweep SEED COUNT\n"
    "                    COUNT works drawn from SEED, the same on every machine: family (of those "
    "that\n"
    "                    --family names; default all), type, operator, length, shape, segments, "
    "flags,\n"
    "                    direction, kind, alignment, mode; each compared bit for bit with a CPU "
    "context\n"
    "                    and measured beside a copy and peers, as CSV; at the end what each "
    "family\n"
    "                    reached of the copy's rate, and of the fastest peer's\n"
    "  --from K          of these only those from the K-th on; default 0\n"
    "  --max-bytes B     longest vectors of a sweep, in and out together; default 2^30\n"
    "  --seconds S       no work of a sweep begins after that; default: all of them\n"
    "  --no-peers        a sweep without CUB and Thrust\n";

static void fail(const char *option, const char *value) {
    fprintf(stderr, "bench: %s: cannot be '%s'\n%s%s", option, value, usage, usage_of_sweeps);
    exit(2);
}

/* ---- Names ----------------------------------------------------------------------------------- */

struct name {
    const char *text;
    int64_t value;
};

static struct name families[FAMILIES + 1]; /* of work_traits */
static const struct name types[] = {{"int", VSCAN_INT},     {"long", VSCAN_LONG},
                                    {"float", VSCAN_FLOAT}, {"double", VSCAN_DOUBLE},
                                    {"uint8", VSCAN_UINT8}, {0}};
static const struct name flag_types[] = {
    {"none", 0}, {"int", VSCAN_INT}, {"byte", VSCAN_BYTE}, {"bit", VSCAN_BIT}, {0}};
static const struct name ops[] = {
#define X(op, OP) {#op, VSCAN_##OP},
    VSCAN__OPERATORS(X)
#undef X
        {0}};
static const struct name kinds[] = {
    {"inclusive", VSCAN_INCLUSIVE}, {"exclusive", VSCAN_EXCLUSIVE}, {0}};
static const struct name directions[] = {
    {"forward", VSCAN_FORWARD}, {"backward", VSCAN_BACKWARD}, {0}};
static const struct name modes[] = {{"stream", MODE_STREAM},   {"graph", MODE_GRAPH},
                                    {"latency", MODE_LATENCY}, {"host", MODE_HOST},
                                    {"memory", MODE_MEMORY},   {0}};

static const char *name_in(const struct name *names, int64_t value) {
    for (; names->text; names++)
        if (names->value == value) return names->text;
    return "?";
}
const char *name_of_family(int64_t family) {
    return work_traits[family].name;
}
const char *name_of_type(int64_t type) {
    return type == VSCAN_BYTE || type == VSCAN_BIT || !type ? name_in(flag_types, type)
                                                            : name_in(types, type);
}
const char *name_of_op(int64_t op) {
    return name_in(ops, op);
}
const char *name_of_mode(int64_t mode) {
    return name_in(modes, mode);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void add(struct list *list, int64_t item, const char *option) {
    if (list->count == LIST_AT_MOST) fail(option, "a list of so many");
    list->items[list->count++] = item;
}

/* Each part of a list; the parts stay where they are, ended by a 0. */
#define FOR_PARTS(part, value) for (char *part = strtok(value, ","); part; part = strtok(NULL, ","))

static void read_names(struct list *list, const struct name *names, const char *option,
                       char *value) {
    list->count = 0;
    FOR_PARTS(part, value) {
        const struct name *name = names;
        if (!strcmp(part, "all") && !list->count) {
            for (; name->text; name++)
                if (name->value != VSCAN_UINT8) add(list, name->value, option);
            continue;
        }
        while (name->text && strcmp(name->text, part)) name++;
        if (!name->text) fail(option, part);
        add(list, name->value, option);
    }
}

static void read_engines(struct list *list, const char *option, char *value) {
    list->count = 0;
    FOR_PARTS(part, value) {
        int e = 0;
        while (e < all_engines_count && strcmp(all_engines[e]->name, part)) e++;
        if (e == all_engines_count) fail(option, part);
        add(list, e, option);
    }
}

static int64_t read_number(const char *option, const char *text, char **end) {
    const long long value = strtoll(text, end, 10);
    if (*end == text) fail(option, text);
    if (**end != '^') return value;
    const char *exponent = *end + 1;
    const long long power = strtoll(exponent, end, 10);
    if (value != 2 || *end == exponent || power < 0 || power > 40) fail(option, text);
    return INT64_C(1) << power;
}

static int64_t read_whole_number(const char *option, const char *text) {
    char *end = NULL;
    const int64_t value = read_number(option, text, &end);
    if (*end || value < 0) fail(option, text);
    return value;
}

static void read_lengths(struct list *list, const char *option, char *value) {
    list->count = 0;
    FOR_PARTS(part, value) {
        char *end = NULL;
        int64_t first = read_number(option, part, &end), last = first, step = 1;
        if (!strncmp(end, "..", 2)) last = read_number(option, end + 2, &end);
        if (*end == ':') step = read_number(option, end + 1, &end);
        if (*end || first < 1 || step < 1 || step > 40) fail(option, part);
        for (; first <= last; first <<= step) add(list, first, option);
    }
}

static void read_threads(struct list *list, const char *option, char *value) {
    list->count = 0;
    FOR_PARTS(part, value) {
        const int64_t threads =
            strcmp(part, "all") ? read_whole_number(option, part) : omp_get_max_threads();
        bool known = false; /* on one core 1 and all are the same */
        if (threads < 1 || threads > 4096) fail(option, part);
        for (int k = 0; k < list->count; k++) known = known || list->items[k] == threads;
        if (!known) add(list, threads, option);
    }
}

static void read_segments(struct options *options, const char *option, char *value) {
    options->segments_count = 0;
    FOR_PARTS(part, value) {
        struct segments segments = {SEGMENT_FIXED, 1};
        const char *number = part;
        if (options->segments_count == LIST_AT_MOST) fail(option, "a list of so many");
        if (!strncmp(part, "random:", 7)) segments.kind = SEGMENT_RANDOM, number += 7;
        if (!strncmp(part, "blocks:", 7)) segments.kind = SEGMENT_BLOCKS, number += 7;
        if (!strcmp(part, "one"))
            segments.kind = SEGMENT_ONE;
        else
            segments.length = read_whole_number(option, number);
        if (segments.length < 1) fail(option, part);
        options->segment_names[options->segments_count] = part;
        options->segments[options->segments_count++] = segments;
    }
}

/* ---- The command line ------------------------------------------------------------------------ */

/* Options without a value; false when it is none of them. */
static bool read_switch(struct options *options, const char *option) {
    if (!strcmp(option, "--cold")) return options->cold = true;
    if (!strcmp(option, "--warm")) return options->cold = false, true;
    if (!strcmp(option, "--in-place")) return options->in_place = true;
    if (!strcmp(option, "--totals")) return options->with_totals = true;
    if (!strcmp(option, "--csv")) return options->csv = true;
    if (!strcmp(option, "--no-check")) return options->no_check = true;
    if (!strcmp(option, "--no-copy")) return options->no_copy = true;
    if (!strcmp(option, "--no-peers")) return options->no_peers = true;
    if (strcmp(option, "--help") && strcmp(option, "-h")) return false;
    printf("%s%s", usage, usage_of_sweeps);
    exit(0);
}

static bool read_dimension(struct options *options, const char *option, char *value) {
    if (!strcmp(option, "--mode")) return read_names(&options->modes, modes, option, value), true;
    if (!strcmp(option, "--family"))
        return read_names(&options->families, families, option, value), true;
    if (!strcmp(option, "--type")) return read_names(&options->types, types, option, value), true;
    if (!strcmp(option, "--op")) return read_names(&options->ops, ops, option, value), true;
    if (!strcmp(option, "--kind")) return read_names(&options->kinds, kinds, option, value), true;
    if (!strcmp(option, "--direction"))
        return read_names(&options->directions, directions, option, value), true;
    if (!strcmp(option, "--flags"))
        return read_names(&options->flags, flag_types, option, value), true;
    if (!strcmp(option, "--engine")) return read_engines(&options->engines, option, value), true;
    if (!strcmp(option, "--n")) return read_lengths(&options->n, option, value), true;
    if (!strcmp(option, "--segment")) return read_segments(options, option, value), true;
    if (!strcmp(option, "--values")) {
        options->steps = !strcmp(value, "steps");
        if (!options->steps && strcmp(value, "random")) fail(option, value);
        return true;
    }
    if (!strcmp(option, "--threads")) return read_threads(&options->threads, option, value), true;
    if (strcmp(option, "--offset")) return false;
    options->offsets.count = 0;
    FOR_PARTS(part, value) add(&options->offsets, read_whole_number(option, part), option);
    return true;
}

static void read_number_option(struct options *options, const char *option, const char *value) {
    if (!strcmp(option, "--passes"))
        options->passes = (int)read_whole_number(option, value);
    else if (!strcmp(option, "--runs"))
        options->runs = (int)read_whole_number(option, value);
    else if (!strcmp(option, "--sample-us"))
        options->sample_us = (double)read_whole_number(option, value);
    else if (!strcmp(option, "--calls-most"))
        options->calls_most = read_whole_number(option, value);
    else if (!strcmp(option, "--carry-at"))
        options->carry_at = read_whole_number(option, value);
    else if (!strcmp(option, "--check-most"))
        options->check_most = read_whole_number(option, value);
    else if (!strcmp(option, "--seconds"))
        options->seconds = (double)read_whole_number(option, value);
    else if (!strcmp(option, "--max-bytes"))
        options->max_bytes = read_whole_number(option, value);
    else if (!strcmp(option, "--from"))
        options->sweep_from = read_whole_number(option, value);
    else if (!strcmp(option, "--note") && options->notes_count < NOTES_AT_MOST)
        options->notes[options->notes_count++] = value;
    else
        fail("option", option);
}

/* Sums of steps are known for plain scans, and exact where there are enough bits. */
static void check_steps(const struct options *options) {
    const char *const why = "steps with that family, operator or type";
    for (int k = 0; k < options->families.count; k++)
        if (options->families.items[k] != FAMILY_SCAN) fail("--values", why);
    for (int k = 0; k < options->ops.count; k++)
        if (options->ops.items[k] != VSCAN_PLUS) fail("--values", why);
    for (int k = 0; k < options->types.count; k++)
        if (options->types.items[k] == VSCAN_FLOAT) fail("--values", why);
}

void options_read(struct options *options, int count, char **words) {
    for (int f = 0; f < FAMILIES; f++) families[f] = (struct name){work_traits[f].name, f};
    *options = (struct options){.types = {{VSCAN_INT, VSCAN_FLOAT, VSCAN_DOUBLE}, 3},
                                .ops = {{VSCAN_PLUS}, 1},
                                .kinds = {{VSCAN_INCLUSIVE}, 1},
                                .directions = {{VSCAN_FORWARD}, 1},
                                .flags = {{VSCAN_BYTE}, 1},
                                .modes = {{MODE_STREAM}, 1},
                                .n = {{INT64_C(1) << 26}, 1},
                                .offsets = {{0}, 1},
                                .threads = {{omp_get_max_threads()}, 1},
                                .segments = {{SEGMENT_FIXED, 10000}},
                                .segment_names = {"10000"},
                                .segments_count = 1,
                                .cold = true,
                                .runs = 11,
                                .passes = 1,
                                .sample_us = 1500,
                                .max_bytes = INT64_C(1) << 30,
                                .carry_at = 12345, /* at no multiple of anything */
                                .check_most = 1 << 24};
    for (int k = 0; k < count; k++) {
        if (read_switch(options, words[k])) continue;
        if (!strcmp(words[k], "--sweep") && k + 2 < count) {
            options->sweep_seed = (uint64_t)read_whole_number(words[k], words[k + 1]);
            options->sweep_count = read_whole_number(words[k], words[k + 2]);
            options->csv = true;
            options->check_most = 1 << 20; /* of peers: vscan is compared at every length */
            k += 2;
            continue;
        }
        if (k + 1 == count) fail("option", words[k]);
        if (!read_dimension(options, words[k], words[k + 1]))
            read_number_option(options, words[k], words[k + 1]);
        k++;
    }
    const bool named = options->families.count > 0;
    for (int f = 0; f < FAMILIES && options->sweep_count && !named; f++)
        if (work_traits[f].most) options->families.items[options->families.count++] = f;
    if (!options->families.count) options->families = (struct list){{FAMILY_SCAN}, 1};
    if (options->max_bytes < 64) fail("--max-bytes", "so few");
    if (options->runs < 1 || options->runs > 1000) fail("--runs", "so many");
    if (options->passes < 1 || options->passes > 1000) fail("--passes", "so many");
    if (options->steps) check_steps(options);
}
