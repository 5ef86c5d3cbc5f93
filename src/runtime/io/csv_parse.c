// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/io/file_text.h"
#include "runtime/tensor/number.h"

typedef struct reading {
    const char *path, *shape;
    uint64_t width;
    uint64_t row, column;  // of the cell that is read, counted from 1
} reading;

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r");
}

static int fail_cell(const reading *r, const char *text)
{
    enum { SHOWN = 40 };
    const size_t length = strcspn(text, ",\r\n");
    return mxp__fail(MXP_EFORMAT, "%s, row %llu, column %llu: '%.*s' is no number", r->path,
                     (unsigned long long)r->row, (unsigned long long)r->column,
                     (int)(length < SHOWN ? length : SHOWN), text);
}

static int fail_length(const reading *r, uint64_t there)
{
    return mxp__fail(MXP_EFORMAT,
                     "%s, row %llu: The data size in CSV do not match size of shape: specified "
                     "shape=%s, the csv row-length=%llu",
                     r->path, (unsigned long long)r->row, r->shape, (unsigned long long)there);
}

static uint64_t cells_of(const char *line, const char *end)
{
    uint64_t cells = 1;
    for (const char *at = line; at < end; at++) {
        cells += *at == ',';
    }
    return cells;
}

// The cells of a line that ends at a line feed or at the zero byte. `to` null: they are only
// checked.
static int parse_line(reading *r, const char *line, double *to)
{
    const char *at = line;
    for (r->column = 1; r->column <= r->width; r->column++) {
        const char *end;
        at = skip_blanks(at);
        // An empty cell; the zero byte is found too. Other blanks would be skipped with line feeds.
        if (strchr(",\n\v\f", *at) != NULL) {
            return fail_cell(r, at);
        }
        const double number = mxn_number_read(at, &end).real;
        if (end == at) {
            return fail_cell(r, at);
        }
        const char *after = skip_blanks(end);
        if (*after != (r->column == r->width ? '\n' : ',') && *after != '\0') {
            return fail_cell(r, at);
        }
        if (to != NULL) {
            to[r->column - 1] = number;
        }
        at = after + (*after == ',');
    }
    return MXP_OK;
}

static bool is_empty(const char *line, const char *end)
{
    return skip_blanks(line) >= end;
}

static uint64_t count_rows(const char *text, const char *end)
{
    uint64_t rows = 0;
    for (const char *at = text, *stop; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop == NULL ? end : stop;
        rows += !is_empty(at, stop);
    }
    return rows;
}

int mxn__csv_parse(const char *path, const char *text, uint64_t count, uint64_t width,
                   const char *shape, mxn_rows **rows)
{
    const char *end = text + count;
    reading r = {.path = path, .shape = shape, .width = width};
    const uint64_t row_count = count_rows(text, end);
    if (memchr(text, '\0', count) != NULL || row_count == 0) {
        return mxp__fail(MXP_EFORMAT, "%s: it %s", path,
                         row_count == 0 ? "has no rows" : "has bytes that are no text");
    }
    // A cell takes two bytes, its comma or line feed among them, but the last one of the file.
    // Where the file is too short for all rows, one of them is wrong, and none takes memory.
    const bool fits = width <= (count + 1) / 2 / row_count;
    mxn_rows *made = fits ? mxn__rows_new(row_count, width, false) : NULL;
    if (fits && made == NULL) {
        return MXP_ENOMEM;
    }
    int error = MXP_OK;
    for (const char *at = text, *stop; at < end && error == MXP_OK; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop == NULL ? end : stop;
        if (is_empty(at, stop)) {
            continue;
        }
        r.row++;
        const uint64_t cells = cells_of(at, stop);
        double *to = fits ? made->numbers + (r.row - 1) * width : NULL;
        error = cells != width ? fail_length(&r, cells) : parse_line(&r, at, to);
    }
    if (error != MXP_OK) {
        mxn__rows_release(made);
        return error;
    }
    *rows = made;
    return MXP_OK;
}
