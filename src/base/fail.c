// SPDX-License-Identifier: Apache-2.0
// Formats detail lines and hands them to the public mxp_set_last_error, which owns the thread's
// line. Leaves errno as it was, so that a caller may fail first and look at errno later.
#include "base/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

// Most lines fit the first size; longer ones (a list of all configuration keys) are formatted again
// into memory of their own, or cut if there is none.
enum { LINE_BYTES = 1024, WORD_MAX = 63 };

static int fail_long(int error, size_t length, const char *format, va_list arguments,
                     const char *cut_line)
{
    char *line = mxp__alloc(length + 1);
    if (line == NULL) {
        return mxp_set_last_error(error, cut_line);
    }
    vsnprintf(line, length + 1, format, arguments);
    mxp_set_last_error(error, line);
    mxp__free(line, length + 1);
    return error;
}

int mxp__fail(int error, const char *format, ...)
{
    int saved_errno = errno;
    char line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0) {
        mxp_set_last_error(error, mxp_strerror(error));
    } else if ((size_t)length < sizeof line) {
        mxp_set_last_error(error, line);
    } else {
        memcpy(line + sizeof line - 4, "...", 4);
        va_start(arguments, format);
        fail_long(error, (size_t)length, format, arguments, line);
        va_end(arguments);
    }
    errno = saved_errno;
    return error;
}

int mxp__fail_memory(const char *what)
{
    return mxp__fail(MXP_ENOMEM, "out of memory for %s: give the process more, or record less",
                     what);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
static size_t edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][WORD_MAX + 1];
    for (size_t j = 0; j <= b_length; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t differ = lower(a[i - 1]) != lower(b[j - 1]);
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + differ);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1])) {
                row[j] = least(row[j], above2[j - 2] + 1);
            }
        }
    }
    return rows[a_length % 3][b_length];
}

const char *mxp__closest(const char *word, const char *const *words)
{
    size_t length = strnlen(word, WORD_MAX + 1);
    const char *closest = NULL;
    size_t closest_distance = SIZE_MAX;
    for (; length <= WORD_MAX && *words != NULL; words++) {
        size_t other_length = strnlen(*words, WORD_MAX + 1);
        if (other_length > WORD_MAX) {
            continue;
        }
        size_t distance = edit_distance(word, length, *words, other_length);
        size_t longer = length > other_length ? length : other_length;
        if (distance <= longer / 3 && distance < closest_distance) {
            closest = *words;
            closest_distance = distance;
        }
    }
    return closest;
}
