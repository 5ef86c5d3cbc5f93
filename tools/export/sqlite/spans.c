// SPDX-License-Identifier: Apache-2.0
// Spans with their arguments, operators with their variables. An operator is a span too, so that
// the table of spans has all that lasted.
#include <inttypes.h>
#include <string.h>

#include "export/sqlite/process.h"
#include "profiler/analysis/time/nesting.h"

const char *mxp__sqlite_device(mxp_sqlite_process *process, uint32_t device)
{
    char *name = process->devices[device % MXP__SQLITE_DEVICES];
    if (name[0] == '\0') {
        mxp__device_name(device, name, sizeof process->devices[0]);
    }
    return name;
}

static uint32_t flags_of(const mxp_nested_span *span)
{
    const mxp_event *event = &span->event;
    bool is_operator = event->kind == MXP_KIND_OPERATOR;
    bool has_own_clock = mxp__event_clock(event) != MXP_CLOCK_TRACE;
    return (is_operator ? (uint32_t)MXP__SQLITE_OPERATOR : event->flags) |
           (span->is_async ? (uint32_t)MXP__SQLITE_ASYNC : 0) |
           (has_own_clock ? (uint32_t)MXP__SQLITE_OWN_CLOCK : 0);
}

static int write_span(mxp_sqlite_process *process, const mxp_nested_span *span)
{
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_span);
    const mxp_event *event = &span->event;
    bool is_other_thread = (event->lane & MXP_LANE_THREAD) != 0;
    mxp__put_i64(rows, process->first_span + (int64_t)span->number);
    mxp__put_i64(rows, process->run);
    mxp__put_thread(process, rows,
                    is_other_thread ? event->lane & ~MXP_LANE_THREAD : event->thread);
    mxp__put_name(process, rows, is_other_thread ? 0 : event->lane);
    mxp__put_name(process, rows, event->name);
    mxp__put_i64(rows, event->begin_ns);
    mxp__put_i64(rows, event->end_ns - event->begin_ns);
    mxp__put_u64(rows, span->own_ns);
    mxp__put_i64(rows, span->depth);
    mxp__put_some(rows, span->parent != 0, process->first_span + (int64_t)span->parent);
    mxp__put_i64(rows, flags_of(span));
    mxp__put_name(process, rows, span->scope);
    return mxp__row_end(process->database, MXP__TABLE_span, rows);
}

// ---- arguments ---------------------------------------------------------------------------------
static void put_name_text(mxp_rows *rows, const mxp_source *source, uint64_t id)
{
    mxp_name_view view = source->name(source, (uint32_t)id);
    mxp__put_text(rows, view.text, view.length);
}

static void put_value(mxp_rows *rows, const mxp_source *source, const mxp_event *event, uint32_t i)
{
    uint32_t key, type, length, whole;
    uint64_t value;
    double number;
    mxp__event_arg(event, i, &key, &type, &value);
    put_name_text(rows, source, key);
    if (type == MXP_ARG_TEXT) {
        const char *text = mxp__event_arg_text(event, i, &length, &whole);
        mxp__put_text(rows, text != NULL ? text : "<bad text>", text != NULL ? length : 10);
    } else if (type == MXP_ARG_NAME) {
        put_name_text(rows, source, value);
    } else if (type == MXP_ARG_F64) {
        memcpy(&number, &value, sizeof number);
        mxp__put_f64(rows, number);
    } else if (type == MXP_ARG_I64) {
        mxp__put_i64(rows, (int64_t)value);
    } else {
        mxp__put_u64(rows, value);
    }
}

static int write_args(mxp_sqlite_process *process, const mxp_nested_span *span)
{
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_arg);
    int64_t id = process->first_span + (int64_t)span->number;
    uint32_t count = mxp__event_arg_count(&span->event);
    uint64_t context = mxp__event_context(&span->event);
    int error = MXP_OK;
    for (uint32_t i = 0; i < count && error == MXP_OK; i++) {
        mxp__put_i64(rows, id);
        put_value(rows, process->source, &span->event, i);
        error = mxp__row_end(process->database, MXP__TABLE_arg, rows);
    }
    if (context != 0 && error == MXP_OK) {
        mxp__put_i64(rows, id);
        mxp__put_string(rows, "context");
        mxp__put_i64(rows, (int64_t)context);  // all 64 bits
        error = mxp__row_end(process->database, MXP__TABLE_arg, rows);
    }
    return error;
}

