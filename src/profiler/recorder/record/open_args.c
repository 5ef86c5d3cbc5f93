// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/record/open_args.h"

#include "base/atomic.h"
#include "profiler/recorder/record/span_args.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/rules.h"

void mxp__open_args_leave_out(void)
{
    mxp_atomic_add(&mxp__rec.arguments_left_out, 1);
}

// The innermost are looked at first: it is nearly always one of them.
static bool is_open(const mxp_recorder *self, uint64_t token)
{
    uint32_t depth = mxp_atomic_own(&self->depth);
    uint32_t at = depth < MXP_OPEN_MAX ? depth : MXP_OPEN_MAX;
    if (at > 0 && mxp_atomic_own(&self->open[at - 1].begin) == token) {
        return true;
    }
    while (at > 0 && mxp_atomic_own(&self->open[at - 1].begin) != token) {
        at--;
    }
    return at > 0;
}

// Where the entries of open spans end. Those behind it are of spans that ended without taking them.
static uint64_t end_of_open(const mxp_thread *self)
{
    const mxp_open_arguments *open = &self->open_args;
    uint64_t end = 0;
    for (uint64_t at = 0; at < open->used_words;) {
        const uint64_t *entry = open->words + at;
        assert(mxp_open_entry_words(entry) >= MXP_OPEN_HEAD_WORDS);
        at += mxp_open_entry_words(entry);
        end = is_open(&self->hot, entry[0]) ? at : end;
    }
    return end;
}

void mxp__open_args_put(mxp_thread *self, uint64_t token, const mxp_arg *args, uint32_t count)
{
    assert(mxp__is_in_record(self));
    mxp_open_arguments *open = &self->open_args;
    uint64_t used = open->used_words == 0 ? 0 : end_of_open(self);
    if (count > MXP_SPAN_ARGS_MAX || !is_open(&self->hot, token) ||
        mxp__args_measure(MXP_OPEN_HEAD_WORDS, args, count) > MXP_OPEN_WORDS - used) {
        mxp_word_store_release(&open->used_words, used);
        mxp__open_args_leave_out();
        return;
    }
    // Nothing behind `used` counts while it is being written.
    mxp_word_store_release(&open->used_words, used);
    mxp_compiler_barrier();
    uint64_t *entry = open->words + used;
    entry[0] = token;
    uint32_t words = mxp__args_write(entry, MXP_OPEN_HEAD_WORDS, args, count);
    entry[1] = mxp_open_entry_head(words, count, mxp_open_entry_seal(entry, words));
    mxp_word_store_release(&open->used_words, used + words);
}

static mxp_arg arg_of(const uint64_t *entry, uint32_t i)
{
    const uint64_t *words = entry + MXP_OPEN_HEAD_WORDS + 2 * (uint64_t)i;
    mxp_arg arg = {.key = (uint32_t)words[0], .type = (uint32_t)(words[0] >> 32) & 0xff};
    arg.value.u64 = words[1];
    if (arg.type == MXP_ARG_TEXT) {
        arg.type |= (uint32_t)(words[1] >> 32) << 8;
        arg.value.text = (const char *)entry + (uint32_t)words[1];
    }
    return arg;
}

uint32_t mxp__open_args_take(const mxp_thread *self, uint64_t token, mxp_arg *args, uint32_t most)
{
    assert(mxp__is_in_record(self));
    const mxp_open_arguments *open = &self->open_args;
    uint32_t count = 0;
    for (uint64_t at = 0; at < open->used_words;) {
        const uint64_t *entry = open->words + at;
        at += mxp_open_entry_words(entry);
        for (uint32_t i = 0; entry[0] == token && i < mxp_open_entry_args(entry); i++) {
            if (count < most) {
                args[count++] = arg_of(entry, i);
            }
        }
    }
    return count;
}

const uint64_t *mxp__open_args_sole(const mxp_thread *self, uint64_t token)
{
    const mxp_open_arguments *open = &self->open_args;
    const uint64_t *sole = NULL;
    uint32_t entries = 0;
    for (uint64_t at = 0; at < open->used_words;) {
        const uint64_t *entry = open->words + at;
        if (entry[0] == token) {
            sole = entry;
            entries++;
        }
        at += mxp_open_entry_words(entry);
    }
    return entries == 1 ? sole : NULL;
}

// Texts stand as much further behind as the record's head is longer than the entry's.
uint32_t mxp__open_args_copy(uint64_t *words, const uint64_t *entry)
{
    const uint64_t longer = MXP__RECORD_HEAD_WORDS - MXP_OPEN_HEAD_WORDS;
    uint32_t args = mxp_open_entry_args(entry), used = (uint32_t)mxp_open_entry_words(entry);
    for (uint32_t i = MXP_OPEN_HEAD_WORDS; i < used; i++) {
        words[i + longer] = entry[i];
    }
    used += (uint32_t)longer;
    for (uint32_t i = MXP__RECORD_HEAD_WORDS; i < MXP__RECORD_HEAD_WORDS + 2 * args; i += 2) {
        bool is_text = (words[i] >> 32 & 0xff) == MXP_ARG_TEXT;
        words[i + 1] += is_text ? longer * sizeof *words : 0;
    }
    if (used % 2 != 0) {
        words[used++] = 0;
    }
    return used;
}

void mxp__open_args_drop(mxp_thread *self, const uint64_t *entry)
{
    mxp_open_arguments *open = &self->open_args;
    uint64_t at = (uint64_t)(entry - open->words);
    if (at + mxp_open_entry_words(entry) == open->used_words) {
        mxp_word_store_release(&open->used_words, at);
    }
}
