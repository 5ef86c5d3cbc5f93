// SPDX-License-Identifier: Apache-2.0
// See mxprof/async.h. A span that the table of open ones has is recorded by who takes it out: its
// end, or the stop that comes before. One that found no place there is recorded by its end.
#include <mxprof/async.h>
#include <mxprof/error.h>

#include "profiler/recorder/record/emit.h"
#include "profiler/recorder/record/span_write.h"
#include "profiler/recorder/record/stop_log.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/async_table.h"

// The name of the argument "id", made before a record is begun.
static mxp_name id_key(void)
{
    static mxp_atomic_u32 key;
    mxp_name known = mxp_atomic_load(&key);
    if (known == MXP_NAME_NONE) {
        known = mxp_string("id");
        mxp_atomic_store(&key, known);
    }
    return known;
}

// ---- begin -------------------------------------------------------------------------------------
mxp_async mxp_async_begin(uint32_t classes, mxp_name name, uint64_t id, mxp_context context)
{
    uint64_t begin_ticks = 0;
    uint32_t place = 0;
    if (mxp_enabled(classes)) {
        uint64_t who = name | (uint64_t)id_key() << 32;
        mxp_emit emit;
        if (mxp__emit_enter(&emit, classes, 0)) {
            begin_ticks = emit.now;
            place = mxp__async_put(begin_ticks, who, id, context, emit.self->index);
            mxp__emit_leave(emit.self);
        }
    }
    // Stored once: a copy of what was just stored would wait for the stores.
    return (mxp_async){begin_ticks, id, context, name, place};
}

// ---- end ---------------------------------------------------------------------------------------
// When the span ended, if a stop or a pause came before. False: it is not to be recorded.
static bool find_end(mxp_thread *self, const mxp_async *span, bool taken, mxp_span *record)
{
    const uint64_t begin = span->begin_ticks, closed = mxp_atomic_load(&mxp_control.closed_ticks);
    uint64_t off = UINT64_MAX;
    if (begin <= closed) {
        bool written = span->place != 0 && !taken;  // by the stop
        if (written || begin <= mxp__rec.forked_ticks || !mxp__stops_after(begin, &off)) {
            return false;
        }
    } else if (span->place != 0 && !taken) {
        mxp__thread_lose(self, MXP_LOSS_MISUSE, 1, record->end_ticks);
        return false;
    } else if (!mxp_enabled(MXP_CLASS_ALL)) {
        off = mxp__recorder_off_ticks();
        if (begin > off) {
            return false;
        }
    }
    if (record->end_ticks > off) {
        record->end_ticks = off;
        record->flags = MXP_SPAN_CLOSED_BY_STOP;
    }
    return true;
}

static bool has_id(const mxp_async *span)
{
    return span->id != 0 && span->id != span->context.id;
}

// All arguments in one list: the span's id first.
static uint32_t gather(const mxp_async *span, const mxp_arg *args, uint32_t count, mxp_arg *all)
{
    uint32_t used = 0;
    if (has_id(span)) {
        all[used++] = mxp_u64(id_key(), span->id);
    }
    for (uint32_t i = 0; i < count && used <= MXP_SPAN_ARGS_MAX; i++) {
        all[used++] = args[i];
    }
    return used;
}

// The usual case of an end that tells nothing: the id is written where it goes. False: nothing was
// done.
static bool end_plainly(mxp_thread *self, const mxp_async *span, const mxp_span *record)
{
    uint64_t *words = mxp__span_usual_words(self, record);
    if (words == NULL) {
        return false;
    }
    uint32_t count = has_id(span) ? 1 : 0;
    if (count != 0) {
        words[MXP__RECORD_HEAD_WORDS] = id_key() | (uint64_t)MXP_ARG_U64 << 32;
        words[MXP__RECORD_HEAD_WORDS + 1] = span->id;
    }
    uint32_t used = MXP__RECORD_HEAD_WORDS + 2 * count;
    mxp__span_publish(self, words, record, used, count, span->context.id);
    return true;
}

// With all arguments in one list. Not inlined: the list takes 2 KiB of the stack.
static __attribute__((noinline)) void end_with(const mxp_emit *emit, const mxp_async *span,
                                               mxp_span *record, bool taken)
{
    mxp_arg all[MXP_SPAN_ARGS_MAX + 1];  // one more, so that what is cut is flagged
    record->arg_count = gather(span, record->args, record->arg_count, all);
    record->args = all;
    uint64_t *words = mxp__span_usual_words(emit->self, record);
    if (words != NULL && (taken || span->place == 0)) {
        mxp__span_write_usual(emit->self, words, record, span->context.id);
    } else if (find_end(emit->self, span, taken, record)) {
        mxp__span_write(emit->self, record, span->context.id, emit->now, MXP_TAP_WHOLE);
    } else {
        mxp__emit_leave(emit->self);
    }
}

// Records it and leaves. busy is set.
static void end_here(const mxp_emit *emit, const mxp_async *span, bool taken, const mxp_arg *args,
                     uint32_t count)
{
    mxp_span record = {.name = span->name,
                       .begin_ticks = span->begin_ticks,
                       .end_ticks = emit->now > span->begin_ticks ? emit->now : span->begin_ticks,
                       .arg_count = count,
                       .args = args};
    bool usual = count == 0 && (taken || span->place == 0);
    if (!usual || !end_plainly(emit->self, span, &record)) {
        end_with(emit, span, &record, taken);
    }
}

void mxp_async_end(mxp_async *span, const mxp_arg *args, uint32_t count)
{
    mxp_emit emit;
    if (span->begin_ticks == 0) {
        return;
    }
    if (mxp__emit_enter(&emit, MXP__FORCED, mxp_ticks())) {
        bool taken = span->place != 0 && mxp__async_take(span);
        end_here(&emit, span, taken, args, count);
    }
    span->begin_ticks = 0;
}

int mxp_async_end_id(mxp_name name, uint64_t id, const mxp_arg *args, uint32_t count)
{
    mxp_emit emit;
    mxp_async_taken taken;
    if (id == 0) {
        return MXP_EINVAL;
    }
    if (!mxp__async_is_used() || !mxp__emit_enter(&emit, MXP__FORCED, mxp_ticks())) {
        return MXP_ESTATE;
    }
    if (!mxp__async_take_first(name, id, &taken)) {
        mxp__emit_leave(emit.self);
        return MXP_ESTATE;
    }
    end_here(&emit, &taken.span, true, args, count);
    return MXP_OK;
}

// ---- stop --------------------------------------------------------------------------------------
void mxp__async_close_open(uint64_t end_ticks)
{
    assert(mxp__drain_is_held());
    mxp_async_taken taken;
    for (uint32_t at = 0; mxp__async_take_next(&at, end_ticks, &taken);) {
        mxp_arg id;
        mxp_span record = {.name = taken.span.name,
                           .flags = MXP_SPAN_CLOSED_BY_STOP,
                           .begin_ticks = taken.span.begin_ticks,
                           .lane = MXP_LANE_THREAD | taken.thread,
                           .args = &id};
        record.arg_count = gather(&taken.span, NULL, 0, &id);
        if (mxp__stops_after(record.begin_ticks, &record.end_ticks)) {
            mxp__span_emit(MXP__FORCED, &record, taken.span.context.id);
        }
    }
}
