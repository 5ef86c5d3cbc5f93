// SPDX-License-Identifier: Apache-2.0
// How threads are called on a screen: by their names, with their number where several of a process
// share one, with their process where there are several.
#ifndef MXP_TOOLS_THREAD_LABELS_H
#define MXP_TOOLS_THREAD_LABELS_H

#include "profiler/trace/source.h"
#include "text/screen.h"

void mxp__put_thread(const mxp_screen *screen, const mxp_source *source, uint32_t thread,
                     bool several_processes, mxp_strbuf *out);

#endif
