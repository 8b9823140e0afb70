/* SPDX-License-Identifier: Apache-2.0 */
/* One rank's bad arguments, or others than those of rank 0, are a status on all, and nothing is written. */
#include <mpi.h>
#include <string.h>

#include "wrong.h"

static vscan_status scan(vscan_op op, vscan_buffer *from, vscan_buffer *to,
                         const vscan_scan_options *options) {
    return vscan_ranks_scan(group, op, from, to, options);
}

static void refuse_buffers(bool me) {
    vscan_scan_options total = {.size = sizeof total};
    expect(scan(VSCAN_PLUS, me ? NULL : in, out, NULL), VSCAN_ERROR_NULL, "in is NULL");
    expect(scan(VSCAN_PLUS, in, me ? NULL : out, NULL), VSCAN_ERROR_NULL, "out is NULL");
    expect(scan(VSCAN_PLUS, me ? ended : in, out, NULL), VSCAN_ERROR_HANDLE,
           "in is no live buffer");
    expect(scan(VSCAN_PLUS, in, me ? foreign : out, NULL), VSCAN_ERROR_CONTEXT, "another context");
    expect(scan(VSCAN_PLUS, in, me ? longer : out, NULL), VSCAN_ERROR_LENGTH, "out has 1001");
    expect(scan(VSCAN_PLUS, in, me ? ints : out, NULL), VSCAN_ERROR_TYPE, "out has the wrong type");
    expect(scan(VSCAN_PLUS, me ? bytes : in, me ? bytes : out, NULL), VSCAN_ERROR_PAIR,
           "in's type");
    vscan_buffer *small;
    OK(vscan_buffer_create(ctx, VSCAN_UINT8, N, &small));
    expect(scan(VSCAN_PLUS, me ? small : in, me ? small : out, NULL), VSCAN_ERROR_PAIR,
           "in's type");
    expect(vscan_ranks_index(group, 0, 1, me ? small : out), VSCAN_ERROR_TYPE, "out is not int");
    OK(vscan_buffer_destroy(small));
    total.total = me ? longer : NULL;
    expect(scan(VSCAN_PLUS, in, out, &total), VSCAN_ERROR_LENGTH, "total has 1001");
    vscan_buffer *overlapping, *one;
    OK(vscan_buffer_view(longer, 1, N, &overlapping));
    OK(vscan_buffer_view(out, 5, 1, &one));
    vscan_buffer *first;
    OK(vscan_buffer_view(longer, 0, N, &first));
    expect(scan(VSCAN_PLUS, me ? first : in, me ? overlapping : out, NULL), VSCAN_ERROR_OVERLAP,
           "out overlaps in");
    total.total = me ? one : NULL;
    expect(scan(VSCAN_PLUS, in, out, &total), VSCAN_ERROR_OVERLAP, "total overlaps out");
    OK(vscan_buffer_destroy(first));
    OK(vscan_buffer_destroy(overlapping));
    OK(vscan_buffer_destroy(one));
}

static vscan_status segmented(vscan_buffer *heads, const vscan_scan_segmented_options *options) {
    return vscan_ranks_scan_segmented(group, VSCAN_PLUS, in, heads, out, options);
}

static void refuse_segments(bool me) {
    vscan_scan_segmented_options options = {.size = sizeof options, .totals = me ? ints : NULL};
    expect(segmented(bytes, &options), VSCAN_ERROR_TYPE, "totals has the wrong type");
    options.totals = me ? in : NULL;
    expect(segmented(bytes, &options), VSCAN_ERROR_OVERLAP, "totals overlaps in");
    options.totals = me ? out : NULL;
    expect(segmented(bytes, &options), VSCAN_ERROR_OVERLAP, "totals overlaps out");
    options.totals = me ? longer : NULL;
    if (culprit > 0)
        expect(segmented(bytes, &options), (vscan_status)VSCAN_RANKS_ERROR_DIFFERENT,
               "totals is not NULL");
    options = (vscan_scan_segmented_options){.size = sizeof options, .count = me ? ints : NULL};
    expect(segmented(bytes, &options), VSCAN_ERROR_TYPE, "count has the wrong type");
    expect(segmented(me ? NULL : bytes, NULL), VSCAN_ERROR_NULL, "heads is NULL");
    expect(segmented(me ? longer : bytes, NULL), VSCAN_ERROR_LENGTH, "heads has 1001");
    expect(segmented(me ? in : bytes, NULL), VSCAN_ERROR_TYPE, "heads are not");
    if (culprit > 0)
        expect(me ? segmented(bytes, NULL) : scan(VSCAN_PLUS, in, out, NULL),
               (vscan_status)VSCAN_RANKS_ERROR_DIFFERENT,
               "calls vscan_ranks_scan_segmented, rank 0");
}

