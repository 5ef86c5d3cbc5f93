// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/record/span_args.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

enum { HEAD_WORDS = 6, ARG_WORDS = 2, UNITS_MOST = 255, WORD_BYTES = sizeof(uint64_t) };

static bool is_text(const mxp_arg *arg)
{
    return (arg->type & 0xff) == MXP_ARG_TEXT;
}

static uint32_t words_of(uint32_t length_bytes)
{
    return (length_bytes + WORD_BYTES - 1) / WORD_BYTES;
}

// How many bytes of a text are kept in `room` words; no character of it is cut in two.
static uint32_t kept_bytes(const mxp_arg *arg, uint32_t room)
{
    uint32_t length = arg->value.text != NULL ? arg->type >> 8 : 0;
    uint32_t most = room * WORD_BYTES;
    most = most < MXP_ARG_TEXT_MAX_BYTES ? most : MXP_ARG_TEXT_MAX_BYTES;
    if (length <= most) {
        return length;
    }
    uint32_t kept = most;
    for (int i = 0; i < 3 && kept > 0 && (arg->value.text[kept] & 0xc0) == 0x80; i++) {
        kept--;
    }
    return kept;
}

void mxp__args_measure(mxp_args_size *size, const mxp_arg *args, uint32_t count)
{
    size->count = count < MXP_SPAN_ARGS_MAX ? count : MXP_SPAN_ARGS_MAX;
    size->text_words = 0;
    const uint32_t before = HEAD_WORDS + ARG_WORDS * size->count;
    const uint32_t room = 2 * UNITS_MOST - before;
    for (uint32_t i = 0; i < size->count; i++) {
        if (is_text(&args[i])) {
            size->text_words += words_of(kept_bytes(&args[i], room - size->text_words));
        }
    }
    size->units = (before + size->text_words + 1) / 2;
    assert(size->units <= UNITS_MOST);
}

// At word `at` of the record, in at most `room` words; gives how many it takes.
static uint32_t write_text(uint64_t *words, uint64_t *arg_words, const mxp_arg *arg, uint32_t at,
                           uint32_t room)
{
    uint32_t kept = kept_bytes(arg, room);
    uint32_t taken = words_of(kept);
    if (taken != 0) {
        words[at + taken - 1] = 0;  // behind the last bytes
        memcpy(words + at, arg->value.text, kept);
    }
    arg_words[0] |= (uint64_t)kept << 40;
    arg_words[1] = at * WORD_BYTES | (uint64_t)(arg->type >> 8) << 32;
    return taken;
}

void mxp__args_write(uint64_t *words, const mxp_arg *args, const mxp_args_size *size)
{
    uint64_t *arg_words = words + HEAD_WORDS;
    uint32_t at = HEAD_WORDS + ARG_WORDS * size->count;
    const uint32_t end = 2 * size->units;
    words[end - 1] = 0;  // where a text has an odd number of words
    for (uint32_t i = 0; i < size->count; i++, arg_words += ARG_WORDS) {
        arg_words[0] = args[i].key | (uint64_t)(args[i].type & 0xff) << 32;
        if (is_text(&args[i])) {
            at += write_text(words, arg_words, &args[i], at, 2 * UNITS_MOST - at);
        } else {
            arg_words[1] = args[i].value.u64;
        }
    }
    assert(at <= end);
}
