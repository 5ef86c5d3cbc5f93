// SPDX-License-Identifier: Apache-2.0
// What the command `explain` says of a trace: of each process its steps and their causes, of
// several processes how even they are.
#ifndef MXP_TOOLS_EXPLAIN_VIEW_H
#define MXP_TOOLS_EXPLAIN_VIEW_H

#include "path_view.h"
#include "profiler/analysis/causes/imbalance.h"
#include "profiler/analysis/clocks/one_clock.h"
#include "text/json_writer.h"
#include "text/screen.h"

typedef struct mxp_explained {
    mxp_source *process;
    mxp_steps steps;  // of a trace without marks: one step that is all of it
    mxp_choice choice;
    bool is_marked;  // steps are
    mxp_ceilings ceilings;  // the facts point to them, if they are known
    mxp_facts facts;
    mxp_verdict verdict;
    mxp_path_view path;  // of the choice, if the view keeps paths and steps are marked
    bool has_path;
} mxp_explained;

typedef struct mxp_explain_view {
    const char *file;  // as the user named it
    const char *step, *from, *until;  // as given, or null: the next commands look at the same
    const char *ceilings;  // a file of them; null: those of the user's cache, if there are any
    bool is_imported;  // nothing in it tells what waited for what
    bool keeps_paths;  // for those who print what `mxprof path` does as well
    mxp_strbuf note;  // a line on what is counted, or none
    mxp_explained *all;
    size_t count, capacity;
    struct mxp_explain_ranks *ranks;  // of a job's workers; null: they do not tell
    bool is_paired;  // `imbalance` is of all processes
    mxp_imbalance imbalance;
} mxp_explain_view;

// Adds a process. Takes steps and choice, also on errors. MXP_ENOMEM, or an error of the source.
int mxp__explain_view_add(mxp_explain_view *view, mxp_source *process, mxp_steps *steps,
                          mxp_choice *choice, uint64_t limit_bytes);
// All processes of a source as `mxprof explain` takes them; the view has its file, notes and chosen
// steps in words already. `clocks`: of a job whose processes are on one clock, or null.
// MXP_ENOTSUP, with the reason: there is nothing to say. MXP_EINVAL: there are no such steps. Else
// as above.
int mxp__explain_view_take(mxp_source *source, const mxp_choice_wish *wish,
                           const mxp_one_clock *clocks, uint64_t limit_bytes,
                           mxp_explain_view *view);
// After all processes were added.
int mxp__explain_view_pair(mxp_explain_view *view);
void mxp__explain_view_fini(mxp_explain_view *view);

// The process whose causes are shown: of several the slowest.
const mxp_explained *mxp__explain_view_shown(const mxp_explain_view *view);

// "lenet:conv1/Convolution"; a scope or a name of its own; "" for neither.
void mxp__explain_place(const mxp_explained *of, const mxp_cause_place *place, mxp_strbuf *out);

// "mxprof COMMAND FILE", of the same steps or time, as a shell takes it.
void mxp__explain_command(const mxp_explain_view *view, const char *command, mxp_strbuf *out);

// A cause in words: one line; lines of evidence, each ended; the command that shows more, if there
// is one.
void mxp__cause_title(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                      mxp_strbuf *out);
void mxp__cause_evidence(const mxp_explained *of, const mxp_cause *cause, const mxp_screen *screen,
                         mxp_strbuf *out);
void mxp__cause_next(const mxp_explain_view *view, const mxp_explained *of, const mxp_cause *cause,
                     mxp_strbuf *out);

void mxp__explain_print(const mxp_explain_view *view, const mxp_screen *screen, mxp_strbuf *out);
void mxp__explain_json(const mxp_explain_view *view, mxp_json *json);

#endif
