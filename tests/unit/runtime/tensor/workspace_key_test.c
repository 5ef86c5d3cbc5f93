// SPDX-License-Identifier: Apache-2.0
// A process that has used up all its keys for data of threads: workspaces work, and what others
// keep under their keys stays theirs.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <mxprof/record.h>
#include <pthread.h>

#include "runtime/tensor/resource.h"

static void take_all_keys(void)
{
    pthread_key_t key;
    while (pthread_key_create(&key, NULL) == 0) {
    }
}

static void spaces_need_no_key(void **state)
{
    (void)state;
    mxn_workspace *workspace = NULL;
    mxp_thread_index();  // the profiler has its keys
    mxp_set_last_error(MXP_OK, "");
    mxn_var_delete(mxn_var_new(), NULL, NULL, 0);  // and the engine
    take_all_keys();
    const void *before = pthread_getspecific(0);
    assert_int_equal(mxn_workspace_get((mxn_context){MXN_CPU, 0}, &workspace), MXP_OK);
    assert_non_null(workspace);
    assert_ptr_equal(pthread_getspecific(0), before);
    assert_int_equal(mxn_wait_all(), MXP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spaces_need_no_key)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
