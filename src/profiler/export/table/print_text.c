// SPDX-License-Identifier: Apache-2.0
// Shared by the printers. printf's %f follows the program's locale, so its result is rewritten
// here.
#include "profiler/export/table/print_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { COLUMN = 16 };

void mxp__put_name(mxp_strbuf *out, const char *text, size_t length, size_t width)
{
    mxp_strbuf json = {0};
    size_t start = out->length;
    mxp__json_string(&json, text, length);
    // Between the quotes; of the escapes only those of quote and backslash are undone.
    for (size_t i = 1; !json.failed && i + 1 < json.length; i++) {
        bool is_quoted = json.data[i] == '\\' && strchr("\"\\", json.data[i + 1]) != NULL;
        i += is_quoted;
        mxp__strbuf_putc(out, json.data[i]);
    }
    out->failed = out->failed || json.failed;
    mxp__strbuf_fini(&json);
    while (!out->failed && out->length - start < width) {
        mxp__strbuf_putc(out, ' ');
    }
}

void mxp__put_fixed(mxp_strbuf *out, double value)
{
    char printed[400], text[400];  // the largest double has 309 digits before the point
    size_t length = 0;
    snprintf(printed, sizeof printed, "%.4f", value);
    bool in_point = false;
    for (const char *at = printed; *at != '\0'; at++) {
        bool is_point = strchr("-0123456789", *at) == NULL;
        if (!is_point || !in_point) {
            text[length++] = is_point ? '.' : *at;
        }
        in_point = is_point;
    }
    text[length] = '\0';
    mxp__strbuf_printf(out, "%*s", COLUMN, text);
}

void mxp__put_number(mxp_strbuf *out, mxp_number number, uint32_t type)
{
    switch (type) {
    case MXP_ARG_F64:
        mxp__put_fixed(out, number.f64);
        break;
    case MXP_ARG_I64:
        mxp__strbuf_printf(out, "%*" PRId64, COLUMN, number.i64);
        break;
    default:
        mxp__strbuf_printf(out, "%*" PRIu64, COLUMN, number.u64);
    }
}

double mxp__row_scale(const mxp_row *row)
{
    if (row->is_memory) {
        return 1e3;
    }
    return mxp__row_is_plain(row) ? 1 : 1e6;
}

int mxp__row_is_plain(const mxp_row *row)
{
    return !row->is_memory &&
           (row->is_counter ? row->unit != MXP_UNIT_NS : row->unit == MXP_UNIT_BYTES);
}

void mxp__put_figure(mxp_strbuf *out, const mxp_row *row, double value, const mxp_number *exact)
{
    if (exact == NULL || !mxp__row_is_plain(row) || row->value_type == MXP_ARG_F64) {
        mxp__json_double(out, value / mxp__row_scale(row));
    } else if (row->value_type == MXP_ARG_I64) {
        mxp__strbuf_printf(out, "%" PRId64, exact->i64);
    } else {
        mxp__strbuf_printf(out, "%" PRIu64, exact->u64);
    }
}

int mxp__same_section(const mxp_row *a, const mxp_row *b)
{
    return a->section_length == b->section_length &&
           memcmp(a->section, b->section, a->section_length) == 0;
}
