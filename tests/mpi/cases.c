/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <math.h>

static uint64_t state;

uint64_t draw(void) { /* splitmix64 (Steele, Lea, Flood, 2014) */
    if (state == 0) state = seed;
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

int64_t draw_below(int64_t n) {
    return n < 1 ? 0 : (int64_t)(draw() % (uint64_t)n);
}

int64_t draw_length(void) {
    static const int64_t edges[] = {
        0, 1, 32, 1024, VSCAN__TILE_DOUBLE, VSCAN__TILE_FLOAT, VSCAN__LEVEL_3, 2 * VSCAN__LEVEL_3};
    const int64_t n = sizeof edges / sizeof *edges;
    switch (draw_below(4)) {
    case 0:
        return llabs(edges[draw_below(n)] + draw_below(3) - 1);
    case 1:
        return draw_below(2000);
    default:
        return draw_below(LONGEST);
    }
}

static int compare(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void draw_cuts(int way, int64_t n, int64_t tile, int64_t *cut) {
    const int64_t grain[] = {1, 32, 1024, tile, VSCAN__LEVEL_3};
    cut[0] = 0;
    cut[ranks] = n;
    if (way == 0) { /* all on one rank */
        const int64_t r = draw_below(ranks);
        for (int i = 1; i < ranks; i++) cut[i] = i <= r ? 0 : n;
        return;
    }
    const int64_t middle = draw_below(n + 1);
    const int64_t skew = draw_below(2) ? n % VSCAN__LEVEL_3 : 0;
    for (int i = 1; i < ranks; i++) switch (way) {
        case 1:
            cut[i] = n * i / ranks;
            break; /* even */
        case 2:
            cut[i] = middle + draw_below(200);
            break; /* close together */
        case 3:
            cut[i] = (middle >> 15 << 15) + draw_below(1 << 15);
            break; /* inside one block */
        case 4:
            cut[i] = i % 2 ? draw_below(n + 1) : cut[i - 1];
            break; /* many are empty */
        case 5: {  /* at or beside the begins of groups, tiles and blocks */
            const int64_t g = grain[draw_below(5)];
            cut[i] = draw_below(n / g + 1) * g + draw_below(3) - 1;
            break;
        }
        case 6:
            cut[i] = skew + draw_below(n / VSCAN__LEVEL_3 + 1) * VSCAN__LEVEL_3;
            break; /* whole blocks, from either end */
        default:
            cut[i] = draw_below(n + 1);
        }
    for (int i = 1; i < ranks; i++) {
        if (cut[i] < 0) cut[i] = 0;
        if (cut[i] > n) cut[i] = n;
    }
    qsort(cut + 1, (size_t)(ranks - 1), sizeof *cut, compare);
}

int64_t size_of(vscan_type type) {
    return type == VSCAN_DOUBLE || type == VSCAN_LONG ? 8 : type == VSCAN_BYTE ? 1 : 4;
}

void draw_elements(vscan_type type, void *to, int64_t n) {
    const int64_t kind = draw_below(8);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t bits = draw();
        /* of many sizes; sometimes -0, NaN and infinity, or all -0 */
        double x = ldexp((double)(int64_t)bits, (int)(bits % 40) - 80);
        if (kind == 0 && bits % 1000 == 1)
            x = bits % 3 == 0 ? NAN : bits % 3 == 1 ? -0.0 : -INFINITY;
        if (kind == 1) x = -0.0;
        if (kind == 2) x = bits % 3 == 0 ? 1 : 0;
        switch (type) {
        case VSCAN_INT:
            ((int32_t *)to)[i] = (int32_t)bits;
            break;
        case VSCAN_FLOAT:
            ((float *)to)[i] = (float)x;
            break;
        case VSCAN_DOUBLE:
            ((double *)to)[i] = x;
            break;
        case VSCAN_LONG:
            ((int64_t *)to)[i] = (int64_t)bits;
            break;
        default:
            ((uint8_t *)to)[i] = (uint8_t)bits;
            break;
        }
    }
}

enum { GUARD = 64, CANARY = 0xa7 };

struct part new_part(vscan_type type, const void *elements, int64_t n) {
    struct part part = {.bytes = n * size_of(type)};
    part.memory = malloc((size_t)part.bytes + 2 * GUARD);
    CHECK(part.memory != NULL, "no memory");
    memset(part.memory, CANARY, (size_t)part.bytes + 2 * GUARD);
    if (elements != NULL && n > 0) memcpy(part.memory + GUARD, elements, (size_t)part.bytes);
    OK(vscan_buffer_wrap(ctx, type, part.memory + GUARD, n, &part.buffer));
    return part;
}

void *elements_of(const struct part *part) {
    return part->memory + GUARD;
}

void end_part(struct part *part) {
    for (int64_t i = 0; i < GUARD; i++)
        CHECK((unsigned char)part->memory[i] == CANARY &&
                  (unsigned char)part->memory[GUARD + part->bytes + i] == CANARY,
              "written outside the part");
    OK(vscan_buffer_destroy(part->buffer));
    free(part->memory);
}

void draw_heads(uint8_t *flags, int64_t n, const int64_t *cut) {
    static const int64_t every[] = {1, 2, 50, 3000, 60000, INT64_MAX};
    const int64_t mean = every[draw_below(6)];
    for (int64_t i = 0; i < n; i++)
        flags[i] = draw_below(mean) == 0 ? (uint8_t)(1 + draw_below(255)) : 0;
    if (draw_below(3) == 0) { /* segments that are whole parts, or several */
        memset(flags, 0, (size_t)n);
        for (int r = 0; r < ranks; r++)
            if (cut[r] < n) flags[cut[r]] = (uint8_t)draw_below(2);
        return;
    }
    for (int r = 0; r <= ranks && draw_below(3) > 0; r++) {
        const int64_t i = cut[r] + draw_below(3) - 1;
        if (i >= 0 && i < n) flags[i] = (uint8_t)draw_below(2);
    }
}

struct part new_flags(vscan_type type, const uint8_t *flags, int64_t n) {
    if (type == VSCAN_BYTE) return new_part(type, flags, n);
    int32_t *const words = calloc((size_t)n + 1, sizeof *words);
    CHECK(words != NULL, "no memory");
    for (int64_t i = 0; i < n; i++)
        if (type == VSCAN_INT)
            words[i] = flags[i] != 0 ? -(int32_t)flags[i] : 0;
        else
            words[i / 32] |= (int32_t)((uint32_t)(flags[i] != 0) << i % 32);
    if (type == VSCAN_BIT && n % 32 != 0)
        words[n / 32] |= (int32_t)(UINT32_MAX << n % 32); /* ignored */
    struct part part = new_part(VSCAN_INT, words, type == VSCAN_INT ? n : (n + 31) / 32);
    if (type == VSCAN_BIT) {
        OK(vscan_buffer_destroy(part.buffer));
        OK(vscan_buffer_wrap(ctx, VSCAN_BIT, elements_of(&part), n, &part.buffer));
    }
    free(words);
    return part;
}

int64_t first_difference(vscan_type type, const void *a, const void *b, int64_t n) {
    const int64_t size = size_of(type);
    if (n == 0 || memcmp(a, b, (size_t)(n * size)) == 0) return -1;
    for (int64_t i = 0; i < n; i++) {
        if (memcmp((const char *)a + i * size, (const char *)b + i * size, (size_t)size) == 0)
            continue;
        if (type == VSCAN_FLOAT && isnan(((const float *)a)[i]) && isnan(((const float *)b)[i]))
            continue;
        if (type == VSCAN_DOUBLE && isnan(((const double *)a)[i]) && isnan(((const double *)b)[i]))
            continue;
        return i;
    }
    return -1;
}
