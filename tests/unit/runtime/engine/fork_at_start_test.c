// SPDX-License-Identifier: Apache-2.0
// A fork beside the first start of the engine, which another thread is in: the child has an engine.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_all.h"

#include "engine_work.h"
#include "runtime/engine/engine_state.h"
#include <mxprof/record.h>

enum { FORKS = 200, SECONDS = 10 };

static void *start(void *unused)
{
    return mxn_engine_start() == 0 ? unused : "not started";
}

static void use(void)
{
    uint32_t ran = 0;
    mxn_var *var = mxn_var_new();
    engine_push(engine_add_one, &ran, NULL, var);
    _exit(mxn_var_wait(var) == 0 && ran == 1 ? 0 : 1);
}

// What became of a process, as waitpid has it.
static int end_of(pid_t process)
{
    int status = -1;
    return process > 0 && waitpid(process, &status, 0) == process ? status : -1;
}

// In a process whose engine has never been started; `turns` until it forks.
static void fork_beside_start(unsigned turns)
{
    pthread_t thread;
    alarm(SECONDS);
    pthread_create(&thread, NULL, start, NULL);
    for (volatile unsigned i = 0; i < turns; i++) {
    }
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);  // that of before is the parent's
        use();
    }
    _exit(end_of(child) == 0 ? 0 : 1);
}

static void a_child_that_is_forked_during_the_first_start_has_an_engine(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip();  // it bears no thread that a forked child starts
#endif
    mxp_span_name("operator",
                  "of before");  // the recorder is there, as in a program with a session
    mxp_thread_index();
    for (unsigned i = 0; i < FORKS; i++) {
        const pid_t process = fork();
        if (process == 0) {
            fork_beside_start(i * 1000);
        }
        assert_int_equal(end_of(process), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_that_is_forked_during_the_first_start_has_an_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
