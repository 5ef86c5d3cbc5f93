// SPDX-License-Identifier: Apache-2.0
#include "instances/moment.h"

#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/window/steps.h"

static const char memory_for[] = "a moment of a trace";

// ---- extent ------------------------------------------------------------------------------------
typedef struct extent {
    int64_t first_ns, last_ns;
    bool is_there;
} extent;

static int visit_extent(void *context, const mxp_instance *instance)
{
    extent *self = context;
    bool is_first = !self->is_there;
    self->is_there = true;
    self->first_ns =
        is_first || instance->begin_ns < self->first_ns ? instance->begin_ns : self->first_ns;
    self->last_ns = is_first || instance->end_ns > self->last_ns ? instance->end_ns : self->last_ns;
    return MXP_OK;
}

bool mxp__recorded_extent(mxp_source *process, int64_t *first_ns, int64_t *last_ns, int *error)
{
    extent found = {0, 0, false};
    bool is_damaged = false;
    *error = mxp__instances_read(process, visit_extent, &found, &is_damaged);
    *first_ns = found.first_ns;
    *last_ns = found.last_ns;
    return *error == MXP_OK && found.is_there;
}

// ---- what is open ------------------------------------------------------------------------------
static int visit_open(void *context, const mxp_instance *instance)
{
    mxp_moment *self = context;
    bool never_ended =
        instance->kind == MXP_KIND_SPAN && (instance->flags & MXP_SPAN_OPEN_AT_CRASH) != 0;
    if (instance->begin_ns <= self->at_ns &&
        (instance->end_ns > self->at_ns || (never_ended && instance->end_ns >= self->at_ns))) {
        return mxp__instances_add(&self->open, instance);
    }
    int64_t *since = &self->idle_since_ns[instance->thread];
    if (!instance->is_async && instance->end_ns <= self->at_ns && instance->end_ns > *since) {
        *since = instance->end_ns;
    }
    return MXP_OK;
}

// ---- counters and the step ---------------------------------------------------------------------
typedef struct counter_place {
    uint64_t key;  // name + 1
    size_t number;  // in the list, from 1 on
} counter_place;

static int note_counter(mxp_moment *self, const mxp_event *event)
{
    const int64_t at_ns = event->begin_ns;
    counter_place *place = mxp__id_map_add(&self->counter_places, (uint64_t)event->name + 1);
    if (place == NULL || mxp__grow(&self->counters, &self->counter_capacity,
                                   self->counter_places.count, sizeof *self->counters) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    const bool is_new = place->number == 0;
    place->number = is_new ? ++self->counter_count : place->number;
    mxp_moment_counter *counter = &self->counters[place->number - 1];
    if (is_new || counter->at_ns <= at_ns) {
        *counter = (mxp_moment_counter){event->name, event->phase, event->value.u64, at_ns};
    }
    return MXP_OK;
}

// The step that holds the moment, as all commands count its time.
static int find_step(mxp_moment *self, mxp_source *process)
{
    mxp_steps steps;
    const int error = mxp__steps_find(process, &steps);
    for (size_t i = 0; error == MXP_OK && i < steps.count && !self->has_step; i++) {
        const mxp_step_window *step = &steps.all[i];
        const bool is_last = i + 1 == steps.count;  // its end is that of the recording
        if (step->begin_ns <= self->at_ns &&
            (self->at_ns < step->end_ns || (is_last && self->at_ns == step->end_ns))) {
            self->has_step = true;
            self->step = step->number;
            self->step_begin_ns = step->begin_ns;
        }
    }
    if (error == MXP_OK) {
        mxp__steps_fini(&steps);
    }
    return error;
}

static int note(mxp_moment *self, const mxp_event *event)
{
    const bool is_set = event->kind == MXP_KIND_COUNTER && event->begin_ns <= self->at_ns;
    return is_set ? note_counter(self, event) : MXP_OK;
}

static int read_counters(mxp_moment *self, mxp_source *process)
{
    mxp_record_range range;
    mxp_decoder decoder;
    mxp_event event;
    int found, error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && (found = process->range(process, i, &range)) != 0; i++) {
        if (found == MXP_EFORMAT) {
            continue;
        }
        if (found != 1) {
            return found;
        }
        mxp__decoder_begin(&decoder, process->timebase, &range);
        while (error == MXP_OK && mxp__decoder_next(&decoder, &event) == 1) {
            error = note(self, &event);
        }
    }
    return error;
}

static int by_name(const void *a, const void *b)
{
    const mxp_moment_counter *x = a, *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

int mxp__moment_make(mxp_source *process, int64_t at_ns, mxp_moment *moment)
{
    size_t threads = process->thread_count;
    *moment = (mxp_moment){.source = process,
                           .at_ns = at_ns,
                           .counter_places = {.entry_bytes = sizeof(counter_place)}};
    moment->idle_since_ns = mxp__alloc(threads * sizeof *moment->idle_since_ns);
    if (moment->idle_since_ns == NULL && threads > 0) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < threads; i++) {
        moment->idle_since_ns[i] = INT64_MIN;
    }
    int error = mxp__instances_read(process, visit_open, moment, &moment->is_damaged);
    if (error == MXP_OK) {
        error = read_counters(moment, process);
    }
    if (error == MXP_OK) {
        error = find_step(moment, process);
    }
    mxp__instances_sort(&moment->open);
    if (error == MXP_OK) {
        error = mxp__instances_nest(&moment->open);
    }
    if (moment->counter_count > 1) {
        qsort(moment->counters, moment->counter_count, sizeof *moment->counters, by_name);
    }
    return error;
}

void mxp__moment_fini(mxp_moment *moment)
{
    mxp__instances_fini(&moment->open);
    mxp__free(moment->idle_since_ns, moment->source->thread_count * sizeof *moment->idle_since_ns);
    mxp__id_map_fini(&moment->counter_places);
    mxp__free(moment->counters, moment->counter_capacity * sizeof *moment->counters);
}
