// SPDX-License-Identifier: Apache-2.0
// Values are handled a word at a time, without a branch for each, so that the compiler may use
// vectors; the result is the same with every width of them.
#include "runtime/kvstore/two_bit.h"

enum { WORD = MXN_TWO_BIT_PER_WORD, PER_BYTE = 4 };

// ---- encoding ----------------------------------------------------------------------------------
// What each of 16 values is on the wire; the residuals keep the rest. Masks in the place of
// branches: no processor guesses which of three a value is.
static void choose(const float *restrict gradient, float *restrict residual, float threshold,
                   uint32_t *restrict codes)
{
    const uint32_t bits = mxn__two_bit_bits(threshold);
    for (int i = 0; i < WORD; i++) {
        const float value = residual[i] + gradient[i];
        const uint32_t up = 0u - (uint32_t)(value >= threshold);
        const uint32_t down = 0u - (uint32_t)(value <= -threshold);
        const uint32_t sent = (bits & (up | down)) | (down & 0x80000000u);
        residual[i] = value - mxn__two_bit_threshold(sent);
        codes[i] = (up & 3u) | (down & 2u);
    }
}

static void pack(const uint32_t *codes, unsigned char *bytes)
{
    for (int i = 0; i < WORD / PER_BYTE; i++) {
        const uint32_t *four = &codes[i * PER_BYTE];
        bytes[i] = (unsigned char)(four[0] << 6 | four[1] << 4 | four[2] << 2 | four[3]);
    }
}

void mxn__two_bit_encode(const float *gradient, float *residual, uint64_t count, float threshold,
                         void *words)
{
    unsigned char *to = words;
    uint32_t codes[WORD];
    uint64_t at = 0;
    for (; at + WORD <= count; at += WORD, to += MXN_TWO_BIT_WORD_BYTES) {
        choose(gradient + at, residual + at, threshold, codes);
        pack(codes, to);
    }
    if (at < count) {
        float last[WORD] = {0}, left[WORD] = {0};
        memcpy(last, gradient + at, (count - at) * sizeof *last);
        memcpy(left, residual + at, (count - at) * sizeof *left);
        choose(last, left, threshold, codes);
        memcpy(residual + at, left, (count - at) * sizeof *left);
        pack(codes, to);
    }
}

// ---- expanding ---------------------------------------------------------------------------------
// By the sign in the lower bit, and nothing without the upper one.
static inline float value_of(uint32_t code, uint32_t threshold_bits)
{
    const uint32_t sign = (~code & 1u) << 31, is_there = 0u - (code >> 1 & 1u);
    return mxn__two_bit_threshold((threshold_bits | sign) & is_there);
}

static void expand_word(const unsigned char *bytes, uint32_t threshold_bits, float *values)
{
    uint32_t codes[WORD];
    for (int i = 0; i < WORD; i++) {
        codes[i] = (uint32_t)bytes[i / PER_BYTE] >> (6 - 2 * (i % PER_BYTE));
    }
    for (int i = 0; i < WORD; i++) {
        values[i] = value_of(codes[i], threshold_bits);
    }
}

void mxn__two_bit_expand(const void *words, uint64_t count, float threshold, float *values)
{
    const unsigned char *from = words;
    const uint32_t bits = mxn__two_bit_bits(threshold);
    uint64_t at = 0;
    for (; at + WORD <= count; at += WORD, from += MXN_TWO_BIT_WORD_BYTES) {
        expand_word(from, bits, values + at);
    }
    if (at < count) {
        float last[WORD];
        expand_word(from, bits, last);
        memcpy(values + at, last, (count - at) * sizeof *last);
    }
}

void mxn__two_bit_add(const void *words, uint64_t count, float threshold, float *sum)
{
    const unsigned char *from = words;
    const uint32_t bits = mxn__two_bit_bits(threshold);
    float values[WORD];
    for (uint64_t at = 0; at < count; at += WORD, from += MXN_TWO_BIT_WORD_BYTES) {
        const uint64_t left = count - at < WORD ? count - at : WORD;
        expand_word(from, bits, values);
        for (uint64_t i = 0; i < left; i++) {
            sum[at + i] += values[i];
        }
    }
}
