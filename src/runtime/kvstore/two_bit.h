// SPDX-License-Identifier: Apache-2.0
// 2-bit compression of gradients, as MXNet 1.9.1 does it, bit for bit: a value is one of threshold,
// 0 and -threshold, 16 of them in a word of 4 bytes, and what was not sent stays in a residual that
// is added to the next gradient. Private to kvstore/.
//
// The first value is in the upper two bits of the first byte: 3 is the threshold, 2 its negative,
// 0 and 1 are 0. What is left of the last word is 0.
#ifndef MXN_KVSTORE_TWO_BIT_H
#define MXN_KVSTORE_TWO_BIT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MXN_TWO_BIT_PER_WORD = 16, MXN_TWO_BIT_WORD_BYTES = 4 };

// Bytes of the words of so many values.
static inline uint64_t mxn__two_bit_bytes(uint64_t count)
{
    return (count / MXN_TWO_BIT_PER_WORD + (count % MXN_TWO_BIT_PER_WORD != 0)) *
           MXN_TWO_BIT_WORD_BYTES;
}

// Finite and above 0: also false for NaN.
static inline bool mxn__two_bit_is_threshold(float threshold)
{
    return threshold > 0 && threshold <= 3.402823466e38f;
}

// A threshold on the wire.
static inline uint32_t mxn__two_bit_bits(float threshold)
{
    uint32_t bits;
    memcpy(&bits, &threshold, sizeof bits);
    return bits;
}
static inline float mxn__two_bit_threshold(uint32_t bits)
{
    float threshold;
    memcpy(&threshold, &bits, sizeof threshold);
    return threshold;
}

// Adds the gradient to the residual, writes what is to be sent to `words`, of
// mxn__two_bit_bytes(count), and leaves the rest in the residual. The ranges do not overlap.
void mxn__two_bit_encode(const float *gradient, float *residual, uint64_t count, float threshold,
                         void *words);
// The values of words; of any alignment.
void mxn__two_bit_expand(const void *words, uint64_t count, float threshold, float *values);
// sum += the values of words.
void mxn__two_bit_add(const void *words, uint64_t count, float threshold, float *sum);

#endif
