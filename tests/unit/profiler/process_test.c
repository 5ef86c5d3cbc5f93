// SPDX-License-Identifier: Apache-2.0
// The allocator hook of a program that is older or newer than the library.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

static void *reallocate(void *context, void *pointer, size_t old_size, size_t size)
{
    (void)context, (void)old_size;
    if (size == 0) {
        free(pointer);
        return NULL;
    }
    return realloc(pointer, size);
}

static void a_hook_without_its_size_is_refused(void **state)
{
    (void)state;
    const mxp_allocator hook = {.reallocate = reallocate};
    assert_int_equal(mxp_set_allocator(&hook), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "sizeof(mxp_allocator)"));
    mxp_set_allocator(NULL);
}

static void a_hook_with_a_later_member_is_taken_while_that_is_not_set(void **state)
{
    (void)state;
    struct {
        mxp_allocator known;
        void *later;
    } hook = {.known = {.size_bytes = sizeof hook, .reallocate = reallocate}};
    assert_int_equal(mxp_set_allocator(&hook.known), MXP_OK);
    hook.later = &hook;
    assert_int_equal(mxp_set_allocator(&hook.known), MXP_ENOTSUP);
    assert_int_equal(mxp_set_allocator(NULL), MXP_OK);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hook_without_its_size_is_refused),
        cmocka_unit_test(a_hook_with_a_later_member_is_taken_while_that_is_not_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
