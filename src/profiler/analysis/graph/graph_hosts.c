// SPDX-License-Identifier: Apache-2.0
// What a thread of the program was doing at each moment: its innermost span, as pieces that do not
// overlap. Spans come in the order of their ends, so they are taken from the last to the first: an
// outer one comes before those in it, and a stack of open ones is all that must be kept.
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
    mxp_graph_host
        *first;  // the last one that was cut, the earliest; those of a thread end its room
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

// A span has a piece of its own, and one after it.
static size_t room_of(const mxp_graph_raw_thread *raw)
{
    return 2 * raw->span_count;
}

// `end`: of the thread's room, which is filled from there.
static int cut_thread(cutter *cut, const mxp_graph_raw_thread *raw, mxp_graph_thread *thread,
                      mxp_graph_host *end)
{
    cut->first = end;
    cut->at_ns = MXP__NS_MAX;
    for (size_t i = raw->span_count; i-- > 0;) {
        int error = open_span_at(cut, &raw->spans[i]);
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
    const mxp_graph_raw_thread *raw = graph->raw;
    cutter cut = {.graph = graph};
    size_t pieces = 0;
    const size_t names = graph->source->name_count;
    for (size_t i = 0; i < graph->thread_count; i++) {
        pieces += room_of(&raw[i]);
    }
    const int has_room =
        mxp__grow(&graph->hosts, &graph->host_capacity, pieces, sizeof *graph->hosts);
    cut.kinds = mxp__alloc(names * sizeof *cut.kinds);
    mxp_graph_host *end = graph->hosts;
    int error = has_room != MXP_OK || (cut.kinds == NULL && names > 0)
                    ? mxp__fail_memory(memory_for)
                    : MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < graph->thread_count; i++) {
        if (graph->threads[i].role != MXP__ROLE_WORKER && raw[i].span_count > 0) {
            end += room_of(&raw[i]);
            error = cut_thread(&cut, &raw[i], &graph->threads[i], end);
        }
    }
    mxp__free(cut.kinds, names * sizeof *cut.kinds);
    mxp__free(cut.open, cut.open_capacity * sizeof *cut.open);
    return error;
}
