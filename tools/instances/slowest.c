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

// A thread that has no task is slow in nothing.
static bool is_idle(const mxp_instance *instance)
{
    const mxp_event event = mxp__instance_event(instance);
    mxp_wait_view view;
    if (instance->kind != MXP_KIND_WAIT) {
        return false;
    }
    mxp__event_wait(&event, &view);
    return view.what == MXP_WAIT_TASK;
}

static int visit(void *context, const mxp_instance *instance)
{
    const adding *self = context;
    mxp_slowest *slowest = self->slowest;
    int64_t ns = mxp__instance_ns(instance);
    if ((slowest->only_roots && (instance->depth > 0 || is_idle(instance))) ||
        ns < slowest->least_ns || !mxp__selected_takes(self->selected, instance)) {
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
// One of the slowest, among those sorted by thread and begin.
typedef struct place {
    const mxp_instance *instance;
    size_t number;  // in the list
    int64_t reach_ns;  // the latest end of it and those before it on its thread
} place;

typedef struct looking {
    place *places;
    size_t count;
    mxp_instances *inside;  // of each, by number
} looking;

static int compare_threads(const mxp_instance *a, const mxp_instance *b)
{
    if (a->source != b->source) {
        return a->source < b->source ? -1 : 1;
    }
    return (a->thread > b->thread) - (a->thread < b->thread);
}

static int compare_places(const void *a, const void *b)
{
    const mxp_instance *x = ((const place *)a)->instance, *y = ((const place *)b)->instance;
    int threads = compare_threads(x, y);
    return threads != 0 ? threads : (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static void sort_places(looking *self, const mxp_instances *list)
{
    for (size_t i = 0; i < self->count; i++) {
        self->places[i] = (place){.instance = &list->all[i], .number = i};
    }
    qsort(self->places, self->count, sizeof *self->places, compare_places);
    for (size_t i = 0; i < self->count; i++) {
        const place *before = i > 0 ? &self->places[i - 1] : NULL;
        int64_t end = self->places[i].instance->end_ns;
        bool goes_on = before != NULL &&
                       compare_threads(before->instance, self->places[i].instance) == 0 &&
                       before->reach_ns > end;
        self->places[i].reach_ns = goes_on ? before->reach_ns : end;
    }
}

// How many of the places are on an earlier thread, or on this one and begin no later.
static size_t places_before(const looking *self, const mxp_instance *instance)
{
    size_t low = 0, high = self->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const mxp_instance *at = self->places[middle].instance;
        int threads = compare_threads(at, instance);
        bool before = threads != 0 ? threads < 0 : at->begin_ns <= instance->begin_ns;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

static int visit_inside(void *context, const mxp_instance *instance)
{
    const looking *self = context;
    int error = MXP_OK;
    if (instance->is_async) {
        return MXP_OK;
    }
    for (size_t i = places_before(self, instance); i-- > 0 && error == MXP_OK;) {
        const place *at = &self->places[i];
        if (compare_threads(at->instance, instance) != 0 || at->reach_ns < instance->end_ns) {
            break;
        }
        if (at->instance->end_ns >= instance->end_ns) {
            error = mxp__instances_add(&self->inside[at->number], instance);
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
            inside[i].count = inside[i].left_out = 0;
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
    looking self = {.count = count,
                    .places = mxp__alloc(count * sizeof(place)),
                    .inside = mxp__alloc(count * sizeof(mxp_instances))};
    slowest->lives = mxp__alloc(count * sizeof *slowest->lives);
    bool has_memory = self.places != NULL && self.inside != NULL && slowest->lives != NULL;
    int error = count > 0 && !has_memory ? mxp__fail_memory("the slowest spans") : MXP_OK;
    if (count > 0 && error == MXP_OK) {
        sort_places(&self, &slowest->list);
    }
    mxp_source *process;
    for (size_t i = 0;
         error == MXP_OK && count > 0 && (process = mxp__source_process(source, i)) != NULL; i++) {
        error = mxp__instances_read(process, visit_inside, &self, &slowest->is_damaged);
    }
    if (error == MXP_OK) {
        error = make_lives(slowest, self.inside);
    }
    for (size_t i = 0; self.inside != NULL && i < count; i++) {
        mxp__instances_fini(&self.inside[i]);
    }
    mxp__free(self.inside, count * sizeof(mxp_instances));
    mxp__free(self.places, count * sizeof(place));
    return error;
}
