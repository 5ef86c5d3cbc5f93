// SPDX-License-Identifier: Apache-2.0
#include "memory_choice.h"

#include <fnmatch.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

// ---- moments -----------------------------------------------------------------------------------
static int choose_moment(const mxp_command *self, const mxp_memory_options *options,
                         mxp_memory_shown *view)
{
    int64_t ns;
    view->at_ns = INT64_MAX;
    if (options->at == NULL || strcmp(options->at, "peak") == 0) {
        view->moment = MXP__MOMENT_PEAK;
    } else if (strcmp(options->at, "end") == 0) {
        view->moment = MXP__MOMENT_NOW;
    } else if (mxp__duration_parse(options->at + (options->at[0] == '-'), &ns)) {
        view->moment = MXP__MOMENT_TIME;
        view->at_ns = options->at[0] == '-' ? view->steps.last_ns - ns : ns;
        const bool is_outside =
            view->at_ns < view->steps.first_ns || view->at_ns > view->steps.last_ns;
        view->is_outside = is_outside && view->is_several;
        if (is_outside && !view->is_several) {
            return mxp__usage_error(self, "--at %s: the trace goes from %.6f s to %.6f s",
                                    options->at, (double)view->steps.first_ns / 1e9,
                                    (double)view->steps.last_ns / 1e9);
        }
    } else {
        return mxp__usage_error(
            self, "--at takes 'peak', 'end' or a time such as 1.5s or 20ms, and not '%s'",
            options->at);
    }
    return -1;
}

// The part of the recording in which the peak is looked for: from the first to the last chosen
// step.
static int choose_window(const mxp_command *self, const mxp_memory_options *options,
                         mxp_memory_shown *view)
{
    const mxp_selection *selection = &options->selection;
    mxp_choice choice;
    view->from_ns = INT64_MIN;
    view->until_ns = INT64_MAX;
    if (selection->step == NULL && selection->from == NULL && selection->until == NULL) {
        return -1;
    }
    int code = mxp__selection_window(self, selection, &view->steps, &choice);
    if (code >= 0) {
        return code;
    }
    if (choice.steps == NULL) {
        view->from_ns = choice.from_ns;
        view->until_ns = choice.until_ns;
        view->is_outside |= choice.from_ns == choice.until_ns;
    }
    for (size_t i = view->steps.count; choice.steps != NULL && i-- > 0;) {
        if (choice.steps[i]) {
            const mxp_step_window *step = &view->steps.all[i];
            view->until_ns = view->until_ns == INT64_MAX ? step->end_ns : view->until_ns;
            view->from_ns = step->begin_ns;
        }
    }
    mxp__choice_fini(&choice);
    return -1;
}

int mxp__memory_choose(const mxp_command *self, const mxp_memory_options *options,
                       mxp_memory_shown *view)
{
    int code = choose_moment(self, options, view);
    code = code < 0 ? choose_window(self, options, view) : code;
    mxp_selection scopes = options->selection;
    scopes.filter.counts[MXP_FILTER_NAME] = 0;  // arrays are not among a filter's names
    return code < 0 ? mxp__selection_filter(self, &scopes, view->source, &view->filter) : code;
}

// ---- arrays ------------------------------------------------------------------------------------
static int no_array(const mxp_command *self, const mxp_memory_shown *view, const char *glob)
{
    enum { NAMED = 5 };
    const char *names[MXP__OWNERS_MAX + 1] = {NULL};
    mxp_strbuf list = {0};
    size_t count = 0;
    const mxp_memory_owners *owners = &view->memory.devices[0]->owners;
    for (uint32_t i = MXP__OWNER_FIRST; i < owners->count; i++) {
        names[count++] = view->source->name(view->source, owners->owners[i].name).text;
        if (count <= NAMED) {
            mxp__strbuf_printf(&list, "%s'%s'", count == 1 ? "" : ", ", names[count - 1]);
        }
    }
    const char *closest = mxp__closest(glob, names);
    int code = closest != NULL
                   ? mxp__usage_error(self, "no array fits '%s'; did you mean '%s'?", glob, closest)
                   : mxp__usage_error(self, "no array fits '%s'; some that there are: %s", glob,
                                      mxp__strbuf_text(&list));
    mxp__strbuf_fini(&list);
    return code;
}

// Marks the arrays of one glob. False: there are none.
static bool mark_arrays(mxp_memory_shown *view, const char *glob)
{
    bool *chosen = view->filter.chosen[MXP_FILTER_NAME], found = false;
    for (size_t i = 0; i < view->memory.count; i++) {
        const mxp_memory_owners *owners = &view->memory.devices[i]->owners;
        for (uint32_t k = MXP__OWNER_FIRST; k < owners->count; k++) {
            uint32_t id = owners->owners[k].name;
            if (id < view->source->name_count &&
                fnmatch(glob, view->source->name(view->source, id).text, 0) == 0) {
                chosen[id] = found = true;
            }
        }
    }
    return found;
}

int mxp__memory_choose_arrays(const mxp_command *self, const mxp_memory_options *options,
                              mxp_memory_shown *view)
{
    const mxp_option_list *globs = &options->selection.names;
    view->fits_arrays = globs->count == 0;
    if (globs->count == 0 || view->memory.count == 0) {
        return -1;
    }
    bool *chosen = mxp__alloc(view->source->name_count * sizeof *chosen);
    if (chosen == NULL) {
        mxp__fail_memory("the names of arrays");
        return mxp__command_failed(self);
    }
    view->filter.chosen[MXP_FILTER_NAME] = chosen;
    view->filter.sizes[MXP_FILTER_NAME] = view->source->name_count;
    for (size_t i = 0; i < globs->count; i++) {
        const bool fits = mark_arrays(view, globs->words[i]);
        view->fits_arrays |= fits;
        if (!fits && !view->is_several) {
            return no_array(self, view, globs->words[i]);
        }
    }
    return -1;
}
