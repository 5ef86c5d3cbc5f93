// SPDX-License-Identifier: Apache-2.0
// Which instances of a process the options of a command choose. A window that was not asked for is
// everything: single instances are looked for wherever they are, in first-run steps too.
#ifndef MXP_TOOLS_SELECTED_H
#define MXP_TOOLS_SELECTED_H

#include "instances/instance.h"
#include "selection.h"

typedef struct mxp_selected {
    const mxp_source *process;
    mxp_steps steps;
    mxp_choice choice;
    mxp_filter filter;
    bool has_window, has_steps, has_filter;
} mxp_selected;

// -1, or the exit code after an error line. Of several processes the selection is shared
// (mxp__selection_share). The caller frees it in any case.
int mxp__selected_make(const mxp_command *command, const mxp_selection *selection,
                       mxp_source *process, mxp_selected *selected);
void mxp__selected_fini(mxp_selected *selected);

// Whether the instance fits the filters and has a part of its time in the window.
bool mxp__selected_takes(const mxp_selected *selected, const mxp_instance *instance);
// The same for the window alone.
bool mxp__selected_in_window(const mxp_selected *selected, const mxp_instance *instance);
// From where to where the window goes.
void mxp__selected_extent(const mxp_selected *selected, int64_t *begin_ns, int64_t *end_ns);

#endif
