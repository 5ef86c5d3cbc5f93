// SPDX-License-Identifier: Apache-2.0
// See explain_view.h.
#include "explain_view.h"

#include <assert.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "ceilings_file.h"
#include "explain_ranks.h"

static const char memory_for[] = "what is said of a trace";

// Everything that was recorded as one step, so that a trace without marks has a path too.
static int make_one_step(mxp_explained *of)
{
    mxp_steps *steps = &of->steps;
    const int64_t from_ns = of->choice.from_ns, until_ns = of->choice.until_ns;
    mxp__choice_fini(&of->choice);
    steps->all = mxp__alloc(sizeof *steps->all);
    steps->mark_ticks = mxp__alloc(sizeof *steps->mark_ticks);
    of->choice = (mxp_choice){.of = steps, .steps = mxp__alloc(sizeof *of->choice.steps)};
    if (steps->all == NULL || steps->mark_ticks == NULL || of->choice.steps == NULL) {
        return mxp__fail_memory(memory_for);
    }
    steps->count = 1;
    steps->thread = MXP__PATH_ANY_THREAD;
    steps->all[0] = (mxp_step_window){.mark_ns = from_ns,
                                      .begin_ns = from_ns,
                                      .end_ns = until_ns,
                                      .cpu_ns = MXP__NOT_RECORDED,
                                      .run_delay_ns = MXP__NOT_RECORDED};
    of->choice.steps[0] = true;
    of->choice.step_count = 1;
    of->choice.wall_ns = (uint64_t)(until_ns - from_ns);
    return MXP_OK;
}

// Of a time: the plain steps that lie within it.
static int take_steps_within(mxp_explained *of)
{
    const mxp_steps *steps = &of->steps;
    mxp_choice *choice = &of->choice;
    choice->steps = mxp__alloc(steps->count * sizeof *choice->steps);
    if (choice->steps == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < steps->count; i++) {
        const mxp_step_window *step = &steps->all[i];
        const bool is_within =
            step->begin_ns >= choice->from_ns && step->end_ns <= choice->until_ns;
        choice->steps[i] = is_within && mxp__step_is_plain(step);
        choice->step_count += choice->steps[i];
    }
    assert(choice->step_count > 0 && "the caller looked for one");
    return MXP_OK;
}

static void explained_fini(mxp_explained *of)
{
    mxp__path_view_fini(&of->path);
    mxp__verdict_fini(&of->verdict);
    mxp__facts_fini(&of->facts);
    mxp__choice_fini(&of->choice);
    mxp__steps_fini(&of->steps);
}

// The ceilings of the trace's machine: without them layers are told by their share alone.
static int find_ceilings(mxp_explained *of, const char *file)
{
    mxp_machine machine;
    mxp_strbuf path = {0};
    if (file != NULL) {
        of->facts.ceilings = &of->ceilings;
        return mxp__ceilings_read(file, &of->ceilings);
    }
    int error = MXP_OK;
    if (mxp__machine_of_trace(of->process, &machine) &&
        mxp__ceilings_path(&machine, false, &path) == MXP_OK &&
        access(mxp__strbuf_text(&path), F_OK) == 0) {
        of->facts.ceilings = &of->ceilings;
        error = mxp__ceilings_read(mxp__strbuf_text(&path), &of->ceilings);
    }
    mxp__strbuf_fini(&path);
    return error;
}

// The facts, and the path of the same walk.
static int make_facts(mxp_explained *of, bool keeps_path, uint64_t limit_bytes)
{
    const bool is_one = of->choice.step_count == 1;
    if (!keeps_path || !of->is_marked) {
        return mxp__facts_make(of->process, &of->steps, &of->choice, limit_bytes, NULL, &of->facts);
    }
    int error = mxp__path_view_begin(of->process, &of->choice, is_one, &of->path);
    if (error != MXP_OK) {
        return error;
    }
    const mxp_path_listener listener = mxp__path_view_listener(&of->path);
    error =
        mxp__facts_make(of->process, &of->steps, &of->choice, limit_bytes, &listener, &of->facts);
    if (error == MXP_OK) {
        mxp__path_view_bound(&of->path, &of->facts);
        of->has_path = true;
    }
    return error;
}

