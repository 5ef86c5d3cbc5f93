// SPDX-License-Identifier: Apache-2.0
// Counters, instants, flows, memory, operators and metadata, one function a kind. All of them are
// "open, fill, close" of emit.h.
#include <math.h>
#include <mxprof/record.h>
#include <string.h>

#include "base/os/run_delay.h"
#include "profiler/recorder/record/emit.h"
#include "profiler/recorder/record/tap.h"
#include "profiler/recorder/record/trigger.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/counter_stats.h"
#include "profiler/recorder/thread/standing.h"

// As mxp__emit_open_at, for a sample now. Statistics need no space in a chunk: `words` is then
// null.
static bool open_sample(mxp_emit *emit, uint32_t classes, unsigned units)
{
    if (!mxp__emit_enter(emit, classes, 0)) {
        return false;
    }
    emit->words =
        NULL;  // what is asked for may change in a freeze, which waits for us from here on
    return mxp__rec.limits.statistics_only || mxp__emit_take_space(emit, units);
}

static void close_statistics(const mxp_emit *emit, uint32_t name, unsigned type, uint64_t bits)
{
    if (!mxp__counter_stats_add(name, type, bits, emit->now)) {
        mxp__thread_lose(emit->self, MXP_LOSS_MEMORY_FULL, 1, emit->now);
    }
    mxp__emit_leave(emit->self);
}

static void close_counter(const mxp_emit *emit, mxp_name name, unsigned type, uint64_t bits)
{
    if (emit->words == NULL) {
        close_statistics(emit, name, type, bits);
        return;
    }
    emit->words[0] = mxp__word0(MXP_KIND_COUNTER, 2, emit->now);
    emit->words[1] = name | (uint64_t)type << 32;
    emit->words[2] = bits;
    emit->words[3] = 0;
    emit->self->counts = 1;
    mxp__emit_close(emit, 2);
}

static __attribute__((noinline, cold)) void tell_counter(mxp_name name, uint32_t type,
                                                         uint64_t bits)
{
    if (mxp__tap_is_there()) {
        mxp__tap_call(&(mxp_told){.event = {.kind = MXP_KIND_COUNTER,
                                            .name = name,
                                            .phase = MXP__TAP_COUNTER,
                                            .scope = type},
                                  .value = bits});
    }
}

static void put_counter(uint32_t classes, mxp_name name, unsigned type, uint64_t bits, double value)
{
    mxp_emit emit;
    if (mxp_enabled(classes) && open_sample(&emit, classes, 2)) {
        close_counter(&emit, name, type, bits);
        tell_counter(name, type, bits);
        mxp__trigger_counter(name, value);
    }
}

void mxp__counter_emit(mxp_name name, uint64_t value, uint64_t *last_ticks)
{
    mxp_emit emit;
    if (open_sample(&emit, MXP_CLASS_USER, 2)) {
        emit.now = emit.now > *last_ticks ? emit.now : *last_ticks + 1;
        *last_ticks = emit.now;
        close_counter(&emit, name, MXP_ARG_U64, value);
        tell_counter(name, MXP_ARG_U64, value);
        mxp__trigger_counter(name, (double)value);
    }
}

void mxp_counter_u64(uint32_t classes, mxp_name name, uint64_t value)
{
    put_counter(classes, name, MXP_ARG_U64, value, (double)value);
}

void mxp_counter_i64(uint32_t classes, mxp_name name, int64_t value)
{
    put_counter(classes, name, MXP_ARG_I64, (uint64_t)value, (double)value);
}

static void lose_sample(uint32_t classes)
{
    mxp_emit emit;
    if (mxp_enabled(classes) && mxp__emit_enter(&emit, classes, 0)) {
        mxp__thread_lose(emit.self, MXP_LOSS_NO_NUMBER, 1, emit.now);
        mxp__emit_leave(emit.self);
    }
}

