/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "program.h"

/* ---- Whole files ----------------------------------------------------------------------------- */

bool is_file_name(const char *argument) {
    return !strchr("-+0123456789", argument[0]); /* which finds the end of an empty one, too */
}

unsigned char *read_file(const char *program, const char *path, int64_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) refuse(program, "%s cannot be opened: %s", path, strerror(errno));
    unsigned char *bytes = NULL;
    size_t length = 0, room = 0, got;
    do { /* not by the file's length: a pipe has none */
        if (length == room) {
            room = room ? 2 * room : 65536;
            bytes = realloc(bytes, room);
            if (!bytes) refuse(program, "%s is too large for the memory", path);
        }
        got = fread(bytes + length, 1, room - length, file);
        length += got;
    } while (got > 0);
    if (ferror(file)) refuse(program, "%s cannot be read: %s", path, strerror(errno));
    fclose(file);
    *size = (int64_t)length;
    return bytes;
}

/* ---- Pictures -------------------------------------------------------------------------------- */

struct picture new_picture(int64_t width, int64_t height, int64_t channels, int32_t maximum) {
    return (struct picture){width, height, channels, maximum,
                            allocate(width * height * channels, sizeof(int32_t))};
}

/* What is left of a file. */
struct rest {
    const unsigned char *at, *end;
};

static bool is_space(int c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next number, 0 to most; -1 where there is none. Comments go from '#' to the end of a line. */
static int64_t next_number(struct rest *rest, int64_t most) {
    bool comment = false;
    for (; rest->at < rest->end; rest->at++) {
        if (*rest->at == '#') comment = true;
        if (!comment && !is_space(*rest->at)) break;
        if (*rest->at == '\n' || *rest->at == '\r') comment = false;
    }
    int64_t number = -1;
    for (; rest->at < rest->end && *rest->at >= '0' && *rest->at <= '9'; rest->at++) {
        number = 10 * (number < 0 ? 0 : number) + (*rest->at - '0');
        if (number > most) return -1;
    }
    return number;
}

/*
 * The samples, plain or binary: of two bytes, the first one is the higher, where maximum > 255.
 * That there are bytes enough has been checked for binary ones.
 */
static const char *read_samples(struct rest *rest, bool plain, struct picture *picture) {
    int64_t n = picture->width * picture->height * picture->channels;
    for (int64_t i = 0; i < n; i++) {
        int64_t sample;
        if (plain) {
            sample = next_number(rest, picture->maximum);
            if (sample < 0) return "a sample is missing, is no number, or is above the maximum";
        } else {
            sample = *rest->at++;
            if (picture->maximum > 255) sample = 256 * sample + *rest->at++;
            if (sample > picture->maximum) return "a sample is above the maximum";
        }
        picture->samples[i] = (int32_t)sample;
    }
    return NULL;
}

struct picture read_picture(const char *program, const char *path, int64_t channels) {
    int64_t size;
    unsigned char *bytes = read_file(program, path, &size);
    const char *format = channels == 1 ? "PGM" : "PPM";
    unsigned char plain = channels == 1 ? '2' : '3', binary = channels == 1 ? '5' : '6';
    if (size < 3 || bytes[0] != 'P' || (bytes[1] != plain && bytes[1] != binary) ||
        !(is_space(bytes[2]) || bytes[2] == '#'))
        refuse(program, "%s is no %s picture: it does not begin with P%c or P%c", path, format,
               plain, binary);

    struct rest rest = {bytes + 2, bytes + size};
    int64_t width = next_number(&rest, INT32_MAX);
    int64_t height = next_number(&rest, INT32_MAX);
    int64_t maximum = next_number(&rest, 65535);
    /* A plain sample has a digit, and a space before it, at least. */
    int64_t bytes_each = bytes[1] == plain || maximum > 255 ? 2 : 1;
    struct picture picture = {.samples = NULL};
    const char *reason = NULL;
    if (width < 1 || height < 1)
        reason = "its width and height are not two numbers from 1 on";
    else if (width > SAMPLES_AT_MOST / channels / height)
        reason = "it is too large for this program";
    else if (maximum < 1)
        reason = "its maximum is no number from 1 to 65535";
    else if (rest.at == rest.end || !is_space(*rest.at))
        reason = "no space follows its maximum";
    else if (rest.end - (rest.at + (bytes[1] == binary)) < width * height * channels * bytes_each)
        reason = "it ends before its last sample";
    if (!reason) {
        rest.at++;
        picture = new_picture(width, height, channels, (int32_t)maximum);
        reason = read_samples(&rest, bytes[1] == plain, &picture);
    }
    if (reason) refuse(program, "%s is no %s picture: %s", path, format, reason);
    free(bytes);
    return picture;
}

void write_picture(const char *program, const char *path, const struct picture *picture) {
    FILE *file = fopen(path, "wb");
    if (!file) refuse(program, "%s cannot be opened: %s", path, strerror(errno));
    int64_t n = picture->width * picture->height * picture->channels;
    fprintf(file, "P%c\n%lld %lld\n%d\n", picture->channels == 1 ? '5' : '6',
            (long long)picture->width, (long long)picture->height, (int)picture->maximum);
    for (int64_t i = 0; i < n; i++) {
        if (picture->maximum > 255) putc(picture->samples[i] >> 8, file);
        putc(picture->samples[i] & 255, file);
    }
    bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed)
        refuse(program, "%s cannot be written: %s", path, strerror(errno));
}
