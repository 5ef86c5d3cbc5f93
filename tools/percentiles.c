// SPDX-License-Identifier: Apache-2.0
// Percentiles come from log-linear histograms, so each is at most 12.5 % off; the headings say so.
#include "percentiles.h"

#include <inttypes.h>

#include "base/text.h"
#include "export/print_text.h"

static const struct {
    const char *name;
    double fraction;
} percentiles[] = {{"P50", 0.50}, {"P90", 0.90}, {"P99", 0.99}};

enum { PERCENTILES = sizeof percentiles / sizeof percentiles[0] };

static double percentile_ms(const mxp_row *row, int i)
{
    return (double)mxp__histogram_quantile(row->histogram, percentiles[i].fraction) / 1e6;
}

static void put_section_heading(const mxp_row *row, mxp_strbuf *out)
{
    mxp__put_name(out, row->section, row->section_length, 0);
    mxp__strbuf_puts(out, "\n=================\n");
    mxp__strbuf_printf(out, "%-25s%16s", "Name", "Total Count");
    for (int i = 0; i < PERCENTILES; i++) {
        mxp__strbuf_printf(out, " %11s (ms)", percentiles[i].name);
    }
    mxp__strbuf_printf(out, "\n%-25s%16s", "----", "-----------");
    for (int i = 0; i < PERCENTILES; i++) {
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
            mxp__strbuf_puts(out, "\nPercentiles:\n"
                                  "\tFrom histograms: at most 12.5 % off.\n");
        }
        if (section == NULL || !mxp__same_section(section, &rows[r])) {
            mxp__strbuf_puts(out, section == NULL ? "" : "\n");
            put_section_heading(&rows[r], out);
            section = &rows[r];
        }
        mxp__put_name(out, rows[r].name, rows[r].name_length, 25);
        mxp__strbuf_printf(out, "%16" PRIu64, rows[r].count);
        for (int i = 0; i < PERCENTILES; i++) {
            mxp__strbuf_printf(out, " %16.4f", percentile_ms(&rows[r], i));
        }
        mxp__strbuf_putc(out, '\n');
    }
}

static void put_json_row(const mxp_row *row, int indent, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "\n%*s", indent, "");
    mxp__json_string(out, row->name, row->name_length);
    mxp__strbuf_puts(out, ": {");
    for (int i = 0; i < PERCENTILES; i++) {
        mxp__strbuf_printf(out, "%s\"%s\": ", i == 0 ? "" : ", ", percentiles[i].name);
        mxp__json_double(out, percentile_ms(row, i));
    }
    mxp__strbuf_putc(out, '}');
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
