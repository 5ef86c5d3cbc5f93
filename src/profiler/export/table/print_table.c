// SPDX-License-Identifier: Apache-2.0
// The table in MXNet's layout, byte for byte: scripts read it by the starts of its lines and the
// order of its columns.
#include <inttypes.h>

#include "base/fail.h"
#include "profiler/export/table/print_text.h"

enum { NAME_COLUMN = 25 };

static void put_heading(const mxp_row *row, mxp_strbuf *out)
{
    static const char rule[] = "-------------";
    mxp__put_name(out, row->section, row->section_length, 0);
    mxp__strbuf_puts(out, "\n=================\n");
    if (row->is_memory) {
        mxp__strbuf_printf(out, "%-25s%16s %16s %16s %16s\n", "Name", "Total Count",
                           "Min Use  (kB)", "Max Use  (kB)", "Avg Use  (kB)");
        mxp__strbuf_printf(out, "%-25s%16s %16s %16s %16s\n", "----", "-----------", rule, rule,
                           rule);
    } else {
        mxp__strbuf_printf(out, "%-25s%16s %16s %16s %16s %16s\n", "Name", "Total Count",
                           "Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)");
        mxp__strbuf_printf(out, "%-25s%16s %16s %16s %16s %16s\n", "----", "-----------",
                           "---------", rule, rule, rule);
    }
}

static void put_figure(const mxp_row *row, double value, mxp_number exact, mxp_strbuf *out)
{
    mxp__strbuf_putc(out, ' ');
    if (mxp__row_is_plain(row)) {
        mxp__put_number(out, exact, row->value_type);
    } else {
        mxp__put_fixed(out, value / mxp__row_scale(row));
    }
}

static void put_row(const mxp_row *row, mxp_strbuf *out)
{
    mxp__put_name(out, row->name, row->name_length, NAME_COLUMN);
    mxp__strbuf_printf(out, "%16" PRIu64, row->count);
    if (!row->is_memory) {
        put_figure(row, row->total, row->last, out);
    }
    put_figure(row, row->min, row->least, out);
    put_figure(row, row->max, row->most, out);
    mxp__strbuf_putc(out, ' ');
    mxp__put_fixed(out, row->avg / mxp__row_scale(row));
    mxp__strbuf_putc(out, '\n');
}

int mxp__print_table(const mxp_row *rows, size_t count, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "\nProfile Statistics:\n"
                          "\tNote the difference in units for different entries.\n");
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !mxp__same_section(&rows[i - 1], &rows[i])) {
            put_heading(&rows[i], out);
        }
        put_row(&rows[i], out);
        if (i + 1 == count || !mxp__same_section(&rows[i], &rows[i + 1])) {
            mxp__strbuf_putc(out, '\n');
        }
    }
    return out->failed ? mxp__fail_memory("the table's text") : MXP_OK;
}
