// SPDX-License-Identifier: Apache-2.0
// The table as JSON in MXNet's layout: commas are on lines of their own, members in print order.
#include <inttypes.h>

#include "base/fail.h"
#include "base/text.h"
#include "profiler/export/table/print_text.h"

static void put_figure(const mxp_row *row, const char *key, double value, const mxp_number *exact,
                       mxp_strbuf *out)
{
    mxp__strbuf_printf(out, ",\n                \"%s\": ", key);
    mxp__put_figure(out, row, value, exact);
}

static void put_row(const mxp_row *row, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "            ");
    mxp__json_string(out, row->name, row->name_length);
    mxp__strbuf_printf(out, ": {\n                \"Count\": %" PRIu64, row->count);
    if (!row->is_memory) {
        put_figure(row, "Total", row->total, &row->last, out);
    }
    put_figure(row, "Min", row->min, &row->least, out);
    put_figure(row, "Max", row->max, &row->most, out);
    put_figure(row, "Avg", row->avg, NULL, out);
    mxp__strbuf_puts(out, "\n            }\n");
}

// The sections that are memory, or those that are not.
static void put_sections(const mxp_row *rows, size_t count, int is_memory, mxp_strbuf *out)
{
    const mxp_row *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const mxp_row *row = &rows[i];
        if (row->is_memory != is_memory) {
            continue;
        }
        if (last != NULL && mxp__same_section(last, row)) {
            mxp__strbuf_puts(out, "            ,\n");
        } else {
            mxp__strbuf_puts(out, last != NULL ? "        }\n        ,\n        " : "        ");
            mxp__json_string(out, row->section, row->section_length);
            mxp__strbuf_puts(out, ": {\n");
        }
        put_row(row, out);
        last = row;
    }
    mxp__strbuf_puts(out, last != NULL ? "        }\n" : "");
}

int mxp__print_json(const mxp_row *rows, size_t count, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "{\n    \"Time\": {\n");
    put_sections(rows, count, 0, out);
    mxp__strbuf_puts(out, "    }\n    ,\n    \"Memory\": {\n");
    put_sections(rows, count, 1, out);
    mxp__strbuf_puts(out, "    }\n,\n    \"Unit\": {\n        \"Time\": \"ms\",\n"
                          "        \"Memory\": \"kB\"\n    }\n}\n");
    return out->failed ? mxp__fail_memory("the table's text") : MXP_OK;
}
