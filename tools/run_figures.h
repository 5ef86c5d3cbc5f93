// SPDX-License-Identifier: Apache-2.0
// The figures of a run in words and as JSON: what run_summary.c prints.
#ifndef MXP_TOOLS_RUN_FIGURES_H
#define MXP_TOOLS_RUN_FIGURES_H

#include "own_times.h"
#include "run_summary.h"
#include "summary.h"

typedef struct mxp_run_figures {
    mxp_summary summary;
    mxp_own_times times;  // ranked
    uint64_t foreign;  // marks that fit nothing, which are among the lost
    size_t brief;  // functions that took less than 20 times what recording them cost
    size_t processes, living;  // living: that record on
    uint32_t living_pid;  // of one of them
    char names_full[128];  // which category used up the names of a process; "": none did
} mxp_run_figures;

// "mxprof: PROGRAM ended with 0 after 1.00 s", without an end of the line.
void mxp__run_put_end(const mxp_run_result *result, mxp_strbuf *out);
// What to type next, a line; and one more where that counts files of earlier runs.
void mxp__run_put_next(const mxp_run_result *result, mxp_strbuf *out);
void mxp__run_put_others(const mxp_run_result *result, mxp_strbuf *out);
// `text` as it can be typed in a shell.
void mxp__run_put_typed(mxp_strbuf *out, const char *text);
// All lines.
void mxp__run_put_text(const mxp_run_result *result, const mxp_run_figures *figures,
                       mxp_strbuf *out);
// One object. `figures` null: they could not be had.
void mxp__run_put_json(const mxp_run_result *result, const mxp_run_figures *figures,
                       mxp_strbuf *out);

#endif
