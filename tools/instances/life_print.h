// SPDX-License-Identifier: Apache-2.0
// A life as text, one line an instance, and as JSON.
#ifndef MXP_TOOLS_LIFE_PRINT_H
#define MXP_TOOLS_LIFE_PRINT_H

#include "instances/life.h"
#include "text/json_writer.h"

typedef struct mxp_life_view {
    const char *title;  // "request=137"
    const mxp_instances *rows;
    const mxp_life *life;
    bool several_processes;
    bool all_rows;  // else the shortest of many are only counted
} mxp_life_view;

void mxp__life_put(const mxp_life_view *view, const mxp_screen *screen, mxp_strbuf *out);
void mxp__life_json(const mxp_life_view *view, mxp_strbuf *out);

// Instances one below the other, as they are sorted, with when, where and what of each.
void mxp__instances_put(const mxp_instances *list, bool several_processes, const mxp_screen *screen,
                        mxp_strbuf *out);
// As members of the row of JSON that is being written.
void mxp__instance_json(mxp_json *json, const mxp_instance *instance);
void mxp__life_json_parts(mxp_json *json, const mxp_life *life);  // "parts"

#endif
