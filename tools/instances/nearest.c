// SPDX-License-Identifier: Apache-2.0
#include "instances/nearest.h"

#include <string.h>

#include "base/text.h"

enum { LETTERS = sizeof((mxp_nearest *)0)->texts[0] - 1 };

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

// Letters to insert, remove or replace, of the first LETTERS of both. What a word begins with or
// contains is nearer than what has as many letters by chance.
static uint32_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    uint32_t row[LETTERS + 1];
    for (size_t j = 0; j <= b_length; j++) {
        row[j] = (uint32_t)j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        uint32_t diagonal = row[0];
        row[0] = (uint32_t)i;
        for (size_t j = 1; j <= b_length; j++) {
            uint32_t change = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
            diagonal = row[j];
            row[j] = least(change, least(row[j], row[j - 1]) + 1);
        }
    }
    bool within = a_length > 2 && b_length >= a_length && memmem(b, b_length, a, a_length) != NULL;
    return within ? row[b_length] / 4 : row[b_length];
}

void mxp__nearest_offer(mxp_nearest *nearest, const char *text, size_t length)
{
    length = length < LETTERS ? length : LETTERS;
    size_t word = strlen(nearest->word);
    word = word < LETTERS ? word : LETTERS;
    uint32_t far = distance(nearest->word, word, text, length);
    for (size_t i = 0; i < nearest->count; i++) {
        if (strlen(nearest->texts[i]) == length && memcmp(nearest->texts[i], text, length) == 0) {
            return;
        }
    }
    size_t at = nearest->count < MXP__NEAREST_MOST ? nearest->count++ : MXP__NEAREST_MOST;
    if (length == 0 || (at == MXP__NEAREST_MOST && nearest->distances[at - 1] <= far)) {
        nearest->count -= length == 0 && at < MXP__NEAREST_MOST;
        return;
    }
    at = at < MXP__NEAREST_MOST ? at : MXP__NEAREST_MOST - 1;
    for (; at > 0 && nearest->distances[at - 1] > far; at--) {
        nearest->distances[at] = nearest->distances[at - 1];
        memcpy(nearest->texts[at], nearest->texts[at - 1], sizeof nearest->texts[at]);
    }
    nearest->distances[at] = far;
    memcpy(nearest->texts[at], text, length);
    nearest->texts[at][length] = '\0';
}

void mxp__nearest_put(const mxp_nearest *nearest, mxp_strbuf *out)
{
    for (size_t i = 0; i < nearest->count; i++) {
        mxp__strbuf_puts(out, i > 0 ? ", " : "");
        mxp__utf8_string(out, nearest->texts[i], strlen(nearest->texts[i]));
    }
}
