// SPDX-License-Identifier: Apache-2.0
// Private to src/profiler/export: what an aggregate holds. Rows are kept by id (name, scope or
// device) in dense tables, because ids are small and stable for the life of a process; each row
// owns its label, because sources are closed long before rows are printed.
#ifndef MXP_EXPORT_AGGREGATE_STATE_H
#define MXP_EXPORT_AGGREGATE_STATE_H

#include "profiler/export/table/aggregate.h"
#include "profiler/export/table/selection.h"
#include "profiler/trace/event.h"

// Section and name in one allocation, each terminated.
typedef struct mxp_label {
    char *text;
    size_t section_length, name_length;
} mxp_label;

typedef struct mxp_duration_row {
    mxp_histogram histogram;  // first: the inner loop reaches it without an offset
    mxp_label label;
    mxp_selected *selected;  // null, but in a pass for exact percentiles
    uint32_t unit;  // MXP_UNIT_BYTES of values that were counted, else ns
} mxp_duration_row;

// `first`, `integral`: the mean is first + integral / active time since the first sample, where
// integral sums (value - first) x time; so one sample gives exactly its value.
typedef struct mxp_counter_row {
    mxp_label label;
    mxp_label renamed;  // "NAME (counter)", made where spans have the same section and name
    uint32_t value_type, unit;
    uint64_t count;
    mxp_number last, least, most;
    double first, integral;
    int64_t last_ns;  // when `last` was
    int64_t first_active_ns, last_active_ns;
} mxp_counter_row;

typedef struct mxp_duration_table {
    mxp_duration_row **rows;  // by id, null where nothing was seen
    size_t count, capacity;
} mxp_duration_table;

typedef struct mxp_counter_table {
    mxp_counter_row **rows;
    size_t count, capacity;
} mxp_counter_table;

// How long recording has been on. Before any record of a change it counts as on.
typedef struct mxp_activity {
    bool is_off;
    int64_t since_ns;  // of the last change
    int64_t active_ns;  // up to it
} mxp_activity;

typedef struct mxp_scope_state mxp_scope_state;
typedef struct mxp_step_state mxp_step_state;
typedef struct mxp_owner_state mxp_owner_state;

typedef struct mxp_process_tables mxp_process_tables;

// A row on its way to print order.
typedef struct mxp_sorted_row {
    double key;  // rows with the smaller one come first
    mxp_row row;
    uint32_t pid;
} mxp_sorted_row;

// The section of `uncovered`, which comes after all others.
#define MXP__UNCOVERED "In no record"

enum { MXP__PHASES = MXP_PHASE_COMMUNICATION + 1 };

struct mxp_aggregate {
    int group;
    mxp_duration_table durations;  // by name id; MXP_GROUP_SCOPE: by scope id, of no phase
    mxp_duration_table phases[MXP__PHASES];  // MXP_GROUP_SCOPE: by scope id; the first is unused
    mxp_duration_table outside;  // MXP_GROUP_STEP: by name id, outside all steps
    mxp_duration_table uncovered;  // MXP_GROUP_STEP: one row, the time of steps without a record
    mxp_counter_table counters;  // by name id
    mxp_counter_table devices;  // by device
    mxp_counter_table owners;  // MXP_GROUP_SCOPE: of memory
    mxp_counter_table api;  // calls, and how many at once
    uint64_t api_calls;  // never goes back
    bool has_api;  // a row of API calls is there
    mxp_activity activity;
    int64_t latest_ns;  // of the records in the counters' pass
    mxp_scope_state *scopes;
    mxp_step_state *steps;
    mxp_owner_state *owner_state;
    uint32_t pid;
    mxp_process_tables *processes;  // the further ones, null if there is one
    mxp_sorted_row *sorted;  // scratch of mxp__aggregate_rows
    mxp_row *rows;
    size_t row_count, sorted_capacity, rows_capacity;
    mxp_selection *exact;  // of rows
    mxp_selection *selects;  // what this pass is for; null: for the rows themselves
};

// ---- aggregate.c ------------------------------------------------------------------------------
int mxp__label_make(mxp_label *label, const char *section, size_t section_length, const char *name,
                    size_t name_length);
void mxp__label_fini(mxp_label *label);
// The section of a name: its category, "user" if it has none; `suffix` after it (may be "").
int mxp__label_of_name(mxp_label *label, const mxp_source *source, uint32_t id, const char *suffix);