static vscan_status reduce(vscan_buffer *heads, vscan_buffer *totals) {
    return vscan_ranks_reduce_segmented(group, VSCAN_PLUS, in, heads, totals, NULL);
}

static void refuse_totals(bool me) {
    const vscan_status different = (vscan_status)VSCAN_RANKS_ERROR_DIFFERENT;
    expect(reduce(bytes, me ? NULL : out), VSCAN_ERROR_NULL, "totals is NULL");
    expect(reduce(bytes, me ? ints : out), VSCAN_ERROR_TYPE, "totals has the wrong type");
    expect(reduce(bytes, me ? in : out), VSCAN_ERROR_OVERLAP, "totals overlaps in");
    expect(reduce(me ? longer : bytes, out), VSCAN_ERROR_LENGTH, "heads has 1001");
    vscan_reduce_segmented_options options = {.size = sizeof options, .count = me ? ints : NULL};
    expect(vscan_ranks_reduce_segmented(group, VSCAN_PLUS, in, bytes, out, &options),
           VSCAN_ERROR_TYPE, "count has the wrong type");
    vscan_buffer *one;
    OK(vscan_buffer_view(out, 0, 1, &one));
    options =
        (vscan_reduce_segmented_options){.size = sizeof options, .initial_buffer = me ? one : NULL};
    expect(vscan_ranks_reduce_segmented(group, VSCAN_PLUS, in, bytes, out, &options),
           VSCAN_ERROR_OVERLAP, "totals overlaps initial_buffer");
    OK(vscan_buffer_destroy(one));
    if (culprit > 0)
        expect(me ? reduce(bytes, out) : segmented(bytes, NULL), different,
               "calls vscan_ranks_reduce_segmented, rank 0");
}

