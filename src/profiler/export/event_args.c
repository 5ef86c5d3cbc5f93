// SPDX-License-Identifier: Apache-2.0
#include "profiler/export/event_args.h"

#include <stdio.h>
#include <string.h>

#include "profiler/export/scope_path.h"

const char *const mxp__arg_keys[MXP__ARG_KEYS] = {
#define MXP_ARG_KEY(name) #name,
    MXP_ARG_KEYS(MXP_ARG_KEY)
#undef MXP_ARG_KEY
};

typedef struct walk {
    const mxp_source *source;
    const mxp_event *event;
    const mxp_arg_form *form;
    void *to;
} walk;

static void put_text(const walk *at, mxp_arg_key key, const char *text, size_t length)
{
    at->form->key(at->to, key);
    at->form->text(at->to, text, length);
}

static void put_number(const walk *at, mxp_arg_key key, uint64_t value)
{
    at->form->key(at->to, key);
    at->form->u64(at->to, value);
}

static void put_us(const walk *at, mxp_arg_key key, int64_t ns)
{
    at->form->key(at->to, key);
    at->form->us(at->to, ns);
}

static void put_value(const walk *at, uint32_t type, uint64_t bits)
{
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
    } value = {.u64 = bits};
    switch (type) {
    case MXP_ARG_F64:
        at->form->f64(at->to, value.f64);
        break;
    case MXP_ARG_NAME:
        at->form->name(at->to, (uint32_t)bits);
        break;
    case MXP_ARG_I64:
        at->form->i64(at->to, value.i64);
        break;
    default:
        at->form->u64(at->to, value.u64);
    }
}

// A text that was cut says so, and how long it was.
static void put_span_text(const walk *at, uint32_t i)
{
    uint32_t length, whole;
    const char *text = mxp__event_arg_text(at->event, i, &length, &whole);
    if (text == NULL) {
        at->form->text(at->to, "<bad text>", strlen("<bad text>"));
    } else if (length >= whole) {
        at->form->text(at->to, text, length);
    } else {
        char cut[MXP_ARG_TEXT_MAX_BYTES + 64];
        uint32_t kept = length < MXP_ARG_TEXT_MAX_BYTES ? length : MXP_ARG_TEXT_MAX_BYTES;
        memcpy(cut, text, kept);
        int more = snprintf(cut + kept, sizeof cut - kept, "... (%u of %u bytes)", kept, whole);
        at->form->text(at->to, cut, kept + (size_t)more);
    }
}

// ---- spans ------------------------------------------------------------------------------------
// The flags of a span as arguments.
static void put_marks(const walk *at)
{
    static const struct {
        uint32_t flag;
        mxp_arg_key key;
        const char *text;
    } marks[] = {{MXP_SPAN_BEGIN_CLIPPED, MXP__KEY_begun, "before recording"},
                 {MXP_SPAN_CLOSED_BY_STOP, MXP__KEY_closed, "stop"},
                 {MXP_SPAN_OPEN_AT_CRASH, MXP__KEY_ended, "never"},
                 {MXP_SPAN_ARGS_CUT, MXP__KEY_arguments, "cut"}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (at->event->flags & marks[i].flag) {
            put_text(at, marks[i].key, marks[i].text, strlen(marks[i].text));
        }
    }
}

static void put_span(const walk *at)
{
    if (mxp__event_clock(at->event) != MXP_CLOCK_TRACE) {
        put_number(at, MXP__KEY_clock, mxp__event_clock(at->event));
    }
    if (mxp__event_context(at->event) != 0) {
        put_number(at, MXP__KEY_context, mxp__event_context(at->event));
    }
    uint32_t count = mxp__event_arg_count(at->event);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t key, type;
        uint64_t value;
        mxp__event_arg(at->event, i, &key, &type, &value);
        at->form->named_key(at->to, key);
        if (type == MXP_ARG_TEXT) {
            put_span_text(at, i);
        } else {
            put_value(at, type, value);
        }
    }
    put_marks(at);
}

// ---- operators --------------------------------------------------------------------------------
static void put_times(const walk *at, const mxp_operator_view *op)
{
    const mxp_timebase *timebase = at->source->timebase;
    int64_t ready_ns = mxp__timebase_ns(timebase, op->ready_ticks);
    int64_t push_ns = mxp__timebase_ns(timebase, op->push_ticks);
    if (ready_ns < at->event->begin_ns) {
        put_us(at, MXP__KEY_queued_us, at->event->begin_ns - ready_ns);
    }
    if (push_ns < ready_ns) {
        put_us(at, MXP__KEY_blocked_us, ready_ns - push_ns);
    }
}

static void put_numbers(const walk *at, const mxp_operator_view *op)
{
    const struct {
        mxp_arg_key key;
        uint32_t value;
    } numbers[] = {{MXP__KEY_after, op->released_by},
                   {MXP__KEY_bulk, op->bulk_parent},
                   {MXP__KEY_device, op->device}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i].value != 0) {
            put_number(at, numbers[i].key, numbers[i].value);
        }
    }
}

static void put_phase(const walk *at)
{
    static const char *const phases[] = {NULL, "forward", "backward", "update", "communication"};
    uint32_t phase = at->event->flags & MXP_OP_PHASE_MASK;
    if (phase > 0 && phase < sizeof phases / sizeof phases[0]) {
        put_text(at, MXP__KEY_phase, phases[phase], strlen(phases[phase]));
    }
}

// The time is the bulk's, of which this is a part.
static void put_sharing(const walk *at)
{
    static const char text[] = "shared";
    if (at->event->flags & MXP_OP_SHARED) {
        put_text(at, MXP__KEY_time, text, sizeof text - 1);
    }
}

static bool put_scope(const walk *at, uint32_t scope)
{
    if (scope == 0) {
        return true;
    }
    mxp_strbuf path = {0};
    mxp__scope_path(at->source, scope, &path);
    bool complete = !path.failed;
    put_text(at, MXP__KEY_scope, mxp__strbuf_text(&path), complete ? path.length : 0);
    mxp__strbuf_fini(&path);
    return complete;
}

static bool put_operator(const walk *at)
{
    mxp_operator_view op;
    mxp__event_operator(at->event, &op);
    put_number(at, MXP__KEY_op, op.id);
    put_times(at, &op);
    put_numbers(at, &op);
    put_phase(at);
    put_sharing(at);
    bool complete = put_scope(at, op.scope);
    if (op.shape != 0) {
        at->form->key(at->to, MXP__KEY_shape);
        at->form->name(at->to, op.shape);
    }
    if (at->event->flags & MXP_OP_FAILED) {
        at->form->key(at->to, MXP__KEY_failed);
        at->form->yes(at->to);
    }
    return complete;
}

bool mxp__event_args(const mxp_source *source, const mxp_event *event, const mxp_arg_form *form,
                     void *to)
{
    const walk at = {source, event, form, to};
    if (event->kind == MXP_KIND_OPERATOR) {
        return put_operator(&at);
    }
    put_span(&at);
    return true;
}
