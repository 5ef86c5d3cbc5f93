// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"

#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"

static void allocated_memory_is_zeroed(void **state)
{
    (void)state;
    unsigned char *bytes = mxp__alloc(1000);
    assert_non_null(bytes);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(bytes[i], 0);
    }
    mxp__free(bytes, 1000);
    assert_null(mxp__alloc(0));
    mxp__free(NULL, 0);
    assert_int_equal(fake_alloc_held_blocks(), 0);
}

static void reallocation_keeps_content(void **state)
{
    (void)state;
    char *text = mxp__realloc(NULL, 0, 6);
    memcpy(text, "hello", 6);
    text = mxp__realloc(text, 6, 5000);
    assert_string_equal(text, "hello");
    assert_int_equal(fake_alloc_held_bytes(), 5000);
    assert_null(mxp__realloc(text, 5000, 0));
    assert_int_equal(fake_alloc_held_bytes(), 0);
}

static void strdup_copies_and_frees_exactly(void **state)
{
    (void)state;
    const char *texts[] = {"", "a", "a longer line"};
    for (int i = 0; i < 3; i++) {
        char *copy = mxp__strdup(texts[i]);
        assert_string_equal(copy, texts[i]);
        assert_ptr_not_equal(copy, texts[i]);
        mxp__strfree(copy);
    }
    assert_null(mxp__strdup(NULL));
    mxp__strfree(NULL);
    assert_int_equal(fake_alloc_held_blocks(), 0);
}

static void grow_doubles_and_keeps_elements(void **state)
{
    (void)state;
    uint32_t *numbers = NULL;
    size_t capacity = 0, moves = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        const size_t before = capacity;
        assert_int_equal(mxp__grow(&numbers, &capacity, i + 1, sizeof *numbers), MXP_OK);
        assert_true(capacity > i);
        moves += capacity != before;
        numbers[i] = i * 7;
    }
    assert_in_range(moves, 10, 20);
    for (uint32_t i = 0; i < 100000; i++) {
        assert_int_equal(numbers[i], i * 7);
    }
    mxp__free(numbers, capacity * sizeof *numbers);
    assert_int_equal(fake_alloc_held_blocks(), 0);
}

static void grow_in_one_step_is_enough(void **state)
{
    (void)state;
    uint64_t *numbers = NULL;
    size_t capacity = 0;
    assert_int_equal(mxp__grow(&numbers, &capacity, 1000, sizeof *numbers), MXP_OK);
    assert_true(capacity >= 1000);
    assert_int_equal(fake_alloc_held_bytes(), capacity * sizeof *numbers);
    const uint64_t *before = numbers;
    assert_int_equal(mxp__grow(&numbers, &capacity, 500, sizeof *numbers), MXP_OK);
    assert_ptr_equal(numbers, before);
    mxp__free(numbers, capacity * sizeof *numbers);
}

static void lack_of_memory_leaves_the_array(void **state)
{
    (void)state;
    uint64_t *numbers = NULL;
    size_t capacity = 0;
    mxp__grow(&numbers, &capacity, 8, sizeof *numbers);
    numbers[7] = 77;
    const size_t old_capacity = capacity;
    fake_alloc_fail_after(0);
    assert_null(mxp__alloc(10));
    assert_null(mxp__strdup("text"));
    assert_int_equal(mxp__grow(&numbers, &capacity, 1000, sizeof *numbers), MXP_ENOMEM);
    assert_int_equal(fake_alloc_failed(), 3);
    fake_alloc_fail_never();
    assert_int_equal(capacity, old_capacity);
    assert_int_equal(numbers[7], 77);
    mxp__free(numbers, capacity * sizeof *numbers);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    uint64_t *numbers = NULL;
    size_t capacity = 0;
    assert_int_equal(mxp__grow(&numbers, &capacity, SIZE_MAX, sizeof *numbers), MXP_ENOMEM);
    assert_int_equal(mxp__grow(&numbers, &capacity, SIZE_MAX / 8 + 2, 8), MXP_ENOMEM);
    assert_null(numbers);
    assert_int_equal(capacity, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocated_memory_is_zeroed),
        cmocka_unit_test(reallocation_keeps_content),
        cmocka_unit_test(strdup_copies_and_frees_exactly),
        cmocka_unit_test(grow_doubles_and_keeps_elements),
        cmocka_unit_test(grow_in_one_step_is_enough),
        cmocka_unit_test(lack_of_memory_leaves_the_array),
        cmocka_unit_test(impossible_sizes_are_refused),
    };
    fake_alloc_install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
