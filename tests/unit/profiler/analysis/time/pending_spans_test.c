// SPDX-License-Identifier: Apache-2.0
// Own times of spans with more inside of them than is kept one by one.
#include "profiler/analysis/time/pending_spans.h"

#include <mxprof/error.h>

#include "cmocka_all.h"

enum { MILLIONS = 3 << 20, EVERY_NS = 10, TOOK_NS = 9, REACH_NS = 100 };

static uint64_t own_of(mxp_pending_spans *pending, const mxp_range_index *index, int64_t begin_ns,
                       int64_t end_ns)
{
    uint64_t own_ns;
    assert_int_equal(mxp__pending_spans_add(pending, index, 0, begin_ns, end_ns, &own_ns), MXP_OK);
    return own_ns;
}

static void add_calls(mxp_pending_spans *pending, const mxp_range_index *index, int64_t from_ns)
{
    for (int64_t i = 0; i < MILLIONS; i++) {
        const int64_t begin_ns = from_ns + i * EVERY_NS;
        assert_int_equal(own_of(pending, index, begin_ns, begin_ns + TOOK_NS), TOOK_NS);
    }
}

static void millions_of_calls_are_not_the_own_time_of_what_called_them(void **state)
{
    (void)state;
    const int64_t end_ns = (int64_t)MILLIONS * EVERY_NS;
    mxp_long_span spans[] = {{.begin_ns = 0, .end_ns = end_ns},
                             {.begin_ns = 5, .end_ns = end_ns, .thread = 1}};
    const mxp_range_index index = {.spans = spans, .span_count = 2, .reach_ns = REACH_NS};
    mxp_pending_spans pending = {0};
    add_calls(&pending, &index, 0);
    assert_int_equal(own_of(&pending, &index, 0, end_ns), MILLIONS * (EVERY_NS - TOOK_NS));
    mxp__pending_spans_fini(&pending);
}

// In the outer one, then in the inner one, then in the outer one again.
static void each_of_them_belongs_to_the_innermost(void **state)
{
    (void)state;
    const int64_t part_ns = (int64_t)MILLIONS * EVERY_NS;
    mxp_long_span spans[] = {{.begin_ns = part_ns, .end_ns = 2 * part_ns},
                             {.begin_ns = 0, .end_ns = 3 * part_ns}};
    const mxp_range_index index = {.spans = spans, .span_count = 2, .reach_ns = REACH_NS};
    mxp_pending_spans pending = {0};
    add_calls(&pending, &index, 0);
    add_calls(&pending, &index, part_ns);
    assert_int_equal(own_of(&pending, &index, part_ns, 2 * part_ns),
                     MILLIONS * (EVERY_NS - TOOK_NS));
    add_calls(&pending, &index, 2 * part_ns);
    assert_int_equal(own_of(&pending, &index, 0, 3 * part_ns), 2 * MILLIONS * (EVERY_NS - TOOK_NS));
    mxp__pending_spans_fini(&pending);
}

// Shorter than what the index keeps, and begun right before what it claims.
static void short_ones_claim_what_is_inside_of_them(void **state)
{
    (void)state;
    const int64_t end_ns = (int64_t)MILLIONS * EVERY_NS;
    mxp_long_span spans[] = {{.begin_ns = 0, .end_ns = end_ns + REACH_NS}};
    const mxp_range_index index = {.spans = spans, .span_count = 1, .reach_ns = REACH_NS};
    mxp_pending_spans pending = {0};
    add_calls(&pending, &index, 0);
    assert_int_equal(own_of(&pending, &index, end_ns - 2 * EVERY_NS, end_ns), 2);
    assert_int_equal(own_of(&pending, &index, 0, end_ns + REACH_NS),
                     (MILLIONS - 2) * (EVERY_NS - TOOK_NS) + REACH_NS);
    mxp__pending_spans_fini(&pending);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(millions_of_calls_are_not_the_own_time_of_what_called_them),
        cmocka_unit_test(each_of_them_belongs_to_the_innermost),
        cmocka_unit_test(short_ones_claim_what_is_inside_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