/* Buffers in one memory: of what is written nothing may overlap any other argument. */
static void refuse_overlaps(bool me) {
    const vscan_status overlap = VSCAN_ERROR_OVERLAP;
    const double zero = 0;
    vscan_buffer *shared, *value, *number, *heads, *many, *of_in, *of_out, *out_as_heads;
    OK(vscan_buffer_create(ctx, VSCAN_DOUBLE, N, &shared));
    OK(vscan_buffer_fill(shared, &zero));
    void *const memory = vscan_buffer_pointer(shared);
    OK(vscan_buffer_wrap(ctx, VSCAN_FLOAT, memory, 1, &value));
    OK(vscan_buffer_wrap(ctx, VSCAN_LONG, memory, 1, &number));
    OK(vscan_buffer_wrap(ctx, VSCAN_INT, memory, N, &heads));
    OK(vscan_buffer_wrap(ctx, VSCAN_FLOAT, memory, N, &many));
    OK(vscan_buffer_wrap(ctx, VSCAN_LONG, vscan_buffer_pointer(in), 1, &of_in));
    OK(vscan_buffer_wrap(ctx, VSCAN_LONG, vscan_buffer_pointer(out), 1, &of_out));
    OK(vscan_buffer_wrap(ctx, VSCAN_INT, vscan_buffer_pointer(out), N, &out_as_heads));

    vscan_scan_segmented_options scans = {.size = sizeof scans, .totals = me ? many : longer};
    expect(segmented(me ? heads : bytes, &scans), overlap, "totals overlaps heads");
    scans.count = number;
    expect(segmented(bytes, &scans), overlap, "totals overlaps count");
    scans = (vscan_scan_segmented_options){
        .size = sizeof scans, .totals = me ? many : longer, .initial_buffer = value};
    expect(segmented(bytes, &scans), overlap, "totals overlaps initial_buffer");
    scans = (vscan_scan_segmented_options){
        .size = sizeof scans, .count = me ? number : NULL, .initial_buffer = value};
    expect(segmented(bytes, &scans), overlap, "count overlaps initial_buffer");
    scans.initial_buffer = NULL;
    expect(segmented(me ? heads : bytes, &scans), overlap, "count overlaps the flags");
    scans.count = me ? of_in : NULL;
    expect(segmented(bytes, &scans), overlap, "count overlaps in");
    scans.count = me ? of_out : NULL;
    expect(segmented(bytes, &scans), overlap, "count overlaps what is written");
    expect(segmented(me ? out_as_heads : bytes, NULL), overlap, "heads overlaps out");
    vscan_reduce_segmented_options reductions = {
        .size = sizeof reductions, .count = me ? number : NULL, .initial_buffer = value};
    expect(vscan_ranks_reduce_segmented(group, VSCAN_PLUS, in, bytes, out, &reductions), overlap,
           "count overlaps initial_buffer");
    vscan_scan_options begins = {.size = sizeof begins, .initial_buffer = value};
    expect(scan(VSCAN_PLUS, in, me ? many : out, &begins), overlap, "initial_buffer overlaps out");
    begins = (vscan_scan_options){
        .size = sizeof begins, .initial_buffer = me ? ended : value, .total = value};
    expect(scan(VSCAN_PLUS, in, out, &begins), VSCAN_ERROR_HANDLE,
           "initial_buffer is no live buffer");
    vscan_buffer *const made[] = {out_as_heads, of_out, of_in, many, heads, number, value, shared};
    for (int i = 0; i < 8; i++) OK(vscan_buffer_destroy(made[i]));
}

static void refuse_positions(bool me) {
    const vscan_status different = (vscan_status)VSCAN_RANKS_ERROR_DIFFERENT;
    vscan_buffer *offsets;
    OK(vscan_buffer_create(ctx, VSCAN_LONG, N + 1, &offsets));
    expect(vscan_ranks_enumerate(group, me ? in : bytes, ints, NULL), VSCAN_ERROR_TYPE,
           "flags are not");
    expect(vscan_ranks_enumerate(group, bytes, me ? out : ints, NULL), VSCAN_ERROR_TYPE,
           "out is not int or long");
    expect(vscan_ranks_enumerate(group, bytes, me ? offsets : ints, NULL), VSCAN_ERROR_LENGTH,
           "out has 1001");
    /* the words of this library's check: libvscan would refuse only after other ranks have written */
    char words[40];
    snprintf(words, sizeof words, "rank %d: out overlaps flags", culprit);
    vscan_buffer *one, *bit;
    OK(vscan_buffer_view(more, 0, 1, &one));
    OK(vscan_buffer_wrap(ctx, VSCAN_BIT, vscan_buffer_pointer(more), 1, &bit));
    expect(vscan_ranks_enumerate(group, me ? bit : bytes, me ? one : ints, NULL),
           VSCAN_ERROR_OVERLAP, words);
    OK(vscan_buffer_destroy(one));
    OK(vscan_buffer_destroy(bit));
    vscan_count_options options = {.size = me ? 1 : (int64_t)sizeof options};
    expect(vscan_ranks_enumerate(group, bytes, ints, &options), VSCAN_ERROR_STRUCT_SIZE,
           "size is 1");
    expect(vscan_ranks_heads_to_offsets(group, bytes, offsets, &options), VSCAN_ERROR_STRUCT_SIZE,
           "size is 1");
    expect(vscan_ranks_heads_to_offsets(group, bytes, me ? longer : offsets, NULL),
           VSCAN_ERROR_TYPE, "offsets are not int or long");
    expect(vscan_ranks_heads_to_offsets(group, me ? NULL : bytes, offsets, NULL), VSCAN_ERROR_NULL,
           "heads is NULL");
    expect(vscan_ranks_count_segments(group, me ? ended : bytes, NULL, NULL, NULL),
           VSCAN_ERROR_HANDLE, "heads is no live buffer");
    expect(vscan_ranks_index(group, 0, 1, me ? bytes : out), VSCAN_ERROR_TYPE, "out is not int");
    if (culprit > 0) {
        expect(vscan_ranks_index(group, me, 1, out), different, "first or step");
        expect(vscan_ranks_index(group, 0, me ? INT64_C(1) << 32 : 0, out), different,
               "first or step");
        expect(vscan_ranks_index(group, 0, me, out), different, "first or step");
        expect(me ? vscan_ranks_count_segments(group, bytes, NULL, NULL, NULL)
                  : vscan_ranks_heads_to_offsets(group, bytes, offsets, NULL),
               different, "calls vscan_ranks_count_segments, rank 0 vscan_ranks_heads_to_offsets");
        vscan_buffer *shorter; /* numbers of type int for one rank alone */
        OK(vscan_buffer_create(ctx, VSCAN_INT, N + 1, &shorter));
        expect(vscan_ranks_heads_to_offsets(group, bytes, me ? shorter : offsets, NULL), different,
               "the element type");
        OK(vscan_buffer_destroy(shorter));
    }
    OK(vscan_buffer_destroy(offsets));
}

