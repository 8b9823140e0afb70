/* SPDX-License-Identifier: Apache-2.0 */
#include "move_case.h"

#include "stand_in.h"

int64_t draw_move_length(void) {
    switch (draw_below(4)) {
    case 0:
        return draw_below(3 * ranks); /* fewer than ranks, too */
    case 1:
        return draw_below(2000);
    default:
        return draw_below(LONGEST_MOVE);
    }
}

struct moved_part new_moved(vscan_type type, const void *elements, int64_t n) {
    struct moved_part made = {.type = type, .n = n};
    made.part = new_part(type == VSCAN_BIT ? VSCAN_BYTE : type, elements, n);
    made.buffer = made.part.buffer;
    if (type == VSCAN_BIT) {
        OK(vscan_buffer_create(ctx, VSCAN_BIT, n, &made.buffer));
        OK(vscan_convert(ctx, made.part.buffer, made.buffer));
    }
    return made;
}

void end_moved(struct moved_part *part) {
    if (part->type == VSCAN_BIT) OK(vscan_buffer_destroy(part->buffer));
    end_part(&part->part);
}

void check_moved(const struct moved_part *part, int64_t first, const void *expected, int64_t n,
                 const char *what, int64_t number) {
    const char *got = elements_of(&part->part);
    int64_t wrong = -1;
    if (part->type == VSCAN_BIT) {
        OK(vscan_convert(ctx, part->buffer, part->part.buffer));
        for (int64_t i = 0; i < n && wrong < 0; i++)
            if (got[first + i] != (((const char *)expected)[i] != 0)) wrong = i;
    } else {
        const int64_t size = size_of(part->type);
        for (int64_t i = 0; i < n && wrong < 0; i++) /* every bit, also of a NaN */
            if (memcmp(got + (first + i) * size, (const char *)expected + i * size, (size_t)size) !=
                0)
                wrong = i;
    }
    CHECK(wrong < 0, "case %lld: %s of type %d: element %lld of %lld is wrong", (long long)number,
          what, (int)part->type, (long long)wrong, (long long)n);
}

void add_message(struct sent *sent, int to, int64_t bytes) {
    if (to == rank) return;
    sent->bytes += bytes;
    sent->messages += (bytes + VSCAN__MPI_LONGEST_MESSAGE - 1) / VSCAN__MPI_LONGEST_MESSAGE;
}

void add_run(struct sent *sent, vscan_type type, int64_t begin, int64_t end, const int64_t *cut) {
    for (int r = 0; r < ranks; r++) {
        const int64_t from = begin > cut[r] ? begin : cut[r];
        const int64_t to = end < cut[r + 1] ? end : cut[r + 1];
        if (from >= to) continue;
        add_message(sent, r,
                    type == VSCAN_BIT ? (to - from + 31) / 32 * 4 : (to - from) * size_of(type));
    }
}

void check_sent(const struct counted *before, const struct sent *sent, int64_t contributed) {
    CHECK(counted.bytes - before->bytes == sent->bytes, "%lld bytes sent, not %lld",
          (long long)(counted.bytes - before->bytes), (long long)sent->bytes);
    CHECK(counted.messages - before->messages == sent->messages, "%lld messages, not %lld",
          (long long)(counted.messages - before->messages), (long long)sent->messages);
    CHECK(counted.contributed - before->contributed == RECORD_BYTES + contributed,
          "%lld bytes told to all, not %lld",
          (long long)(counted.contributed - before->contributed),
          (long long)(RECORD_BYTES + contributed));
}

void check_downloaded(const struct given *before, const struct sent *sent, int64_t size) {
    const int64_t bytes = (given.downloaded - before->downloaded) * size;
    CHECK(bytes == 0 || (pretends_gpu && bytes == sent->bytes), "%lld bytes downloaded, %lld sent",
          (long long)bytes, (long long)sent->bytes);
}
