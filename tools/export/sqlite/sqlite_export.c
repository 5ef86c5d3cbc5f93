// SPDX-License-Identifier: Apache-2.0
// See sqlite_export.h: the processes one after the other, then what is said of all.
#include "export/sqlite/sqlite_export.h"

#include <inttypes.h>
#include <mxprof/version.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "export/sqlite/process.h"
#include "profiler/trace/merge.h"

static int write_meta(mxp_database *database, const char *key, const char *text, int64_t number)
{
    mxp_rows *rows = mxp__database_rows(database, MXP__TABLE_meta);
    mxp__put_string(rows, key);
    if (text != NULL) {
        mxp__put_string(rows, text);
    } else {
        mxp__put_i64(rows, number);
    }
    return mxp__row_end(database, MXP__TABLE_meta, rows);
}

// When trace time 0 was, in ns since 1970; 0: nobody knows.
static int64_t zero_of(const mxp_source *source)
{
    const mxp_timebase *timebase = source->timebase;
    return mxp__timebase_is_dated(timebase) ? (int64_t)timebase->points[0].realtime_ns : 0;
}

static int write_process(mxp_sqlite_process *process)
{
    process->from_ns = INT64_MAX;
    process->until_ns = INT64_MIN;
    process->spans = 0;
    int error = mxp__sqlite_tables(process);
    error = error == MXP_OK ? mxp__sqlite_spans(process) : error;
    error = error == MXP_OK ? mxp__sqlite_records(process) : error;
    return error == MXP_OK ? mxp__sqlite_run(process) : error;
}

static int write_processes(mxp_sqlite_process *process, mxp_source *source)
{
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK; i++) {
        process->source = mxp__source_process(source, i);
        if (process->source == NULL) {
            break;
        }
        process->run = (int64_t)i + 1;
        process->first_operator = (int64_t)i << 32;
        error = write_process(process);
        process->first_name += (int64_t)process->source->name_count + 1;
        process->first_thread += process->source->thread_count;
        process->first_span += (int64_t)process->spans;
    }
    return error;
}

static int write_all(mxp_sqlite_process *process, mxp_source *source)
{
    mxp_database *database = process->database;
    int error = write_meta(database, "schema", NULL, MXP__SQLITE_SCHEMA);
    error = error == MXP_OK ? write_meta(database, "mxprof", MXP_VERSION_STRING, 0) : error;
    error = error == MXP_OK ? write_meta(database, "zero_ns", NULL, zero_of(source)) : error;
    error = error == MXP_OK ? write_processes(process, source) : error;
    error = error == MXP_OK
                ? write_meta(database, "edges_left_out", NULL, (int64_t)process->edges_left_out)
                : error;
    return error == MXP_OK ? mxp__database_finish(database) : error;
}

int mxp__sqlite_write(const char *path, const char *shown, mxp_source *source, mxp_strbuf *notes)
{
    mxp_sqlite_process *process = mxp__alloc(sizeof *process);
    if (process == NULL) {
        return mxp__fail_memory("the database");
    }
    int error = mxp__database_open(path, shown, &process->database);
    if (error == MXP_OK) {
        error = write_all(process, source);
    }
    if (process->edges_left_out > 0 && notes != NULL) {
        mxp__strbuf_printf(notes,
                           "%" PRIu64
                           " edges between operators may be missing: too many variables, "
                           "or too many operators that read one\n",
                           process->edges_left_out);
    }
    mxp__database_close(process->database);
    mxp__free(process, sizeof *process);
    return error;
}