void mxp_counter_f64(uint32_t classes, mxp_name name, double value)
{
    if (!isfinite(value)) {
        lose_sample(classes);
        return;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_counter(classes, name, MXP_ARG_F64, bits, value);
}

// Statistics have no place for it.
static void leave_out(const mxp_emit *emit)
{
    mxp__statistics_leave_out(1);
    mxp__emit_leave(emit->self);
}

static void close_instant(const mxp_emit *emit, mxp_name name, int scope)
{
    emit->words[0] = mxp__word0(MXP_KIND_INSTANT, 1, emit->now);
    emit->words[1] = name | (uint64_t)(scope & 0xff) << 32;
    mxp__emit_close(emit, 1);
}

void mxp_instant(uint32_t classes, mxp_name name, int scope)
{
    mxp_emit emit;
    if (!mxp_enabled(classes) || !open_sample(&emit, classes, 1)) {
        return;
    }
    if (emit.words == NULL) {
        leave_out(&emit);
    } else {
        close_instant(&emit, name, scope);
    }
    if (mxp__tap_is_there()) {
        mxp__tap_call(&(mxp_told){.event = {.kind = MXP_KIND_INSTANT,
                                            .name = name,
                                            .phase = MXP_TAP_INSTANT,
                                            .begin_ticks = emit.now,
                                            .end_ticks = emit.now,
                                            .scope = (uint32_t)scope}});
    }
}

void mxp_flow(uint32_t classes, mxp_name name, int phase, uint64_t id)
{
    mxp_emit emit;
    if (!mxp_enabled(classes) || !open_sample(&emit, classes, 2)) {
        return;
    }
    if (emit.words == NULL) {
        leave_out(&emit);
    } else {
        emit.words[0] = mxp__word0(MXP_KIND_FLOW, 2, emit.now);
        emit.words[1] = name | (uint64_t)(phase & 0xff) << 32;
        emit.words[2] = id;
        emit.words[3] = 0;
        mxp__emit_close(&emit, 2);
    }
}

uint64_t mxp__meta(unsigned what, uint32_t name, uint64_t value, uint64_t second, uint32_t classes)
{
    mxp_emit emit;
    bool counts = what == MXP_META_STATE || what == MXP_META_THREAD_NAME;
    if (!mxp__emit_enter(&emit, classes, 0)) {
        return 0;
    }
    if (mxp__rec.limits.statistics_only && !counts) {
        mxp__emit_leave(emit.self);
        return 0;
    }
    if (!mxp__emit_take_space(&emit, 2)) {
        return 0;
    }
    mxp__emit_meta(emit.words, what, name, value, second, emit.now);
    mxp__emit_close(&emit, 2);
    return emit.now;
}

void mxp_step(uint64_t number)
{
    if (mxp_enabled(MXP_CLASS_ALL)) {
        uint64_t ticks = mxp__meta(MXP_META_STEP, MXP_NAME_NONE, number, 0, MXP_CLASS_ALL);
        if (ticks != 0) {
            const mxp_thread *self = (const mxp_thread *)mxp_self;
            mxp__step_began(&(mxp_standing_step){number, ticks, self->index});
            if (mxp_atomic_load(&mxp__rec.step_cpu) != 0) {
                mxp__meta(MXP_META_STEP_CPU, MXP_NAME_NONE, mxp__os_process_cpu_ns(),
                          mxp__os_run_delay_ns(), MXP_CLASS_ALL);
            }
        }
        if (mxp__tap_is_there()) {
            mxp__tap_call(&(mxp_told){.event = {.kind = MXP_KIND_META, .phase = MXP__TAP_STEP},
                                      .value = number});
        }
        mxp__trigger_step(mxp_ticks());
    }
}

void mxp_step_end(void)
{
    mxp_standing_step step;
    const mxp_thread *self = (const mxp_thread *)mxp_self;
    if (mxp_enabled(MXP_CLASS_ALL) && self != NULL && mxp__step_standing(&step) &&
        step.thread == self->index) {
        mxp__meta(MXP_META_STEP_END, MXP_NAME_NONE, step.number, 0, MXP_CLASS_ALL);
        mxp__step_began(&(mxp_standing_step){0});
        mxp__trigger_step_end(mxp_ticks());
    }
}

void mxp_memory_emit(const mxp_memory *memory)
{
    mxp_emit emit;
    if (!mxp_enabled(MXP_CLASS_MEMORY) || !open_sample(&emit, MXP_CLASS_MEMORY, 3)) {
        return;
    }
    const bool is_census = (memory->flags & MXP_MEMORY_CENSUS) != 0;
    if (emit.words == NULL && is_census) {
        mxp__emit_leave(emit.self);
    } else if (emit.words == NULL) {
        close_statistics(&emit, MXP_COUNTER_OF_DEVICE | (memory->device & 0xff), MXP_ARG_U64,
                         memory->live_bytes);
    } else {
        emit.words[0] = mxp__word0(is_census ? MXP_KIND_CENSUS : MXP_KIND_MEMORY, 3, emit.now);
        emit.words[1] = memory->name | (uint64_t)memory->scope << 32;
        emit.words[2] = (memory->block & MXP_STAMP_MASK) | (uint64_t)(memory->device & 0xff) << 48 |
                        (uint64_t)(memory->flags & 0xf) << 56 |
                        (uint64_t)(memory->category & 0xf) << 60;
        emit.words[3] = memory->requested_bytes;
        emit.words[4] = memory->rounded_bytes;
        emit.words[5] = memory->live_bytes;
        mxp__emit_close(&emit, 3);
    }
}

static __attribute__((noinline, cold)) void tell_operator(uint32_t phase, mxp_name name)
{
    mxp__tap_call(&(mxp_told){.event = {.kind = MXP_KIND_OPERATOR, .name = name, .phase = phase}});
}

int mxp_operator_begin(uint32_t classes, mxp_name name)
{
    bool told = mxp_enabled(classes) && mxp__tap_is_there();
    if (told) {
        tell_operator(MXP__TAP_OPERATOR, name);
    }
    return told;
}

void mxp_operator_end(mxp_name name)
{
    tell_operator(MXP__TAP_OPERATOR_END, name);
}

static uint64_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// From `stamp` to `start`, 48 bits; 0 for an unknown or later stamp.
static uint64_t ticks_before(uint64_t start, uint64_t stamp)
{
    uint64_t ticks = stamp != 0 && stamp < start ? start - stamp : 0;
    return ticks < MXP_STAMP_MASK ? ticks : MXP_STAMP_MASK;
}

static void write_variables(uint64_t *words, const mxp_operator *op, uint32_t kept)
{
    const uint32_t *from = op->variables;
    while (kept != 0) {
        uint32_t count = kept < MXP_VARIABLES_PER_RECORD ? kept : MXP_VARIABLES_PER_RECORD;
        words[0] =
            mxp__word0(MXP_KIND_VARIABLES, MXP_VARIABLES_UNITS, count | (uint64_t)op->id << 16);
        memset(words + 1, 0, (2 * MXP_VARIABLES_UNITS - 1) * sizeof *words);
        memcpy(words + 1, from, count * sizeof *from);
        from += count;
        kept -= count;
        words += 2 * MXP_VARIABLES_UNITS;
    }
}

// Of all records for `kept` variables.
static unsigned variables_units(uint32_t kept)
{
    return (kept + MXP_VARIABLES_PER_RECORD - 1) / MXP_VARIABLES_PER_RECORD * MXP_VARIABLES_UNITS;
}

static void write_operator(uint64_t *words, const mxp_operator *op, uint64_t run, uint64_t flags,
                           uint32_t kept)
{
    const uint64_t push_thread = op->push_ticks != 0 ? op->push_thread & 0xffff : 0xffff;
    const bool hidden = (op->flags & MXP_OPERATOR_HIDDEN) != 0;
    words[0] = mxp__word0(hidden ? MXP_KIND_HIDDEN : MXP_KIND_OPERATOR, 4, op->start_ticks);
    words[1] = op->name | (uint64_t)op->id << 32;
    words[2] = (run & MXP_STAMP_MASK) | flags << 48;
    words[3] = ticks_before(op->start_ticks, op->push_ticks) | push_thread << 48;
    words[4] = ticks_before(op->start_ticks, op->ready_ticks) |
               (uint64_t)(op->device & 0xff) << 48 | (uint64_t)(kept < 0xff ? kept : 0xff) << 56;
    words[5] = op->released_by | (uint64_t)op->bulk_parent << 32;
    words[6] = op->scope | (uint64_t)op->shape << 32;
    words[7] = float_bits(op->flops) | float_bits(op->bytes) << 32;
}

void mxp_operator_emit(uint32_t classes, const mxp_operator *op)
{
    if (!mxp_enabled(classes)) {
        return;
    }
    enum { KEPT_MAX = MXP_VARIABLES_PER_RECORD * MXP_VARIABLES_RECORDS_MAX };
    uint64_t flags = op->flags & 0xffff;
    uint32_t kept = op->variable_count;
    if (kept > KEPT_MAX) {
        kept = KEPT_MAX;
        flags |= MXP_OP_VARIABLES_CUT;
    }
    const unsigned units = 4 + variables_units(kept);
    mxp_emit emit;
    if (!mxp__emit_open_at(&emit, classes, units, op->end_ticks)) {
        return;
    }
    uint64_t run = op->end_ticks > op->start_ticks ? op->end_ticks - op->start_ticks : 0;
    if (__builtin_expect(mxp__rec.limits.statistics_only, 0)) {
        if ((op->flags & MXP_OPERATOR_HIDDEN) == 0) {
            mxp__emit_statistics(emit.self, op->name, run, emit.now);
        }
        mxp__emit_leave(emit.self);
        return;
    }
    write_operator(emit.words, op, run, flags, kept);
    write_variables(emit.words + 8, op, kept);
    mxp__emit_close(&emit, units);
}
