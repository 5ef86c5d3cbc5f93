// SPDX-License-Identifier: Apache-2.0
// What the files of the command `whatif` share.
#ifndef MXP_TOOLS_WHATIF_VIEW_H
#define MXP_TOOLS_WHATIF_VIEW_H

#include "profiler/analysis/replay/what_if.h"
#include "profiler/analysis/window/choice.h"
#include "text/json_writer.h"
#include "text/screen.h"

enum { MXP_WHATIF_BEST = 10, MXP_WHATIF_CHANGES_MAX = 64 };

// Single changes that might be worth it, each a set: what takes most of the path twice as fast.
typedef struct mxp_whatif_candidates {
    mxp_change *changes;
    mxp_change_set *sets;  // of one change each
    char **globs;  // of the changes
    size_t count, capacity, set_capacity, glob_capacity;
} mxp_whatif_candidates;

// Steps as of mxp__what_if: without any, the time from first_ns to last_ns. MXP_ENOMEM, or the
// error of a path.
int mxp__whatif_candidates_find(mxp_source *process, const mxp_steps *steps, const bool *chosen,
                                uint64_t limit_bytes, mxp_whatif_candidates *candidates);
void mxp__whatif_candidates_fini(mxp_whatif_candidates *candidates);

// Told of the best changes as they stand in the document.
typedef void mxp_whatif_shown(void *context, const mxp_what_if *result,
                              const mxp_change_set *const *order, size_t count);

// Appends what `mxprof whatif --json` prints of a process without changes of the caller's: the best
// single ones. `shown` may be null. As mxp__what_if.
int mxp__whatif_best_json(mxp_source *process, const mxp_steps *steps, const mxp_choice *choice,
                          uint64_t limit_bytes, mxp_json *json, mxp_whatif_shown *shown,
                          void *context);

// `order`: sets in the order in which they are shown, `count` of them.
void mxp__whatif_print(const mxp_what_if *result, const mxp_change_set *const *order, size_t count,
                       const mxp_screen *screen, mxp_strbuf *out);
void mxp__whatif_json(const mxp_what_if *result, const mxp_steps *steps,
                      const mxp_change_set *const *order, size_t count, mxp_json *json);
// The member "slack" of that document: by how much operators may end later without a step ending
// later, by name, scope and phase.
void mxp__whatif_slack_json(const mxp_what_if *result, mxp_json *json);

#endif
