// SPDX-License-Identifier: Apache-2.0
// Which times of a trace are shown to the nanosecond in any case: of each process the slowest step,
// the median one, the first, the last, those that explain tells of, and what was asked for.
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "view/view.h"

static int add_window(mxp_view *view, int64_t from_ns, int64_t until_ns, mxp_page_zone zone)
{
    if (mxp__grow(&view->windows, &view->window_capacity, view->window_count + 1,
                  sizeof *view->windows) != MXP_OK) {
        return mxp__fail_memory("the times of the page");
    }
    view->windows[view->window_count++] = (mxp_zone_window){
        .from_ns = from_ns - view->page.begin_ns,
        .until_ns = until_ns - view->page.begin_ns,
        .zone = zone,
    };
    return MXP_OK;
}

static int add_step(mxp_view *view, const mxp_step_window *step, mxp_page_zone zone)
{
    const int64_t begin_ns = step->mark_ns < step->begin_ns ? step->mark_ns : step->begin_ns;
    return add_window(view, begin_ns, step->end_ns, zone);
}

typedef struct step_length {
    int64_t ns;
    size_t step;
} step_length;

static int by_length(const void *one, const void *other)
{
    const step_length *a = one, *b = other;
    return a->ns != b->ns ? (a->ns < b->ns ? -1 : 1) : (a->step < b->step ? -1 : 1);
}

// The slowest step and the median one.
static int add_typical(mxp_view *view, const mxp_steps *steps)
{
    const size_t bytes = steps->count * sizeof(step_length);
    step_length *lengths = mxp__alloc(bytes);
    if (lengths == NULL) {
        return mxp__fail_memory("the times of the page");
    }
    for (size_t i = 0; i < steps->count; i++) {
        lengths[i] = (step_length){steps->all[i].end_ns - steps->all[i].begin_ns, i};
    }
    qsort(lengths, steps->count, sizeof *lengths, by_length);
    int error = add_step(view, &steps->all[lengths[steps->count - 1].step], MXP_ZONE_FULL);
    if (error == MXP_OK) {
        error = add_step(view, &steps->all[lengths[steps->count / 2].step], MXP_ZONE_FULL);
    }
    mxp__free(lengths, bytes);
    return error;
}

// What --step, --from and --until chose.
static int add_asked(mxp_view *view, const mxp_steps *steps)
{
    const mxp_selection *asked = &view->wish->selection;
    mxp_choice choice;
    int error = MXP_OK;
    if (!mxp__selection_has_window(asked)) {
        return MXP_OK;
    }
    // It was looked for before all was read, so that only memory may be missing now.
    if (mxp__selection_window(view->command, asked, steps, &choice) >= 0) {
        view->is_told = true;
        return MXP_ENOMEM;
    }
    if (choice.steps == NULL) {
        error = add_window(view, choice.from_ns, choice.until_ns, MXP_ZONE_FULL);
    }
    for (size_t i = 0; choice.steps != NULL && i < steps->count && error == MXP_OK; i++) {
        error = choice.steps[i] ? add_step(view, &steps->all[i], MXP_ZONE_FULL) : MXP_OK;
    }
    mxp__choice_fini(&choice);
    return error;
}

// Where what explain tells is to be seen.
static int add_told(mxp_view *view, const mxp_explained *of)
{
    const size_t process = mxp__view_process_of(view, of);
    int error = MXP_OK;
    for (size_t i = 0; i < of->verdict.told && process != SIZE_MAX && error == MXP_OK; i++) {
        const size_t place = mxp__view_told_step(of, &of->verdict.causes.all[i]);
        if (place != SIZE_MAX) {
            error =
                add_step(view, &view->report.processes[process].steps.all[place], MXP_ZONE_KEPT);
        }
    }
    return error;
}

static int add_process(mxp_view *view, const mxp_steps *steps)
{
    int error = add_asked(view, steps);
    if (steps->count == 0 || error != MXP_OK) {
        return error;
    }
    error = add_step(view, &steps->all[0], MXP_ZONE_KEPT);
    if (error == MXP_OK) {
        error = add_step(view, &steps->all[steps->count - 1], MXP_ZONE_KEPT);
    }
    return error == MXP_OK ? add_typical(view, steps) : error;
}

// ---- apart -------------------------------------------------------------------------------------
static int by_begin(const void *one, const void *other)
{
    const mxp_zone_window *a = one, *b = other;
    return a->from_ns != b->from_ns ? (a->from_ns < b->from_ns ? -1 : 1)
                                    : (a->zone > b->zone ? -1 : a->zone < b->zone);
}

// Makes them follow one another: windows that overlap become one, with the higher of their zones.
static void join_windows(mxp_view *view)
{
    size_t count = 0;
    if (view->window_count > 0) {
        qsort(view->windows, view->window_count, sizeof *view->windows, by_begin);
    }
    for (size_t i = 0; i < view->window_count; i++) {
        const mxp_zone_window *next = &view->windows[i];
        mxp_zone_window *last = count > 0 ? &view->windows[count - 1] : NULL;
        if (last != NULL && next->from_ns < last->until_ns) {
            last->until_ns = next->until_ns > last->until_ns ? next->until_ns : last->until_ns;
            last->zone = next->zone > last->zone ? next->zone : last->zone;
        } else {
            view->windows[count++] = *next;
        }
    }
    view->window_count = count;
}

int mxp__view_windows(mxp_view *view)
{
    int error = MXP_OK;
    for (size_t i = 0; i < view->process_count && error == MXP_OK; i++) {
        error = add_process(view, &view->report.processes[i].steps);
    }
    for (size_t i = 0; view->is_explained && i < view->explain.count && error == MXP_OK; i++) {
        error = add_told(view, &view->explain.all[i]);
    }
    join_windows(view);
    return error;
}
