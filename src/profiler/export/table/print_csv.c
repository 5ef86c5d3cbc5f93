// SPDX-License-Identifier: Apache-2.0
// The table as CSV, a line for each row:
//   section,name,kind,unit,count,total,min,max,avg,p50,p90,p99
// kind is duration, value (counted without records), counter or memory. unit is ms, kB, bytes,
// percent or empty (a plain number). total of a counter is its last value. Percentiles are of
// durations: exact where the rows know them so, else less than 25 % off. Fields without a value are
// empty.
#include <inttypes.h>

#include "base/fail.h"
#include "base/text.h"
#include "profiler/export/table/print_text.h"

static void put_text(mxp_strbuf *out, const char *text, size_t length)
{
    mxp_strbuf name = {0};
    mxp__put_name(&name, text, length, 0);
    out->failed = out->failed || name.failed;
    mxp__csv_string(out, mxp__strbuf_text(&name), name.length);
    mxp__strbuf_fini(&name);
}

static const char *unit_of(const mxp_row *row)
{
    if (row->is_memory) {
        return "kB";
    }
    if (!mxp__row_is_plain(row)) {
        return "ms";
    }
    return row->unit == MXP_UNIT_BYTES ? "bytes" : row->unit == MXP_UNIT_PERCENT ? "percent" : "";
}

static void put_figure(const mxp_row *row, double value, const mxp_number *exact, mxp_strbuf *out)
{
    mxp__strbuf_putc(out, ',');
    mxp__put_figure(out, row, value, exact);
}

static void put_row(const mxp_row *row, mxp_strbuf *out)
{
    put_text(out, row->section, row->section_length);
    mxp__strbuf_putc(out, ',');
    put_text(out, row->name, row->name_length);
    const char *kind = row->is_memory           ? "memory"
                       : row->is_counter        ? "counter"
                       : mxp__row_is_plain(row) ? "value"
                                                : "duration";
    mxp__strbuf_printf(out, ",%s,%s,%" PRIu64, kind, unit_of(row), row->count);
    put_figure(row, row->total, &row->last, out);
    put_figure(row, row->min, &row->least, out);
    put_figure(row, row->max, &row->most, out);
    put_figure(row, row->avg, NULL, out);
    for (int i = 0; i < MXP__PERCENTILES; i++) {
        if (row->histogram == NULL) {
            mxp__strbuf_putc(out, ',');
        } else {
            put_figure(row, (double)mxp__row_percentile(row, i), NULL, out);
        }
    }
    mxp__strbuf_putc(out, '\n');
}

int mxp__print_csv(const mxp_row *rows, size_t count, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "section,name,kind,unit,count,total,min,max,avg,p50,p90,p99\n");
    for (size_t i = 0; i < count; i++) {
        put_row(&rows[i], out);
    }
    return out->failed ? mxp__fail_memory("the table's text") : MXP_OK;
}
