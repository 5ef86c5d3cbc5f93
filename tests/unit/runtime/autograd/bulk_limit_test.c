// SPDX-License-Identifier: Apache-2.0
// The variables that limit a backward's bulks: read once, each process of its own here.
#include "runtime/autograd/bulk_limit.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_all.h"

// What the child exits with; an assert that fails in it ends it otherwise.
static int in_child(int (*child)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        _exit(child());
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The limit; 255: refused.
static int limit_of(void)
{
    int size = -1;
    return mxn_bulk_limit_backward(&size) == MXP_OK ? size : 255;
}

static void limit_is_that_of_the_first_variable_that_is_set(void **state)
{
    (void)state;
    assert_int_equal(in_child(limit_of), 15);
    setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "7", 1);
    assert_int_equal(in_child(limit_of), 7);
    setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", "9", 1);
    assert_int_equal(in_child(limit_of), 9);
    setenv("MXNET_EXEC_BULK_EXEC_TRAIN", "0", 1);
    assert_int_equal(in_child(limit_of), 0);
    unsetenv("MXNET_EXEC_BULK_EXEC_TRAIN");
    unsetenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD");
    unsetenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN");
}

// Bits: in training, outside of it.
static int allowed(void)
{
    return (mxn_bulk_allowed(true) ? 1 : 0) | (mxn_bulk_allowed(false) ? 2 : 0);
}

static void
bulks_are_turned_off_in_training_and_outside_of_it_by_variables_of_their_own(void **state)
{
    (void)state;
    assert_int_equal(in_child(allowed), 3);
    setenv("MXNET_EXEC_BULK_EXEC_INFERENCE", "0", 1);
    assert_int_equal(in_child(allowed), 1);
    setenv("MXNET_EXEC_BULK_EXEC_TRAIN", "0", 1);
    assert_int_equal(in_child(allowed), 0);
    unsetenv("MXNET_EXEC_BULK_EXEC_INFERENCE");
    assert_int_equal(in_child(allowed), 2);
    unsetenv("MXNET_EXEC_BULK_EXEC_TRAIN");
}

static int refused_for_good(void)
{
    int size;
    for (int i = 0; i < 2; i++) {
        const char *message = "";
        if (mxn_bulk_limit_backward(&size) == MXP_EVALUE) {
            message = mxp_last_error();
        }
        if (strstr(message, "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN='8x'") == NULL ||
            strstr(message, "from 0 to 65535") == NULL) {
            return 1;
        }
        unsetenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN");  // it was read once
        mxp_set_last_error(MXP_OK, "");
    }
    return 0;
}

static void
ill_formed_number_is_refused_by_every_backward_in_the_words_of_all_settings(void **state)
{
    (void)state;
    setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "8x", 1);
    assert_int_equal(in_child(refused_for_good), 0);
    setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "-1", 1);
    assert_int_equal(in_child(limit_of), 255);
    setenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", " 8", 1);
    assert_int_equal(in_child(limit_of), 255);
    unsetenv("MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limit_is_that_of_the_first_variable_that_is_set),
        cmocka_unit_test(
            bulks_are_turned_off_in_training_and_outside_of_it_by_variables_of_their_own),
        cmocka_unit_test(
            ill_formed_number_is_refused_by_every_backward_in_the_words_of_all_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
