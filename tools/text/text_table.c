// SPDX-License-Identifier: Apache-2.0
// Widths are found over all rows first. What does not fit gives way in this order: the second blank
// between columns, the names down to a readable length, columns that may leave, the names further.
#include "text/text_table.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "text/figure.h"
#include "text/label.h"

enum { NAME_READABLE = 20, NAME_LEAST = 8 };

typedef struct table_layout {
    size_t widths[MXP_TEXT_COLUMNS_MAX];
    bool is_shown[MXP_TEXT_COLUMNS_MAX];
    size_t gap;  // blanks between columns
} table_layout;

void mxp__text_table_init(mxp_text_table *table, const mxp_screen *screen,
                          const mxp_text_column *columns, size_t count)
{
    assert(count > 0 && count <= MXP_TEXT_COLUMNS_MAX);
    *table = (mxp_text_table){.screen = screen, .columns = columns, .column_count = count};
}

// ---- cells -------------------------------------------------------------------------------------
static void end_cell(mxp_text_table *table)
{
    if (table->cell_count > table->line_begin) {
        mxp_text_cell *last = &table->cells[table->cell_count - 1];
        last->length = table->texts.length - last->at;
    }
}

static void begin_cell(mxp_text_table *table, mxp_text_cell cell)
{
    end_cell(table);
    if (mxp__grow(&table->cells, &table->cell_capacity, table->cell_count + 1,
                  sizeof *table->cells) != 0) {
        table->texts.failed = true;
        return;
    }
    cell.at = table->texts.length;
    table->cells[table->cell_count++] = cell;
}

mxp_strbuf *mxp__text_cell(mxp_text_table *table)
{
    begin_cell(table, (mxp_text_cell){.span = 1});
    return &table->texts;
}

mxp_strbuf *mxp__text_wide_cell(mxp_text_table *table, size_t span)
{
    assert(span > 0 && span <= table->column_count);
    begin_cell(table, (mxp_text_cell){.span = span});
    return &table->texts;
}

void mxp__text_bar(mxp_text_table *table, double share)
{
    begin_cell(table, (mxp_text_cell){.share = share, .span = 1});
}

void mxp__text_row(mxp_text_table *table, mxp_look look)
{
    end_cell(table);
    if (mxp__grow(&table->lines, &table->line_capacity, table->line_count + 1,
                  sizeof *table->lines) != 0) {
        table->texts.failed = true;
        return;
    }
    table->lines[table->line_count++] =
        (mxp_text_line){table->line_begin, table->cell_count - table->line_begin, look};
    table->line_begin = table->cell_count;
}

// ---- widths ------------------------------------------------------------------------------------
static const char *text_of(const mxp_text_table *table, const mxp_text_cell *cell)
{
    return mxp__strbuf_text(&table->texts) + cell->at;
}

static size_t width_of(const mxp_text_table *table, const mxp_text_cell *cell)
{
    return mxp__label_columns(text_of(table, cell), cell->length);
}

static bool is_bar(const mxp_text_table *table, size_t column)
{
    return table->columns[column].kind == MXP_COLUMN_BAR;
}

static void take_line(const mxp_text_table *table, const mxp_text_line *line, table_layout *layout)
{
    size_t column = 0;
    for (size_t i = 0; i < line->cells && column < table->column_count; i++) {
        const mxp_text_cell *cell = &table->cells[line->first_cell + i];
        if (cell->span == 1 && !is_bar(table, column)) {
            const size_t width = width_of(table, cell);
            layout->widths[column] =
                width > layout->widths[column] ? width : layout->widths[column];
        }
        column += cell->span;
    }
}

// Of the columns from `first`, `count` of them: with the blanks between those that are shown.
static size_t width_from(const table_layout *layout, size_t first, size_t count)
{
    size_t width = 0;
    for (size_t i = first; i < first + count; i++) {
        if (layout->is_shown[i]) {
            width += layout->widths[i] + (width > 0 ? layout->gap : 0);
        }
    }
    return width;
}