static int explain(mxp_explained *of, const mxp_explain_view *view, uint64_t limit_bytes)
{
    int error = !of->is_marked             ? make_one_step(of)
                : of->choice.steps == NULL ? take_steps_within(of)
                                           : MXP_OK;
    if (error == MXP_OK) {
        error = make_facts(of, view->keeps_paths, limit_bytes);
    }
    if (error == MXP_OK) {
        error = find_ceilings(of, view->ceilings);
    }
    return error == MXP_OK ? mxp__verdict_make(&of->facts, limit_bytes, &of->verdict) : error;
}

int mxp__explain_view_add(mxp_explain_view *view, mxp_source *process, mxp_steps *steps,
                          mxp_choice *choice, uint64_t limit_bytes)
{
    // Facts point to the steps and the choice next to them, so each stays where it is.
    if (view->count == view->capacity) {
        mxp__choice_fini(choice);
        mxp__steps_fini(steps);
        return mxp__fail(MXP_ENOMEM, "%zu processes are more than were expected", view->count + 1);
    }
    mxp_explained *of = &view->all[view->count++];
    *of = (mxp_explained){
        .process = process, .steps = *steps, .choice = *choice, .is_marked = steps->count > 0};
    of->choice.of = &of->steps;
    *steps = (mxp_steps){0};
    *choice = (mxp_choice){0};
    return explain(of, view, limit_bytes);
}

// What each process did in its steps itself: without communication.
static int own_steps(const mxp_explained *of, mxp_own_steps *own)
{
    const mxp_facts *facts = &of->facts;
    uint64_t *numbers = mxp__alloc(facts->count * sizeof *numbers);
    double *own_ns = mxp__alloc(facts->count * sizeof *own_ns);
    *own = (mxp_own_steps){
        .pid = of->process->pid, .numbers = numbers, .own_ns = own_ns, .count = facts->count};
    if (facts->count > 0 && (numbers == NULL || own_ns == NULL)) {
        return mxp__fail_memory(memory_for);
    }
    int error = mxp__facts_kinds(facts, 1u << MXP__PATH_COMMUNICATION, own_ns);
    for (size_t i = 0; error == MXP_OK && i < facts->count; i++) {
        numbers[i] = of->steps.all[facts->at[i].place].number;
        own_ns[i] = facts->at[i].wall_ns - own_ns[i];
    }
    return error;
}

int mxp__explain_view_pair(mxp_explain_view *view)
{
    const size_t bytes = view->count * sizeof(mxp_own_steps);
    size_t marked = 0;
    for (size_t i = 0; i < view->count; i++) {
        marked += view->all[i].is_marked;
    }
    if (view->count < 2 || marked < view->count) {
        return MXP_OK;
    }
    mxp_own_steps *own = mxp__alloc(bytes);
    int error = own == NULL ? mxp__fail_memory(memory_for) : MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < view->count; i++) {
        error = own_steps(&view->all[i], &own[i]);
    }
    if (error == MXP_OK) {
        error = mxp__imbalance_find(own, view->count, &view->imbalance);
        view->is_paired = error == MXP_OK;
    }
    for (size_t i = 0; own != NULL && i < view->count; i++) {
        mxp__free((void *)own[i].numbers, own[i].count * sizeof *own[i].numbers);
        mxp__free((void *)own[i].own_ns, own[i].count * sizeof *own[i].own_ns);
    }
    mxp__free(own, bytes);
    return error;
}

void mxp__explain_view_fini(mxp_explain_view *view)
{
    mxp__imbalance_fini(&view->imbalance);
    mxp__explain_ranks_free(view->ranks);
    for (size_t i = 0; i < view->count; i++) {
        explained_fini(&view->all[i]);
    }
    mxp__free(view->all, view->capacity * sizeof *view->all);
    mxp__strbuf_fini(&view->note);
    *view = (mxp_explain_view){0};
}

const mxp_explained *mxp__explain_view_shown(const mxp_explain_view *view)
{
    if (view->ranks != NULL) {
        return view->ranks->shown;
    }
    if (view->is_paired && view->imbalance.pairs > 0) {
        return &view->all[view->imbalance.slowest];
    }
    const mxp_explained *shown = &view->all[0];
    for (size_t i = 1; i < view->count; i++) {
        const bool is_slower = view->all[i].verdict.mean_ns > shown->verdict.mean_ns;
        shown = view->all[i].is_marked && (is_slower || !shown->is_marked) ? &view->all[i] : shown;
    }
    return shown;
}
