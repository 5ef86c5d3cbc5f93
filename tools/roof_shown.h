// SPDX-License-Identifier: Apache-2.0
// What `mxprof roof` shows of one process: found by roof_command.c, written by roof_text.c and
// roof_json.c.
#ifndef MXP_TOOLS_ROOF_SHOWN_H
#define MXP_TOOLS_ROOF_SHOWN_H

#include "profiler/analysis/roof/roof.h"
#include "profiler/analysis/window/filter.h"
#include "text/screen.h"

typedef struct mxp_roof_shown {
    mxp_source *source;  // one process
    mxp_ceilings ceilings;
    mxp_steps steps;
    mxp_choice choice;
    mxp_filter filter;  // groups
    mxp_roof roof;
    bool has_path;
    size_t top;  // groups
    mxp_screen screen;
} mxp_roof_shown;

void mxp__ceilings_text(const mxp_ceilings *ceilings, const mxp_screen *screen, mxp_strbuf *out);
void mxp__roof_text(const mxp_roof_shown *shown, mxp_strbuf *out);

void mxp__ceilings_json(const mxp_ceilings *ceilings, mxp_strbuf *out);
void mxp__roof_json(const mxp_roof_shown *shown, mxp_strbuf *out);

static inline bool mxp__roof_takes(const mxp_roof_shown *shown, const mxp_roof_group *group)
{
    return mxp__filter_takes_id(&shown->filter, MXP_FILTER_NAME, group->name) &&
           mxp__filter_takes_id(&shown->filter, MXP_FILTER_SCOPE, group->scope);
}

#endif
