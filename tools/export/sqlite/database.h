// SPDX-License-Identifier: Apache-2.0
// Private to tools/export/sqlite: an SQLite database that is written once, from nothing to the end.
//
// Rows are collected, some hundred of a table, and go in by one statement that takes them from a
// virtual table: binding each value of each row to a statement of its own takes half as long again.
#ifndef MXP_TOOLS_SQLITE_DATABASE_H
#define MXP_TOOLS_SQLITE_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

enum { MXP__SQLITE_SCHEMA = 1 };

typedef enum mxp_table {
#define X(name, columns, sql) MXP__TABLE_##name,
#include "export/sqlite/schema.def"
#undef X
    MXP__TABLES
} mxp_table;

enum { MXP__CELL_NULL, MXP__CELL_I64, MXP__CELL_F64, MXP__CELL_TEXT };
enum { MXP__BATCH_CELLS = 4096 };  // of a table

typedef struct mxp_cell {
    uint32_t type, length;  // of a text: its bytes
    union {
        int64_t i64;
        double f64;
        size_t text;  // where it begins in `texts`
    } value;
} mxp_cell;

typedef struct mxp_rows {
    uint32_t columns;
    uint32_t count;  // cells
    uint64_t written;  // rows, with those that are collected
    mxp_strbuf texts;
    mxp_cell cells[MXP__BATCH_CELLS];
} mxp_rows;

typedef struct mxp_database mxp_database;

// `path` is an empty file; `shown`, which must outlive the database, is its name in messages.
// *database is null after an error.
int mxp__database_open(const char *path, const char *shown, mxp_database **database);
mxp_rows *mxp__database_rows(mxp_database *database, mxp_table table);
// Writes what is collected, the indexes, and all to the disk as far as the system says so. MXP_EIO
// with SQLite's words, also for an earlier failure.
int mxp__database_finish(mxp_database *database);
void mxp__database_close(mxp_database *database);  // null is fine

// ---- a row: its values from left to right, then its end ----------------------------------------
static inline mxp_cell *mxp__cell(mxp_rows *rows, uint32_t type)
{
    mxp_cell *cell = &rows->cells[rows->count++];
    cell->type = type;
    return cell;
}

static inline void mxp__put_null(mxp_rows *rows)
{
    mxp__cell(rows, MXP__CELL_NULL);
}

static inline void mxp__put_i64(mxp_rows *rows, int64_t value)
{
    mxp__cell(rows, MXP__CELL_I64)->value.i64 = value;
}

static inline void mxp__put_f64(mxp_rows *rows, double value)
{
    mxp__cell(rows, MXP__CELL_F64)->value.f64 = value;
}

// What is above SQLite's integers becomes a floating point number.
static inline void mxp__put_u64(mxp_rows *rows, uint64_t value)
{
    if (value <= INT64_MAX) {
        mxp__put_i64(rows, (int64_t)value);
    } else {
        mxp__put_f64(rows, (double)value);
    }
}

static inline void mxp__put_some(mxp_rows *rows, bool is_there, int64_t value)  // else null
{
    mxp__cell(rows, is_there ? MXP__CELL_I64 : MXP__CELL_NULL)->value.i64 = value;
}

// A copy, in which invalid UTF-8 becomes U+FFFD.
void mxp__put_text(mxp_rows *rows, const char *text, size_t length);
void mxp__put_string(mxp_rows *rows, const char *text);  // terminated; null gives null

int mxp__row_flush(mxp_database *database, mxp_table table);
static inline int mxp__row_end(mxp_database *database, mxp_table table, mxp_rows *rows)
{
    rows->written++;
    return rows->count + rows->columns <= MXP__BATCH_CELLS ? 0 : mxp__row_flush(database, table);
}

#endif
