// SPDX-License-Identifier: Apache-2.0
// MXNET_CPU_KERNELS: a kind that is not built, or no kind at all, is an error of every execution.
#include <stdlib.h>
#include <string.h>

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "op_run.h"

static void kind_that_is_not_built_is_an_error(void **state)
{
    (void)state;
    mxn_array *in = op_array(MXN_FLOAT32, 1, (const int64_t[]){2}, NULL, 1), *out = NULL;
    assert_int_equal(op_run("exp", NULL, 1, &in, &out, MXN_WRITE), MXP_EVALUE);
    assert_non_null(strstr(mxp_last_error(), "MXNET_CPU_KERNELS=own"));
    assert_non_null(strstr(mxp_last_error(), "auto or ref"));
    assert_int_equal(mxn_kernels_check(), MXP_EVALUE);
    mxn_array_release(in);
    mxn_array_release(out);
}

int main(void)
{
    setenv("MXNET_CPU_KERNELS", "own", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kind_that_is_not_built_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
