// SPDX-License-Identifier: Apache-2.0
// Spans: complete ones, and those whose begin and end are two events.
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "import/import_state.h"

// The arguments of the event, behind those of its begin, for a span that keeps them.
static int take_args(mxp_import *import, mxp_import_row row, const char *begin_args,
                     mxp_import_span *span)
{
    if (!import->options.with_args) {
        return MXP_OK;
    }
    mxp_strbuf begin = {0};
    mxp__import_args_begin(&import->args, &mxp__import_process(&import->rows, row)->names);
    mxp__strbuf_puts(&begin, begin_args != NULL ? begin_args : "");
    int error = begin.failed ? mxp__fail_memory("an imported trace")
                             : mxp__import_args_add(&import->args, &begin);
    mxp__strbuf_fini(&begin);
    if (error == MXP_OK) {
        error = mxp__import_args_add(&import->args, &import->event.args);
    }
    span->args = &import->args;
    return error;
}

// ---- complete ----------------------------------------------------------------------------------
// "ProfilerStep#7" is the step of that number, from its begin to its end.
static int take_step(mxp_import *import, const mxp_import_span *span)
{
    static const char prefix[] = "ProfilerStep#";
    const mxp_json_field *name = mxp__field(&import->event, MXP__FIELD_name);
    size_t bytes = sizeof prefix - 1;
    uint64_t number;
    if (name->length <= bytes || memcmp(name->text, prefix, bytes) != 0 ||
        !mxp__field_is(mxp__field(&import->event, MXP__FIELD_cat), "user_annotation") ||
        !mxp__json_whole(name->text + bytes, name->length - bytes, &number)) {
        return MXP_OK;
    }
    int error = mxp__import_put_meta(import, span->row, span->begin_ns, MXP_META_STEP, number);
    return error == MXP_OK
               ? mxp__import_put_meta(import, span->row, span->end_ns, MXP_META_STEP_END, number)
               : error;
}

static int complete(mxp_import *import, mxp_json_time ts)
{
    const mxp_json_field *dur = mxp__field(&import->event, MXP__FIELD_dur);
    mxp_import_place place = mxp__import_place(import);
    mxp_json_time duration;
    bool may_be = dur->type == MXP__JSON_STRING || dur->type == MXP__JSON_SCALAR;
    if (!may_be || !mxp__json_time(dur->text, dur->length, &duration) || duration.ns < 0) {
        mxp__import_damaged(import);
        return MXP_OK;
    }
    mxp_import_span span = {.begin_ns = mxp__json_round(ts),
                            .end_ns = mxp__json_time_end(ts, duration)};
    int error = mxp__import_event_row(import, &place, &span.row, &span.lane);
    if (error == MXP_OK) {
        error = mxp__import_event_name(import, span.row, MXP_STYLE_SPAN, MXP_UNIT_NONE, &place,
                                       &span.name);
    }
    if (error == MXP_OK) {
        error = take_args(import, span.row, NULL, &span);
    }
    if (error == MXP_OK) {
        error = mxp__import_put_span(import, &span);
    }
    import->notes.bound += mxp__field(&import->event, MXP__FIELD_bind_id)->type != MXP__JSON_NONE;
    return error == MXP_OK && import->kind == MXP__IMPORT_TORCH ? take_step(import, &span) : error;
}

// ---- begin and end -----------------------------------------------------------------------------
// The id of an asynchronous span as an argument, before those of its begin, if it is a number: so
// that it is found by it, as one that was recorded with it.
static void put_begin_args(const mxp_import *import, uint8_t style, mxp_strbuf *out)
{
    const mxp_json_field *id = mxp__field(&import->event, MXP__FIELD_id);
    const char *args = mxp__strbuf_text(&import->event.args);
    char text[24], *end = text;
    uint64_t number = 0;
    if (style == MXP_STYLE_ASYNC && id->length > 0 && id->length < sizeof text) {
        snprintf(text, sizeof text, "%.*s", (int)id->length, id->text);
        number = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 0) : 0;
    }
    if (number == 0 || number == UINT64_MAX || *end != '\0') {
        mxp__strbuf_puts(out, args);
        return;
    }
    args += strspn(args, "{ \t\r\n");
    mxp__strbuf_printf(out, "{\"id\":%" PRIu64 "%s%s", number,
                       *args == '\0' || *args == '}' ? "" : ",", *args == '\0' ? "}" : args);
}

static int begin(mxp_import *import, mxp_import_row row, size_t *stack, uint8_t style, int64_t ns)
{
    mxp_import_place place = mxp__import_place(import);
    mxp_import_frame frame = {.begin_ns = ns, .row = row};
    int error = mxp__import_event_name(import, row, style, MXP_UNIT_NONE, &place, &frame.name);
    if (error == MXP_OK && import->options.with_args) {
        mxp_strbuf args = {0};
        put_begin_args(import, style, &args);
        frame.args = args.failed || args.length == 0 ? NULL : mxp__strdup(mxp__strbuf_text(&args));
        error = frame.args == NULL && (args.failed || args.length > 0)
                    ? mxp__fail_memory("an imported trace")
                    : MXP_OK;
        mxp__strbuf_fini(&args);
    }
    return error == MXP_OK ? mxp__import_open_push(&import->open, stack, frame) : error;
}

