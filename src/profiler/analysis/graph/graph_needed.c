// SPDX-License-Identifier: Apache-2.0
// See graph_needed.h. Waits are read before the spans around them, whose records come later.
#include "profiler/analysis/graph/graph_needed.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/graph/graph_parts.h"
#include "profiler/analysis/window/range_reader.h"

static const char memory_for[] = "the waits of a window";

static int add_moment(mxp_graph_moments *moments, int64_t ns)
{
    if (moments->count == moments->capacity &&
        mxp__grow(&moments->ns, &moments->capacity, moments->count + 1, sizeof *moments->ns) !=
            MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    moments->ns[moments->count++] = ns;
    return MXP_OK;
}

static int read_waits(mxp_graph_needed *needed, const mxp_source *source,
                      const mxp_record_range *range)
{
    const uint64_t *at = range->words, *words;
    mxp_range_reader reader;
    mxp_event event;
    int error = MXP_OK;
    mxp__range_reader_begin(&reader, source, range);
    while (error == MXP_OK && (words = mxp__next_head(&at, range->end)) != NULL) {
        if ((*words & 0xff) != MXP_KIND_WAIT) {
            continue;
        }
        if (!mxp__range_reader_decode(&reader, words, &event)) {
            break;
        }
        if (event.thread < needed->thread_count) {
            error = add_moment(&needed->threads[event.thread], event.begin_ns);
        }
    }
    return error;
}

static int read_all(mxp_graph_needed *needed, const mxp_range_index *index, int64_t from_ns,
                    int64_t to_ns)
{
    mxp_source *source = index->source;
    mxp_record_range range;
    int error = MXP_OK;
    for (size_t begin = 0, end; begin < index->count && error == MXP_OK; begin = end) {
        end = mxp__range_index_next_thread(index, begin);
        for (size_t i = mxp__range_index_first(index, begin, from_ns);
             i < end && index->places[i].base_ns <= to_ns + index->reach_ns && error == MXP_OK;
             i++) {
            const int found = source->range(source, index->places[i].number, &range);
            error = found == 1             ? read_waits(needed, source, &range)
                    : found == MXP_EFORMAT ? MXP_OK
                                           : found;
        }
    }
    return error;
}

static int ascending(const void *one, const void *other)
{
    const int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

static void sort_moments(mxp_graph_moments *moments)
{
    for (size_t i = 1; i < moments->count; i++) {
        if (moments->ns[i - 1] > moments->ns[i]) {
            qsort(moments->ns, moments->count, sizeof *moments->ns, ascending);
            return;
        }
    }
}

// Without records of waits calls that wait stand for them, if there are any.
static void look_at_names(mxp_graph_needed *needed, const mxp_source *source)
{
    size_t waits = 0;
    for (size_t i = 0; i < needed->thread_count; i++) {
        waits += needed->threads[i].count;
    }
    for (uint32_t id = 0; id < needed->name_count; id++) {
        const mxp_name_view name = source->name(source, id);
        const mxp_name_view category = source->name(source, name.category);
        needed->is_input[id] = strcmp(category.text, "input") == 0;
        needed->is_all |= waits == 0 && mxp__graph_call_waits(name.text);
    }
}

int mxp__graph_needed_make(const mxp_range_index *index, int64_t from_ns, int64_t to_ns,
                           bool has_waits, mxp_graph_needed *needed)
{
    const mxp_source *source = index->source;
    *needed = (mxp_graph_needed){
        .threads = mxp__alloc(source->thread_count * sizeof *needed->threads),
        .thread_count = source->thread_count,
        .is_input = mxp__alloc(source->name_count * sizeof *needed->is_input),
        .name_count = source->name_count,
    };
    if ((needed->threads == NULL && needed->thread_count > 0) ||
        (needed->is_input == NULL && needed->name_count > 0)) {
        return mxp__fail_memory(memory_for);
    }
    const int error = has_waits ? read_all(needed, index, from_ns, to_ns) : MXP_OK;
    for (size_t i = 0; i < needed->thread_count; i++) {
        sort_moments(&needed->threads[i]);
    }
    look_at_names(needed, source);
    return error;
}

void mxp__graph_needed_fini(mxp_graph_needed *needed)
{
    for (size_t i = 0; needed->threads != NULL && i < needed->thread_count; i++) {
        mxp_graph_moments *moments = &needed->threads[i];
        mxp__free(moments->ns, moments->capacity * sizeof *moments->ns);
    }
    mxp__free(needed->threads, needed->thread_count * sizeof *needed->threads);
    mxp__free(needed->is_input, needed->name_count * sizeof *needed->is_input);
    *needed = (mxp_graph_needed){0};
}
