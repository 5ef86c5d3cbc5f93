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

// The arguments of a begin, null for none, then those of its end, for a span that keeps them. The
// end's are changed while they are read.
static int take_args(mxp_import *import, const char *begin_args, mxp_strbuf *end_args,
                     mxp_import_span *span)
{
    if (!import->options.with_args) {
        return MXP_OK;
    }
    mxp_strbuf begin = {0};
    mxp__import_args_begin(&import->args, &mxp__import_process(&import->rows, span->row)->names);
    mxp__strbuf_puts(&begin, begin_args != NULL ? begin_args : "");
    int error = begin.failed ? mxp__fail_memory("an imported trace")
                             : mxp__import_args_add(&import->args, &begin);
    mxp__strbuf_fini(&begin);
    if (error == MXP_OK) {
        error = mxp__import_args_add(&import->args, end_args);
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
    mxp_json_time duration = {0, 0};
    bool is_there = dur->type != MXP__JSON_NONE;  // writers in Go leave out what is 0
    bool may_be = dur->type == MXP__JSON_STRING || dur->type == MXP__JSON_SCALAR;
    if (is_there &&
        (!may_be || !mxp__json_time(dur->text, dur->length, &duration) || duration.ns < 0)) {
        mxp__import_damaged(import);
        return MXP_OK;
    }
    import->notes.durations += !is_there;
    mxp_import_span span = {.begin_ns = mxp__json_round(ts),
                            .end_ns = mxp__json_time_end(ts, duration)};
    int error = mxp__import_event_row(import, &place, &span.row, &span.lane);
    if (error == MXP_OK) {
        error = mxp__import_event_name(import, span.row, MXP_STYLE_SPAN, MXP_UNIT_NONE, &place,
                                       &span.name);
    }
    if (error == MXP_OK) {
        error = take_args(import, NULL, &import->event.args, &span);
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

static int frame_of(mxp_import *import, mxp_import_row row, uint8_t style, int64_t ns,
                    mxp_import_frame *frame)
{
    mxp_import_place place = mxp__import_place(import);
    *frame = (mxp_import_frame){.ns = ns, .row = row};
    return mxp__import_event_name(import, row, style, MXP_UNIT_NONE, &place, &frame->name);
}

static int keep_args(mxp_import_frame *frame, mxp_strbuf *args)
{
    frame->args = args->failed || args->length == 0 ? NULL : mxp__strdup(mxp__strbuf_text(args));
    return frame->args == NULL && (args->failed || args->length > 0)
               ? mxp__fail_memory("an imported trace")
               : MXP_OK;
}

// The event as a begin that waits for its end.
static int frame_of_begin(mxp_import *import, mxp_import_row row, uint8_t style, int64_t ns,
                          mxp_import_frame *frame)
{
    int error = frame_of(import, row, style, ns, frame);
    if (error == MXP_OK && import->options.with_args) {
        mxp_strbuf args = {0};
        put_begin_args(import, style, &args);
        error = keep_args(frame, &args);
        mxp__strbuf_fini(&args);
    }
    return error;
}

static int begin(mxp_import *import, mxp_import_row row, size_t *stack, int64_t ns)
{
    mxp_import_frame frame;
    int error = frame_of_begin(import, row, MXP_STYLE_SPAN, ns, &frame);
    return error == MXP_OK ? mxp__import_open_push(&import->open, stack, frame) : error;
}

// Takes the frame over.
static int end(mxp_import *import, mxp_import_frame frame, int64_t ns, mxp_strbuf *end_args)
{
    mxp_import_span span = {.begin_ns = frame.ns,
                            .end_ns = ns > frame.ns ? ns : frame.ns,
                            .row = frame.row,
                            .name = frame.name};
    int error = take_args(import, frame.args, end_args, &span);
    mxp__strfree(frame.args);
    if (ns < frame.ns) {
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
        return begin(import, row, stack, mxp__json_round(ts));
    }
    if (*stack == 0) {
        import->notes.ends++;
        return MXP_OK;
    }
    return end(import, mxp__import_open_pop(&import->open, stack), mxp__json_round(ts),
               &import->event.args);
}

// ---- those that may overlap --------------------------------------------------------------------
// "id2":{"local":"0x1"}; those with "global" are of all processes, as a plain "id" is.
static bool has_local_id(const mxp_json_event *event)
{
    static const char local[] = "\"local\"";
    const mxp_json_field *id2 = mxp__field(event, MXP__FIELD_id2);
    return memmem(id2->text, id2->length, local, sizeof local - 1) != NULL;
}

// What an asynchronous span is found by.
static uint64_t stack_id(const mxp_import *import, char phase, mxp_import_row row)
{
    uint64_t id = mxp__import_event_id(import, phase == 'S' || phase == 'F');
    bool is_old = phase == 'S' || phase == 'F', is_frame = phase == '(' || phase == ')';
    id += is_old ? 1 : is_frame ? 2 : 0;
    id = is_frame ? id ^ mxp__import_thread(&import->rows, row)->key : id;
    return has_local_id(&import->event)
               ? id ^ (row.process + UINT64_C(1)) * UINT64_C(0xd6e8feb86659fd93)
               : id;
}

// Of threads that are written one after the other an end may stand before its begin.
static int keep_end(mxp_import *import, uint64_t id, mxp_import_frame frame)
{
    if (import->ends.open == MXP__IMPORT_OPEN_MAX) {
        import->notes.ends++;
        return MXP_OK;
    }
    size_t *stack = mxp__import_open_stack(&import->ends, id, true);
    if (stack == NULL ||
        (import->options.with_args && keep_args(&frame, &import->event.args) != MXP_OK)) {
        return MXP_ENOMEM;
    }
    return mxp__import_open_push(&import->ends, stack, frame);
}

static int end_async(mxp_import *import, mxp_import_row row, uint64_t id, int64_t ns)
{
    mxp_import_frame own, frame;
    int error = frame_of(import, row, MXP_STYLE_ASYNC, ns, &own);
    if (error != MXP_OK) {
        return error;
    }
    size_t *stack = mxp__import_open_stack(&import->open, id, false);
    if (stack == NULL || !mxp__import_open_take_begin(&import->open, stack, &own, &frame)) {
        return keep_end(import, id, own);
    }
    if (*stack == 0) {
        mxp__import_open_forget(&import->open, id);
    }
    return end(import, frame, ns, &import->event.args);
}

// Takes an end that stood before its begin.
static bool has_end(mxp_import *import, uint64_t id, const mxp_import_frame *begin,
                    mxp_import_frame *found)
{
    size_t *ends = mxp__import_open_stack(&import->ends, id, false);
    bool is_there = ends != NULL && mxp__import_open_take_end(&import->ends, ends, begin, found);
    if (is_there && *ends == 0) {
        mxp__import_open_forget(&import->ends, id);
    }
    return is_there;
}

static int end_by(mxp_import *import, mxp_import_frame frame, mxp_import_frame found)
{
    mxp_strbuf args = {0};
    mxp__strbuf_puts(&args, found.args != NULL ? found.args : "");
    mxp__strfree(found.args);
    int error = args.failed ? mxp__fail_memory("an imported trace") : MXP_OK;
    if (error == MXP_OK) {
        error = end(import, frame, found.ns, &args);
    } else {
        mxp__strfree(frame.args);
    }
    mxp__strbuf_fini(&args);
    return error;
}

static int begin_async(mxp_import *import, mxp_import_row row, uint64_t id, int64_t ns)
{
    mxp_import_frame frame, found;
    if (import->open.open == MXP__IMPORT_OPEN_MAX) {
        import->open.left_out++;
        return MXP_OK;
    }
    int error = frame_of_begin(import, row, MXP_STYLE_ASYNC, ns, &frame);
    if (error != MXP_OK) {
        return error;
    }
    if (has_end(import, id, &frame, &found)) {
        return end_by(import, frame, found);
    }
    size_t *stack = mxp__import_open_stack(&import->open, id, true);
    if (stack == NULL) {
        mxp__strfree(frame.args);
        return MXP_ENOMEM;
    }
    return mxp__import_open_push(&import->open, stack, frame);
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
    return phase == 'e' || phase == 'F' || phase == ')' ? end_async(import, row, id, ns)
                                                        : begin_async(import, row, id, ns);
}

// ---- the end of the file -----------------------------------------------------------------------
static int close_frame(mxp_import *import, mxp_import_frame frame)
{
    const mxp_import_thread *thread = mxp__import_thread(&import->rows, frame.row);
    import->notes.begins++;
    mxp_import_span span = {.begin_ns = frame.ns,
                            .end_ns = thread->last_ns > frame.ns ? thread->last_ns : frame.ns,
                            .row = frame.row,
                            .name = frame.name,
                            .flags = MXP_SPAN_CLOSED_BY_STOP};
    mxp_strbuf none = {0};
    int error = take_args(import, frame.args, &none, &span);
    mxp__strfree(frame.args);
    return error == MXP_OK ? mxp__import_put_span(import, &span) : error;
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
    import->notes.ends += import->ends.open;
    stack_entry *entry = NULL;
    while (error == MXP_OK && (entry = mxp__id_map_next(&import->open.stacks, entry)) != NULL) {
        error = close_stack(import, &entry->top);
    }
    return error;
}