// What is wider than its columns makes the first of them wider, which has the names.
static void take_wide_cells(const mxp_text_table *table, const mxp_text_line *line,
                            table_layout *layout)
{
    size_t column = 0;
    for (size_t i = 0; i < line->cells && column < table->column_count; i++) {
        const mxp_text_cell *cell = &table->cells[line->first_cell + i];
        const size_t left = table->column_count - column;
        const size_t room = width_from(layout, column, cell->span < left ? cell->span : left);
        if (cell->span > 1 && width_of(table, cell) > room) {
            layout->widths[column] += width_of(table, cell) - room;
        }
        column += cell->span;
    }
}

static void take_needs(const mxp_text_table *table, table_layout *layout)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const char *heading = table->columns[i].heading;
        layout->is_shown[i] = !is_bar(table, i) || table->screen->bar_columns > 0;
        layout->widths[i] = is_bar(table, i)        ? table->screen->bar_columns
                            : table->has_no_heading ? 0
                                                    : mxp__label_columns(heading, strlen(heading));
    }
    for (size_t i = 0; i < table->line_count; i++) {
        take_line(table, &table->lines[i], layout);
    }
    for (size_t i = 0; i < table->line_count; i++) {
        take_wide_cells(table, &table->lines[i], layout);
    }
}

static size_t whole_width(const mxp_text_table *table, const table_layout *layout)
{
    return width_from(layout, 0, table->column_count);
}

static void shorten_names(const mxp_text_table *table, size_t least, table_layout *layout)
{
    const size_t room = table->screen->columns;
    for (size_t i = 0; i < table->column_count && whole_width(table, layout) > room; i++) {
        const size_t excess = whole_width(table, layout) - room;
        if (table->columns[i].kind == MXP_COLUMN_NAME && layout->widths[i] > least) {
            const size_t spare = layout->widths[i] - least;
            layout->widths[i] -= excess < spare ? excess : spare;
        }
    }
}

// Whether there was a column that may leave.
static bool let_one_leave(const mxp_text_table *table, table_layout *layout)
{
    int highest = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        if (layout->is_shown[i] && table->columns[i].leaves > highest) {
            highest = table->columns[i].leaves;
        }
    }
    for (size_t i = 0; i < table->column_count && highest > 0; i++) {
        layout->is_shown[i] = layout->is_shown[i] && table->columns[i].leaves != highest;
    }
    return highest > 0;
}

// Names are never shortened where nothing is bounded, and are not a reason for columns to leave.
static void make_unbounded(const mxp_text_table *table, table_layout *layout)
{
    table_layout readable;
    do {
        readable = *layout;
        shorten_names(table, NAME_READABLE, &readable);
    } while (whole_width(table, &readable) > table->screen->columns &&
             let_one_leave(table, layout));
}

static void make_bounded(const mxp_text_table *table, table_layout *layout)
{
    table_layout shortened;
    if (whole_width(table, layout) <= table->screen->columns) {
        return;
    }
    layout->gap = 1;
    do {
        shortened = *layout;
        shorten_names(table, NAME_READABLE, &shortened);
    } while (whole_width(table, &shortened) > table->screen->columns &&
             let_one_leave(table, layout));
    *layout = shortened;
    shorten_names(table, NAME_LEAST, layout);
}

static void make_layout(const mxp_text_table *table, table_layout *layout)
{
    *layout = (table_layout){.gap = 2};
    take_needs(table, layout);
    if (table->screen->is_bounded) {
        make_bounded(table, layout);
    } else {
        make_unbounded(table, layout);
    }
}

// ---- lines -------------------------------------------------------------------------------------
static void put_blanks(mxp_strbuf *out, size_t count)
{
    mxp__strbuf_printf(out, "%*s", (int)count, "");
}

