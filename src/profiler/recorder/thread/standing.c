// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/thread/standing.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "profiler/recorder/thread/rules.h"

// ---- the step ----------------------------------------------------------------------------------
static struct {
    mxp_atomic_u32 version;  // odd while the others change
    mxp_atomic_u64 number, ticks;  // ticks 0: none
    mxp_atomic_u32 thread;
} step;

void mxp__step_began(const mxp_standing_step *begun)
{
    uint32_t version = mxp_atomic_load(&step.version);
    if (version % 2 != 0 || !mxp_atomic_cas_acq_rel(&step.version, &version, version + 1)) {
        return;  // another thread is at it, or a handler has interrupted one
    }
    mxp_atomic_store_release(&step.number, begun->number);
    mxp_atomic_store_release(&step.ticks, begun->ticks);
    mxp_atomic_store_release(&step.thread, begun->thread);
    // Pairs with mxp__step_standing: a reader that sees this sees all three.
    mxp_atomic_store_release(&step.version, version + 2);
}

bool mxp__step_standing(mxp_standing_step *now)
{
    uint32_t version = mxp_atomic_load_acquire(&step.version);
    now->number = mxp_atomic_load_acquire(&step.number);
    now->ticks = mxp_atomic_load_acquire(&step.ticks);
    now->thread = mxp_atomic_load_acquire(&step.thread);
    return now->ticks != 0 && version % 2 == 0 && version == mxp_atomic_load(&step.version);
}

// ---- counters ----------------------------------------------------------------------------------
// Under the pool lock, or while nobody records.
static mxp_standing standing;

static struct {
    mxp_chunk_header *chunk;  // null: no file, or none with a ring
    uint16_t count;
    uint16_t place[MXP__STANDING_MAX];  // by index of the value: its record + 1
} mapped;

static uint64_t *record_of(uint32_t i)
{
    return mxp__chunk_words(mapped.chunk) + (size_t)i * MXP__STANDING_WORDS;
}

bool mxp__standing_is_in_file(void)
{
    return mapped.count > 0;
}

void mxp__standing_since(uint64_t ticks)
{
    assert(mxp__pool_is_ours());
    mxp_word_store(&mapped.chunk->base_ticks, ticks);
    for (uint32_t i = 0; i < mapped.count; i++) {
        mxp__standing_stamp(record_of(i), ticks);
    }
}

// The payload is raised last: a record that is not whole does not count.
static void put_mapped(uint32_t i)
{
    if (mapped.place[i] == 0) {
        mapped.place[i] = ++mapped.count;
    }
    mxp__standing_write(record_of(mapped.place[i] - 1u), &standing.values[i],
                        mapped.chunk->base_ticks);
    mxp_word_store_release(&mapped.chunk->section.payload_bytes,
                           mapped.count * MXP__STANDING_WORDS * sizeof(uint64_t));
}

static void put(void *context, const mxp_standing_value *value)
{
    const bool *in_file = context;
    int i = mxp__standing_put(&standing, value);
    if (i >= 0 && *in_file && mapped.chunk != NULL) {
        put_mapped((uint32_t)i);
    }
}

void mxp__standing_fold(const mxp_chunk_header *chunk, const uint64_t *from, const uint64_t *to,
                        bool in_file)
{
    assert(mxp__pool_is_ours());
    mxp__standing_each(chunk, from, to, put, &in_file);
}

static int compare(const void *a, const void *b)
{
    const mxp_standing_value *x = a, *y = b;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

static uint64_t begin_of(const mxp_record_range *ranges, size_t count)
{
    uint64_t begin = mxp_ticks();
    for (size_t i = 0; i < count; i++) {
        begin = ranges[i].base_ticks < begin ? ranges[i].base_ticks : begin;
    }
    return begin;
}

static int make_drain(const mxp_record_range *ranges, size_t count, mxp_standing_drain **made)
{
    *made = NULL;
    if (standing.count == 0) {
        return MXP_OK;
    }
    mxp_standing_drain *drain = mxp__alloc(sizeof *drain);
    if (drain == NULL) {
        return MXP_ENOMEM;
    }
    drain->values = standing;
    qsort(drain->values.values, drain->values.count, sizeof *drain->values.values, compare);
    uint64_t begin = begin_of(ranges, count);
    for (uint32_t i = 0; i < drain->values.count; i++) {
        const mxp_standing_value *value = &drain->values.values[i];
        uint64_t ticks = value->ticks > begin ? value->ticks : begin;
        mxp__standing_write(drain->words[i], value, ticks);
        drain->ranges[i] = (mxp_record_range){.words = drain->words[i],
                                              .end = drain->words[i] + MXP__STANDING_WORDS,
                                              .base_ticks = ticks,
                                              .thread = value->thread};
    }
    *made = drain;
    return MXP_OK;
}

int mxp__standing_prepend(mxp_record_range **ranges, size_t *count, size_t *capacity,
                          mxp_standing_drain **drain)
{
    assert(mxp__drain_is_held());
    int error = make_drain(*ranges, *count, drain);
    if (error != MXP_OK || *drain == NULL) {
        return error;
    }
    size_t more = (*drain)->values.count;
    error = mxp__grow(ranges, capacity, *count + more, sizeof **ranges);
    if (error == MXP_OK) {
        memmove(*ranges + more, *ranges, *count * sizeof **ranges);
        memcpy(*ranges, (*drain)->ranges, more * sizeof **ranges);
        *count += more;
    }
    return error;
}

void mxp__standing_map(mxp_chunk_header *chunk)
{
    assert(mxp__nobody_records());
    memset(&mapped, 0, sizeof mapped);
    mapped.chunk = chunk;
    if (chunk != NULL) {
        chunk->sequence = MXP_SEQUENCE_STANDING;
        chunk->base_ticks = mxp_ticks();
    }
}

void mxp__standing_forget(void)
{
    assert(mxp__nobody_records());
    memset(&standing, 0, sizeof standing);
    memset(&step, 0, sizeof step);
    if (mapped.chunk != NULL) {
        mxp_word_store_release(&mapped.chunk->section.payload_bytes, 0);
        mxp__standing_map(mapped.chunk);
    }
}
