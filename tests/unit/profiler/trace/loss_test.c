// SPDX-License-Identifier: Apache-2.0
// Reasons of losses: the numbers that are in files, and that each has words of its own.
#include "profiler/trace/loss.h"

#include <mxprof/loss.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_all.h"

// As docs/format.md has them: files of older versions hold these.
static void numbers_are_those_of_the_format(void **state)
{
    (void)state;
    static const int numbers[] = {MXP_LOSS_MEMORY_FULL, MXP_LOSS_IN_SIGNAL,    MXP_LOSS_NAMES_FULL,
                                  MXP_LOSS_THREAD,      MXP_LOSS_MISUSE,       MXP_LOSS_DEEPER,
                                  MXP_LOSS_NO_NUMBER,   MXP_LOSS_FILE_EMPTIED, MXP_LOSS_LATE,
                                  MXP_LOSS_JUMP,        MXP_LOSS_SEVERAL,      MXP_LOSS_FOREIGN,
                                  MXP_LOSS_FILE_LIMIT};
    for (int i = 0; i < 13; i++) {
        assert_int_equal(numbers[i], i + 1);
    }
}

static void each_reason_has_words_of_its_own(void **state)
{
    (void)state;
    assert_string_equal(mxp__loss_reason(MXP_LOSS_MEMORY_FULL), "memory full");
    assert_string_equal(mxp__loss_reason(MXP_LOSS_SEVERAL), "several reasons");
    for (uint32_t reason = 1; reason <= MXP_LOSS_FILE_LIMIT; reason++) {
        assert_string_not_equal(mxp__loss_reason(reason), "unknown reason");
        for (uint32_t other = 1; other < reason; other++) {
            assert_string_not_equal(mxp__loss_reason(reason), mxp__loss_reason(other));
        }
    }
}

static void number_of_a_newer_version_is_unknown(void **state)
{
    (void)state;
    assert_string_equal(mxp__loss_reason(0), "unknown reason");
    assert_string_equal(mxp__loss_reason(MXP_LOSS_FILE_LIMIT + 1), "unknown reason");
    assert_string_equal(mxp__loss_reason(UINT32_MAX), "unknown reason");
}

// An exporter writes "COUNT records lost (REASON)" into 96 characters.
static void words_fit_where_they_are_written(void **state)
{
    (void)state;
    for (uint32_t reason = 1; reason <= MXP_LOSS_FILE_LIMIT; reason++) {
        char text[96];
        assert_in_range(snprintf(text, sizeof text, "%llu records without a name (%s)", ~0ull,
                                 reason == MXP_LOSS_NAMES_FULL ? mxp__loss_reason(reason) : ""),
                        1, sizeof text - 1);
        assert_in_range(
            snprintf(text, sizeof text, "%llu records lost (%s)", ~0ull, mxp__loss_reason(reason)),
            1, sizeof text - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_format),
        cmocka_unit_test(each_reason_has_words_of_its_own),
        cmocka_unit_test(number_of_a_newer_version_is_unknown),
        cmocka_unit_test(words_fit_where_they_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
