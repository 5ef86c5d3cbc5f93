// SPDX-License-Identifier: Apache-2.0
// The list of operators is made at the first question, whoever asks and whatever it lacks. Each
// case is a process of its own, in which nobody has asked before.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_alloc.h"
#include "runtime/op/op.h"

static void assert_good_in_child(bool (*good)(void))
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        _exit(good() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static bool every_failure_is_explained(void)
{
    for (size_t allocations = 0;; allocations++) {
        const mxn_op *op = NULL;
        mxp_set_last_error(MXP_OK, "");
        fake_alloc_fail_after(allocations);
        int error = mxn_op_require("dot", &op);
        fake_alloc_fail_never();
        if (error == MXP_OK) {
            return allocations > 100 && op != NULL;
        }
        if (error != MXP_ENOMEM || strstr(mxp_last_error(), "the list of operators") == NULL) {
            return false;
        }
    }
}

static void without_memory_it_says_so(void **state)
{
    (void)state;
    assert_good_in_child(every_failure_is_explained);
}

static void *check_foreign(void *foreign)
{
    return (void *)(intptr_t)mxn_op_check(foreign);
}

static bool a_check_makes_it_too(void)
{
    pthread_t threads[2];
    bool good = true;
    for (int i = 0; i < 2; i++) {
        good = good && pthread_create(&threads[i], NULL, check_foreign, &threads) == 0;
    }
    for (int i = 0; i < 2 && good; i++) {
        void *error;
        pthread_join(threads[i], &error);
        good = (intptr_t)error == MXP_EHANDLE;
    }
    return good;
}

static void two_threads_may_be_the_first(void **state)
{
    (void)state;
    assert_good_in_child(a_check_makes_it_too);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_it_says_so),
        cmocka_unit_test(two_threads_may_be_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
