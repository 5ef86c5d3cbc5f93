// SPDX-License-Identifier: Apache-2.0
#include "text/shares.h"

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "random.h"

static void thirds_add_up(void **state)
{
    (void)state;
    const uint64_t values[] = {1, 1, 1};
    uint64_t tenths[3];
    assert_int_equal(mxp__share_tenths(values, 3, 3, tenths), MXP_OK);
    assert_int_equal(tenths[0], 334);
    assert_int_equal(tenths[1], 333);
    assert_int_equal(tenths[2], 333);
}

static void what_is_a_part_adds_up_to_that_part(void **state)
{
    (void)state;
    const uint64_t values[] = {125, 125, 500};  // 75.0 %
    uint64_t tenths[3];
    assert_int_equal(mxp__share_tenths(values, 3, 1000, tenths), MXP_OK);
    assert_int_equal(tenths[0] + tenths[1] + tenths[2], 750);
    const uint64_t more[] = {900, 900};  // two workers
    assert_int_equal(mxp__share_tenths(more, 2, 1000, tenths), MXP_OK);
    assert_int_equal(tenths[0] + tenths[1], 1800);
    assert_int_equal(mxp__share_tenths(NULL, 0, 1, tenths), MXP_OK);
}

static void any_values_add_up_and_are_rounded_down_or_up(void **state)
{
    (void)state;
    uint64_t seed = 26;
    for (int round = 0; round < 2000; round++) {
        uint64_t values[40], tenths[40], total = 0, sum = 0;
        const size_t count = 1 + random_next(&seed) % 40;
        const unsigned bits = 8 + (unsigned)(random_next(&seed) % 50);
        for (size_t i = 0; i < count; i++) {
            values[i] = random_next(&seed) >> bits;
            total += values[i];
        }
        if (total == 0) {
            continue;
        }
        assert_int_equal(mxp__share_tenths(values, count, total, tenths), MXP_OK);
        for (size_t i = 0; i < count; i++) {
            const double exact = (double)values[i] / (double)total * 1000;
            assert_true((double)tenths[i] > exact - 1.0001 && (double)tenths[i] < exact + 1.0001);
            sum += tenths[i];
        }
        assert_int_equal(sum, 1000);
    }
}

static void a_lack_of_memory_is_told(void **state)
{
    (void)state;
    const uint64_t value = 1;
    uint64_t tenths;
    fake_alloc_fail_after(0);
    assert_int_equal(mxp__share_tenths(&value, 1, 1, &tenths), MXP_ENOMEM);
    fake_alloc_fail_never();
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thirds_add_up),
        cmocka_unit_test(what_is_a_part_adds_up_to_that_part),
        cmocka_unit_test(any_values_add_up_and_are_rounded_down_or_up),
        cmocka_unit_test(a_lack_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
