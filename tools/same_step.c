// SPDX-License-Identifier: Apache-2.0
// See same_step.h.
#include "same_step.h"

#include <mxprof/error.h>

#include "base/fail.h"
#include "base/id_map.h"
#include "profiler/trace/merge.h"

typedef struct numbered {
    uint64_t key;  // the number, plus 1
    size_t plain, ended;  // processes of which it is a plain step, or one with an end
    size_t last_process;  // that has it, plus 1
    double length_ns;  // of all processes together
    int64_t end_ns;  // of the first process
    bool is_repeated;  // a process has the number twice: which one is meant nobody knows
} numbered;

typedef struct search {
    mxp_id_map numbers;
    size_t processes;  // with steps
} search;

static int add_step(search *self, const mxp_step_window *step)
{
    if (step->is_open || step->number == UINT64_MAX) {
        return MXP_OK;
    }
    numbered *of = mxp__id_map_add(&self->numbers, step->number + 1);
    if (of == NULL) {
        return mxp__fail_memory("steps of several processes");
    }
    of->is_repeated |= of->last_process == self->processes;
    of->last_process = self->processes;
    of->end_ns = self->processes == 1 ? step->end_ns : of->end_ns;
    of->plain += mxp__step_is_plain(step);
    of->ended++;
    of->length_ns += (double)step->end_ns - (double)step->begin_ns;
    return MXP_OK;
}

static int add_process(search *self, mxp_source *process)
{
    mxp_steps steps;
    int error = mxp__steps_find(process, &steps);
    if (error != MXP_OK) {
        return error;
    }
    self->processes += steps.count > 0;
    for (size_t i = 0; error == MXP_OK && i < steps.count; i++) {
        error = add_step(self, &steps.all[i]);
    }
    mxp__steps_fini(&steps);
    return error;
}

// Of equals the first one, for the map has no order.
static const numbered *better(const numbered *a, const numbered *b, bool is_last)
{
    if (a == NULL) {
        return b;
    }
    const double x = is_last ? (double)a->end_ns : a->length_ns;
    const double y = is_last ? (double)b->end_ns : b->length_ns;
    return x != y ? (x < y ? b : a) : a->key < b->key ? a : b;
}

static const numbered *choose(const search *self, bool must_be_plain, bool is_last)
{
    const numbered *best = NULL, *at = NULL;
    while ((at = mxp__id_map_next(&self->numbers, at)) != NULL) {
        const size_t have = must_be_plain ? at->plain : at->ended;
        if (have == self->processes && !at->is_repeated) {
            best = better(best, at, is_last);
        }
    }
    return best;
}

int mxp__same_step(mxp_source *source, mxp_choice_wish *wish)
{
    const bool is_last = wish->steps == MXP_STEPS_LAST;
    if (source->process_count < 2 || (!is_last && wish->steps != MXP_STEPS_SLOWEST)) {
        return MXP_OK;
    }
    search self = {.numbers = {.entry_bytes = sizeof(numbered)}};
    mxp_source *process;
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && (process = mxp__source_process(source, i)) != NULL; i++) {
        error = add_process(&self, process);
    }
    if (error == MXP_OK && self.processes > 1) {
        const numbered *found = choose(&self, !is_last, is_last);
        found = found == NULL ? choose(&self, false, is_last) : found;
        if (found != NULL) {
            wish->steps = MXP_STEPS_RANGE;
            wish->first = wish->last = found->key - 1;
        }
    }
    mxp__id_map_fini(&self.numbers);
    return error;
}
