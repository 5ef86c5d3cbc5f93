// SPDX-License-Identifier: Apache-2.0
// The profiler's C ABI as a C program sees it: scopes and error texts belong to threads. Everything
// else about it is in tests/golden.
#include "cmocka_all.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <mxnet/c_api.h>
#include <mxprof/error.h>
#include <mxprof/record.h>

static void a_scope_replaces_the_threads_own(void **state)
{
    (void)state;
    uint32_t outside = mxp_scope_push("outside");
    assert_int_equal(MXSetProfilerScope("a:"), 0);
    uint32_t a = mxp_scope_current();
    assert_int_not_equal(a, outside);
    assert_int_equal(MXSetProfilerScope("b:"), 0);
    uint32_t b = mxp_scope_current();
    assert_true(b != a && b != outside);
    assert_int_equal(MXSetProfilerScope("a:"), 0);
    assert_int_equal(mxp_scope_current(), a);  // beside b, not within it
    assert_int_equal(MXSetProfilerScope("<unk>:"), 0);
    assert_int_equal(mxp_scope_current(), outside);
    assert_int_equal(MXSetProfilerScope("<unk>:"), 0);
    assert_int_equal(mxp_scope_current(), outside);
    assert_int_equal(MXSetProfilerScope(NULL), -1);
    assert_int_equal(mxp_scope_current(), outside);
    mxp_scope_pop();
}

static void *other_thread(void *result)
{
    int *good = result;
    *good = mxp_scope_current() == 0 && strcmp(MXGetLastError(), "") == 0 &&
            MXProfileDurationStop(NULL) == -1 &&
            strcmp(MXGetLastError(), "MXNetError: Check  notnull: duration_handle") == 0;
    return NULL;
}

static void texts_and_scopes_belong_to_threads(void **state)
{
    (void)state;
    assert_int_equal(MXSetProfilerScope("mine:"), 0);
    assert_int_equal(MXSetProfilerState(7), -1);
    const char *text = MXGetLastError();
    char *copy = strdup(text);
    pthread_t thread;
    int good = 0;
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &good), 0);
    pthread_join(thread, NULL);
    assert_true(good);
    assert_int_equal(MXProfilePause(0), 0);  // success clears nothing
    assert_string_equal(text, copy);
    assert_string_equal(MXGetLastError(), copy);
    assert_int_equal(MXSetProfilerScope(""), 0);
    free(copy);
}

static void a_class_in_the_text_stands_for_itself(void **state)
{
    (void)state;
    mxp_set_last_error(MXP_EINVAL, "ValueError: too large");
    assert_string_equal(MXGetLastError(), "ValueError: too large");
    mxp_set_last_error(MXP_EINVAL, "Error: not a class");
    assert_string_equal(MXGetLastError(), "MXNetError: Error: not a class");
    mxp_set_last_error(MXP_EINVAL, "text without colon");
    assert_string_equal(MXGetLastError(), "MXNetError: text without colon");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scope_replaces_the_threads_own),
        cmocka_unit_test(texts_and_scopes_belong_to_threads),
        cmocka_unit_test(a_class_in_the_text_stands_for_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
