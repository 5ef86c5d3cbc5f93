// SPDX-License-Identifier: Apache-2.0
// Folder profiler/analysis/time: times by name, layer and scope: rows, layers, trees.
//
// Where the time of a window went: a row for each operator by scope and phase, and for each span by
// name, of one process or of several added up by their texts.
//
// An operator belongs to the step in which it was pushed, a span to that in which it began; in a
// window of time, to when they began. Operators: hidden ones too; a bulk's members and not the
// bulk; those that are on no thread (asynchronous) have no time here. A span's own time is its
// duration without that of the spans and operators directly inside it on its thread.
#ifndef MXP_ANALYSIS_TIME_ROWS_H
#define MXP_ANALYSIS_TIME_ROWS_H

#include "profiler/analysis/path/path_rows.h"
#include "profiler/analysis/time/samples.h"
#include "profiler/analysis/window/choice.h"
#include "profiler/analysis/window/filter.h"
#include "profiler/analysis/window/scope_tree.h"

typedef struct mxp_time_row {
    uint32_t scope;  // node of `scopes`; of spans 0
    uint32_t name, category;  // in `scopes.texts`
    uint8_t phase;  // MXP_PHASE_*
    bool is_operator;
    bool is_idle;  // an operator that does no work of a step: deletions, the engine's own waits
    bool overlaps;  // asynchronous spans and those of lanes: all their time is their own
    uint64_t count, total_ns, self_ns, longest_ns;
    uint64_t waited_ns;  // operators: for what they depend on, from push to ready
    uint64_t queued_ns;  // and then for their worker
    uint64_t path_ns;  // on the critical path
    mxp_samples durations;
} mxp_time_row;

// Begins as zeros.
typedef struct mxp_time_rows {
    mxp_scope_tree scopes;
    bool has_no_durations;  // set before anything is added: no percentiles are asked for
    mxp_time_row *rows;  // in the order in which they came
    size_t count, capacity;
    mxp_id_map places;
    uint64_t steps;  // chosen ones
    uint64_t wall_ns;  // of the windows
    uint64_t operators, spans;  // that were chosen, filtered ones left out
    // What is on the path but in no row: by kind (MXP__PATH_*), of the program's threads.
    bool has_path;
    uint64_t path_wall_ns;  // of the windows of which there is a path
    uint64_t path_kinds_ns[MXP__PATH_KINDS];
} mxp_time_rows;

// Adds what is chosen of a process. `filter` may be null. Ranges that cannot be read are left out.
// MXP_ENOMEM, or an error of the source.
int mxp__time_rows_add(mxp_time_rows *rows, mxp_source *process, const mxp_choice *choice,
                       const mxp_filter *filter);
// Adds the path of the same window of a process that was added: pieces in which an operator runs
// count in its row, all pieces in path_kinds_ns. MXP_ENOMEM where a window is larger than
// `limit_bytes`; then nothing was added.
int mxp__time_rows_add_path(mxp_time_rows *rows, mxp_source *process, const mxp_choice *choice,
                            const mxp_filter *filter, uint64_t limit_bytes);
// The same of a path that somebody has walked. MXP_ENOMEM.
int mxp__time_rows_take_path(mxp_time_rows *rows, mxp_source *process, const mxp_choice *choice,
                             const mxp_filter *filter, const mxp_path_rows *path);
void mxp__time_rows_fini(mxp_time_rows *rows);

static inline const char *mxp__time_row_name(const mxp_time_rows *rows, const mxp_time_row *row,
                                             size_t *length)
{
    return mxp__texts_at(&rows->scopes.texts, row->name, length);
}

#endif
