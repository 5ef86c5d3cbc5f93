// SPDX-License-Identifier: Apache-2.0
// Handles of prepared calls: one that was freed is refused, whatever was made since.
#include <mxnet/c_api.h>
#include <mxnet/invoke.h>
#include <nnvm/c_api.h>
#include <string.h>

#include "cmocka_all.h"

enum { CPU = 1, FLOAT32 = 0, OTHERS = 100 };

static MXPreparedHandle prepare(void)
{
    const char *key = "scalar", *value = "1";
    OpHandle op = NULL;
    MXPreparedHandle made = NULL;
    assert_int_equal(NNGetOpHandle("_plus_scalar", &op), 0);
    assert_int_equal(MXPreparedCreate(op, 1, 1, &key, &value, &made), 0);
    return made;
}

static int run(MXPreparedHandle call)
{
    const int64_t shape[] = {4};
    NDArrayHandle array = NULL, *outputs = NULL;
    int count = 0;
    assert_int_equal(MXNDArrayCreate64(shape, 1, CPU, 0, 0, FLOAT32, &array), 0);
    int status = MXPreparedInvoke(call, &array, &count, &outputs);
    if (status == 0) {
        MXNDArrayFree(outputs[0]);
    }
    MXNDArrayFree(array);
    return status;
}

static void expect_freed(MXPreparedHandle call)
{
    assert_int_equal(MXPreparedFree(call), -1);
    assert_non_null(strstr(MXGetLastError(), "it was freed"));
    assert_int_equal(run(call), -1);
    assert_non_null(strstr(MXGetLastError(), "it was freed"));
}

static void a_freed_call_is_refused(void **state)
{
    (void)state;
    MXPreparedHandle call = prepare();
    assert_int_equal(run(call), 0);
    assert_int_equal(MXPreparedFree(call), 0);
    expect_freed(call);
    expect_freed(NULL);
}

static void a_freed_call_is_refused_when_its_memory_is_another_s(void **state)
{
    (void)state;
    MXPreparedHandle freed = prepare();
    assert_int_equal(MXPreparedFree(freed), 0);
    for (int i = 0; i < OTHERS / 2; i++) {
        MXPreparedHandle other = prepare();
        expect_freed(freed);
        assert_int_equal(run(other), 0);
        assert_int_equal(MXPreparedFree(other), 0);
    }
}

static void many_calls_have_handles_of_their_own(void **state)
{
    (void)state;
    MXPreparedHandle calls[OTHERS];
    for (int i = 0; i < OTHERS; i++) {
        calls[i] = prepare();
    }
    for (int i = 0; i < OTHERS; i += 2) {
        assert_int_equal(MXPreparedFree(calls[i]), 0);
    }
    for (int i = 0; i < OTHERS; i++) {
        assert_int_equal(run(calls[i]), i % 2 == 0 ? -1 : 0);
        assert_int_equal(MXPreparedFree(calls[i]), i % 2 == 0 ? -1 : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_freed_call_is_refused),
        cmocka_unit_test(a_freed_call_is_refused_when_its_memory_is_another_s),
        cmocka_unit_test(many_calls_have_handles_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
