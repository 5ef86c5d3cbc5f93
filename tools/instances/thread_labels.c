// SPDX-License-Identifier: Apache-2.0
#include "instances/thread_labels.h"

#include <inttypes.h>

#include "text/label.h"

// Whether another thread of the process has the name, too. Names are made once, so ids tell.
static bool is_shared(const mxp_source *source, uint32_t thread)
{
    for (uint32_t i = 0; i < source->thread_count; i++) {
        if (i != thread && source->threads[i].name == source->threads[thread].name) {
            return true;
        }
    }
    return false;
}

void mxp__put_thread(const mxp_screen *screen, const mxp_source *source, uint32_t thread,
                     bool several_processes, mxp_strbuf *out)
{
    if (several_processes) {
        mxp__strbuf_printf(out, "%" PRIu32 "/", source->pid);
    }
    mxp_name_view name = {.text = ""};
    if (thread < source->thread_count) {
        name = source->name(source, source->threads[thread].name);
    }
    if (name.length == 0) {
        mxp__strbuf_printf(out, "thread %" PRIu32, thread);
        return;
    }
    mxp__put_label(screen, name.text, name.length, out);
    if (is_shared(source, thread)) {
        mxp__strbuf_printf(out, " %" PRIu32, thread);
    }
}