// The row of `id`, or null; the caller makes one with mxp__duration_add.
static inline mxp_duration_row *mxp__duration_find(const mxp_duration_table *table, uint32_t id)
{
    return id < table->count ? table->rows[id] : NULL;
}

// A new row of one of the aggregate's tables; it takes `label` over (freed on failure). Null
// without memory, with the detail line.
mxp_duration_row *mxp__duration_add(const mxp_aggregate *aggregate, mxp_duration_table *table,
                                    uint32_t id, mxp_label *label);

static inline void mxp__duration_note(mxp_duration_row *row, uint64_t ns)
{
    mxp__histogram_add(&row->histogram, ns);
    if (__builtin_expect(row->selected != NULL, 0)) {
        mxp__selected_add(row->selected, ns);
    }
}
void mxp__duration_table_clear(mxp_duration_table *table);

// Calls `visit` for each record of each range. Damage ends a range and is returned at the end.
typedef int (*mxp_record_visit)(void *context, const mxp_event *event);
int mxp__each_record(mxp_source *source, mxp_record_visit visit, void *context);

// Ids beyond the source's names share this one.
uint32_t mxp__known_name(const mxp_source *source, uint32_t id);

// ---- aggregate_processes.c --------------------------------------------------------------------
// Each process has tables of its own: only its own records tell its counters, scopes and steps.
int mxp__processes_add(mxp_aggregate *aggregate, const mxp_source *source);
void mxp__processes_destroy(mxp_process_tables *processes);  // null is fine
mxp_aggregate *mxp__processes_get(const mxp_process_tables *processes, size_t i);  // null: no more
// Makes one row of the durations of one name, of which each process has one. A counter that several
// processes have stays one for each, its process after its name.
int mxp__processes_combine(mxp_process_tables *processes, mxp_sorted_row *rows, size_t *count);

// ---- aggregate_rows.c -------------------------------------------------------------------------
mxp_row mxp__row_labelled(const mxp_label *label);
// Sections and names by byte order, durations before counters.
int mxp__compare_labels(const mxp_row *a, const mxp_row *b);
void mxp__aggregate_rows_free(mxp_aggregate *aggregate);

// ---- aggregate_counters.c ---------------------------------------------------------------------
// Counters, memory, API calls and state changes, in time order.
int mxp__aggregate_counters(mxp_aggregate *aggregate, mxp_source *source);
// Those that were summed without a trace, after its records.
int mxp__aggregate_counter_views(mxp_aggregate *aggregate, const mxp_source *source);
// Only the state: what a source without counters needs.
void mxp__activity_change(mxp_activity *activity, int64_t ns, uint64_t state);
double mxp__counter_mean(const mxp_counter_row *row, const mxp_activity *activity, int64_t now_ns);
void mxp__counter_table_clear(mxp_counter_table *table);
mxp_counter_row *mxp__counter_find_or_add(mxp_counter_table *table, uint32_t id);
void mxp__counter_sample(mxp_counter_row *row, const mxp_activity *activity, int64_t ns,
                         mxp_number value, uint32_t type);
// The same where each value is made from the one before it: one that is known late (the begin of an
// API call that was open at the drain before) holds from that sample on.
void mxp__counter_follow(mxp_counter_row *row, const mxp_activity *activity, int64_t ns,
                         mxp_number value, uint32_t type);
double mxp__number_double(mxp_number number, uint32_t type);

// ---- aggregate_scopes.c -----------------------------------------------------------------------
int mxp__aggregate_scopes(mxp_aggregate *aggregate, mxp_source *source);
void mxp__scope_state_destroy(mxp_scope_state *state);  // null is fine
// "net/conv1" and `suffix`; "<no scope>" for 0.
int mxp__label_of_scope(mxp_label *label, const mxp_source *source, const char *section,
                        uint32_t scope, const char *suffix);

// ---- aggregate_owners.c -----------------------------------------------------------------------
int mxp__aggregate_owners(mxp_aggregate *aggregate, mxp_source *source);
void mxp__owner_state_destroy(mxp_owner_state *state);  // null is fine

// ---- aggregate_steps.c ------------------------------------------------------------------------
int mxp__aggregate_steps(mxp_aggregate *aggregate, mxp_source *source);
void mxp__step_state_destroy(mxp_step_state *state);  // null is fine
bool mxp__steps_are_mixed(const mxp_aggregate *aggregate);  // of this process
// Fills the tables and the rows of section "Steps" for printing. *rows belongs to the state.
int mxp__step_rows(mxp_aggregate *aggregate, const mxp_row **rows, size_t *count);

#endif
