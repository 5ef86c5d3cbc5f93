// SPDX-License-Identifier: Apache-2.0
// A fork beside the first names of a process without a session, which another thread gives: the
// child can give names too.
#include "cmocka_all.h"

#include <mxprof/record.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKS = 200, NAMES = 200, SECONDS = 10 };

static void *give_names(void *unused)
{
    for (int i = 0; i < NAMES; i++) {
        char text[24];
        snprintf(text, sizeof text, "name %d", i);
        mxp_span_name("names", text);
    }
    return unused;
}

static void use(void)
{
    give_names(NULL);
    const mxp_name last = mxp_span_name("names", "name 199");
    const bool right = strcmp(mxp_name_text(MXP_NAME_NONE), "") == 0 &&
                       strcmp(mxp_name_text(MXP_NAME_FULL), "<names full>") == 0 &&
                       strcmp(mxp_name_text(last), "name 199") == 0;
    _exit(right ? 0 : 1);
}

// What became of a process, as waitpid has it.
static int end_of(pid_t process)
{
    int status = -1;
    return process > 0 && waitpid(process, &status, 0) == process ? status : -1;
}

// In a process that has no names yet; `turns` until it forks.
static void fork_beside_names(unsigned turns)
{
    pthread_t thread;
    alarm(SECONDS);
    pthread_create(&thread, NULL, give_names, NULL);
    for (volatile unsigned i = 0; i < turns; i++) {
    }
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);  // that of before is the parent's
        use();
    }
    const int status = end_of(child);
    pthread_join(thread, NULL);
    if (status != 0) {
        _exit(1);
    }
    use();  // the parent has lost nothing
}

static void a_child_that_is_forked_beside_the_first_names_can_give_some(void **state)
{
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip();  // it bears no thread that a forked child starts
#endif
    for (unsigned i = 0; i < FORKS; i++) {
        const pid_t process = fork();
        if (process == 0) {
            fork_beside_names(i * 1000);
        }
        assert_int_equal(end_of(process), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_that_is_forked_beside_the_first_names_can_give_some),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
