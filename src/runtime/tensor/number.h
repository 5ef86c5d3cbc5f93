// SPDX-License-Identifier: Apache-2.0
// One number as a program writes it, with all its digits: a double has 53 bits, a whole number of
// an array up to 64.
#ifndef MXN_TENSOR_NUMBER_H
#define MXN_TENSOR_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mxn_number {
    double real;  // rounded, if it is a whole one of more bits
    uint64_t bits;  // of a whole number, in two's complement
    int32_t dtype;  // MXN_FLOAT64; of a whole number MXN_INT64, or MXN_UINT64 if only that holds it
} mxn_number;

static inline mxn_number mxn_number_of_double(double value)
{
    return (mxn_number){.real = value, .dtype = 1};
}

static inline mxn_number mxn_number_of_whole(int64_t value)
{
    return (mxn_number){.real = (double)value, .bits = (uint64_t)value, .dtype = 6};
}

// The number that a text begins with; *end is after it, or the text itself if there is none. Whole
// is what is written without point and exponent and has 64 bits.
mxn_number mxn_number_read(const char *text, const char **end);

// Sets `count` elements, converted once. Of a whole number an integer type takes the low bits.
void mxn_number_fill(void *to, int dtype, const mxn_number *number, size_t count);

#endif
