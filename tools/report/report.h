// SPDX-License-Identifier: Apache-2.0
// What `mxprof report` knows before it prints: the windows of all processes, and the rows of where
// their time went. Each report_*.c prints one part of it.
#ifndef MXP_TOOLS_REPORT_H
#define MXP_TOOLS_REPORT_H

#include "profiler/analysis/time/time_tree.h"
#include "selection.h"
#include "summary.h"
#include "text/screen.h"

typedef enum mxp_report_by {
    MXP_BY_NOTHING,  // the whole report
    MXP_BY_LAYER,
    MXP_BY_SCOPE,
    MXP_BY_STEP,
    MXP_BY_PATH,
} mxp_report_by;

typedef struct mxp_report_wish {
    int by;  // mxp_report_by
    int tree, json, csv, force, per_process;
    bool leaves_steps_out;  // of JSON: the list of steps is empty
    bool leaves_path_out;  // the caller adds it (mxp__report_add_path)
    int key;  // mxp_time_key, or -1: as it is usual
    size_t depth;  // of layers or of the tree; 0: as it is usual
    double least;  // share below which rows of the tree are folded
    size_t top;  // rows of a table, 0: as it is usual
    uint64_t memory_bytes;  // limit of a window's graph
    mxp_selection selection;
    mxp_screen screen;
} mxp_report_wish;

typedef struct mxp_report_process {
    mxp_source *source;
    mxp_steps steps;
    mxp_choice choice;
    mxp_filter filter;
    bool has_filter;
    bool counts;  // its time is a part of all: it has steps, or none has
} mxp_report_process;

typedef struct mxp_time_report {
    const mxp_command *command;
    mxp_input *input;
    const mxp_report_wish *wish;
    mxp_selection selection;  // the wish's, shared by the processes
    const mxp_screen *screen;
    mxp_summary summary;  // of everything, whatever is chosen
    mxp_report_process *processes;
    size_t process_count;
    mxp_time_rows rows;
    char no_path[256];  // why there is no path; "": there is one, or nothing to have one of
} mxp_time_report;

// Reads it all. -1, or the exit code after an error line.
int mxp__report_make(const mxp_command *command, mxp_input *input, const mxp_report_wish *wish,
                     mxp_time_report *report);
// Adds a process's path; `known`: where it was walked already, of the same steps, or null. What
// does not fit into memory is a reason why there is none. MXP_ENOMEM, or an error of the source.
int mxp__report_add_path(mxp_time_report *report, const mxp_report_process *process,
                         const mxp_path_rows *known);
void mxp__report_fini(mxp_time_report *report);

// By what all sums are divided: the steps, or 1 where there are none.
static inline double mxp__report_per(const mxp_time_report *report)
{
    return report->rows.steps > 0 ? (double)report->rows.steps : 1;
}

// How many of `count` rows are shown: at most `most`, and one more rather than a row "1 others".
static inline size_t mxp__report_shown(size_t count, size_t most)
{
    return count == 0 || count - 1 <= most ? count : most;
}

// " (backward)", behind the name of an operator that is there in several phases; "" of none.
static inline const char *mxp__report_phase(uint8_t phase)
{
    static const char *const texts[] = {"", " (forward)", " (backward)", " (update)",
                                        " (communication)"};
    return phase < MXP_PHASES ? texts[phase] : "";
}

// The order of rows where none is asked for: by path where there is one.
mxp_time_key mxp__report_key(const mxp_time_report *report);
bool mxp__report_has_operators(const mxp_time_report *report);
// Whether parts of the program marked steps.
bool mxp__report_has_steps(const mxp_time_report *report);

// ---- text (report_text.c, report_layers.c, report_rows.c, report_tree.c, report_steps.c) -------
int mxp__report_text(mxp_time_report *report, mxp_strbuf *out);
int mxp__report_put_layers(mxp_time_report *report, uint32_t depth, mxp_strbuf *out);
int mxp__report_put_operators(mxp_time_report *report, mxp_strbuf *out);
int mxp__report_put_spans(mxp_time_report *report, size_t most, mxp_strbuf *out);
int mxp__report_put_trees(mxp_time_report *report, mxp_strbuf *out);
// The tree of calls of all processes, ranked. mxp__time_tree_fini is due whatever it returns.
int mxp__report_call_tree(mxp_time_report *report, mxp_time_tree *tree);
int mxp__report_put_steps(mxp_time_report *report, mxp_strbuf *out);
// What a distributed store counted without records (report_counted.c).
int mxp__report_put_counted(mxp_time_report *report, mxp_strbuf *out);
int mxp__report_put_path(mxp_time_report *report, mxp_strbuf *out);
// The line of steps, and which are the slowest.
void mxp__report_put_summary(mxp_time_report *report, mxp_strbuf *out);
// What is missing, lost or doubtful, and what recording cost.
void mxp__report_put_quality(const mxp_time_report *report, mxp_strbuf *out);
// What a process's trace says that it does not have, of the first that does. Null: nothing.
const char *mxp__report_incomplete(const mxp_time_report *report);

// ---- for programs (report_json.c, report_csv.c) ------------------------------------------------
int mxp__report_json(mxp_time_report *report, mxp_strbuf *out);
int mxp__report_csv(mxp_time_report *report, mxp_strbuf *out);

#endif
