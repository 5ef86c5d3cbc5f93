// SPDX-License-Identifier: Apache-2.0
// The paths of steps added up: a row for each kind of piece, operator, scope and phase, and what
// each step spent in it. All rows of a step add up to its length.
#ifndef MXP_ANALYSIS_PATH_ROWS_H
#define MXP_ANALYSIS_PATH_ROWS_H

#include "base/id_map.h"
#include "profiler/analysis/path/path.h"

typedef struct mxp_path_row {
    int kind;  // MXP__PATH_*
    // Of a piece with an operator: its name, scope and phase (MXP_PHASE_*); of the program: the
    // innermost span's name, 0: none.
    uint32_t name, scope, phase;
    uint64_t total_ns;
    uint64_t pieces;
    uint64_t steps;  // in which it has any time
} mxp_path_row;

// What one step spent in one row; in the order of steps.
typedef struct mxp_path_cell {
    uint32_t row, step;  // places in `rows` and in the table of steps
    int64_t ns;
} mxp_path_cell;

enum { MXP__PATH_ROWS_RECENT_BITS = 8, MXP__PATH_ROWS_RECENT = 1 << MXP__PATH_ROWS_RECENT_BITS };
// A row's key, packed, and its cell in the step at hand: its place plus 1.
typedef struct mxp_path_recent_row {
    uint64_t names, kinds;
    size_t cell;
} mxp_path_recent_row;

// Begins as zeros.
typedef struct mxp_path_rows {
    mxp_path_row *rows;  // in the order in which they came
    size_t count, capacity;
    mxp_path_cell *cells;
    size_t cell_count, cell_capacity;
    uint64_t steps, total_ns;  // of the steps that were added
    uint64_t contradictions;
    mxp_id_map places;  // of rows by a hash of their key
    struct mxp_path_row_link *links;  // of each row
    size_t link_capacity;
    size_t step_cells;  // where those of the step at hand begin
    uint64_t *step_pieces;  // of each of them
    size_t piece_capacity;
    mxp_path_recent_row recent[MXP__PATH_ROWS_RECENT];  // some rows, by a hash of their key
} mxp_path_rows;

// Adds the split path of a step. MXP_ENOMEM.
int mxp__path_rows_add(mxp_path_rows *rows, const mxp_graph *graph, size_t step,
                       const mxp_path *path);
void mxp__path_rows_fini(mxp_path_rows *rows);

// As mxp__path_steps, all of it added up.
int mxp__path_rows_of_steps(mxp_source *process, const mxp_steps *steps, const bool *chosen,
                            uint64_t limit_bytes, mxp_path_rows *rows);

#endif
