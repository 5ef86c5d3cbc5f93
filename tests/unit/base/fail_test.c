// SPDX-License-Identifier: Apache-2.0
#include "base/fail.h"

#include <errno.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"

static void failing_returns_the_code_and_leaves_the_line(void **state)
{
    (void)state;
    errno = EBUSY;
    assert_int_equal(mxp__fail(MXP_EIO, "cannot open '%s': %d", "file", 7), MXP_EIO);
    assert_string_equal(mxp_last_error(), "cannot open 'file': 7");
    assert_int_equal(errno, EBUSY);
    assert_int_equal(mxp__fail_memory("the name table"), MXP_ENOMEM);
    assert_non_null(strstr(mxp_last_error(), "the name table"));
}

static void lines_of_every_length_are_whole(void **state)
{
    (void)state;
    static char text[100001];
    memset(text, 'x', sizeof text - 1);
    const size_t lengths[] = {0, 1, 1021, 1022, 1023, 1024, 1025, 2000, 100000 - 2};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        mxp__fail(MXP_EKEY, "<%.*s>", (int)lengths[i], text);
        const char *line = mxp_last_error();
        assert_int_equal(strlen(line), lengths[i] + 2);
        assert_int_equal(line[0], '<');
        assert_int_equal(line[lengths[i] + 1], '>');
    }
    assert_int_equal(fake_alloc_held_blocks(), 0);
}

static void a_long_line_is_cut_without_memory(void **state)
{
    (void)state;
    static char text[3000];
    memset(text, 'x', sizeof text - 1);
    fake_alloc_fail_after(0);
    assert_int_equal(mxp__fail(MXP_EKEY, "key %s", text), MXP_EKEY);
    fake_alloc_fail_never();
    const char *line = mxp_last_error();
    assert_memory_equal(line, "key xxx", 7);
    assert_int_equal(strlen(line), 1023);
    assert_string_equal(line + 1020, "...");
}

static const char *const keys[] = {"filename",
                                   "profile_all",
                                   "profile_symbolic",
                                   "profile_imperative",
                                   "profile_api",
                                   "aggregate_stats",
                                   "dump_period",
                                   "continuous_dump",
                                   "go",
                                   NULL};

static void a_typing_error_finds_its_word(void **state)
{
    (void)state;
    const char *cases[][2] = {
        {"filname", "filename"},        {"file_name", "filename"},
        {"Profile_All", "profile_all"}, {"profile_al", "profile_all"},
        {"porfile_api", "profile_api"}, {"agregate_stat", "aggregate_stats"},
        {"dump_peroid", "dump_period"}, {"continous_dump", "continuous_dump"},
        {"filename", "filename"},       {"GO", "go"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = mxp__closest(cases[i][0], keys);
        assert_non_null(found);
        assert_string_equal(found, cases[i][1]);
    }
}

static void an_unrelated_word_finds_nothing(void **state)
{
    (void)state;
    const char *words[] = {"", "x", "banana", "no", "output_directory", "prof"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_null(mxp__closest(words[i], keys));
    }
    const char *const none[] = {NULL};
    assert_null(mxp__closest("filename", none));
}

static void words_too_long_to_compare_are_passed_over(void **state)
{
    (void)state;
    static char endless[1 << 20];
    memset(endless, 'a', sizeof endless - 1);
    assert_null(mxp__closest(endless, keys));
    const char *const words[] = {endless, "aaaaaaaa", NULL};
    assert_string_equal(mxp__closest("aaaaaaa", words), "aaaaaaaa");
    char longest[64];
    memset(longest, 'b', sizeof longest - 1);
    longest[63] = '\0';
    const char *const one[] = {longest, NULL};
    assert_ptr_equal(mxp__closest(longest + 1, one), longest);
}

static void a_swap_counts_once(void **state)
{
    (void)state;
    // Three letters allow one step: a swap is one, two replacements are not.
    const char *const words[] = {"abc", NULL};
    assert_non_null(mxp__closest("acb", words));
    assert_null(mxp__closest("axy", words));
    assert_null(mxp__closest("cab", words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_returns_the_code_and_leaves_the_line),
        cmocka_unit_test(lines_of_every_length_are_whole),
        cmocka_unit_test(a_long_line_is_cut_without_memory),
        cmocka_unit_test(a_typing_error_finds_its_word),
        cmocka_unit_test(an_unrelated_word_finds_nothing),
        cmocka_unit_test(words_too_long_to_compare_are_passed_over),
        cmocka_unit_test(a_swap_counts_once),
    };
    fake_alloc_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
