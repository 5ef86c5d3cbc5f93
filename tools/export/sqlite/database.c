// SPDX-License-Identifier: Apache-2.0
// See database.h. Neither a journal nor syncing: the file is none until it is renamed, so one that
// is left in the middle is of no use to anybody.
#include "export/sqlite/database.h"

#include <assert.h>
#include <mxprof/error.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/text.h"

struct mxp_database {
    sqlite3 *handle;
    const char *shown;
    mxp_rows *rows;  // of each table
    sqlite3_stmt *inserts[MXP__TABLES];
};

static const struct {
    const char *name, *sql;
    uint32_t columns;
} tables[MXP__TABLES] = {
#define X(name, columns, sql) {#name, sql, columns},
#include "export/sqlite/schema.def"
#undef X
};

static const char memory_for[] = "the database";

static int failed(const mxp_database *database)
{
    return mxp__fail(MXP_EIO, "cannot write '%s': %s", database->shown,
                     sqlite3_errmsg(database->handle));
}

static int execute(mxp_database *database, const char *sql)
{
    return sqlite3_exec(database->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? MXP_OK
                                                                              : failed(database);
}

// ---- collected rows as a virtual table ---------------------------------------------------------
typedef struct rows_table {
    sqlite3_vtab base;  // must stay first
    mxp_rows *rows;
} rows_table;

typedef struct rows_cursor {
    sqlite3_vtab_cursor base;  // must stay first
    const mxp_rows *rows;
    uint32_t at;  // its first cell
} rows_cursor;

static int connect_rows(sqlite3 *handle, void *rows, int count, const char *const *arguments,
                        sqlite3_vtab **made, char **error)
{
    (void)count, (void)arguments, (void)error;
    char sql[256] = "CREATE TABLE rows(c0", column[16];
    for (uint32_t i = 1; i < ((const mxp_rows *)rows)->columns; i++) {
        snprintf(column, sizeof column, ",c%u", (unsigned)i);
        strncat(sql, column, sizeof sql - strlen(sql) - 1);
    }
    strncat(sql, ")", sizeof sql - strlen(sql) - 1);
    rows_table *table = sqlite3_malloc(sizeof *table);
    if (table == NULL) {
        return SQLITE_NOMEM;
    }
    *table = (rows_table){.rows = rows};
    *made = &table->base;
    return sqlite3_declare_vtab(handle, sql);
}

static int disconnect_rows(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int plan_rows(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    info->estimatedCost = 1;
    return SQLITE_OK;
}

static int open_rows(sqlite3_vtab *table, sqlite3_vtab_cursor **made)
{
    rows_cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (cursor == NULL) {
        return SQLITE_NOMEM;
    }
    *cursor = (rows_cursor){.rows = ((const rows_table *)table)->rows};
    *made = &cursor->base;
    return SQLITE_OK;
}

static int close_rows(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int first_row(sqlite3_vtab_cursor *cursor, int index, const char *name, int count,
                     sqlite3_value **values)
{
    (void)index, (void)name, (void)count, (void)values;
    ((rows_cursor *)cursor)->at = 0;
    return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
    rows_cursor *cursor = (rows_cursor *)base;
    cursor->at += cursor->rows->columns;
    return SQLITE_OK;
}

static int is_behind_rows(sqlite3_vtab_cursor *base)
{
    const rows_cursor *cursor = (const rows_cursor *)base;
    return cursor->at >= cursor->rows->count;
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *result, int column)
{
    const rows_cursor *cursor = (const rows_cursor *)base;
    const mxp_cell *cell = &cursor->rows->cells[cursor->at + (uint32_t)column];
    switch (cell->type) {
    case MXP__CELL_I64:
        sqlite3_result_int64(result, cell->value.i64);
        break;
    case MXP__CELL_F64:
        sqlite3_result_double(result, cell->value.f64);
        break;
    case MXP__CELL_TEXT:
        sqlite3_result_text(result, mxp__strbuf_text(&cursor->rows->texts) + cell->value.text,
                            (int)cell->length, SQLITE_STATIC);
        break;
    default:
        sqlite3_result_null(result);
    }
    return SQLITE_OK;
}

static int give_row_number(sqlite3_vtab_cursor *cursor, sqlite3_int64 *number)
{
    *number = ((const rows_cursor *)cursor)->at;
    return SQLITE_OK;
}

// Without xCreate it is there without a statement that makes it.
static const sqlite3_module module = {
    .xConnect = connect_rows,
    .xBestIndex = plan_rows,
    .xDisconnect = disconnect_rows,
    .xOpen = open_rows,
    .xClose = close_rows,
    .xFilter = first_row,
    .xNext = next_row,
    .xEof = is_behind_rows,
    .xColumn = give_column,
    .xRowid = give_row_number,
};

// ---- tables ------------------------------------------------------------------------------------
static int make_table(mxp_database *database, mxp_table table)
{
    char sql[1024];
    mxp_rows *rows = &database->rows[table];
    rows->columns = tables[table].columns;
    snprintf(sql, sizeof sql, "CREATE TABLE %s(%s)", tables[table].name, tables[table].sql);
    int error = execute(database, sql);
    snprintf(sql, sizeof sql, "collected_%s", tables[table].name);
    if (error == MXP_OK &&
        sqlite3_create_module(database->handle, sql, &module, rows) != SQLITE_OK) {
        error = failed(database);
    }
    snprintf(sql, sizeof sql, "INSERT OR FAIL INTO %s SELECT * FROM collected_%s",
             tables[table].name, tables[table].name);
    if (error == MXP_OK && sqlite3_prepare_v3(database->handle, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                              &database->inserts[table], NULL) != SQLITE_OK) {
        error = failed(database);
    }
    return error;
}

// A small cache is enough, for rows go to the end of their tables, and what sorts an index takes as
// much memory: with 64 MB it is twice as slow, because it follows lists through all of it.
static const char settings[] = "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
                               "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-4000; BEGIN";

static const char views[] =
    "CREATE VIEW span_named AS SELECT s.id, s.run, t.name AS thread, l.text AS lane, "
    "n.category AS category, n.text AS name, s.begin_ns, s.dur_ns, s.self_ns, s.depth, s.parent, "
    "s.flags, c.text AS scope FROM span s JOIN name n ON n.id = s.name "
    "LEFT JOIN thread t ON t.id = s.thread LEFT JOIN name l ON l.id = s.lane "
    "LEFT JOIN name c ON c.id = s.scope;"
    "CREATE VIEW operator_named AS SELECT o.id, o.run, t.name AS thread, n.text AS name, "
    "o.push_ns, "
    "o.ready_ns, o.start_ns, o.end_ns, o.ready_ns - o.push_ns AS blocked_ns, "
    "o.start_ns - o.ready_ns AS queued_ns, o.end_ns - o.start_ns AS run_ns, o.phase, o.device, "
    "c.text AS scope, o.released_by, o.flops, o.bytes, o.bulk, o.span FROM operator o "
    "JOIN name n ON n.id = o.name LEFT JOIN thread t ON t.id = o.thread "
    "LEFT JOIN name c ON c.id = o.scope";

static const char indexes[] = "CREATE INDEX span_by_name ON span(name);"
                              "CREATE INDEX span_by_time ON span(thread, begin_ns);"
                              "CREATE INDEX arg_by_span ON arg(span);"
                              "CREATE INDEX operator_by_id ON operator(id);"
                              "CREATE INDEX operator_by_name ON operator(name);"
                              "CREATE INDEX operator_by_time ON operator(start_ns);"
                              "CREATE INDEX edge_by_end ON edge(to_operator);"
                              "CREATE INDEX counter_by_time ON counter(name, ns)";

int mxp__database_open(const char *path, const char *shown, mxp_database **made)
{
    mxp_database *database = mxp__alloc(sizeof *database);
    *made = NULL;
    if (database == NULL) {
        return mxp__fail_memory(memory_for);
    }
    database->shown = shown;
    database->rows = mxp__alloc(MXP__TABLES * sizeof *database->rows);
    int error = database->rows != NULL ? MXP_OK : mxp__fail_memory(memory_for);
    if (error == MXP_OK &&
        sqlite3_open_v2(path, &database->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK) {
        error = failed(database);
    }
    error = error == MXP_OK ? execute(database, settings) : error;
    for (int i = 0; i < MXP__TABLES && error == MXP_OK; i++) {
        error = make_table(database, (mxp_table)i);
    }
    error = error == MXP_OK ? execute(database, views) : error;
    if (error != MXP_OK) {
        mxp__database_close(database);
        return error;
    }
    *made = database;
    return MXP_OK;
}

mxp_rows *mxp__database_rows(mxp_database *database, mxp_table table)
{
    return &database->rows[table];
}

int mxp__row_flush(mxp_database *database, mxp_table table)
{
    mxp_rows *rows = &database->rows[table];
    sqlite3_stmt *insert = database->inserts[table];
    assert(rows->count % rows->columns == 0 && "a row has another number of values than its table");
    if (rows->texts.failed) {
        return mxp__fail_memory(memory_for);
    }
    int status = sqlite3_step(insert);
    if (status != SQLITE_DONE) {
        return failed(database);
    }
    sqlite3_reset(insert);
    rows->count = 0;
    mxp__strbuf_clear(&rows->texts);
    return MXP_OK;
}

int mxp__database_finish(mxp_database *database)
{
    int error = MXP_OK;
    for (int i = 0; i < MXP__TABLES && error == MXP_OK; i++) {
        error = mxp__row_flush(database, (mxp_table)i);
    }
    error = error == MXP_OK ? execute(database, indexes) : error;
    return error == MXP_OK ? execute(database, "COMMIT") : error;
}

void mxp__database_close(mxp_database *database)
{
    if (database == NULL) {
        return;
    }
    for (int i = 0; i < MXP__TABLES; i++) {
        sqlite3_finalize(database->inserts[i]);
        if (database->rows != NULL) {
            mxp__strbuf_fini(&database->rows[i].texts);
        }
    }
    sqlite3_close(database->handle);
    mxp__free(database->rows, MXP__TABLES * sizeof *database->rows);
    mxp__free(database, sizeof *database);
}

// ---- texts -------------------------------------------------------------------------------------
void mxp__put_text(mxp_rows *rows, const char *text, size_t length)
{
    mxp_cell *cell = mxp__cell(rows, MXP__CELL_TEXT);
    cell->value.text = rows->texts.length;
    mxp__utf8_string(&rows->texts, text, length);
    cell->length = (uint32_t)(rows->texts.length - cell->value.text);
}

void mxp__put_string(mxp_rows *rows, const char *text)
{
    if (text != NULL) {
        mxp__put_text(rows, text, strlen(text));
    } else {
        mxp__put_null(rows);
    }
}
