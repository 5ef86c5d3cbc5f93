// SPDX-License-Identifier: Apache-2.0
// What `mxprof memory` shows of one process: found by memory_command.c, written by memory_text.c
// and memory_json.c.
#ifndef MXP_TOOLS_MEMORY_SHOWN_H
#define MXP_TOOLS_MEMORY_SHOWN_H

#include "command.h"
#include "memory_rows.h"
#include "profiler/analysis/memory/memory_leak.h"
#include "profiler/analysis/memory/memory_uses.h"
#include "profiler/analysis/window/filter.h"
#include "profiler/analysis/window/steps.h"
#include "text/screen.h"

enum { MXP_MEMORY_PEAK, MXP_MEMORY_GROWTH, MXP_MEMORY_FRESH, MXP_MEMORY_LATER };

typedef struct mxp_memory_shown {
    mxp_source *source;  // one process
    int what;  // MXP_MEMORY_*
    int by;  // MXP_MEMORY_BY_*
    int moment;  // MXP__MOMENT_PEAK, _TIME or _NOW
    int64_t at_ns;  // of MXP__MOMENT_TIME
    int64_t from_ns, until_ns;  // where the peak is looked for
    mxp_filter filter;  // rows
    size_t top;  // rows
    bool is_several;  // there are other processes
    bool is_outside;  // one of several, of which nothing is recorded when it is asked about
    bool fits_arrays;  // any array, where arrays are chosen
    mxp_steps steps;
    mxp_live_memory memory;
    int64_t whole_from_ns;  // of a ring: from then on all records are there; else INT64_MIN
    uint64_t lost;  // records of the process
    mxp_screen screen;
} mxp_memory_shown;

// The step in whose window a moment is. Null: in none.
const mxp_step_window *mxp__memory_step_at(const mxp_memory_shown *view, int64_t ns);
// The total at the view's moment.
uint64_t mxp__memory_total(const mxp_memory_shown *view, const mxp_memory_device *device);
// Whether what is used again can be told: nothing of the process was lost.
bool mxp__memory_uses_known(const mxp_memory_shown *view, const mxp_memory_device *device);

int mxp__memory_text(mxp_memory_shown *view, mxp_strbuf *out);  // 0 or a negative error
int mxp__memory_json(mxp_memory_shown *view, mxp_strbuf *out);

// Appends what `mxprof memory --json` prints of a process. *is_known: memory was recorded. 0 or a
// negative error.
int mxp__memory_document(const mxp_command *command, mxp_input *input, mxp_source *process,
                         mxp_strbuf *out, bool *is_known);

#endif
