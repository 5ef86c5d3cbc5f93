// SPDX-License-Identifier: Apache-2.0
// The critical path of one process as the command `path` prints it: of one step each piece, of many
// their sums.
#ifndef MXP_TOOLS_PATH_VIEW_H
#define MXP_TOOLS_PATH_VIEW_H

#include "command.h"
#include "profiler/analysis/causes/facts.h"
#include "profiler/analysis/path/step_bounds.h"
#include "profiler/analysis/window/scope_tree.h"
#include "text/json_writer.h"
#include "text/screen.h"

enum { MXP_PATH_LONGEST = 5 };

// A piece that was among the longest, without the graph that it came from.
typedef struct mxp_path_long {
    mxp_path_piece piece;
    uint32_t name, scope, phase;
    size_t step;
} mxp_path_long;

// One step's pieces; copied, because the graph is gone when they are printed.
typedef struct mxp_path_view {
    mxp_source *process;
    const mxp_choice *choice;
    mxp_path_rows rows;
    bool has_lent_rows;  // they are the facts', which outlive the view
    mxp_scope_tree scopes;
    uint32_t *node_of;  // scopes of the process
    mxp_path_long longest[MXP_PATH_LONGEST];  // the longest first
    size_t longest_count;
    mxp_path_long *pieces;  // all of them, of a single step or for JSON
    size_t piece_count, piece_capacity;
    bool keeps_pieces;
    bool has_waits;
    int64_t begin_ns;  // of the first window
    uint32_t from_thread;  // where the walk of a window without steps began
    // What each step needs at least, added up: operators' runs shared by the workers, the longest
    // chain of them, the program itself.
    bool has_bounds;
    double work_ns, dependent_ns, program_ns;
    size_t workers;
} mxp_path_view;

// Walks what was chosen, and finds the bounds of steps. `choice` and its steps must outlive the
// view. MXP_ENOMEM where a step needs more than `limit_bytes`.
int mxp__path_view_make(mxp_source *process, const mxp_choice *choice, uint64_t limit_bytes,
                        bool keeps_pieces, mxp_path_view *view);
// The same for its pieces alone, without bounds, in half the time.
int mxp__path_view_pieces(mxp_source *process, const mxp_choice *choice, uint64_t limit_bytes,
                          mxp_path_view *view);
// The same where others walk the chosen steps: they tell the listener of each path, and have the
// facts for bounds and rows, which the view reads as long as it is there. The view stays where it
// is until then.
int mxp__path_view_begin(mxp_source *process, const mxp_choice *choice, bool keeps_pieces,
                         mxp_path_view *view);
mxp_path_listener mxp__path_view_listener(mxp_path_view *view);
void mxp__path_view_bound(mxp_path_view *view, const mxp_facts *facts);
void mxp__path_view_fini(mxp_path_view *view);

// Whether there is no time in what was chosen, and so no path.
static inline bool mxp__path_view_is_empty(const mxp_path_view *view)
{
    return view->rows.steps == 0 || view->rows.total_ns == 0;
}

// Time of all pieces of a kind, ns.
uint64_t mxp__path_view_kind_ns(const mxp_path_view *view, int kind);
// "lenet:conv1/Convolution", "MXNDArrayWaitToRead", "between calls".
void mxp__path_view_label(const mxp_path_view *view, int kind, uint32_t name, uint32_t scope,
                          mxp_strbuf *out);
// "run lenet:conv1/Convolution", "between calls".
void mxp__path_view_put_place(const mxp_path_view *view, const mxp_screen *screen, int kind,
                              uint32_t name, uint32_t scope, mxp_strbuf *out);

void mxp__path_view_put_bounds(const mxp_path_view *view, const mxp_screen *screen,
                               mxp_strbuf *out);
// The layers with most of the path; the row that goes with the steps' length.
void mxp__path_view_put_layers(const mxp_path_view *view, const mxp_screen *screen,
                               mxp_strbuf *out);
void mxp__path_view_put_varying(const mxp_path_view *view, const mxp_steps *steps,
                                const mxp_screen *screen, mxp_strbuf *out);

// Writes the trace as Chrome JSON to `path` ("-": standard output), with the pieces as a row of
// their own and arrows along them. Returns the exit code, after an error line if there is an error.
int mxp__path_view_trace(const mxp_command *command, const mxp_path_view *view, const char *path);

// Of a view that is not empty.
void mxp__path_view_print(const mxp_path_view *view, const mxp_steps *steps,
                          const mxp_screen *screen, mxp_strbuf *out);
void mxp__path_view_json(const mxp_path_view *view, const mxp_steps *steps, mxp_json *json);

#endif
