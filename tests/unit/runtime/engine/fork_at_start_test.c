// SPDX-License-Identifier: Apache-2.0
// A fork beside the first start of the engine, which another thread is in: the child has an engine.
#include "cmocka_all.h"

#include "engine_work.h"
#include "fork_beside.h"
#include "runtime/engine/engine_state.h"
#include <mxprof/record.h>

static void *start(void *unused)
{
    return mxn_engine_start() == 0 ? unused : "not started";
}

static int use(void)
{
    uint32_t ran = 0;
    mxn_var *var = mxn_var_new();
    engine_push(engine_add_one, &ran, NULL, var);
    return mxn_var_wait(var) == 0 && ran == 1;
}

static void a_child_that_is_forked_during_the_first_start_has_an_engine(void **state)
{
    (void)state;
    mxp_span_name("operator",
                  "of before");  // the recorder is there, as in a program with a session
    mxp_thread_index();
    fork_beside(start, use);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_that_is_forked_during_the_first_start_has_an_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
