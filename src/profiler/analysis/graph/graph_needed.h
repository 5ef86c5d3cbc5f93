// SPDX-License-Identifier: Apache-2.0
// Which spans of a long window a replay asks for: those in which a thread began to wait, and input.
// Calls are most of a trace, and nearly none of them is one of these.
#ifndef MXP_ANALYSIS_GRAPH_NEEDED_H
#define MXP_ANALYSIS_GRAPH_NEEDED_H

#include "profiler/analysis/window/range_index.h"

typedef struct mxp_graph_moments {
    int64_t *ns;  // at which waits begin, in the order of time
    size_t count, capacity;
    size_t next;  // behind those that are not after the end of the span before
} mxp_graph_moments;

typedef struct mxp_graph_needed {
    mxp_graph_moments *threads;
    size_t thread_count;
    bool *is_input;  // by name id
    uint32_t name_count;
    bool is_all;  // waits are taken from calls, so that all calls are asked for
} mxp_graph_needed;

// Looks for the waits of the window [from_ns, to_ns]; `has_waits`: the trace has records of some.
// MXP_ENOMEM, or an error of the source. Ended by the caller, also on errors.
int mxp__graph_needed_make(const mxp_range_index *index, int64_t from_ns, int64_t to_ns,
                           bool has_waits, mxp_graph_needed *needed);
void mxp__graph_needed_fini(mxp_graph_needed *needed);

// Spans of a thread come in about the order of their ends.
static inline bool mxp__graph_needs(mxp_graph_needed *needed, uint32_t thread, int64_t begin_ns,
                                    int64_t end_ns, uint32_t name)
{
    mxp_graph_moments *moments = &needed->threads[thread];
    size_t next = moments->next;
    while (next < moments->count && moments->ns[next] <= end_ns) {
        next++;
    }
    while (next > 0 && moments->ns[next - 1] > end_ns) {
        next--;
    }
    moments->next = next;
    return needed->is_all || (next > 0 && moments->ns[next - 1] >= begin_ns) ||
           (name < needed->name_count && needed->is_input[name]);
}

#endif
