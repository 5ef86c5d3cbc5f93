// SPDX-License-Identifier: Apache-2.0
#include "instances/selected.h"

#include <mxprof/error.h>

static int make_window(const mxp_command *command, const mxp_selection *selection,
                       mxp_source *process, mxp_selected *selected)
{
    if (mxp__steps_find(process, &selected->steps) != MXP_OK) {
        return mxp__command_failed(command);
    }
    selected->has_steps = true;
    int code = mxp__selection_window(command, selection, &selected->steps, &selected->choice);
    selected->has_window = code < 0;
    return code;
}

int mxp__selected_make(const mxp_command *command, const mxp_selection *selection,
                       mxp_source *process, mxp_selected *selected)
{
    *selected = (mxp_selected){.process = process};
    int code = mxp__selection_has_window(selection)
                   ? make_window(command, selection, process, selected)
                   : -1;
    if (code < 0) {
        code = mxp__selection_filter(command, selection, process, &selected->filter);
        selected->has_filter = code < 0;
    }
    return code;
}

void mxp__selected_fini(mxp_selected *selected)
{
    if (selected->has_window) {
        mxp__choice_fini(&selected->choice);
    }
    if (selected->has_steps) {
        mxp__steps_fini(&selected->steps);
    }
    if (selected->has_filter) {
        mxp__filter_fini(&selected->filter);
    }
    *selected = (mxp_selected){.process = NULL};
}

// ---- instances ---------------------------------------------------------------------------------
// Steps may be chosen that do not follow one another.
static bool in_steps(const mxp_choice *choice, const mxp_instance *instance)
{
    const mxp_steps *steps = choice->of;
    size_t i = mxp__steps_after(steps, instance->begin_ns);
    while (i < steps->count && steps->all[i].begin_ns < instance->end_ns && !choice->steps[i]) {
        i++;
    }
    return i < steps->count && steps->all[i].begin_ns < instance->end_ns;
}

bool mxp__selected_in_window(const mxp_selected *selected, const mxp_instance *instance)
{
    const mxp_choice *choice = &selected->choice;
    if (!selected->has_window) {
        return true;
    }
    return choice->steps != NULL
               ? in_steps(choice, instance)
               : instance->begin_ns < choice->until_ns && instance->end_ns >= choice->from_ns;
}

bool mxp__selected_takes(const mxp_selected *selected, const mxp_instance *instance)
{
    uint32_t scope = 0;
    unsigned phase = MXP_PHASE_NONE;
    if (instance->kind == MXP_KIND_OPERATOR || instance->kind == MXP_KIND_HIDDEN) {
        const mxp_event event = mxp__instance_event(instance);
        mxp_operator_view view;
        mxp__event_operator(&event, &view);
        scope = view.scope;
        phase = instance->flags & MXP_OP_PHASE_MASK;
    }
    return mxp__filter_takes(&selected->filter, instance->name, scope, instance->thread, phase) &&
           mxp__selected_in_window(selected, instance);
}

void mxp__selected_extent(const mxp_selected *selected, int64_t *begin_ns, int64_t *end_ns)
{
    const mxp_choice *choice = &selected->choice;
    bool is_first = true;
    *begin_ns = choice->from_ns;
    *end_ns = choice->until_ns;
    for (size_t i = 0; choice->steps != NULL && i < choice->of->count; i++) {
        if (choice->steps[i]) {
            *begin_ns = is_first ? choice->of->all[i].begin_ns : *begin_ns;
            *end_ns = choice->of->all[i].end_ns;
            is_first = false;
        }
    }
}
