// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/file/open_span.h"

#include <stdbool.h>
#include <string.h>

#include "base/atomic.h"

enum { HEAD_WORDS = 6, ARG_WORDS = 2, WORDS_MOST = 2 * 255 };

// What the record has of arguments, and where the next ones go.
typedef struct contents {
    uint32_t args, text_words;
} contents;

static bool is_text(const uint64_t *arg)
{
    return (arg[0] >> 32 & 0xff) == MXP_ARG_TEXT;
}

static uint64_t text_words(const uint64_t *arg)
{
    return is_text(arg) ? ((arg[0] >> 40) + sizeof *arg - 1) / sizeof *arg : 0;
}

// Whether the entry is whole, of the open span that began then, and its texts lie within it.
static bool is_entry(const uint64_t *entry, uint64_t begin)
{
    uint64_t words = mxp_open_entry_words(entry);
    uint64_t texts = MXP_OPEN_HEAD_WORDS + ARG_WORDS * (uint64_t)mxp_open_entry_args(entry);
    bool whole =
        entry[0] == begin && texts <= words && entry[1] >> 16 == mxp_open_entry_seal(entry, words);
    for (uint64_t i = MXP_OPEN_HEAD_WORDS; whole && i < texts; i += ARG_WORDS) {
        uint64_t at = entry[i + 1] & 0xffffffff;
        whole = !is_text(entry + i) || (at % sizeof *entry == 0 && at / sizeof *entry >= texts &&
                                        at / sizeof *entry + text_words(entry + i) <= words);
    }
    return whole;
}

// The next entry of the span at or after word *at, or null.
static const uint64_t *next_entry(const mxp_open_arguments *args, uint64_t begin, uint64_t *at)
{
    while (args != NULL && args->used_words <= MXP_OPEN_WORDS &&
           *at + MXP_OPEN_HEAD_WORDS <= args->used_words) {
        const uint64_t *entry = args->words + *at;
        uint64_t words = mxp_open_entry_words(entry);
        if (words < MXP_OPEN_HEAD_WORDS || words > args->used_words - *at) {
            return NULL;
        }
        *at += words;
        if (is_entry(entry, begin)) {
            return entry;
        }
    }
    return NULL;
}

// An entry has fewer words than a record may have, and so have all that there is room for.
_Static_assert(HEAD_WORDS + MXP_OPEN_WORDS <= WORDS_MOST, "all arguments fit into one record");

static contents measure(const mxp_open_span *span, const mxp_open_arguments *args)
{
    contents all = {0, 0};
    uint64_t at = 0;
    for (const uint64_t *entry;
         (entry = next_entry(args, mxp_atomic_own(&span->begin), &at)) != NULL;) {
        for (uint32_t i = 0; i < mxp_open_entry_args(entry); i++) {
            all.args++;
            all.text_words +=
                (uint32_t)text_words(entry + MXP_OPEN_HEAD_WORDS + ARG_WORDS * (uint64_t)i);
        }
    }
    return all;
}

uint32_t mxp__open_span_words(const mxp_open_span *span, const mxp_open_arguments *args)
{
    contents all = measure(span, args);
    return (HEAD_WORDS + ARG_WORDS * all.args + all.text_words + 1) / 2 * 2;
}

// One argument of the entry, its text at word `text` of the record; gives the words of that.
static uint32_t copy_arg(uint64_t *words, uint64_t *to, const uint64_t *entry, uint32_t i,
                         uint32_t text)
{
    const uint64_t *from = entry + MXP_OPEN_HEAD_WORDS + ARG_WORDS * (uint64_t)i;
    to[0] = from[0];
    to[1] = from[1];
    if (!is_text(from)) {
        return 0;
    }
    uint32_t taken = (uint32_t)text_words(from);
    memcpy(words + text, (const char *)entry + (from[1] & 0xffffffff), taken * sizeof *words);
    to[1] = text * sizeof *words | from[1] >> 32 << 32;
    return taken;
}

void mxp__open_span_write(uint64_t *words, const mxp_open_span *span,
                          const mxp_open_arguments *args, uint64_t last)
{
    uint64_t begin = mxp_atomic_own(&span->begin);
    uint64_t end = last > begin ? last : begin;
    contents all = measure(span, args);
    uint32_t text = HEAD_WORDS + ARG_WORDS * all.args;
    uint32_t units = (text + all.text_words + 1) / 2;
    words[2 * units - 1] = 0;
    words[0] = MXP_KIND_SPAN_LONG | (uint64_t)units << 8 | begin << 16;
    words[1] = mxp_atomic_own(&span->name) | (uint64_t)MXP_SPAN_OPEN_AT_CRASH << 32 |
               (uint64_t)all.args << 48;
    words[2] = end - begin;
    words[3] = begin;
    words[4] = words[5] = 0;
    uint64_t *to = words + HEAD_WORDS, at = 0;
    for (const uint64_t *entry; (entry = next_entry(args, begin, &at)) != NULL;) {
        for (uint32_t i = 0; i < mxp_open_entry_args(entry); i++, to += ARG_WORDS) {
            text += copy_arg(words, to, entry, i, text);
        }
    }
}