static int end(mxp_import *import, mxp_import_frame frame, int64_t ns)
{
    mxp_import_span span = {.begin_ns = frame.begin_ns,
                            .end_ns = ns > frame.begin_ns ? ns : frame.begin_ns,
                            .row = frame.row,
                            .name = frame.name};
    int error = take_args(import, frame.row, frame.args, &span);
    mxp__strfree(frame.args);
    if (ns < frame.begin_ns) {
        mxp__import_damaged(import);
    }
    return error == MXP_OK ? mxp__import_put_span(import, &span) : error;
}

int mxp__import_span_event(mxp_import *import, char phase, mxp_json_time ts)
{
    if (phase == 'X') {
        return complete(import, ts);
    }
    mxp_import_place place = {.is_device = false};
    mxp_import_row row;
    uint32_t lane;
    int error = mxp__import_event_row(import, &place, &row, &lane);
    if (error != MXP_OK) {
        return error;
    }
    size_t *stack = &mxp__import_thread(&import->rows, row)->open;
    if (phase == 'B') {
        return begin(import, row, stack, MXP_STYLE_SPAN, mxp__json_round(ts));
    }
    if (*stack == 0) {
        import->notes.ends++;
        return MXP_OK;
    }
    return end(import, mxp__import_open_pop(&import->open, stack), mxp__json_round(ts));
}

// ---- those that may overlap --------------------------------------------------------------------
// What an asynchronous span is found by. Ids without a text that says so are the process's own.
static uint64_t stack_id(const mxp_import *import, char phase, mxp_import_row row)
{
    uint64_t id = mxp__import_event_id(import, phase == 'S' || phase == 'F');
    bool is_old = phase == 'S' || phase == 'F', is_frame = phase == '(' || phase == ')';
    bool is_local = mxp__field(&import->event, MXP__FIELD_id2)->type != MXP__JSON_NONE;
    id += is_old ? 1 : is_frame ? 2 : 0;
    id = is_frame ? id ^ mxp__import_thread(&import->rows, row)->key : id;
    return is_local ? id ^ (row.process + UINT64_C(1)) * UINT64_C(0xd6e8feb86659fd93) : id;
}

static int end_async(mxp_import *import, mxp_import_row row, uint64_t id, int64_t ns)
{
    size_t *stack = mxp__import_open_stack(&import->open, id, false);
    if (stack == NULL || *stack == 0) {
        import->notes.ends++;
        return MXP_OK;
    }
    mxp_import_place place = mxp__import_place(import);
    uint32_t name;
    int error = mxp__import_event_name(import, row, MXP_STYLE_ASYNC, MXP_UNIT_NONE, &place, &name);
    if (error != MXP_OK) {
        return error;
    }
    mxp_import_frame frame = mxp__import_open_take(&import->open, stack, row.process, name);
    if (*stack == 0) {
        mxp__import_open_forget(&import->open, id);
    }
    return end(import, frame, ns);
}

int mxp__import_async_event(mxp_import *import, char phase, int64_t ns)
{
    mxp_import_place place = mxp__import_place(import);
    mxp_import_row row;
    uint32_t lane;
    if (place.is_copy) {
        import->notes.copies += phase == 'b';
        return MXP_OK;
    }
    int error = mxp__import_event_row(import, &place, &row, &lane);
    if (error != MXP_OK) {
        return error;
    }
    uint64_t id = stack_id(import, phase, row);
    if (phase == 'e' || phase == 'F' || phase == ')') {
        return end_async(import, row, id, ns);
    }
    if (import->open.open == MXP__IMPORT_OPEN_MAX) {
        import->open.left_out++;
        return MXP_OK;
    }
    size_t *stack = mxp__import_open_stack(&import->open, id, true);
    return stack == NULL ? MXP_ENOMEM : begin(import, row, stack, MXP_STYLE_ASYNC, ns);
}

// ---- the end of the file -----------------------------------------------------------------------
static int close_frame(mxp_import *import, mxp_import_frame frame)
{
    const mxp_import_thread *thread = mxp__import_thread(&import->rows, frame.row);
    import->notes.begins++;
    mxp_import_span span = {.begin_ns = frame.begin_ns,
                            .end_ns =
                                thread->last_ns > frame.begin_ns ? thread->last_ns : frame.begin_ns,
                            .row = frame.row,
                            .name = frame.name,
                            .flags = MXP_SPAN_CLOSED_BY_STOP};
    mxp__strfree(frame.args);
    return mxp__import_put_span(import, &span);
}

static int close_stack(mxp_import *import, size_t *stack)
{
    int error = MXP_OK;
    while (error == MXP_OK && *stack != 0) {
        error = close_frame(import, mxp__import_open_pop(&import->open, stack));
    }
    return error;
}

int mxp__import_close_open(mxp_import *import)
{
    typedef struct stack_entry {
        uint64_t key;
        size_t top;
    } stack_entry;
    int error = MXP_OK;
    for (size_t i = 0; i < import->rows.count; i++) {
        mxp_import_process *process = &import->rows.processes[i];
        for (size_t j = 0; j < process->thread_count && error == MXP_OK; j++) {
            error = close_stack(import, &process->threads[j].open);
        }
    }
    stack_entry *entry = NULL;
    while (error == MXP_OK && (entry = mxp__id_map_next(&import->open.stacks, entry)) != NULL) {
        error = close_stack(import, &entry->top);
    }
    return error;
}
