// SPDX-License-Identifier: Apache-2.0
// What a distributed store counted in place of records, by operation and key, and by process.
#include <mxprof/error.h>

#include "profiler/analysis/ranks/counted.h"
#include "report/report.h"
#include "report/report_counted.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/text_table.h"

enum { ROWS_USUAL = 20 };

static const double fractions[] = {0.5, 0.9, 0.99};

// ---- text --------------------------------------------------------------------------------------
static void put_time(mxp_text_table *table, const mxp_histogram *of, double ns, const char *before)
{
    mxp_strbuf *cell = mxp__text_cell(table);
    if (of->count > 0) {
        mxp__strbuf_puts(cell, before);
        mxp__put_duration(table->screen, ns, cell);
    } else {
        mxp__strbuf_puts(cell, "-");
    }
}

static void put_row(mxp_text_table *table, const mxp_counted_row *row)
{
    const mxp_histogram *time = &row->of[MXP__COUNTED_TIME];
    const mxp_histogram *waited = &row->of[MXP__COUNTED_WAITED];
    const mxp_histogram *bytes = &row->of[MXP__COUNTED_BYTES];
    mxp__put_label(table->screen, row->what, row->what_length, mxp__text_cell(table));
    mxp__put_label(table->screen, row->whom, row->whom_length, mxp__text_cell(table));
    mxp__put_grouped(time->count, mxp__text_cell(table));
    put_time(table, time, (double)time->total, "");
    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        put_time(table, time, (double)mxp__histogram_quantile(time, fractions[i]), "~");
    }
    put_time(table, time, (double)time->max, "");
    put_time(table, waited, (double)waited->total, "");
    put_time(table, waited, (double)mxp__histogram_quantile(waited, 0.99), "~");
    mxp_strbuf *cell = mxp__text_cell(table);
    if (bytes->count > 0) {
        mxp__put_bytes((double)bytes->total, cell);
    } else {
        mxp__strbuf_puts(cell, "-");
    }
    mxp__text_row(table, MXP_LOOK_PLAIN);
}

int mxp__report_put_counted(mxp_time_report *report, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {
        {"communication", MXP_COLUMN_NAME, 0}, {"of", MXP_COLUMN_NAME, 0},
        {"times", MXP_COLUMN_RIGHT, 0},        {"total", MXP_COLUMN_RIGHT, 0},
        {"p50", MXP_COLUMN_RIGHT, 2},          {"p90", MXP_COLUMN_RIGHT, 3},
        {"p99", MXP_COLUMN_RIGHT, 0},          {"max", MXP_COLUMN_RIGHT, 1},
        {"waited", MXP_COLUMN_RIGHT, 0},       {"p99 of it", MXP_COLUMN_RIGHT, 4},
        {"bytes", MXP_COLUMN_RIGHT, 1}};
    mxp_counted counted;
    const int error = mxp__counted_make(report->input->source, &counted);
    if (error == MXP_OK && counted.count > 0) {
        const size_t most = report->wish->top > 0 ? report->wish->top : ROWS_USUAL;
        const size_t shown = mxp__report_shown(counted.count, most);
        mxp_text_table table;
        mxp__text_table_init(&table, report->screen, columns, sizeof columns / sizeof columns[0]);
        for (size_t i = 0; i < shown; i++) {
            put_row(&table, &counted.rows[i]);
        }
        mxp__text_table_put(&table, out);
        mxp__text_table_fini(&table);
        if (shown < counted.count) {
            mxp__strbuf_printf(out, "%zu more rows: --top, --json\n", counted.count - shown);
        }
    }
    mxp__counted_fini(&counted);
    return error;
}

// ---- for programs ------------------------------------------------------------------------------
static void put_histogram(mxp_json *json, const char *key, const mxp_histogram *of)
{
    if (of->count == 0) {
        mxp__json_null(json, key);
        return;
    }
    mxp__json_row(json, key);
    mxp__json_u64(json, "total", of->total);
    mxp__json_u64(json, "min", of->min);
    mxp__json_u64(json, "p50", mxp__histogram_quantile(of, fractions[0]));
    mxp__json_u64(json, "p90", mxp__histogram_quantile(of, fractions[1]));
    mxp__json_u64(json, "p99", mxp__histogram_quantile(of, fractions[2]));
    mxp__json_u64(json, "max", of->max);
    mxp__json_end(json);
}

int mxp__report_counted_json(mxp_source *source, mxp_json *json)
{
    static const char *const keys[MXP__COUNTED_QUANTITIES] = {"time_ns", "waited_ns", "sent_ns",
                                                              "bytes"};
    mxp_counted counted;
    const int error = mxp__counted_make(source, &counted);
    if (error == MXP_OK && counted.count > 0) {
        mxp__json_array(json, "communication");
        for (size_t i = 0; i < counted.count; i++) {
            const mxp_counted_row *row = &counted.rows[i];
            mxp__json_row(json, NULL);
            mxp__json_bytes(json, "what", row->what, row->what_length);
            mxp__json_bytes(json, "of", row->whom, row->whom_length);
            mxp__json_u64(json, "times", row->of[MXP__COUNTED_TIME].count);
            for (int j = 0; j < MXP__COUNTED_QUANTITIES; j++) {
                put_histogram(json, keys[j], &row->of[j]);
            }
            mxp__json_end(json);
        }
        mxp__json_end(json);
    }
    mxp__counted_fini(&counted);
    return error;
}
