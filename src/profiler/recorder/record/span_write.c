// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/record/span_write.h"

#include "profiler/recorder/record/tap.h"

static bool add_value(mxp_thread *self, uint32_t name, uint64_t value)
{
    uint32_t at = mxp__busy_anywhere(&self->hot);  // as in mxp__thread_new_chunk
    bool added = mxp__stats_add(&self->stats, name, value);
    mxp__busy_again(&self->hot, at);
    return added;
}

static uint64_t ns_of(uint64_t ticks)
{
    return (uint64_t)((mxp_uint128)ticks * mxp_atomic_load(&mxp__rec.ns_mult) >> 32);
}

static bool add_statistics(mxp_thread *self, uint32_t name, uint64_t duration)
{
    return add_value(self, name, ns_of(duration));
}

void mxp__emit_statistics(mxp_thread *self, uint32_t name, uint64_t duration, uint64_t now)
{
    assert(mxp__is_in_record(self));
    if (!add_statistics(self, name, duration)) {
        mxp__thread_lose(self, MXP_LOSS_MEMORY_FULL, 1, now);
    }
}

void mxp_statistic(uint32_t classes, mxp_name name, uint64_t value)
{
    mxp_emit emit;
    if (mxp_enabled(classes) && mxp__emit_enter(&emit, classes, 0)) {
        if (!add_value(emit.self, name, value)) {
            mxp__thread_lose(emit.self, MXP_LOSS_MEMORY_FULL, 1, emit.now);
        }
        mxp__emit_leave(emit.self);
    }
}

void mxp_statistic_span(uint32_t classes, mxp_name name, uint64_t begin_ticks, uint64_t end_ticks)
{
    mxp_statistic(classes, name, end_ticks > begin_ticks ? ns_of(end_ticks - begin_ticks) : 0);
}

static uint32_t args_of(const mxp_span *span)
{
    return span->arg_count < MXP_SPAN_ARGS_MAX ? span->arg_count : MXP_SPAN_ARGS_MAX;
}

// For the context with this id, 0: for none. Gives the end of the record.
static uint64_t *write_long(uint64_t *words, const mxp_span *span, uint64_t context)
{
    uint32_t count = args_of(span);
    uint32_t used = mxp__args_write(words, MXP__RECORD_HEAD_WORDS, span->args, count);
    if (used % 2 != 0) {
        words[used++] = 0;
    }
    mxp__span_write_head(words, span, used, count, context);
    return words + used;
}

void mxp__span_write_usual(mxp_thread *self, uint64_t *words, const mxp_span *span,
                           uint64_t context)
{
    uint64_t *end = write_long(words, span, context);
    MXP_TEST_POINT(WORDS);
    mxp_atomic_store_release(&self->hot.cursor, end);
    mxp__emit_leave(self);
}

static bool fits_lean(const mxp_thread *self, const mxp_span *span)
{
    uint64_t duration = span->end_ticks - span->begin_ticks;
    return span->flags == 0 && span->lane == 0 && span->clock == MXP_CLOCK_TRACE &&
           span->arg_count == 0 && span->scope == 0 && duration >> 32 == 0 &&
           mxp__emit_near_base(self, span->end_ticks);
}

// Writes a span in the form it needs, or into the statistics. The caller holds busy.
static void write_span(mxp_thread *self, const mxp_span *span, uint64_t context, uint64_t now)
{
    uint64_t duration = span->end_ticks - span->begin_ticks;
    if (mxp__rec.limits.statistics_only) {
        mxp__emit_statistics(self, span->name, duration, now);
        return;
    }
    bool lean = context == 0 && fits_lean(self, span);
    uint32_t units =
        lean ? 1 : (mxp__args_measure(MXP__RECORD_HEAD_WORDS, span->args, args_of(span)) + 1) / 2;
    uint64_t *words = mxp__emit_space(self, units, now);
    if (words == NULL) {
        bool counted =
            mxp__rec.limits.statistics_when_full && add_statistics(self, span->name, duration);
        if (!counted) {
            mxp__emit_lose_space(self, now);
        }
        return;
    }
    uint64_t *end = words + 2;
    if (lean) {
        words[0] = mxp__word0(MXP_KIND_SPAN, 1, span->begin_ticks);
        words[1] = span->name | duration << 32;
    } else {
        end = write_long(words, span, context);
    }
    MXP_TEST_POINT(WORDS);
    mxp_atomic_store_release(&self->hot.cursor, end);
    assert(mxp__cursor_is_in_chunk(self));
}

void mxp__span_write(mxp_thread *self, const mxp_span *span, uint64_t context, uint64_t now,
                     uint32_t phase)
{
    write_span(self, span, context, now);
    mxp__emit_leave(self);
    if (mxp__tap_is_there()) {
        mxp__tap_span(phase, span);
    }
}

static void emit_in_phase(uint32_t classes, const mxp_span *span, uint64_t context, uint32_t phase)
{
    mxp_emit emit;
    mxp_span empty;
    if (span->end_ticks < span->begin_ticks) {
        empty = *span;
        empty.end_ticks = span->begin_ticks;
        span = &empty;
    }
    uint64_t now = span->clock == MXP_CLOCK_TRACE ? span->end_ticks : 0;
    if (mxp__emit_enter(&emit, classes, now)) {
        mxp__span_write(emit.self, span, context, emit.now, phase);
    }
}

void mxp__span_emit(uint32_t classes, const mxp_span *span, uint64_t context)
{
    emit_in_phase(classes, span, context, MXP_TAP_WHOLE);
}

void mxp__span_emit_stopped(const mxp_span *span)
{
    emit_in_phase(MXP__FORCED, span, 0, MXP__TAP_STOPPED);
}

void mxp_span_emit(uint32_t classes, const mxp_span *span)
{
    if (mxp_enabled(classes)) {
        mxp__span_emit(classes, span, 0);
    }
}

void mxp__span_emit_closed(const mxp_span *span)
{
    emit_in_phase(MXP__FORCED, span, 0, MXP__TAP_OBJECT);
}
