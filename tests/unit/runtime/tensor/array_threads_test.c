// SPDX-License-Identifier: Apache-2.0
// One array in several threads, where ThreadSanitizer is the judge.
#include "cmocka_all.h"

#include <mxprof/error.h>

#include "runtime/tensor/tensor.h"

// The operation that brings the memory about may be under way when it is named.
static void memory_is_named_before_it_is_there_or_not_at_all(void **state)
{
    enum { ROUNDS = 100 };
    const mxn_context cpu = {MXN_CPU, 0};
    const mxn_shape shape = {.ndim = 1, .dims = {64}};
    const mxp_name name = mxp_string("named late");
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        mxn_array *array = NULL;
        mxn_owner owners[2];
        assert_int_equal(mxn_array_new(&shape, MXN_FLOAT32, cpu, NULL, true, &array), MXP_OK);
        assert_int_equal(mxn_array_fill(array, 1.0, NULL), MXP_OK);
        int error = mxn_array_name_memory(array, name);
        assert_true(error == MXP_OK || error == MXP_ESTATE);
        assert_int_equal(mxn_array_wait_read(array), MXP_OK);
        assert_int_equal(mxn_storage_owners(0, owners, 2), 1);
        assert_int_equal(owners[0].name == name, error == MXP_OK);
        mxn_array_release(array);
        assert_int_equal(mxn_wait_all(), MXP_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_named_before_it_is_there_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