// ---- operators ---------------------------------------------------------------------------------
static int write_variables(mxp_sqlite_process *process, const mxp_event *event,
                           const mxp_operator_view *op)
{
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_variable);
    int error = MXP_OK;
    for (uint32_t i = 0; i < op->variable_count && error == MXP_OK; i++) {
        uint32_t variable = mxp__event_variable(event, i);
        mxp__put_operator(process, rows, op->id);
        mxp__put_i64(rows, variable & ~MXP_VARIABLE_WRITTEN);
        mxp__put_i64(rows, (variable & MXP_VARIABLE_WRITTEN) != 0);
        error = mxp__row_end(process->database, MXP__TABLE_variable, rows);
    }
    return error;
}

static int write_shape(mxp_sqlite_process *process, const mxp_nested_span *span, uint32_t shape)
{
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_arg);
    if (shape == 0) {
        return MXP_OK;
    }
    mxp__put_i64(rows, process->first_span + (int64_t)span->number);
    mxp__put_string(rows, "shape");
    put_name_text(rows, process->source, shape);
    return mxp__row_end(process->database, MXP__TABLE_arg, rows);
}

static void put_times(const mxp_sqlite_process *process, mxp_rows *rows, const mxp_event *event,
                      const mxp_operator_view *op)
{
    const mxp_timebase *timebase = process->source->timebase;
    mxp__put_i64(rows, mxp__timebase_ns(timebase, op->push_ticks));
    mxp__put_i64(rows, mxp__timebase_ns(timebase, op->ready_ticks));
    mxp__put_i64(rows, event->begin_ns);
    mxp__put_i64(rows, event->end_ns);
}

static int write_operator(mxp_sqlite_process *process, const mxp_nested_span *span)
{
    static const char *const phases[] = {NULL, "forward", "backward", "update", "communication",
                                         NULL, NULL,      NULL};
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_operator);
    const mxp_event *event = &span->event;
    mxp_operator_view op;
    mxp__event_operator(event, &op);
    mxp__put_operator(process, rows, op.id);
    mxp__put_i64(rows, process->run);
    mxp__put_thread(process, rows, event->thread);
    mxp__put_name(process, rows, event->name);
    put_times(process, rows, event, &op);
    mxp__put_string(rows, phases[event->flags & MXP_OP_PHASE_MASK]);
    mxp__put_string(rows, mxp__sqlite_device(process, op.device));
    mxp__put_name(process, rows, op.scope);
    mxp__put_operator(process, rows, op.released_by);
    mxp__put_f64(rows, (double)op.flops);
    mxp__put_f64(rows, (double)op.bytes);
    mxp__put_operator(process, rows, op.bulk_parent);
    mxp__put_i64(rows, process->first_span + (int64_t)span->number);
    int error = mxp__row_end(process->database, MXP__TABLE_operator, rows);
    error = error == MXP_OK ? write_shape(process, span, op.shape) : error;
    return error == MXP_OK ? write_variables(process, event, &op) : error;
}

static int leave(void *context, const mxp_nested_span *span)
{
    mxp_sqlite_process *process = context;
    process->spans = span->number > process->spans ? span->number : process->spans;
    int error = write_span(process, span);
    if (error != MXP_OK) {
        return error;
    }
    return span->event.kind == MXP_KIND_OPERATOR ? write_operator(process, span)
                                                 : write_args(process, span);
}

int mxp__sqlite_spans(mxp_sqlite_process *process)
{
    const mxp_nesting_visitor visitor = {.leave = leave, .context = process};
    return mxp__nesting_walk(process->source, &visitor);
}