static void refuse_options(bool me) {
    vscan_scan_options options = {.size = me ? 3 : (int64_t)sizeof options};
    expect(scan(VSCAN_PLUS, in, out, &options), VSCAN_ERROR_STRUCT_SIZE, "options->size is 3");
    options = (vscan_scan_options){.size = sizeof options, .kind = me ? 77 : 0};
    expect(scan(VSCAN_PLUS, in, out, &options), VSCAN_ERROR_ENUM, "kind is 77");
    options = (vscan_scan_options){.size = sizeof options, .direction = me ? 77 : 0};
    expect(scan(VSCAN_PLUS, in, out, &options), VSCAN_ERROR_ENUM, "direction is 77");
    expect(scan(me ? (vscan_op)999 : VSCAN_PLUS, in, out, NULL), VSCAN_ERROR_ENUM, "op is 999");
    vscan_carry *carry;
    OK(vscan_carry_create(ctx, VSCAN_PLUS, VSCAN_FLOAT, VSCAN_FORWARD, &carry));
    options = (vscan_scan_options){.size = sizeof options, .carry = me ? carry : NULL};
    expect(scan(VSCAN_PLUS, in, out, &options), VSCAN_ERROR_VALUE, "carry is not NULL");
    OK(vscan_carry_destroy(carry));
    options = (vscan_scan_options){.size = sizeof options,
                                   .initial = {.holds = me ? VSCAN_INT : VSCAN_NONE}};
    expect(scan(VSCAN_PLUS, in, out, &options), VSCAN_ERROR_TYPE, "options->initial");
    options.initial.holds = me ? 99 : VSCAN_NONE;
    expect(scan(VSCAN_PLUS, in, out, &options), VSCAN_ERROR_ENUM, "options->initial.holds is 99");
    options.initial.holds = me ? VSCAN_FLOAT : VSCAN_NONE;
    options.initial.unused = me ? 1 : 0;
    expect(scan(VSCAN_PLUS, in, out, &options), VSCAN_ERROR_VALUE, "unused is not 0");
    vscan_reduce_options reduce = {.size = sizeof reduce, .unused = me};
    expect(vscan_ranks_reduce(group, VSCAN_PLUS, in, NULL, &reduce), VSCAN_ERROR_VALUE, "unused");
    if (ranks == 1) return;

    const vscan_status different = (vscan_status)VSCAN_RANKS_ERROR_DIFFERENT;
    if (culprit == 0) return; /* rank 0 is who others are compared with */
    expect(scan(me ? VSCAN_MAX : VSCAN_PLUS, in, out, NULL), different, "op is");
    options = (vscan_scan_options){.size = sizeof options, .kind = me ? VSCAN_EXCLUSIVE : 0};
    expect(scan(VSCAN_PLUS, in, out, &options), different, "kind is");
    options = (vscan_scan_options){.size = sizeof options, .direction = me ? VSCAN_BACKWARD : 0};
    expect(scan(VSCAN_PLUS, in, out, &options), different, "direction is");
    vscan_buffer *z;
    const float value = me ? -1 : 1;
    OK(vscan_buffer_create(ctx, VSCAN_FLOAT, 1, &z));
    OK(vscan_buffer_fill(z, &value));
    options = (vscan_scan_options){.size = sizeof options, .initial_buffer = z};
    expect(scan(VSCAN_PLUS, in, out, &options), different, "the initial value");
    options.initial_buffer = me ? NULL : z;
    expect(scan(VSCAN_PLUS, in, out, &options), different, "the initial value");
    OK(vscan_buffer_destroy(z));
    expect(scan(VSCAN_PLUS, me ? ints : in, me ? ints : out, NULL), different, "element type");
    expect(me ? vscan_ranks_reduce(group, VSCAN_PLUS, in, NULL, NULL)
              : scan(VSCAN_PLUS, in, out, NULL),
           different, "calls vscan_ranks_reduce, rank 0 vscan_ranks_scan");
}

