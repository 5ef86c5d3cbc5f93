// SPDX-License-Identifier: Apache-2.0
// Reads the instances of a process backwards. A thread's records are in the order of their ends, so
// from the end each span comes before what is inside of it: memory is a range's worth and a stack
// of what is open, whatever the trace.
#include <mxprof/error.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "instances/instance.h"

// The begins of what is open on a thread at the time that the reading has come to, outermost first.
typedef struct thread_stack {
    int64_t *begins_ns;
    size_t count, capacity;
} thread_stack;

typedef struct backward {
    mxp_source *source;
    mxp_instance_visit visit;
    void *context;
    mxp_instances range;  // the instances of the range at hand
    thread_stack *threads;
    bool *async_names;  // by id
    bool is_damaged;
} backward;

// There are no more instances than units. Space is taken once a range, not once an instance.
static int make_room(mxp_instances *list, const mxp_record_range *range)
{
    size_t most = (size_t)(range->end - range->words) / 2;
    return mxp__grow(&list->all, &list->capacity, most, sizeof *list->all) == MXP_OK
               ? MXP_OK
               : mxp__fail_memory("reading a trace backwards");
}

static int decode_range(backward *self, const mxp_record_range *range)
{
    mxp_decoder decoder;
    mxp_event event;
    int more, error = make_room(&self->range, range);
    mxp_instance *to = self->range.all;
    mxp__decoder_begin(&decoder, self->source->timebase, range);
    while (error == MXP_OK && (more = mxp__decoder_next(&decoder, &event)) != 0) {
        if (more < 0) {
            self->is_damaged = true;
            break;
        }
        to += mxp__instance_of(self->source, self->async_names, &event, to);
    }
    self->range.count = error == MXP_OK ? (size_t)(to - self->range.all) : 0;
    return error;
}

// Enters an instance into what is open on its thread, and sets its depth. What encloses it began at
// or before it.
static int open_on_thread(backward *self, mxp_instance *instance)
{
    thread_stack *stack = &self->threads[instance->thread];
    instance->depth = 0;
    if (instance->is_async) {
        return MXP_OK;
    }
    while (stack->count > 0 && stack->begins_ns[stack->count - 1] > instance->begin_ns) {
        stack->count--;
    }
    instance->depth = (uint32_t)stack->count;
    if (mxp__grow(&stack->begins_ns, &stack->capacity, stack->count + 1,
                  sizeof *stack->begins_ns) != MXP_OK) {
        return mxp__fail_memory("reading a trace backwards");
    }
    stack->begins_ns[stack->count++] = instance->begin_ns;
    return MXP_OK;
}

static int visit_range(backward *self)
{
    int error = MXP_OK;
    for (size_t i = self->range.count; i-- > 0 && error == MXP_OK;) {
        mxp_instance *instance = &self->range.all[i];
        error = open_on_thread(self, instance);
        if (error == MXP_OK) {
            error = self->visit(self->context, instance);
        }
    }
    return error;
}

static size_t count_ranges(mxp_source *source, int *error)
{
    mxp_record_range range;
    size_t count = 0;
    int found;
    while ((found = source->range(source, count, &range)) == 1 || found == MXP_EFORMAT) {
        count++;
    }
    *error = found;
    return count;
}

static int read_all(backward *self)
{
    int error;
    size_t count = count_ranges(self->source, &error);
    for (size_t i = count; i-- > 0 && error == MXP_OK;) {
        mxp_record_range range;
        int found = self->source->range(self->source, i, &range);
        if (found == MXP_EFORMAT || range.thread >= self->source->thread_count) {
            self->is_damaged = true;
        } else if (found != 1) {
            error = found;
        } else {
            error = decode_range(self, &range);
            error = error == MXP_OK ? visit_range(self) : error;
        }
    }
    return error;
}

static int prepare(backward *self)
{
    mxp_source *source = self->source;
    self->threads = mxp__alloc(source->thread_count * sizeof *self->threads);
    self->async_names = mxp__alloc(source->name_count * sizeof *self->async_names);
    if ((self->threads == NULL && source->thread_count > 0) ||
        (self->async_names == NULL && source->name_count > 0)) {
        return mxp__fail_memory("reading a trace backwards");
    }
    for (uint32_t id = 0; id < source->name_count; id++) {
        self->async_names[id] = source->name(source, id).style == MXP_STYLE_ASYNC;
    }
    return MXP_OK;
}

int mxp__instances_read(mxp_source *process, mxp_instance_visit visit, void *context,
                        bool *is_damaged)
{
    size_t threads = process->thread_count;
    backward self = {.source = process, .visit = visit, .context = context};
    int error = prepare(&self);
    if (error == MXP_OK && threads > 0) {
        error = read_all(&self);
    }
    for (size_t i = 0; self.threads != NULL && i < threads; i++) {
        mxp__free(self.threads[i].begins_ns,
                  self.threads[i].capacity * sizeof *self.threads[i].begins_ns);
    }
    mxp__free(self.threads, threads * sizeof *self.threads);
    mxp__free(self.async_names, process->name_count * sizeof *self.async_names);
    mxp__instances_fini(&self.range);
    *is_damaged = *is_damaged || self.is_damaged;
    return error;
}
