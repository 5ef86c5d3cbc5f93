// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/record/span_args.h"

#include <assert.h>
#include <mxprof/open_args.h>
#include <stdbool.h>
#include <string.h>

enum { ARG_WORDS = 2, WORD_BYTES = sizeof(uint64_t) };

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

// How many bytes of a text are copied to `room` words: to an entry of an open span one more than a
// text may have, so that the cut for the record comes out at the same place.
static uint32_t copied_bytes(const mxp_arg *arg, uint32_t kept, uint32_t room, uint32_t head_words)
{
    bool is_cut = kept < arg->type >> 8 && arg->value.text != NULL;
    if (!is_cut || head_words != MXP_OPEN_HEAD_WORDS) {
        return kept;
    }
    uint32_t most = room * WORD_BYTES;
    return most < MXP_ARG_TEXT_MAX_BYTES + 1 ? most : MXP_ARG_TEXT_MAX_BYTES + 1;
}

static __attribute__((noinline)) uint32_t text_words(const mxp_arg *arg, uint32_t words,
                                                     uint32_t head_words)
{
    uint32_t room = MXP__RECORD_WORDS_MOST - words;
    return words_of(copied_bytes(arg, kept_bytes(arg, room), room, head_words));
}

uint32_t mxp__args_measure(uint32_t head_words, const mxp_arg *args, uint32_t count)
{
    assert(count <= MXP_SPAN_ARGS_MAX);
    uint32_t words = head_words + ARG_WORDS * count;
    for (uint32_t i = 0; i < count; i++) {
        if (is_text(&args[i])) {
            words += text_words(&args[i], words, head_words);
        }
    }
    assert(words <= MXP__RECORD_WORDS_MOST);
    return words;
}

// At word `at`; gives how many it takes. Not inlined, so that numbers alone need few registers.
static __attribute__((noinline)) uint32_t write_text(uint64_t *words, uint64_t *arg_words,
                                                     const mxp_arg *arg, uint32_t at,
                                                     uint32_t head_words)
{
    uint32_t room = MXP__RECORD_WORDS_MOST - at;
    uint32_t kept = kept_bytes(arg, room);
    uint32_t copied = copied_bytes(arg, kept, room, head_words);
    uint32_t taken = words_of(copied);
    if (taken != 0) {
        words[at + taken - 1] = 0;  // behind the last bytes
        memcpy(words + at, arg->value.text, copied);
    }
    arg_words[0] |= (uint64_t)kept << 40;
    arg_words[1] = at * WORD_BYTES | (uint64_t)(arg->type >> 8) << 32;
    return taken;
}

uint32_t mxp__args_write(uint64_t *words, uint32_t head_words, const mxp_arg *args, uint32_t count)
{
    assert(count <= MXP_SPAN_ARGS_MAX);
    uint64_t *arg_words = words + head_words;
    uint32_t at = head_words + ARG_WORDS * count;
    for (uint32_t i = 0; i < count; i++, arg_words += ARG_WORDS) {
        arg_words[0] = args[i].key | (uint64_t)(args[i].type & 0xff) << 32;
        if (is_text(&args[i])) {
            at += write_text(words, arg_words, &args[i], at, head_words);
        } else {
            arg_words[1] = args[i].value.u64;
        }
    }
    return at;
}
