// SPDX-License-Identifier: Apache-2.0
// Numbers with all their digits.
#include "runtime/tensor/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/tensor/dtype.h"

_Static_assert(MXN_FLOAT64 == 1 && MXN_INT64 == 6, "the types that the header names");

// Whether the whole text up to `end` is an integer of 64 bits.
static bool read_whole(const char *text, const char *end, mxn_number *number)
{
    char *stop;
    errno = 0;
    number->bits = (uint64_t)strtoll(text, &stop, 10);
    number->dtype = MXN_INT64;
    if (errno == ERANGE && memchr(text, '-', (size_t)(end - text)) == NULL) {
        errno = 0;
        number->bits = strtoull(text, &stop, 10);
        number->dtype = MXN_UINT64;
    }
    return stop == end && errno != ERANGE;
}

mxn_number mxn_number_read(const char *text, const char **end)
{
    char *stop;
    mxn_number number = {.real = strtod(text, &stop)};
    *end = stop;
    if (stop == text || !read_whole(text, stop, &number)) {
        number.bits = 0;
        number.dtype = MXN_FLOAT64;
    }
    return number;
}

void mxn_number_fill(void *to, int dtype, const mxn_number *number, size_t count)
{
    if (count == 0) {
        return;
    }
    if (number->dtype == MXN_FLOAT64 || mxn_dtype_is_float(dtype)) {
        mxn_fill(to, dtype, number->real, count);
        return;
    }
    size_t size = mxn_dtype_size(dtype);
    mxn_cast(to, dtype, &number->bits, number->dtype, 1);
    for (size_t done = 1; done < count; done *= 2) {  // what is there, doubled
        size_t more = done <= count - done ? done : count - done;
        memcpy((char *)to + done * size, to, more * size);
    }
}
