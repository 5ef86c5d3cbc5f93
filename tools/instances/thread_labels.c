// SPDX-License-Identifier: Apache-2.0
// The threads of a process are counted by name when the first of them is called, because there may
// be as many rows as threads.
#include "instances/thread_labels.h"

#include <inttypes.h>

#include "text/label.h"

typedef struct known_source {
    uint64_t key;  // its address
    uint64_t number;  // from 1 on; 0: its threads are not counted yet
} known_source;

typedef struct known_name {
    uint64_t key;
    uint64_t threads;
} known_name;

// Names are made once in a process, so ids tell.
static uint64_t key_of(const known_source *known, uint32_t name)
{
    return known->number << 32 | name;
}

static bool count_names(mxp_thread_labels *labels, const mxp_source *source, known_source *known)
{
    known->number = labels->sources.count;
    for (uint32_t i = 0; i < source->thread_count; i++) {
        known_name *name = mxp__id_map_add(&labels->names, key_of(known, source->threads[i].name));
        if (name == NULL) {
            known->number = 0;
            return false;
        }
        name->threads++;
    }
    return true;
}

// How many threads of the process have the name of this one; 0 without memory.
static uint64_t count_shared(mxp_thread_labels *labels, const mxp_source *source, uint32_t thread)
{
    labels->sources.entry_bytes = sizeof(known_source);
    labels->names.entry_bytes = sizeof(known_name);
    known_source *known = mxp__id_map_add(&labels->sources, (uintptr_t)source);
    if (known == NULL || (known->number == 0 && !count_names(labels, source, known))) {
        return 0;
    }
    const known_name *name =
        mxp__id_map_find(&labels->names, key_of(known, source->threads[thread].name));
    return name->threads;
}

void mxp__put_thread(mxp_thread_labels *labels, const mxp_screen *screen, const mxp_source *source,
                     uint32_t thread, bool several_processes, mxp_strbuf *out)
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
    const uint64_t shared = count_shared(labels, source, thread);
    if (shared > 1) {
        mxp__strbuf_printf(out, " %" PRIu32, thread);
    }
    out->failed = out->failed || shared == 0;
}

void mxp__thread_labels_fini(mxp_thread_labels *labels)
{
    mxp__id_map_fini(&labels->sources);
    mxp__id_map_fini(&labels->names);
}
