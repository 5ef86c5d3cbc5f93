// SPDX-License-Identifier: Apache-2.0
#include "open_spans.h"

#include <inttypes.h>
#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"
#include "text/figure.h"
#include "text/label.h"

// ---- what was told of a span -------------------------------------------------------------------
static void put_text(mxp_strbuf *out, const mxp_event *event, uint32_t i)
{
    uint32_t length, whole;
    const char *text = mxp__event_arg_text(event, i, &length, &whole);
    if (text == NULL) {
        mxp__strbuf_puts(out, "<bad text>");
        return;
    }
    mxp__json_string(out, text, length);
    if (length < whole) {
        mxp__strbuf_printf(out, " of %" PRIu32 " bytes", whole);
    }
}

static void put_value(mxp_strbuf *out, const mxp_source *source, uint32_t type, uint64_t bits)
{
    double number;
    mxp_name_view name;
    switch (type) {
    case MXP_ARG_F64:
        memcpy(&number, &bits, sizeof number);
        mxp__put_exact(number, out);
        break;
    case MXP_ARG_I64:
        mxp__strbuf_printf(out, "%" PRId64, (int64_t)bits);
        break;
    case MXP_ARG_NAME:
        name = source->name(source, (uint32_t)bits);
        mxp__json_string(out, name.text, name.length);
        break;
    default:
        mxp__strbuf_printf(out, "%" PRIu64, bits);
    }
}

// Without what a terminal takes as commands.
static const mxp_screen plain = {.is_utf8 = true};

// Ends in a zero of its own, also if there is nothing.
static void put_args(mxp_strbuf *out, const mxp_source *source, const mxp_event *event)
{
    const char *before = " (";
    if (mxp__event_context(event) != 0) {
        mxp__strbuf_printf(out, "%scontext=%" PRIu64, before, mxp__event_context(event));
        before = ", ";
    }
    for (uint32_t i = 0; i < mxp__event_arg_count(event); i++, before = ", ") {
        uint32_t key, type;
        uint64_t value;
        mxp__event_arg(event, i, &key, &type, &value);
        const mxp_name_view name = source->name(source, key);
        mxp__strbuf_puts(out, before);
        mxp__put_label(&plain, name.text, name.length, out);
        mxp__strbuf_putc(out, '=');
        if (type == MXP_ARG_TEXT) {
            put_text(out, event, i);
        } else {
            put_value(out, source, type, value);
        }
    }
    mxp__strbuf_puts(out, before[0] == ',' ? ")" : "");
    mxp__strbuf_putc(out, '\0');
}

int mxp__open_spans_add(mxp_open_spans *open, const mxp_source *source, const mxp_event *event)
{
    if (mxp__grow(&open->spans, &open->capacity, open->count + 1, sizeof *open->spans) != MXP_OK) {
        return mxp__fail_memory("the open spans of a trace");
    }
    bool elsewhere = (event->lane & MXP_LANE_THREAD) != 0;
    open->spans[open->count++] = (mxp_open_at_end){
        .source = source,
        .thread = elsewhere ? event->lane & ~MXP_LANE_THREAD : event->thread,
        .name = event->name,
        .begin_ns = event->begin_ns,
        .end_ns = event->end_ns,
        .args_at = open->args.length,
    };
    put_args(&open->args, source, event);
    return open->args.failed ? mxp__fail_memory("the open spans of a trace") : MXP_OK;
}

void mxp__open_spans_fini(mxp_open_spans *open)
{
    mxp__free(open->spans, open->capacity * sizeof *open->spans);
    mxp__strbuf_fini(&open->args);
    *open = (mxp_open_spans){0};
}

// ---- lines -------------------------------------------------------------------------------------
static bool is_async(const mxp_open_at_end *span)
{
    return span->source->name(span->source, span->name).style == MXP_STYLE_ASYNC;
}

static void print_span(const mxp_open_spans *open, const mxp_open_at_end *span, mxp_strbuf *out)
{
    mxp_name_view name = span->source->name(span->source, span->name);
    mxp__json_string(out, name.text, name.length);
    mxp__strbuf_puts(out, mxp__strbuf_text(&open->args) + span->args_at);
    mxp__strbuf_printf(out, " for %.6f s", (double)(span->end_ns - span->begin_ns) / 1e9);
}

static void print_async(const mxp_open_spans *open, const mxp_open_at_end *span, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "  open       ");
    print_span(open, span, out);
    mxp__strbuf_printf(out, ", begun on thread %" PRIu32 "\n", span->thread);
}

// The spans [begin, end) of one thread, of which the innermost comes first.
static void print_thread(const mxp_open_spans *open, size_t begin, size_t end, mxp_strbuf *out)
{
    const mxp_open_at_end *last = &open->spans[end - 1];
    const mxp_source *source = last->source;
    mxp_name_view name = source->name(source, source->threads[last->thread].name);
    mxp__strbuf_printf(out, "  running    on thread %" PRIu32 " ", last->thread);
    mxp__json_string(out, name.text, name.length);
    mxp__strbuf_putc(out, ':');
    for (size_t i = end; i-- > begin;) {
        mxp__strbuf_puts(out, i + 1 == end ? " " : ", in it ");
        print_span(open, &open->spans[i], out);
    }
    mxp__strbuf_putc(out, '\n');
}

static bool are_together(const mxp_open_at_end *a, const mxp_open_at_end *b)
{
    return a->source == b->source && a->thread == b->thread && !is_async(a) && !is_async(b);
}

void mxp__open_spans_print(const mxp_open_spans *open, const mxp_source *source, mxp_strbuf *out)
{
    for (size_t end = open->count, begin; end > 0; end = begin) {
        const mxp_open_at_end *last = &open->spans[end - 1];
        begin = end - 1;
        while (begin > 0 && are_together(&open->spans[begin - 1], last)) {
            begin--;
        }
        if (last->source == source && is_async(last)) {
            print_async(open, last, out);
        } else if (last->source == source) {
            print_thread(open, begin, end, out);
        }
    }
}
