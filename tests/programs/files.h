/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files for the programs of this folder: whole files, and pictures in the formats PGM (grey) and
 * PPM (colour) of Netpbm, plain (P2, P3) or binary (P5, P6). What cannot be read or written is
 * refused as wrong use is, with a sentence and exit status 2.
 */
#ifndef FILES_H
#define FILES_H

#include <stdbool.h>
#include <stdint.h>

/* Whether an argument is the name of a file: whether it begins like no number. */
bool is_file_name(const char *argument);

/* The bytes of a file, to be freed by the caller. */
unsigned char *read_file(const char *program, const char *path, int64_t *size);

struct picture {
    int64_t width, height;
    int64_t channels; /* 1: grey; 3: red, green, blue */
    int32_t maximum;  /* what full brightness is, 1 to 65535 */
    int32_t *samples; /* row by row from the top, the channels of one point side by side; free() */
};

/* A picture has at most so many samples, so that positions among them are ints. */
enum { SAMPLES_AT_MOST = 1000000000 };

/* A black picture. */
struct picture new_picture(int64_t width, int64_t height, int64_t channels, int32_t maximum);

/* What follows the first picture in a file is left alone, as Netpbm has it. */
struct picture read_picture(const char *program, const char *path, int64_t channels);

/* Writes grey as P5, colour as P6. */
void write_picture(const char *program, const char *path, const struct picture *picture);

#endif
