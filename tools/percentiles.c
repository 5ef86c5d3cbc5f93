// SPDX-License-Identifier: Apache-2.0
// Percentiles are exact where a row's durations are all in records. Else they come from log-linear
// histograms; the headings, a mark at the row and a member of JSON say so.
#include "percentiles.h"

#include <inttypes.h>

#include "base/text.h"
#include "profiler/export/table/print_text.h"

// In ms, of bytes in bytes.
static double percentile_of(const mxp_row *row, int i)
{
    return (double)mxp__row_percentile(row, i) / mxp__row_scale(row);
}

// P99 is the shortest duration that 99 % of the row's do not exceed.
static void put_heading(const mxp_row *rows, size_t count, mxp_strbuf *out)
{
    size_t exact = 0, others = 0;
    for (size_t i = 0; i < count; i++) {
        exact += rows[i].exact != NULL;
        others += rows[i].exact == NULL && rows[i].histogram != NULL;
    }
    mxp__strbuf_puts(out, "\nPercentiles:\n");
    if (exact > 0) {
        mxp__strbuf_puts(out, "\tExact: P99 is the shortest time that 99 % of the row do not "
                              "exceed.\n");
    }
    if (others > 0) {
        mxp__strbuf_puts(out, "\t*: not all is in records; from histograms, less than 25 % off.\n");
    }
}

static void put_section_heading(const mxp_row *row, mxp_strbuf *out)
{
    mxp__put_name(out, row->section, row->section_length, 0);
    mxp__strbuf_puts(out, "\n=================\n");
    mxp__strbuf_printf(out, "%-25s%16s", "Name", "Total Count");
    for (int i = 0; i < MXP__PERCENTILES; i++) {
        mxp__strbuf_printf(out, mxp__row_is_plain(row) ? " %16s" : " %11s (ms)",
                           mxp__percentile_name(i));
    }
    mxp__strbuf_printf(out, "\n%-25s%16s", "----", "-----------");
    for (int i = 0; i < MXP__PERCENTILES; i++) {
        mxp__strbuf_printf(out, " %16s", "--------");
    }
    mxp__strbuf_putc(out, '\n');
}

void mxp__percentiles_table(const mxp_row *rows, size_t count, mxp_strbuf *out)
{
    const mxp_row *section = NULL;
    for (size_t r = 0; r < count; r++) {
        if (rows[r].histogram == NULL) {
            continue;
        }
        if (section == NULL) {
            put_heading(rows, count, out);
        }
        if (section == NULL || !mxp__same_section(section, &rows[r])) {
            mxp__strbuf_puts(out, section == NULL ? "" : "\n");
            put_section_heading(&rows[r], out);
            section = &rows[r];
        }
        mxp__put_name(out, rows[r].name, rows[r].name_length, 25);
        mxp__strbuf_printf(out, "%16" PRIu64, rows[r].count);
        for (int i = 0; i < MXP__PERCENTILES; i++) {
            mxp__strbuf_printf(out, " %16.4f", percentile_of(&rows[r], i));
        }
        mxp__strbuf_puts(out, rows[r].exact != NULL ? "\n" : " *\n");
    }
}

static void put_json_row(const mxp_row *row, int indent, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "\n%*s", indent, "");
    mxp__json_string(out, row->name, row->name_length);
    mxp__strbuf_puts(out, ": {");
    for (int i = 0; i < MXP__PERCENTILES; i++) {
        mxp__strbuf_printf(out, "%s\"%s\": ", i == 0 ? "" : ", ", mxp__percentile_name(i));
        mxp__json_double(out, percentile_of(row, i));
    }
    mxp__strbuf_printf(out, ", \"Exact\": %s}", row->exact != NULL ? "true" : "false");
}

void mxp__percentiles_json(const mxp_row *rows, size_t count, int indent, mxp_strbuf *out)
{
    const mxp_row *section = NULL;
    mxp__strbuf_putc(out, '{');
    for (size_t r = 0; r < count; r++) {
        if (rows[r].histogram == NULL) {
            continue;
        }
        if (section == NULL || !mxp__same_section(section, &rows[r])) {
            if (section != NULL) {
                mxp__strbuf_printf(out, "\n%*s},", indent + 4, "");
            }
            mxp__strbuf_printf(out, "\n%*s", indent + 4, "");
            mxp__json_string(out, rows[r].section, rows[r].section_length);
            mxp__strbuf_puts(out, ": {");
            section = &rows[r];
        } else {
            mxp__strbuf_putc(out, ',');
        }
        put_json_row(&rows[r], indent + 8, out);
    }
    if (section != NULL) {
        mxp__strbuf_printf(out, "\n%*s}\n%*s", indent + 4, "", indent, "");
    }
    mxp__strbuf_putc(out, '}');
}
