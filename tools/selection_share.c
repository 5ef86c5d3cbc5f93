// SPDX-License-Identifier: Apache-2.0
// What is chosen of several processes, as those of a job or of a run: one time for all of them, and
// filters that fit in one of them at least. What that is of each one, selection.c says.
#include <mxprof/error.h>

#include "profiler/trace/merge.h"
#include "same_step.h"
#include "selection.h"

void mxp__sharing_begin(mxp_sharing *sharing, const mxp_command *command, mxp_selection *selection)
{
    *sharing = (mxp_sharing){.command = command, .selection = selection};
}

static void widen(bool *has, int64_t *from_ns, int64_t *until_ns, int64_t first_ns, int64_t last_ns)
{
    *from_ns = !*has || first_ns < *from_ns ? first_ns : *from_ns;
    *until_ns = !*has || last_ns > *until_ns ? last_ns : *until_ns;
    *has = true;
}

static int add_filter(mxp_sharing *sharing, const mxp_source *process)
{
    mxp_filter filter;
    if (!mxp__selection_filters(sharing->selection)) {
        sharing->fits = true;
        return MXP_OK;
    }
    const int error = mxp__filter_make(process, &sharing->selection->filter, &filter);
    if (error == MXP_OK) {
        sharing->fits |= filter.empty_kind == MXP_FILTER_KINDS;
        mxp__filter_fini(&filter);
    }
    return error;
}

// That a process has none of these steps is an error only where no other one has them.
static int add_steps(mxp_sharing *sharing, const mxp_steps *steps)
{
    mxp_choice choice;
    if (steps->count == 0) {
        return MXP_OK;
    }
    const int error = mxp__choice_make(steps, &sharing->selection->window, &choice);
    if (error != MXP_OK) {
        sharing->lacks_steps |= error == MXP_EINVAL;
        return error == MXP_EINVAL ? MXP_OK : error;
    }
    for (size_t i = 0; i < steps->count; i++) {
        if (choice.steps[i]) {
            widen(&sharing->has_steps, &sharing->from_ns, &sharing->until_ns,
                  steps->all[i].begin_ns, steps->all[i].end_ns);
        }
    }
    mxp__choice_fini(&choice);
    return MXP_OK;
}

int mxp__sharing_add(mxp_sharing *sharing, const mxp_source *process, const mxp_steps *steps)
{
    sharing->first = sharing->first == NULL ? process : sharing->first;
    int error = add_filter(sharing, process);
    if (steps != NULL && steps->index.has_time) {
        widen(&sharing->whole.index.has_time, &sharing->whole.first_ns, &sharing->whole.last_ns,
              steps->first_ns, steps->last_ns);
    }
    if (error == MXP_OK && steps != NULL && sharing->selection->step != NULL) {
        error = add_steps(sharing, steps);
    }
    return error;
}

static int end_time(mxp_sharing *sharing)
{
    mxp_selection *selection = sharing->selection;
    mxp_choice choice;
    const int code = mxp__selection_window(sharing->command, selection, &sharing->whole, &choice);
    if (code < 0) {
        selection->shared_from_ns = choice.from_ns;
        selection->shared_until_ns = choice.until_ns;
        selection->has_shared_time = true;
        mxp__choice_fini(&choice);
    }
    return code;
}

// Where none has steps, each one says so.
static int end_steps(mxp_sharing *sharing)
{
    mxp_selection *selection = sharing->selection;
    if (!sharing->has_steps && sharing->lacks_steps) {
        (void)mxp__command_failed(sharing->command);
        return MXP_EXIT_USAGE;
    }
    selection->shared_from_ns = sharing->from_ns;
    selection->shared_until_ns = sharing->until_ns;
    selection->has_shared_time = sharing->has_steps;
    return -1;
}

int mxp__sharing_end(mxp_sharing *sharing)
{
    mxp_selection *selection = sharing->selection;
    mxp_filter filter;
    int code = -1;
    if (!sharing->fits && sharing->first != NULL) {  // says what is nearest, of the first one
        code = mxp__selection_filter(sharing->command, selection, sharing->first, &filter);
    }
    if (code < 0 && mxp__selection_has_window(selection)) {
        code = selection->step != NULL ? end_steps(sharing) : end_time(sharing);
    }
    selection->is_shared = code < 0;
    return code;
}

int mxp__selection_share(const mxp_command *command, mxp_selection *selection, mxp_source *source)
{
    const bool has_window = mxp__selection_has_window(selection);
    mxp_sharing sharing;
    mxp_source *process;
    if (source->process_count < 2) {
        return -1;
    }
    int error = mxp__same_step(source, &selection->window);
    mxp__sharing_begin(&sharing, command, selection);
    for (size_t i = 0; error == MXP_OK && (process = mxp__source_process(source, i)) != NULL; i++) {
        mxp_steps steps;
        error = has_window ? mxp__steps_find(process, &steps) : MXP_OK;
        if (error == MXP_OK) {
            error = mxp__sharing_add(&sharing, process, has_window ? &steps : NULL);
            if (has_window) {
                mxp__steps_fini(&steps);
            }
        }
    }
    return error == MXP_OK ? mxp__sharing_end(&sharing) : mxp__command_failed(command);
}
