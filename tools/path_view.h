// SPDX-License-Identifier: Apache-2.0
// The critical path of one process as the command `path` prints it: of one step each piece, of many
// their sums.
#ifndef MXP_TOOLS_PATH_VIEW_H
#define MXP_TOOLS_PATH_VIEW_H

#include "profiler/analysis/choice.h"
#include "profiler/analysis/path_rows.h"
#include "profiler/analysis/scope_tree.h"
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
    mxp_scope_tree scopes;
    uint32_t *node_of;  // scopes of the process
    mxp_path_long longest[MXP_PATH_LONGEST];  // the longest first
    size_t longest_count;
    mxp_path_long *pieces;  // all of them, of a single step or for JSON
    size_t piece_count, piece_capacity;
    bool keeps_pieces;
    uint64_t cut_ops;
    bool has_waits;
    int64_t begin_ns;  // of the first window
} mxp_path_view;

// Walks what was chosen. `choice` and `steps` must outlive the view. MXP_ENOMEM where a step needs
// more than `limit_bytes`.
int mxp__path_view_make(mxp_source *process, const mxp_steps *steps, const mxp_choice *choice,
                        uint64_t limit_bytes, bool keeps_pieces, mxp_path_view *view);
void mxp__path_view_fini(mxp_path_view *view);

// Time of all pieces of a kind, ns.
uint64_t mxp__path_view_kind_ns(const mxp_path_view *view, int kind);
// "lenet:conv1/Convolution", "MXNDArrayWaitToRead", "between calls".
void mxp__path_view_label(const mxp_path_view *view, int kind, uint32_t name, uint32_t scope,
                          mxp_strbuf *out);

void mxp__path_view_print(const mxp_path_view *view, const mxp_steps *steps,
                          const mxp_screen *screen, mxp_strbuf *out);
void mxp__path_view_json(const mxp_path_view *view, const mxp_steps *steps, mxp_json *json);

#endif