/* Statuses of the library's own, and one of libvscan's. */
static void check_words(void) {
    static const struct {
        int status;
        const char *name, *text;
    } words[] = {
        {VSCAN_RANKS_ERROR_DIFFERENT, "VSCAN_RANKS_ERROR_DIFFERENT", "different functions"},
        {VSCAN_RANKS_ERROR_TRANSPORT, "VSCAN_RANKS_ERROR_TRANSPORT", "cannot reach"},
        {VSCAN_ERROR_NULL, "VSCAN_ERROR_NULL", "NULL"}};
    for (int k = 0; k < 3; k++) {
        const char *const name = vscan_ranks_status_name((vscan_status)words[k].status),
                          *const text = vscan_ranks_status_text((vscan_status)words[k].status);
        CHECK(strcmp(name, words[k].name) == 0, "%s, not %s", name, words[k].name);
        CHECK(strstr(text, words[k].text) != NULL, "\"%s\" has no \"%s\"", text, words[k].text);
    }
}

/* Numbers of no communicator, and that of an intercommunicator. MPI's error handler would end the program. */
static void refuse_comms(void) {
    vscan_ranks *made = NULL;
    MPI_Comm copy, half, other;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    const int32_t freed = MPI_Comm_c2f(copy);
    MPI_Comm_free(&copy);
#ifdef OPEN_MPI
    const int32_t numbers[] = {-5, INT32_MAX, INT32_MIN, MPI_Comm_c2f(MPI_COMM_NULL), freed};
#else
    (void)freed; /* MPICH calls its handler */
    const int32_t numbers[] = {-5,
                               INT32_MAX,
                               INT32_MIN,
                               MPI_Comm_c2f(MPI_COMM_NULL),
                               MPI_Comm_c2f(MPI_COMM_NULL) + 1,
                               0,
                               MPI_Type_c2f(MPI_INT),
                               MPI_Op_c2f(MPI_SUM),
                               MPI_Group_c2f(MPI_GROUP_EMPTY)};
#endif
    for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers); i++)
        CHECK(vscan_mpi_create(ctx, numbers[i], &made) == VSCAN_ERROR_VALUE && made == NULL,
              "%d is taken for a communicator", (int)numbers[i]);
    if (ranks == 1) return;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &other);
    CHECK(vscan_mpi_create(ctx, MPI_Comm_c2f(other), &made) == VSCAN_ERROR_VALUE &&
              strstr(vscan_ranks_last_error(NULL), "intercommunicator") != NULL,
          "an intercommunicator is taken: %s", vscan_ranks_last_error(NULL));
    MPI_Comm_free(&other);
    MPI_Comm_free(&half);
}

