// SPDX-License-Identifier: Apache-2.0
// How threads are called on a screen: by their names, with their number where several of a process
// share one, with their process where there are several.
#ifndef MXP_TOOLS_THREAD_LABELS_H
#define MXP_TOOLS_THREAD_LABELS_H

#include "base/id_map.h"
#include "profiler/trace/source.h"
#include "text/screen.h"

// What is known of the processes so far. Begins as zeros; keeps no source alive.
typedef struct mxp_thread_labels {
    mxp_id_map sources;
    mxp_id_map names;  // by number of the source and name: of how many threads
} mxp_thread_labels;

// Without memory `out` is marked as failed.
void mxp__put_thread(mxp_thread_labels *labels, const mxp_screen *screen, const mxp_source *source,
                     uint32_t thread, bool several_processes, mxp_strbuf *out);
void mxp__thread_labels_fini(mxp_thread_labels *labels);

#endif
