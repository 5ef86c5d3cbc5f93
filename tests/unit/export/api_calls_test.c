// SPDX-License-Identifier: Apache-2.0
// The counters of API calls follow from spans: as many samples as calls, and two a call.
#include <mxprof/error.h>
#include <mxprof/profiler.h>
#include <string.h>

#include "cmocka_all.h"
#include "export/export.h"
#include "fake_source.h"
#include "rows.h"

static void concurrency_counts_overlapping_calls(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t a = fake_thread(source, "a"), b = fake_thread(source, "b");
    uint32_t call = fake_span_name(source, "MXNET_C_API", "MXNDArrayFree");
    uint32_t other = fake_span_name(source, "MXNET_C_API_2", "MXNDArrayFree");
    fake_span(source, a, call, 1000, 5000);
    fake_span(source, a, call, 5000, 6000);  // begins when the other ends
    fake_span(source, b, call, 2000, 3000);
    fake_span(source, b, other, 2500, 5500);
    mxp_aggregate *aggregate;
    const mxp_row *rows;
    size_t count, found = 0;
    assert_int_equal(mxp__aggregate_create(MXP_GROUP_NAME, &aggregate), MXP_OK);
    assert_int_equal(mxp__aggregate_add(aggregate, source), MXP_OK);
    assert_int_equal(mxp__aggregate_rows(aggregate, MXP_SORT_TOTAL, 0, 6000, &rows, &count),
                     MXP_OK);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, "MXNet C API Calls") == 0) {
            found++;
            assert_string_equal(rows[i].section, "MXNET_C_API");
            assert_int_equal(rows[i].count, 3);
            assert_int_equal(rows[i].least.u64, 1);
            assert_int_equal(rows[i].most.u64, 3);
            assert_float_equal(rows[i].avg, (1 * 1000 + 2 * 3000 + 3 * 1000) / 5000.0, 1e-9);
        } else if (strcmp(rows[i].name, "MXNet C API Concurrency") == 0) {
            found++;
            assert_int_equal(rows[i].count, 6);
            assert_int_equal(rows[i].least.u64, 0);
            assert_int_equal(rows[i].most.u64, 2);
            assert_int_equal(rows[i].last.u64, 0);
            assert_float_equal(rows[i].avg, (1000 + 2 * 1000 + 3000) / 5000.0, 1e-9);
        }
    }
    assert_int_equal(found, 2);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void calls_go_on_counting_over_cuts_and_resets(void **state)
{
    (void)state;
    mxp_aggregate *aggregate;
    assert_int_equal(mxp__aggregate_create(MXP_GROUP_NAME, &aggregate), MXP_OK);
    for (int cut = 0; cut < 3; cut++) {
        mxp_source *source = fake_source_create();
        uint32_t thread = fake_thread(source, "a");
        uint32_t call = fake_span_name(source, "MXNET_C_API", "MXNDArrayFree");
        fake_span(source, thread, call, 1000, 2000);
        fake_span(source, thread, call, 3000, 3000);
        assert_int_equal(mxp__aggregate_add(aggregate, source), MXP_OK);
        mxp__source_close(source);
        if (cut == 1) {
            mxp__aggregate_reset(aggregate);
        }
    }
    const mxp_row *rows;
    size_t count, found = 0;
    assert_int_equal(mxp__aggregate_rows(aggregate, MXP_SORT_TOTAL, 0, 6000, &rows, &count),
                     MXP_OK);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, "MXNet C API Calls") == 0) {
            found++;
            assert_int_equal(rows[i].count, 2);
            assert_int_equal(rows[i].least.u64, 5);
            assert_int_equal(rows[i].most.u64, 6);
        }
    }
    assert_int_equal(found, 1);
    mxp__aggregate_destroy(aggregate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concurrency_counts_overlapping_calls),
        cmocka_unit_test(calls_go_on_counting_over_cuts_and_resets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
