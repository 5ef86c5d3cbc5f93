// SPDX-License-Identifier: Apache-2.0
// The spans and operators of one process with what is around each of them and with their own time.
// They come from the last to the first: an outer span's record stands behind those of the spans in
// it, so backwards it comes first, and a thread's open spans are all that must be kept. Own time is
// the duration without that of the spans directly inside.
//
// Three kinds of spans stand alone, with nothing around or in them, and all their duration is their
// own: those that may overlap (tasks, frames), those of a lane (a stream, or a thread other than
// that which wrote them), and those of a lane's own clock.
//
// Memory: the open spans of each thread, 4 bytes a range, and the places of the records of one.
#ifndef MXP_ANALYSIS_NESTING_H
#define MXP_ANALYSIS_NESTING_H

#include "profiler/trace/event.h"

typedef struct mxp_nested_span {
    mxp_event event;
    uint64_t number;  // from 1, as they come
    uint64_t parent;  // number of the span around; 0: none
    uint32_t depth;  // spans around
    uint32_t scope;  // name id: its own, or the innermost of its thread at its end; 0: none
    bool is_async;  // may overlap others
    bool is_alone;
    uint64_t own_ns;  // known at `leave`
    uint32_t tag;  // the visitor's; 0 at first
} mxp_nested_span;

typedef struct mxp_nesting_visitor {
    // A span whose own time is not known yet; `around` has been here before, null: there is none.
    // May be null.
    int (*enter)(void *context, mxp_nested_span *span, const mxp_nested_span *around);
    // The same span, once all inside of it have been here.
    int (*leave)(void *context, const mxp_nested_span *span);
    void *context;
} mxp_nesting_visitor;

// Calls the visitor for all spans and operators of a source of one process. An error of the visitor
// ends it and is returned. MXP_EFORMAT: a range was damaged; the rest has been visited.
int mxp__nesting_walk(mxp_source *source, const mxp_nesting_visitor *visitor);

#endif
