// SPDX-License-Identifier: Apache-2.0
// Spans whose begin and end are known, as records or in the statistics.
#ifndef MXP_PROF_SPAN_WRITE_H
#define MXP_PROF_SPAN_WRITE_H

#include <mxprof/record.h>

#include "profiler/recorder/record/emit.h"
#include "profiler/recorder/record/span_args.h"
#include "profiler/recorder/state.h"

// Where the record goes in the usual case, as in mxp_inline_end_under: recording is on and was when
// the span began, there is room for the longest record, and no tap. Null: it is not the usual case.
// The caller holds busy.
static inline uint64_t *mxp__span_usual_words(const mxp_thread *self, const mxp_span *span)
{
    uint32_t gate = mxp_atomic_load_acquire(&mxp_control.gate);
    uint64_t *words = mxp_atomic_load(&self->hot.cursor);
    bool usual = (gate & (MXP_CLASS_ALL | MXP_GATE_TAP | MXP_GATE_HOLD)) - 1u < MXP_CLASS_ALL &&
                 span->begin_ticks > mxp_atomic_load(&mxp_control.closed_ticks) &&
                 words + MXP__RECORD_WORDS_MOST <= mxp_atomic_load(&self->hot.limit) &&
                 mxp__emit_near_base(self, span->end_ticks) && !mxp__rec.limits.statistics_only;
    return usual ? words : NULL;
}

// The head of a long record of `used` words and `count` arguments.
static inline void mxp__span_write_head(uint64_t *words, const mxp_span *span, uint32_t used,
                                        uint32_t count, uint64_t context)
{
    uint32_t flags = span->flags | (count < span->arg_count ? MXP_SPAN_ARGS_CUT : 0);
    uint32_t scope = span->scope != 0 ? span->scope : mxp_scope_current();
    words[0] = mxp__word0(MXP_KIND_SPAN_LONG, used / 2, span->begin_ticks);
    words[1] = span->name | (uint64_t)(flags & 0xffff) << 32 | (uint64_t)count << 48 |
               (uint64_t)(span->clock & 0xff) << 56;
    words[2] = span->end_ticks - span->begin_ticks;
    words[3] = span->begin_ticks;
    words[4] = span->lane | (uint64_t)scope << 32;
    words[5] = context;
}

// Publishes a long record there of `used` words, whose `count` arguments are written, and leaves.
static inline void mxp__span_publish(mxp_thread *self, uint64_t *words, const mxp_span *span,
                                     uint32_t used, uint32_t count, uint64_t context)
{
    mxp__span_write_head(words, span, used, count, context);
    MXP_TEST_POINT(WORDS);
    mxp_atomic_store_release(&self->hot.cursor, words + used);
    mxp__emit_leave(self);
}

// Writes a long record there and leaves.
void mxp__span_write_usual(mxp_thread *self, uint64_t *words, const mxp_span *span,
                           uint64_t context);

// Opens a span on this thread's stack, without telling a tap. Gives its token.
static inline uint64_t mxp__span_open(mxp_recorder *self, mxp_name name, uint64_t begin_ticks)
{
    mxp_atomic_store_release(&mxp_inline_push(self, name)->begin, begin_ticks);
    return begin_ticks;
}

// Writes the span in the form it needs, or into the statistics, leaves the record and calls the
// taps in this phase (tap.h). The caller holds busy; `now` is as near to the present as the caller
// knows.
void mxp__span_write(mxp_thread *self, const mxp_span *span, uint64_t context, uint64_t now,
                     uint32_t phase);

// The same with entering the record, unless `classes` are off; MXP__FORCED: also then.
void mxp__span_emit(uint32_t classes, const mxp_span *span, uint64_t context);

// Records an open lexical span that a stop has taken over from its thread.
void mxp__span_emit_stopped(const mxp_span *span);

#endif
