// SPDX-License-Identifier: Apache-2.0
// A table for people: cells are written in order, and its columns are made as wide as they need to
// be when all of them are known, or as the screen lets them.
//
//     mxp_text_table table;
//     mxp__text_table_init(&table, &screen, columns, 3);
//     mxp__put_label(&screen, name, length, mxp__text_cell(&table));
//     mxp__put_duration(&screen, ns, mxp__text_cell(&table));
//     mxp__text_bar(&table, share);
//     mxp__text_row(&table, MXP_LOOK_PLAIN);
//     ...
//     mxp__text_table_put(&table, out);
//     mxp__text_table_fini(&table);
#ifndef MXP_TOOLS_TEXT_TABLE_H
#define MXP_TOOLS_TEXT_TABLE_H

#include "text/screen.h"

typedef enum mxp_text_column_kind {
    MXP_COLUMN_RIGHT,  // figures
    MXP_COLUMN_LEFT,  // words
    MXP_COLUMN_NAME,  // words that are shortened in the middle where the table does not fit
    MXP_COLUMN_BAR,  // a share each; no column where the screen has no bars
} mxp_text_column_kind;

typedef struct mxp_text_column {
    const char *heading;
    mxp_text_column_kind kind;
    // Where the table does not fit even with short names, columns go: those with the highest number
    // first, all of one number together. 0: never.
    int leaves;
} mxp_text_column;

typedef struct mxp_text_cell {
    size_t at, length;  // in `texts`
    double share;  // of a bar
    size_t span;  // how many columns it takes
} mxp_text_cell;

typedef struct mxp_text_line {
    size_t first_cell, cells;
    mxp_look look;
} mxp_text_line;

typedef struct mxp_text_table {
    const mxp_screen *screen;
    const mxp_text_column *columns;
    size_t column_count;
    bool has_no_heading;  // may be set before the table is put
    // Private.
    mxp_strbuf texts;
    mxp_text_cell *cells;
    size_t cell_count, cell_capacity;
    mxp_text_line *lines;
    size_t line_count, line_capacity;
    size_t line_begin;  // first cell of the row that is being written
} mxp_text_table;

enum { MXP_TEXT_COLUMNS_MAX = 24 };

// Screen and columns (at most MXP_TEXT_COLUMNS_MAX, with headings that are valid UTF-8) must live
// as long as the table.
void mxp__text_table_init(mxp_text_table *table, const mxp_screen *screen,
                          const mxp_text_column *columns, size_t count);
// Begins the next cell of the row: its text is appended to what is returned until the next call.
// A name of the program must go through mxp__put_label.
mxp_strbuf *mxp__text_cell(mxp_text_table *table);
// The same for a cell over `span` columns, whose text begins at the left. Where it needs more than
// they have, the first of them is made wider.
mxp_strbuf *mxp__text_wide_cell(mxp_text_table *table, size_t span);
// The next cell, of a column of bars; a share of 1 is as long as the column is wide.
void mxp__text_bar(mxp_text_table *table, double share);
// Ends the row. Cells that are missing at its end are empty; a row of none is an empty line.
void mxp__text_row(mxp_text_table *table, mxp_look look);
// Appends all lines. Without memory (also in the calls before) `out` has failed.
void mxp__text_table_put(const mxp_text_table *table, mxp_strbuf *out);
void mxp__text_table_fini(mxp_text_table *table);

#endif
