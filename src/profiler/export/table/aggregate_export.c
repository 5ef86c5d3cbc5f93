// SPDX-License-Identifier: Apache-2.0
// The exporters of the aggregate statistics: they read the source in `end`, all in the same way,
// and differ in the printer.
#include "base/fail.h"
#include "profiler/export/export.h"
#include "profiler/export/table/aggregate.h"

static int print_aggregate(mxp_export *run, bool has_percentiles,
                           int (*print)(const mxp_row *rows, size_t count, mxp_strbuf *out))
{
    mxp_aggregate *aggregate;
    const mxp_row *rows;
    size_t count;
    int error = mxp__aggregate_create(run->options->group, &aggregate);
    if (error != MXP_OK) {
        return error;
    }
    error = mxp__aggregate_add(aggregate, run->source);
    int damage = error == MXP_EFORMAT ? error : MXP_OK;
    if (error == MXP_OK || damage != MXP_OK) {
        // Counters run up to the last record.
        error = mxp__aggregate_rows(aggregate, run->options->sort_by, run->options->ascending,
                                    INT64_MIN, &rows, &count);
    }
    if (error == MXP_OK && has_percentiles) {
        error = mxp__aggregate_exact(aggregate, run->source);
    }
    if (error == MXP_OK) {
        error = print(rows, count, run->out);
    }
    mxp__aggregate_destroy(aggregate);
    return error != MXP_OK ? error : damage;
}

static int end_table(mxp_export *run)
{
    return print_aggregate(run, false, mxp__print_table);
}

static int end_json(mxp_export *run)
{
    return print_aggregate(run, false, mxp__print_json);
}

static int end_csv(mxp_export *run)
{
    return print_aggregate(run, true, mxp__print_csv);
}

const mxp_exporter mxp__exporter_table = {
    .name = "table",
    .extension = ".txt",
    .help = "the aggregate table as text",
    .is_table = true,
    .end = end_table,
};

const mxp_exporter mxp__exporter_json = {
    .name = "json",
    .extension = ".json",
    .help = "the aggregate table as JSON",
    .is_table = true,
    .end = end_json,
};

const mxp_exporter mxp__exporter_csv = {
    .name = "csv",
    .extension = ".csv",
    .help = "the aggregate table as comma-separated values",
    .is_table = true,
    .end = end_csv,
};
