// SPDX-License-Identifier: Apache-2.0
// What a thread of the program was doing at each moment: its innermost span, as pieces that do not
// overlap. Spans come in the order of their ends, so they are taken from the last to the first: an
// outer one comes before those in it, and a stack of open ones is all that must be kept.
#include <assert.h>
#include <stdalign.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/graph/graph_parts.h"

typedef struct open_span {
    int64_t begin_ns;
    uint32_t name, kind;
} open_span;

typedef struct cutter {
    mxp_graph *graph;
    uint32_t *kinds;  // by name id, plus 1; 0: not known yet
    open_span *open;
    size_t open_count, open_capacity;
    int64_t at_ns;  // everything from here on is cut
    mxp_graph_host *first;  // the last one that was cut, the earliest
} cutter;

static const char memory_for[] = "the spans of a window";

static bool is_text(const mxp_name_view *view, const char *text)
{
    return strcmp(view->text, text) == 0;
}

static uint32_t kind_of_name(const mxp_source *source, uint32_t id)
{
    const mxp_name_view name = source->name(source, id);
    const mxp_name_view category = source->name(source, name.category);
    if (is_text(&category, "MXNET_C_API")) {
        return MXP__HOST_CALL;
    }
    if (is_text(&category, "input")) {
        return MXP__HOST_INPUT;
    }
    if (is_text(&category, "memory")) {
        return MXP__HOST_MEMORY;
    }
    const bool is_garbage = is_text(&category, "python") && is_text(&name, "garbage collection");
    return is_garbage ? MXP__HOST_GARBAGE : MXP__HOST_SPAN;
}

static inline uint32_t kind_of(cutter *cut, uint32_t name)
{
    if (cut->kinds[name] == 0) {
        cut->kinds[name] = kind_of_name(cut->graph->source, name) + 1;
    }
    return cut->kinds[name] - 1;
}

// The innermost open span had the time from `from_ns` up to what is cut already.
static inline void put_piece(cutter *cut, int64_t from_ns)
{
    if (from_ns >= cut->at_ns) {
        return;
    }
    const open_span *top = cut->open_count > 0 ? &cut->open[cut->open_count - 1] : NULL;
    *--cut->first = (mxp_graph_host){.begin_ns = from_ns,
                                     .name = top != NULL ? top->name : 0,
                                     .kind = top != NULL ? top->kind : MXP__HOST_BETWEEN};
    cut->at_ns = from_ns;
}

static inline void close_after(cutter *cut, int64_t ns)
{
    while (cut->open_count > 0 && cut->open[cut->open_count - 1].begin_ns >= ns) {
        put_piece(cut, cut->open[cut->open_count - 1].begin_ns);
        cut->open_count--;
    }
}

// An inner span does not reach beyond the one around it, whatever the records say.
static inline int open_span_at(cutter *cut, const mxp_graph_span *span)
{
    const int64_t end_ns = span->end_ns < cut->at_ns ? span->end_ns : cut->at_ns;
    close_after(cut, end_ns);
    put_piece(cut, end_ns);
    if (cut->open_count == cut->open_capacity &&
        mxp__grow(&cut->open, &cut->open_capacity, cut->open_count + 1, sizeof *cut->open) !=
            MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    const open_span *around = cut->open_count > 0 ? &cut->open[cut->open_count - 1] : NULL;
    open_span *open = &cut->open[cut->open_count];
    *open = (open_span){
        .begin_ns = span->begin_ns, .name = span->name, .kind = kind_of(cut, span->name)};
    if (around != NULL) {
        open->begin_ns = around->begin_ns > open->begin_ns ? around->begin_ns : open->begin_ns;
        if (around->kind == MXP__HOST_INPUT) {
            open->kind = MXP__HOST_INPUT;
        }
    }
    cut->open_count++;
    return MXP_OK;
}

// A span has a piece of its own, and one after it. Pieces go to the end of the memory that has the
// spans at its begin, which are read from the last on: 2 pieces take more than a span, so what is
// written stays behind what is still to be read.
static_assert(2 * sizeof(mxp_graph_host) >= sizeof(mxp_graph_span), "");
static_assert(sizeof(mxp_graph_span) % alignof(mxp_graph_host) == 0, "");

// Where the pieces of a thread end. Null: MXP_ENOMEM.
static mxp_graph_host *make_room(mxp_graph_raw_thread *raw)
{
    const size_t bytes = 2 * raw->span_count * sizeof(mxp_graph_host);
    const size_t spans = (bytes + sizeof *raw->spans - 1) / sizeof *raw->spans;
    if (mxp__grow(&raw->spans, &raw->span_capacity, spans, sizeof *raw->spans) != MXP_OK) {
        return NULL;
    }
    return (mxp_graph_host *)(void *)(raw->spans + spans);
}

static int cut_thread(cutter *cut, mxp_graph_raw_thread *raw, mxp_graph_thread *thread)
{
    mxp_graph_host *const end = make_room(raw);
    if (end == NULL) {
        return mxp__fail_memory(memory_for);
    }
    cut->first = end;
    cut->at_ns = MXP__NS_MAX;
    for (size_t i = raw->span_count; i-- > 0;) {
        const mxp_graph_span span = raw->spans[i];
        int error = open_span_at(cut, &span);
        if (error != MXP_OK) {
            return error;
        }
    }
    close_after(cut, -MXP__NS_MAX - 1);
    thread->hosts = cut->first;
    thread->host_count = (size_t)(end - cut->first);
    return MXP_OK;
}

int mxp__graph_take_hosts(mxp_graph *graph)
{
    cutter cut = {.graph = graph};
    const size_t names = graph->source->name_count;
    cut.kinds = mxp__alloc(names * sizeof *cut.kinds);
    int error = cut.kinds == NULL && names > 0 ? mxp__fail_memory(memory_for) : MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < graph->thread_count; i++) {
        if (graph->threads[i].role != MXP__ROLE_WORKER && graph->raw[i].span_count > 0) {
            error = cut_thread(&cut, &graph->raw[i], &graph->threads[i]);
        }
    }
    mxp__free(cut.kinds, names * sizeof *cut.kinds);
    mxp__free(cut.open, cut.open_capacity * sizeof *cut.open);
    return error;
}
