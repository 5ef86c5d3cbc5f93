// SPDX-License-Identifier: Apache-2.0
// Percentiles of rows whose durations are in records are exact, however they are spread.
#include "profiler/export/table/selection.h"

#include <mxprof/profiler.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_source.h"
#include "profiler/export/export.h"
#include "random.h"
#include "rows.h"

enum { MANY = 50000 };  // more in a bucket than a pass collects

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void add_spans(mxp_source *source, const char *name, const uint64_t *values, size_t count)
{
    uint32_t thread = fake_thread(source, name), id = fake_span_name(source, "user", name);
    for (size_t i = 0; i < count; i++) {
        fake_span(source, thread, id, 1, 1 + values[i]);
    }
}

// The smallest value that `percent` of all do not exceed.
static uint64_t percentile(const uint64_t *sorted, size_t count, unsigned percent)
{
    return sorted[(count * percent + 99) / 100 - 1];
}

static void check_row(const mxp_row *row, uint64_t *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    assert_non_null(row->exact);
    assert_int_equal(mxp__row_percentile(row, MXP__P50), percentile(values, count, 50));
    assert_int_equal(mxp__row_percentile(row, MXP__P90), percentile(values, count, 90));
    assert_int_equal(mxp__row_percentile(row, MXP__P99), percentile(values, count, 99));
}

static void check_values(uint64_t *values, size_t count)
{
    mxp_source *source = fake_source_create();
    add_spans(source, "values", values, count);
    const mxp_row *rows;
    size_t row_count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_NAME, &rows, &row_count);
    assert_int_equal(mxp__aggregate_exact(aggregate, source), MXP_OK);
    check_row(row_get(rows, row_count, "user", "values"), values, count);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static uint64_t values[MANY];

static void percentiles_of_any_distribution_are_exact(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (int shape = 0; shape < 6; shape++) {
        for (size_t i = 0; i < MANY; i++) {
            values[i] = shape == 0   ? random_below(&random, 1000000)
                        : shape == 1 ? random_size(&random) >> 20
                        : shape == 2 ? 1048576
                        : shape == 3 ? (i % 100 == 0 ? 20000000 : 500000)
                        : shape == 4 ? 1048576 + random_below(&random, 262144)
                                     : (i % 2 == 0 ? 1 : UINT64_C(1) << 44);
        }
        check_values(values, MANY);
    }
}

static void percentiles_of_few_values_are_exact(void **state)
{
    (void)state;
    uint64_t random = 12;
    for (size_t count = 1; count < 130; count++) {
        for (size_t i = 0; i < count; i++) {
            values[i] = random_size(&random) >> 20;
        }
        check_values(values, count);
    }
}

// Two rows of one text: the passes cannot tell them apart, so none of the two is called exact.
static void rows_that_cannot_be_told_apart_are_not_exact(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    uint32_t category = fake_string(source, "user"), ids[2];
    for (int i = 0; i < 2; i++) {
        ids[i] = fake_name_bytes(source, category, "twice", 5, MXP_STYLE_SPAN, MXP_UNIT_NONE);
    }
    for (uint64_t i = 0; i < 100; i++) {
        fake_span(source, thread, ids[i % 2], 1000 * i, 1000 * i + 10 + i);
    }
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_NAME, &rows, &count);
    assert_int_equal(count, 2);
    assert_int_equal(mxp__aggregate_exact(aggregate, source), MXP_OK);
    assert_true(rows[0].exact == NULL && rows[1].exact == NULL);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void what_was_counted_without_records_is_estimated(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint64_t random = 13;
    for (size_t i = 0; i < 1000; i++) {
        values[i] = 1 + random_below(&random, 1000000);
    }
    add_spans(source, "both", values, 500);
    add_spans(source, "records", values, 1000);
    fake_stats(source, fake_span_name(source, "user", "both"), values + 500, 500);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_NAME, &rows, &count);
    assert_int_equal(mxp__aggregate_exact(aggregate, source), MXP_OK);
    check_row(row_get(rows, count, "user", "records"), values, 1000);
    const mxp_row *both = row_get(rows, count, "user", "both");
    assert_null(both->exact);
    assert_int_equal(both->count, 1000);
    double ratio =
        (double)mxp__row_percentile(both, MXP__P90) / (double)percentile(values, 1000, 90);
    assert_true(ratio > 0.75 && ratio < 1.25);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_of_any_distribution_are_exact),
        cmocka_unit_test(percentiles_of_few_values_are_exact),
        cmocka_unit_test(rows_that_cannot_be_told_apart_are_not_exact),
        cmocka_unit_test(what_was_counted_without_records_is_estimated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