/* What a rank can find out alone. */
static void refuse_handles(void) {
    int64_t first, length;
    vscan_ranks *made = NULL;
    CHECK(vscan_ranks_scan(NULL, VSCAN_PLUS, in, out, NULL) == VSCAN_ERROR_NULL, "NULL is taken");
    CHECK(strstr(vscan_ranks_last_error(NULL), "ranks is NULL") != NULL, "no sentence");
    CHECK(vscan_ranks_scan((vscan_ranks *)in, VSCAN_PLUS, in, out, NULL) == VSCAN_ERROR_HANDLE &&
              vscan_ranks_reduce((vscan_ranks *)&first, VSCAN_PLUS, in, out, NULL) ==
                  VSCAN_ERROR_HANDLE,
          "another pointer is taken");
    CHECK(vscan_ranks_rank(NULL) == -1 && vscan_ranks_size(NULL) == 0, "NULL has ranks");
    CHECK(vscan_ranks_share(group, -1, &first, &length) == VSCAN_ERROR_LENGTH &&
              vscan_ranks_share(group, 1, NULL, &length) == VSCAN_ERROR_NULL,
          "a bad share");
    CHECK(vscan_ranks_destroy(NULL) == VSCAN_OK, "NULL cannot be destroyed");

    /* one rank's bad context is a failure on all */
    const bool me = rank == culprit;
    const int32_t world = MPI_Comm_c2f(MPI_COMM_WORLD);
    CHECK(vscan_mpi_create(me ? NULL : ctx, world, &made) == VSCAN_ERROR_NULL && made == NULL,
          "no context is taken");
    CHECK(strstr(vscan_ranks_last_error(NULL), "ctx is NULL") != NULL, "no sentence: %s",
          vscan_ranks_last_error(NULL));
    CHECK(vscan_mpi_create((vscan_ctx *)(me ? (void *)in : (void *)ctx), world, &made) ==
              VSCAN_ERROR_HANDLE,
          "a buffer is taken");
    CHECK(vscan_mpi_create(ctx, world, me ? NULL : &made) == VSCAN_ERROR_NULL && made == NULL,
          "nowhere to put it is taken");
    OK(vscan_mpi_create(ctx, world, &made));
    OK(vscan_ranks_destroy(made));
    CHECK(vscan_ranks_destroy(made) == VSCAN_ERROR_HANDLE &&
              vscan_ranks_scan(made, VSCAN_PLUS, in, out, NULL) == VSCAN_ERROR_HANDLE,
          "a destroyed one is taken");
}

static void check_shares(void) {
    static const int64_t lengths[] = {0, 1, 5, 16, 1000, INT64_MAX};
    for (int i = 0; i < 6; i++) {
        int64_t mine[2], all[2 * MOST_RANKS], next = 0;
        OK(vscan_ranks_share(group, lengths[i], &mine[0], &mine[1]));
        MPI_Allgather(mine, 2, MPI_INT64_T, all, 2, MPI_INT64_T, MPI_COMM_WORLD);
        for (int r = 0; r < ranks; r++) {
            CHECK(all[2 * r] == next, "the shares of %lld have a gap", (long long)lengths[i]);
            CHECK(all[1] - all[2 * r + 1] <= 1 && all[1] >= all[2 * r + 1], "they are not even");
            next += all[2 * r + 1];
        }
        CHECK(next == lengths[i], "the shares are not the vector");
    }
}

void test_refused(void) {
    make_buffers();
    for (int i = 0; i < 2; i++) {
        culprit = i == 0 ? ranks - 1 : (int)draw_below(ranks);
        refuse_buffers(rank == culprit);
        refuse_options(rank == culprit);
        refuse_segments(rank == culprit);
        refuse_totals(rank == culprit);
        refuse_overlaps(rank == culprit);
        refuse_positions(rank == culprit);
    }
    refuse_handles();
    check_words();
    refuse_comms();
    check_shares();
    OK(vscan_ranks_scan(group, VSCAN_PLUS, in, out, NULL)); /* all goes on */
    end_buffers();
}
