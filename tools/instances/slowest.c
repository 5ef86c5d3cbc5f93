// SPDX-License-Identifier: Apache-2.0
#include "instances/slowest.h"

#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/merge.h"

// ---- the heap ----------------------------------------------------------------------------------
// Of equal length the earlier one is longer.
static bool is_shorter(const mxp_instance *a, const mxp_instance *b)
{
    int64_t left = mxp__instance_ns(a), right = mxp__instance_ns(b);
    return left != right ? left < right : a->begin_ns > b->begin_ns;
}

static void sift_down(mxp_instances *heap, size_t place)
{
    mxp_instance moving = heap->all[place];
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= heap->count) {
            break;
        }
        child += child + 1 < heap->count && is_shorter(&heap->all[child + 1], &heap->all[child]);
        if (!is_shorter(&heap->all[child], &moving)) {
            break;
        }
        heap->all[place] = heap->all[child];
        place = child;
    }
    heap->all[place] = moving;
}

static int offer(mxp_slowest *self, const mxp_instance *instance)
{
    mxp_instances *heap = &self->list;
    if (heap->count == self->wanted) {
        if (is_shorter(&heap->all[0], instance)) {
            heap->all[0] = *instance;
            sift_down(heap, 0);
        }
        return MXP_OK;
    }
    int error = mxp__instances_add(heap, instance);
    for (size_t place = heap->count - 1; error == MXP_OK && place > 0;) {
        size_t parent = (place - 1) / 2;
        if (!is_shorter(&heap->all[place], &heap->all[parent])) {
            break;
        }
        mxp_instance moved = heap->all[place];
        heap->all[place] = heap->all[parent];
        heap->all[parent] = moved;
        place = parent;
    }
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
typedef struct adding {
    mxp_slowest *slowest;
    const mxp_selected *selected;
} adding;

static int visit(void *context, const mxp_instance *instance)
{
    const adding *self = context;
    mxp_slowest *slowest = self->slowest;
    int64_t ns = mxp__instance_ns(instance);
    if ((slowest->only_roots && instance->depth > 0) || ns < slowest->least_ns ||
        !mxp__selected_takes(self->selected, instance)) {
        return MXP_OK;
    }
    int error = mxp__durations_add(&slowest->durations, ns);
    return error == MXP_OK ? offer(slowest, instance) : error;
}

int mxp__slowest_add(mxp_slowest *slowest, mxp_source *process, const mxp_selected *selected)
{
    adding self = {slowest, selected};
    return mxp__instances_read(process, visit, &self, &slowest->is_damaged);
}

static int longest_first(const void *a, const void *b)
{
    return is_shorter(a, b) ? 1 : is_shorter(b, a) ? -1 : 0;
}

void mxp__slowest_finish(mxp_slowest *slowest)
{
    if (slowest->list.count > 1) {
        qsort(slowest->list.all, slowest->list.count, sizeof *slowest->list.all, longest_first);
    }
    mxp__durations_sort(&slowest->durations);
}

void mxp__slowest_fini(mxp_slowest *slowest)
{
    for (size_t i = 0; slowest->lives != NULL && i < slowest->list.count; i++) {
        mxp__life_fini(&slowest->lives[i]);
    }
    mxp__free(slowest->lives, slowest->list.count * sizeof *slowest->lives);
    mxp__instances_fini(&slowest->list);
    mxp__durations_fini(&slowest->durations);
}

// ---- what is inside of them --------------------------------------------------------------------
typedef struct looking {
    const mxp_slowest *slowest;
    mxp_instances *inside;  // of each
} looking;

static int visit_inside(void *context, const mxp_instance *instance)
{
    const looking *self = context;
    int error = MXP_OK;
    for (size_t i = 0; i < self->slowest->list.count && error == MXP_OK; i++) {
        const mxp_instance *around = &self->slowest->list.all[i];
        if (around->thread == instance->thread && around->source == instance->source &&
            mxp__instance_is_in(instance, around) && !instance->is_async) {
            error = mxp__instances_add(&self->inside[i], instance);
        }
    }
    return error;
}

static int make_lives(mxp_slowest *slowest, mxp_instances *inside)
{
    int error = MXP_OK;
    for (size_t i = 0; i < slowest->list.count && error == MXP_OK; i++) {
        const mxp_instance *around = &slowest->list.all[i];
        if (around->is_async) {
            inside[i].count = 0;
            error = mxp__instances_add(&inside[i], around);
        }
        mxp__instances_sort(&inside[i]);
        if (error == MXP_OK) {
            error =
                mxp__life_make(&inside[i], around->begin_ns, around->end_ns, &slowest->lives[i]);
        }
    }
    return error;
}

int mxp__slowest_look(mxp_slowest *slowest, mxp_source *source)
{
    size_t count = slowest->list.count;
    mxp_instances *inside = mxp__alloc(count * sizeof *inside);
    slowest->lives = mxp__alloc(count * sizeof *slowest->lives);
    int error = count > 0 && (inside == NULL || slowest->lives == NULL)
                    ? mxp__fail_memory("the slowest spans")
                    : MXP_OK;
    mxp_source *process;
    for (size_t i = 0;
         error == MXP_OK && count > 0 && (process = mxp__source_process(source, i)) != NULL; i++) {
        looking self = {slowest, inside};
        error = mxp__instances_read(process, visit_inside, &self, &slowest->is_damaged);
    }
    if (error == MXP_OK) {
        error = make_lives(slowest, inside);
    }
    for (size_t i = 0; inside != NULL && i < count; i++) {
        mxp__instances_fini(&inside[i]);
    }
    mxp__free(inside, count * sizeof *inside);
    return error;
}