static void put_text(const mxp_text_table *table, const char *text, size_t length, size_t width,
                     bool is_right, mxp_strbuf *out)
{
    const size_t columns = mxp__label_columns(text, length);
    const size_t blanks = columns < width ? width - columns : 0;
    put_blanks(out, is_right ? blanks : 0);
    if (columns > width && width >= 3) {
        mxp__put_shortened(table->screen, text, length, width, out);
    } else {
        mxp__strbuf_append(out, text, length);
    }
    put_blanks(out, is_right ? 0 : blanks);
}

static void put_cell(const mxp_text_table *table, const table_layout *layout, size_t column,
                     const mxp_text_cell *cell, mxp_strbuf *out)
{
    const size_t width = width_from(layout, column, cell->span);
    const bool is_right = cell->span == 1 && table->columns[column].kind == MXP_COLUMN_RIGHT;
    if (is_bar(table, column) && cell->span == 1) {
        put_blanks(out, width - mxp__put_bar(table->screen, cell->share, width, out));
    } else {
        put_text(table, text_of(table, cell), cell->length, width, is_right, out);
    }
}

static bool any_shown(const table_layout *layout, size_t first, size_t count)
{
    bool is_shown = false;
    for (size_t i = first; i < first + count; i++) {
        is_shown = is_shown || layout->is_shown[i];
    }
    return is_shown;
}

// `text` without the blanks at its end, as one that stands out.
static void put_line(const mxp_text_table *table, mxp_look look, const mxp_strbuf *text,
                     mxp_strbuf *out)
{
    size_t length = text->length;
    while (length > 0 && text->data[length - 1] == ' ') {
        length--;
    }
    mxp__look_begin(table->screen, look, out);
    mxp__strbuf_append(out, mxp__strbuf_text(text), length);
    mxp__look_end(table->screen, look, out);
    mxp__strbuf_putc(out, '\n');
    out->failed = out->failed || text->failed;
}

static void put_heading(const mxp_text_table *table, const table_layout *layout, mxp_strbuf *line)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const char *heading = table->columns[i].heading;
        if (layout->is_shown[i]) {
            put_blanks(line, line->length > 0 ? layout->gap : 0);
            put_text(table, heading, strlen(heading), layout->widths[i],
                     table->columns[i].kind == MXP_COLUMN_RIGHT, line);
        }
    }
}

static void put_cells(const mxp_text_table *table, const table_layout *layout,
                      const mxp_text_line *line, mxp_strbuf *text)
{
    size_t column = 0;
    for (size_t i = 0; i < line->cells && column < table->column_count; i++) {
        mxp_text_cell cell = table->cells[line->first_cell + i];
        const size_t left = table->column_count - column;
        cell.span = cell.span < left ? cell.span : left;
        if (any_shown(layout, column, cell.span)) {
            put_blanks(text, column > 0 ? layout->gap : 0);
            put_cell(table, layout, column, &cell, text);
        }
        column += cell.span;
    }
}

void mxp__text_table_put(const mxp_text_table *table, mxp_strbuf *out)
{
    table_layout layout;
    mxp_strbuf line = {0};
    if (table->texts.failed) {
        out->failed = true;
        return;
    }
    make_layout(table, &layout);
    if (!table->has_no_heading) {
        put_heading(table, &layout, &line);
        put_line(table, MXP_LOOK_HEADING, &line, out);
    }
    for (size_t i = 0; i < table->line_count; i++) {
        mxp__strbuf_clear(&line);
        put_cells(table, &layout, &table->lines[i], &line);
        put_line(table, table->lines[i].look, &line, out);
    }
    mxp__strbuf_fini(&line);
}

void mxp__text_table_fini(mxp_text_table *table)
{
    mxp__free(table->cells, table->cell_capacity * sizeof *table->cells);
    mxp__free(table->lines, table->line_capacity * sizeof *table->lines);
    mxp__strbuf_fini(&table->texts);
    *table = (mxp_text_table){0};
}
