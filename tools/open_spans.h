// SPDX-License-Identifier: Apache-2.0
// The spans that were open when a process died, or when its file was read: what it was at.
#ifndef MXP_TOOLS_OPEN_SPANS_H
#define MXP_TOOLS_OPEN_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "profiler/trace/event.h"
#include "profiler/trace/source.h"

typedef struct mxp_open_at_end {
    const mxp_source *source;
    uint32_t thread, name;
    int64_t begin_ns, end_ns;  // the end is the last time known
    size_t args_at;  // in the texts: what was told of it, as "(key=value, ...)"; "" if nothing
} mxp_open_at_end;

typedef struct mxp_open_spans {
    mxp_open_at_end *spans;
    size_t count, capacity;
    mxp_strbuf args;
} mxp_open_spans;

// Adds a span that never ended. MXP_ENOMEM.
int mxp__open_spans_add(mxp_open_spans *open, const mxp_source *source, const mxp_event *event);
void mxp__open_spans_fini(mxp_open_spans *open);

// Those of one process: a line for each thread with what it was in, the outermost first, and one
// for each asynchronous span.
void mxp__open_spans_print(const mxp_open_spans *open, const mxp_source *source, mxp_strbuf *out);

#endif
