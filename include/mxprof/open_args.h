// SPDX-License-Identifier: Apache-2.0
// What a thread has told of its open spans (mxp_begin_args, mxp_open_args): in memory a part of its
// page, in a mapped file at byte 656 of its RECORDER section, if that has the flag
// MXP_SECTION_HAS_OPEN_ARGS.
#ifndef MXPROF_OPEN_ARGS_H
#define MXPROF_OPEN_ARGS_H

#include <stdint.h>

#include <mxprof/format.h>

#define MXP_OPEN_WORDS 192u

// Entries fill `words` from the first on: the begin of the span; words of the entry with these two
// (8) | arguments (8) | seal (48); the arguments as in a SPAN_LONG, where texts begin counted in
// bytes from the entry's begin; their texts. An entry counts nothing if its begin is none of an
// open span's, or if its seal is another, because it was just being written.
typedef struct mxp_open_arguments {
    uint64_t reserved[2];  // 0
    uint64_t used_words;
    uint64_t words[MXP_OPEN_WORDS];
} mxp_open_arguments;

enum { MXP_OPEN_HEAD_WORDS = 2 };

static inline uint64_t mxp_open_entry_words(const uint64_t *entry)
{
    return entry[1] & 0xff;
}

static inline uint32_t mxp_open_entry_args(const uint64_t *entry)
{
    return (uint32_t)(entry[1] >> 8 & 0xff);
}

static inline uint64_t mxp_open_entry_head(uint64_t words, uint64_t args, uint64_t seal)
{
    return words | args << 8 | seal << 16;
}

// Of an entry of `words` words with all but its second one.
static inline uint64_t mxp_open_entry_seal(const uint64_t *entry, uint64_t words)
{
    uint64_t sum = entry[0] + words;
    for (uint64_t i = MXP_OPEN_HEAD_WORDS; i < words; i++) {
        sum = (sum << 7 | sum >> 57) + entry[i];
    }
    return (sum ^ sum >> 48) & MXP_STAMP_MASK;
}

#endif
