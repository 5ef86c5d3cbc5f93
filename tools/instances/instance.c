// SPDX-License-Identifier: Apache-2.0
#include "instances/instance.h"

#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "instances/thread_places.h"

// Operators that have no time of their own, and bulks, whose members are instances.
static bool is_shadow(const mxp_event *event)
{
    return mxp__event_is_operator(event) &&
           (event->flags & (MXP_OP_SHARED | MXP_OP_BULK_PARENT)) != 0;
}

bool mxp__instance_of(const mxp_source *source, const bool *async_names, const mxp_event *event,
                      mxp_instance *instance)
{
    bool lasts = event->kind == MXP_KIND_SPAN || event->kind == MXP_KIND_WAIT ||
                 mxp__event_is_operator(event);
    if (!lasts || is_shadow(event) || mxp__event_clock(event) != MXP_CLOCK_TRACE) {
        return false;
    }
    bool on_thread = (event->lane & MXP_LANE_THREAD) != 0;
    uint32_t thread = on_thread ? event->lane & ~MXP_LANE_THREAD : event->thread;
    *instance = (mxp_instance){
        .begin_ns = event->begin_ns,
        .end_ns = event->end_ns,
        .source = source,
        .words = event->words,
        .thread = thread < source->thread_count ? thread : event->thread,
        .name = event->name,
        .flags = event->flags,
        .kind = event->kind,
        .is_async = event->lane != 0 ||
                    (mxp__event_is_operator(event) && (event->flags & MXP_OP_ASYNC) != 0) ||
                    (event->name < source->name_count && async_names[event->name]),
    };
    return true;
}

// ---- lists -------------------------------------------------------------------------------------
int mxp__instances_add(mxp_instances *list, const mxp_instance *instance)
{
    if (list->count == MXP__INSTANCES_MOST) {
        list->left_out++;
        return MXP_OK;
    }
    if (mxp__grow(&list->all, &list->capacity, list->count + 1, sizeof *list->all) != MXP_OK) {
        return mxp__fail_memory("a list of spans");
    }
    list->all[list->count++] = *instance;
    return MXP_OK;
}

void mxp__instances_fini(mxp_instances *list)
{
    mxp__free(list->all, list->capacity * sizeof *list->all);
    *list = (mxp_instances){0};
}

// Of equal times, what a thread wrote later encloses what it wrote before: the address of the
// record tells within a chunk.
static int compare(const void *a, const void *b)
{
    const mxp_instance *x = a, *y = b;
    if (x->begin_ns != y->begin_ns) {
        return x->begin_ns < y->begin_ns ? -1 : 1;
    }
    if (x->end_ns != y->end_ns) {
        return x->end_ns > y->end_ns ? -1 : 1;
    }
    return (x->words < y->words) - (x->words > y->words);
}

void mxp__instances_sort(mxp_instances *list)
{
    if (list->count > 1) {
        qsort(list->all, list->count, sizeof *list->all, compare);
    }
}

// The instances of one thread that are open where the list is.
typedef struct open_stack {
    size_t *places, count, capacity;
} open_stack;

typedef struct open_stacks {
    mxp_thread_places threads;
    open_stack *all;  // by number of the thread, from 1 on
    size_t count, capacity;
} open_stacks;

static open_stack *stack_of(open_stacks *stacks, const mxp_instance *instance)
{
    const size_t place = mxp__thread_place(&stacks->threads, instance->source, instance->thread);
    if (place == 0 ||
        mxp__grow(&stacks->all, &stacks->capacity, place, sizeof *stacks->all) != MXP_OK) {
        return NULL;
    }
    if (place > stacks->count) {
        stacks->all[place - 1] = (open_stack){0};
        stacks->count = place;
    }
    return &stacks->all[place - 1];
}

static int push(open_stack *stack, const mxp_instances *list, size_t place)
{
    while (stack->count > 0 &&
           !mxp__instance_is_in(&list->all[place], &list->all[stack->places[stack->count - 1]])) {
        stack->count--;
    }
    list->all[place].depth = (uint32_t)stack->count;
    if (mxp__grow(&stack->places, &stack->capacity, stack->count + 1, sizeof *stack->places) !=
        MXP_OK) {
        return MXP_ENOMEM;
    }
    stack->places[stack->count++] = place;
    return MXP_OK;
}

int mxp__instances_nest(mxp_instances *list)
{
    open_stacks stacks = {0};
    int error = MXP_OK;
    for (size_t i = 0; i < list->count && error == MXP_OK; i++) {
        list->all[i].depth = 0;
        if (list->all[i].is_async) {
            continue;
        }
        open_stack *stack = stack_of(&stacks, &list->all[i]);
        error = stack != NULL ? push(stack, list, i) : MXP_ENOMEM;
    }
    for (size_t i = 0; i < stacks.count; i++) {
        mxp__free(stacks.all[i].places, stacks.all[i].capacity * sizeof(size_t));
    }
    mxp__free(stacks.all, stacks.capacity * sizeof *stacks.all);
    mxp__thread_places_fini(&stacks.threads);
    return error == MXP_OK ? MXP_OK : mxp__fail_memory("a list of spans");
}
