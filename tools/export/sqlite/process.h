// SPDX-License-Identifier: Apache-2.0
// Private to tools/export/sqlite: one process on its way into the database. Its ids become those of
// the database by what is added to them, so that processes have none in common.
#ifndef MXP_TOOLS_SQLITE_PROCESS_H
#define MXP_TOOLS_SQLITE_PROCESS_H

#include <mxprof/error.h>

#include "base/device_name.h"
#include "export/sqlite/database.h"
#include "profiler/trace/event.h"

enum { MXP__SQLITE_DEVICES = 256 };

typedef struct mxp_sqlite_process {
    mxp_database *database;
    mxp_source *source;
    int64_t run;  // from 1
    int64_t first_name, first_thread, first_span, first_operator;  // added to its own ids
    int64_t from_ns, until_ns;  // of its records in trace time; from > until: there are none
    uint64_t spans;  // written
    uint64_t edges_left_out;
    char devices[MXP__SQLITE_DEVICES][MXP__DEVICE_NAME_CHARS];
} mxp_sqlite_process;

// Span flags of the database beyond those of records (MXP_SPAN_*).
enum {
    MXP__SQLITE_ASYNC = 256,  // may overlap others
    MXP__SQLITE_OWN_CLOCK = 512,  // begin is a time of the lane's own clock
    MXP__SQLITE_OPERATOR = 1024
};

// Ids beyond the process's names share one. The name of id 0 is nothing: null.
static inline void mxp__put_name(const mxp_sqlite_process *process, mxp_rows *rows, uint32_t name)
{
    uint32_t count = process->source->name_count;
    mxp__put_some(rows, name != 0, process->first_name + (name < count ? name : count));
}

static inline void mxp__put_thread(const mxp_sqlite_process *process, mxp_rows *rows,
                                   uint32_t thread)
{
    mxp__put_some(rows, thread < process->source->thread_count, process->first_thread + thread);
}

static inline void mxp__put_operator(const mxp_sqlite_process *process, mxp_rows *rows, uint32_t id)
{
    mxp__put_some(rows, id != 0, process->first_operator + id);
}

const char *mxp__sqlite_device(mxp_sqlite_process *process, uint32_t device);

// Each writes a part of the process. MXP_EIO, MXP_ENOMEM, or the error of a range.
int mxp__sqlite_tables(mxp_sqlite_process *process);  // info, threads, names, statistics, losses
int mxp__sqlite_spans(mxp_sqlite_process *process);  // with arguments, operators, variables
int mxp__sqlite_records(mxp_sqlite_process *process);  // all others, steps, edges; from and until
int mxp__sqlite_run(mxp_sqlite_process *process);  // the row of the process itself, at the end

// ---- edges.c: which operator had to wait for which, by their variables -------------------------
typedef struct mxp_sqlite_edges mxp_sqlite_edges;
int mxp__sqlite_edges_create(mxp_sqlite_process *process, mxp_sqlite_edges **edges);
void mxp__sqlite_edges_destroy(mxp_sqlite_edges *edges);  // null is fine
// Operators in the order of their ends.
int mxp__sqlite_edges_add(mxp_sqlite_edges *edges, const mxp_event *event);

// ---- steps.c -----------------------------------------------------------------------------------
typedef struct mxp_sqlite_steps mxp_sqlite_steps;
int mxp__sqlite_steps_create(mxp_sqlite_process *process, mxp_sqlite_steps **steps);
void mxp__sqlite_steps_destroy(mxp_sqlite_steps *steps);  // null is fine
int mxp__sqlite_steps_add(mxp_sqlite_steps *steps, const mxp_event *event);  // a mark
int mxp__sqlite_steps_finish(mxp_sqlite_steps *steps);  // writes them; after the last record

#endif
