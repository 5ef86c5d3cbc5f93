// SPDX-License-Identifier: Apache-2.0
// Texts of marks as names, whatever programs hand in, and how texts are found again.
#ifndef MXP_COLLECT_NAMES_H
#define MXP_COLLECT_NAMES_H

#include <mxprof/gate.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MXP__COLLECT_TEXT_MAX = 4096, MXP__COLLECT_CUT_BYTES = MXP__COLLECT_TEXT_MAX + 1 };

// Of a text: "(null)" for null, "(empty)" for one without a byte; a longer one is cut to
// MXP__COLLECT_TEXT_MAX bytes, of which the last are "…", and counted (mxp_lose_foreign).
mxp_name mxp__collect_name(mxp_name category, const char *text, int style);

// The same text where it is no longer than that, else the cut one, in `cut`. *length: its bytes.
const char *mxp__collect_cut(const char *text, char cut[MXP__COLLECT_CUT_BYTES], size_t *length);

// A hash of some bytes, eight at a time.
static inline uint64_t mxp__collect_hash(const char *text, size_t length)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = length * factor, word;
    for (; length >= sizeof word; length -= sizeof word, text += sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 29;
    }
    word = 0;
    for (; length != 0; length--) {
        word = word << 8 | (unsigned char)text[length - 1];
    }
    hash = (hash ^ word) * factor;
    return hash ^ hash >> 32;
}

#endif
