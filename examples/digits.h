// SPDX-License-Identifier: Apache-2.0
// Drawn digits in MNIST's files, for programs that have no MNIST: a font of 5 x 7 points, three
// pixels a point, at a random place, with noise.
#ifndef EXAMPLES_DIGITS_H
#define EXAMPLES_DIGITS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { DIGIT_SIDE = 28, DIGIT_PIXELS = DIGIT_SIDE * DIGIT_SIDE };

static uint32_t digits_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static void digits_draw(int digit, uint32_t *seed, unsigned char *image)
{
    static const char *const font[10] = {
        "01110100011001110101110011000101110", "00100011000010000100001000010001110",
        "01110100010000100010001000100011111", "11111000100010000010000011000101110",
        "00010001100101010010111110001000010", "11111100001111000001000011000101110",
        "00110010001000011110100011000101110", "11111000010001000100010000100001000",
        "01110100011000101110100011000101110", "01110100011000101111000010001001100"};
    const int left = 3 + (int)(digits_random(seed) % 8), top = 2 + (int)(digits_random(seed) % 4);
    for (int i = 0; i < DIGIT_PIXELS; i++) {
        image[i] = (unsigned char)(digits_random(seed) % 64);
    }
    for (int i = 0; i < 35 * 9; i++) {
        const int point = i / 9, y = top + point / 5 * 3 + i % 9 / 3,
                  x = left + point % 5 * 3 + i % 3;
        if (font[digit][point] == '1') {
            image[y * DIGIT_SIDE + x] = (unsigned char)(160 + digits_random(seed) % 96);
        }
    }
}

static void digits_put(FILE *file, uint32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        fputc((int)(number >> shift & 255), file);
    }
}

// Writes `count` of them to two files. 0, or -1 if that fails.
static int digits_write(const char *images, const char *labels, uint32_t count, uint32_t seed)
{
    unsigned char image[DIGIT_PIXELS];
    FILE *pixels = fopen(images, "wb"), *names = fopen(labels, "wb");
    if (pixels == NULL || names == NULL) {
        return -1;
    }
    digits_put(pixels, 2051);
    digits_put(pixels, count);
    digits_put(pixels, DIGIT_SIDE);
    digits_put(pixels, DIGIT_SIDE);
    digits_put(names, 2049);
    digits_put(names, count);
    for (uint32_t i = 0; i < count; i++) {
        const int digit = (int)(digits_random(&seed) % 10);
        digits_draw(digit, &seed, image);
        fwrite(image, 1, sizeof image, pixels);
        fputc(digit, names);
    }
    const int failed = ferror(pixels) | ferror(names);
    return fclose(pixels) | fclose(names) | failed ? -1 : 0;
}

#endif
