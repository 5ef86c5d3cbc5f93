// SPDX-License-Identifier: Apache-2.0
// The records that have no duration, and what follows from the order of all: steps and edges.
#include <string.h>

#include "export/sqlite/process.h"
#include "profiler/trace/reader.h"

typedef struct pass {
    mxp_sqlite_process *process;
    mxp_sqlite_edges *edges;
    mxp_sqlite_steps *steps;
} pass;

static const char *word(const char *const *words, size_t count, size_t number)
{
    return number < count ? words[number] : NULL;
}

static int write_counter(mxp_sqlite_process *process, const mxp_event *event)
{
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_counter);
    mxp__put_i64(rows, process->run);
    mxp__put_name(process, rows, event->name);
    mxp__put_i64(rows, event->begin_ns);
    if (event->phase == MXP_ARG_F64) {
        mxp__put_f64(rows, event->value.f64);
    } else if (event->phase == MXP_ARG_I64) {
        mxp__put_i64(rows, event->value.i64);
    } else {
        mxp__put_u64(rows, event->value.u64);
    }
    return mxp__row_end(process->database, MXP__TABLE_counter, rows);
}

static int write_memory(mxp_sqlite_process *process, const mxp_event *event)
{
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_memory);
    mxp_memory_view memory;
    mxp__event_memory(event, &memory);
    mxp__put_i64(rows, process->run);
    mxp__put_i64(rows, event->begin_ns);
    mxp__put_name(process, rows, event->name);
    mxp__put_name(process, rows, memory.scope);
    mxp__put_u64(rows, memory.block);
    mxp__put_string(rows, mxp__sqlite_device(process, memory.device));
    mxp__put_u64(rows, memory.requested_bytes);
    mxp__put_u64(rows, memory.live_bytes);
    mxp__put_string(rows, (event->flags & MXP_MEM_FREE) != 0 ? "free" : "alloc");
    return mxp__row_end(process->database, MXP__TABLE_memory, rows);
}

static int write_instant(mxp_sqlite_process *process, const mxp_event *event)
{
    static const char *const kinds[] = {NULL, "global", "process", "thread", "task", "marker"};
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_instant);
    mxp__put_i64(rows, process->run);
    mxp__put_thread(process, rows, event->thread);
    mxp__put_name(process, rows, event->name);
    mxp__put_i64(rows, event->begin_ns);
    mxp__put_string(rows, word(kinds, sizeof kinds / sizeof kinds[0], event->phase));
    return mxp__row_end(process->database, MXP__TABLE_instant, rows);
}

static int write_flow(mxp_sqlite_process *process, const mxp_event *event)
{
    static const char *const phases[] = {NULL, "start", "step", "end"};
    mxp_rows *rows = mxp__database_rows(process->database, MXP__TABLE_flow);
    bool is_other_thread = (event->lane & MXP_LANE_THREAD) != 0;
    mxp__put_i64(rows, (int64_t)event->value.u64);  // all 64 bits
    mxp__put_name(process, rows, event->name);
    mxp__put_i64(rows, event->begin_ns);
    mxp__put_thread(process, rows,
                    is_other_thread ? event->lane & ~MXP_LANE_THREAD : event->thread);
    mxp__put_string(rows, word(phases, sizeof phases / sizeof phases[0], event->phase));
    return mxp__row_end(process->database, MXP__TABLE_flow, rows);
}

static int add_record(pass *self, const mxp_event *event)
{
    switch (event->kind) {
    case MXP_KIND_OPERATOR:
        return mxp__sqlite_edges_add(self->edges, event);
    case MXP_KIND_COUNTER:
        return write_counter(self->process, event);
    case MXP_KIND_MEMORY:
        return write_memory(self->process, event);
    case MXP_KIND_INSTANT:
        return write_instant(self->process, event);
    case MXP_KIND_FLOW:
        return write_flow(self->process, event);
    case MXP_KIND_META:
        return mxp__sqlite_steps_add(self->steps, event);
    default:
        return MXP_OK;
    }
}

static void follow_time(mxp_sqlite_process *process, const mxp_event *event)
{
    if (mxp__event_clock(event) == MXP_CLOCK_TRACE) {
        process->from_ns = event->begin_ns < process->from_ns ? event->begin_ns : process->from_ns;
        process->until_ns = event->end_ns > process->until_ns ? event->end_ns : process->until_ns;
    }
}

static int read_all(pass *self)
{
    mxp_reader *reader;
    mxp_event event;
    int error = mxp__reader_open(self->process->source, &reader);
    if (error != MXP_OK) {
        return error;
    }
    while ((error = mxp__reader_next(reader, &event)) == 1) {
        follow_time(self->process, &event);
        error = add_record(self, &event);
        if (error != MXP_OK) {
            break;
        }
    }
    mxp__reader_close(reader);
    return error;
}

int mxp__sqlite_records(mxp_sqlite_process *process)
{
    pass self = {.process = process};
    int error = mxp__sqlite_edges_create(process, &self.edges);
    error = error == MXP_OK ? mxp__sqlite_steps_create(process, &self.steps) : error;
    error = error == MXP_OK ? read_all(&self) : error;
    error = error == MXP_OK ? mxp__sqlite_steps_finish(self.steps) : error;
    mxp__sqlite_edges_destroy(self.edges);
    mxp__sqlite_steps_destroy(self.steps);
    return error;
}
