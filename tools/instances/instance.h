// SPDX-License-Identifier: Apache-2.0
// Folder tools/instances: single spans, operators and waits, where a table has only sums.
//
// An instance is a record that lasts: a span, an operator (hidden ones too), a wait. Those of a
// lane's own clock are none, because nothing is known of when they were.
#ifndef MXP_TOOLS_INSTANCE_H
#define MXP_TOOLS_INSTANCE_H

#include <stdbool.h>

#include "profiler/trace/event.h"

typedef struct mxp_instance {
    int64_t begin_ns, end_ns;
    const mxp_source *source;  // of its process
    const uint64_t *words;  // the record, valid as long as the source
    uint32_t thread;  // it was on; of a lane that wrote it
    uint32_t name;
    uint32_t depth;  // instances of its thread around it; set by who knows them
    uint16_t flags;
    uint8_t kind;  // MXP_KIND_SPAN, OPERATOR, HIDDEN or WAIT
    bool is_async;  // may overlap others of its thread, and has none inside
} mxp_instance;

// False: the record is no instance. `async_names`: by name id, of which the style is asynchronous.
bool mxp__instance_of(const mxp_source *source, const bool *async_names, const mxp_event *event,
                      mxp_instance *instance);

static inline int64_t mxp__instance_ns(const mxp_instance *instance)
{
    return instance->end_ns - instance->begin_ns;
}

// As an event of which the arguments can be read.
static inline mxp_event mxp__instance_event(const mxp_instance *instance)
{
    return (mxp_event){.kind = instance->kind,
                       .flags = instance->flags,
                       .name = instance->name,
                       .words = instance->words};
}

// Whether `inner` is inside of `outer`, both of one thread.
static inline bool mxp__instance_is_in(const mxp_instance *inner, const mxp_instance *outer)
{
    return inner->begin_ns >= outer->begin_ns && inner->end_ns <= outer->end_ns;
}

// ---- lists -------------------------------------------------------------------------------------
enum { MXP__INSTANCES_MOST = 4 << 20 };  // of a list: 256 MiB

typedef struct mxp_instances {
    mxp_instance *all;
    size_t count, capacity;
    uint64_t left_out;  // beyond MXP__INSTANCES_MOST
} mxp_instances;

int mxp__instances_add(mxp_instances *list, const mxp_instance *instance);  // MXP_ENOMEM
void mxp__instances_fini(mxp_instances *list);
// By begin; of equal ones those that enclose others come first.
void mxp__instances_sort(mxp_instances *list);
// Sets the depths of a sorted list, thread by thread. MXP_ENOMEM.
int mxp__instances_nest(mxp_instances *list);

// ---- reading -----------------------------------------------------------------------------------
// Calls `visit` for every instance of a process. From the last to the first of each thread: so what
// is around an instance comes before it, and `depth` is right. MXP_ENOMEM, what `visit` returns if
// that is not 0, or the error of a source that cannot be read any further. *is_damaged is set, and
// else left, if a range could not be read, or not to its end.
typedef int (*mxp_instance_visit)(void *context, const mxp_instance *instance);
int mxp__instances_read(mxp_source *process, mxp_instance_visit visit, void *context,
                        bool *is_damaged);

#endif
