// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/thread/standing.h"

#include <stdlib.h>
#include <string.h>
#include <mxprof/error.h>

#include "base/alloc.h"

// ---- the step ----------------------------------------------------------------------------------
static struct {
    uint32_t version;  // odd while the others change; all atomic
    mxp_standing_step now;  // ticks 0: none
} step;

void mxp__step_began(const mxp_standing_step *begun)
{
    uint32_t version = __atomic_load_n(&step.version, __ATOMIC_RELAXED);
    if (version % 2 != 0 ||
        !__atomic_compare_exchange_n(&step.version, &version, version + 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED)) {
        return;  // another thread is at it, or a handler has interrupted one
    }
    __atomic_store_n(&step.now.number, begun->number, __ATOMIC_RELEASE);
    __atomic_store_n(&step.now.ticks, begun->ticks, __ATOMIC_RELEASE);
    __atomic_store_n(&step.now.thread, begun->thread, __ATOMIC_RELEASE);
    // Pairs with mxp__step_standing: who sees this sees all three.
    __atomic_store_n(&step.version, version + 2, __ATOMIC_RELEASE);
}

bool mxp__step_standing(mxp_standing_step *now)
{
    uint32_t version = __atomic_load_n(&step.version, __ATOMIC_ACQUIRE);
    now->number = __atomic_load_n(&step.now.number, __ATOMIC_ACQUIRE);
    now->ticks = __atomic_load_n(&step.now.ticks, __ATOMIC_ACQUIRE);
    now->thread = __atomic_load_n(&step.now.thread, __ATOMIC_ACQUIRE);
    return now->ticks != 0 && version % 2 == 0 &&
           version == __atomic_load_n(&step.version, __ATOMIC_RELAXED);
}

// ---- counters ----------------------------------------------------------------------------------
// Under the pool lock, or while nobody records.
static mxp_standing standing;

static struct {
    mxp_chunk_header *chunk;  // null: no file, or none with a ring
    uint16_t count;
    uint16_t place[MXP__STANDING_MAX];  // by index of the value: its record + 1
} home;

static uint64_t *record_of(uint32_t i)
{
    return mxp__chunk_words(home.chunk) + (size_t)i * MXP__STANDING_WORDS;
}

bool mxp__standing_is_in_file(void)
{
    return home.count > 0;
}

void mxp__standing_since(uint64_t ticks)
{
    __atomic_store_n(&home.chunk->base_ticks, ticks, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < home.count; i++) {
        mxp__standing_stamp(record_of(i), ticks);
    }
}

// The payload is raised last: a record that is not whole does not count.
static void put_home(uint32_t i)
{
    if (home.place[i] == 0) {
        home.place[i] = ++home.count;
    }
    mxp__standing_write(record_of(home.place[i] - 1u), &standing.values[i], home.chunk->base_ticks);
    __atomic_store_n(&home.chunk->section.payload_bytes,
                     home.count * MXP__STANDING_WORDS * sizeof(uint64_t), __ATOMIC_RELEASE);
}

static void put(void *context, const mxp_standing_value *value)
{
    const bool *in_file = context;
    int i = mxp__standing_put(&standing, value);
    if (i >= 0 && *in_file && home.chunk != NULL) {
        put_home((uint32_t)i);
    }
}

void mxp__standing_fold(const mxp_chunk_header *chunk, const uint64_t *from, const uint64_t *to,
                        bool in_file)
{
    mxp__standing_each(chunk, from, to, put, &in_file);
}

static int compare(const void *a, const void *b)
{
    const mxp_standing_value *x = a, *y = b;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

static uint64_t begin_of(const mxp_block *blocks, size_t count)
{
    uint64_t begin = mxp_ticks();
    for (size_t i = 0; i < count; i++) {
        begin = blocks[i].base_ticks < begin ? blocks[i].base_ticks : begin;
    }
    return begin;
}

static int make_cut(const mxp_block *blocks, size_t count, mxp_standing_cut **made)
{
    *made = NULL;
    if (standing.count == 0) {
        return MXP_OK;
    }
    mxp_standing_cut *cut = mxp__alloc(sizeof *cut);
    if (cut == NULL) {
        return MXP_ENOMEM;
    }
    cut->values = standing;
    qsort(cut->values.values, cut->values.count, sizeof *cut->values.values, compare);
    uint64_t begin = begin_of(blocks, count);
    for (uint32_t i = 0; i < cut->values.count; i++) {
        const mxp_standing_value *value = &cut->values.values[i];
        uint64_t ticks = value->ticks > begin ? value->ticks : begin;
        mxp__standing_write(cut->words[i], value, ticks);
        cut->blocks[i] = (mxp_block){.words = cut->words[i],
                                     .end = cut->words[i] + MXP__STANDING_WORDS,
                                     .base_ticks = ticks,
                                     .thread = value->thread};
    }
    *made = cut;
    return MXP_OK;
}

int mxp__standing_prepend(mxp_block **blocks, size_t *count, size_t *capacity,
                          mxp_standing_cut **cut)
{
    int error = make_cut(*blocks, *count, cut);
    if (error != MXP_OK || *cut == NULL) {
        return error;
    }
    size_t more = (*cut)->values.count;
    error = mxp__grow(blocks, capacity, *count + more, sizeof **blocks);
    if (error == MXP_OK) {
        memmove(*blocks + more, *blocks, *count * sizeof **blocks);
        memcpy(*blocks, (*cut)->blocks, more * sizeof **blocks);
        *count += more;
    }
    return error;
}

void mxp__standing_home(mxp_chunk_header *chunk)
{
    memset(&home, 0, sizeof home);
    home.chunk = chunk;
    if (chunk != NULL) {
        chunk->sequence = MXP_SEQUENCE_STANDING;
        chunk->base_ticks = mxp_ticks();
    }
}

void mxp__standing_forget(void)
{
    memset(&standing, 0, sizeof standing);
    memset(&step, 0, sizeof step);
    if (home.chunk != NULL) {
        __atomic_store_n(&home.chunk->section.payload_bytes, 0, __ATOMIC_RELEASE);
        mxp__standing_home(home.chunk);
    }
}
