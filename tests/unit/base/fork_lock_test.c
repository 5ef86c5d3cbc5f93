// SPDX-License-Identifier: Apache-2.0
// Locks in a forked child, where the thread that held them is not.
#include "base/fork_lock.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_all.h"

static mxp_atomic_u32 anew;

static void begin_anew(void)
{
    mxp_atomic_add(&anew, 1u);
}

static mxp_fork_lock first = MXP__FORK_LOCK_INIT(begin_anew);
static mxp_fork_lock second = MXP__FORK_LOCK_INIT(NULL);
static mxp_fork_lock by_hand = MXP__FORK_LOCK_INIT(begin_anew);
static pthread_barrier_t held, done;

static void *hold(void *unused)
{
    mxp__fork_lock(&first);
    mxp__fork_lock(&second);
    pthread_barrier_wait(&held);
    pthread_barrier_wait(&done);
    mxp__fork_unlock(&second);
    mxp__fork_unlock(&first);
    return unused;
}

// What the child exits with.
static int in_child(int (*child)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        _exit(child());
    }
    assert_true(pid > 0);
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int take_both(void)
{
    mxp__fork_lock(&first);
    mxp__fork_lock(&second);
    mxp__fork_unlock(&second);
    mxp__fork_unlock(&first);
    return (int)mxp_atomic_own(&anew);
}

// A child of the child finds them free too, and each begins anew once a fork.
static int take_both_twice(void)
{
    mxp__fork_lock(&first);
    int begun = in_child(take_both);
    mxp__fork_unlock(&first);
    return begun;
}

static void lock_that_another_thread_holds_is_free_in_the_child(void **state)
{
    (void)state;
    pthread_t thread;
    pthread_barrier_init(&held, NULL, 2);
    pthread_barrier_init(&done, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, hold, NULL), 0);
    pthread_barrier_wait(&held);
    assert_int_equal(in_child(take_both), 1);
    assert_int_equal(in_child(take_both_twice), 2);
    assert_false(mxp__try_lock(&first.lock));  // in the parent it is held as before
    pthread_barrier_wait(&done);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(mxp_atomic_own(&anew), 0);
}

static int take_by_hand(void)
{
    return mxp__try_lock(&by_hand.lock) ? (int)mxp_atomic_own(&anew) : -1;
}

static void lock_listed_by_hand_is_free_too_and_listing_twice_is_once(void **state)
{
    (void)state;
    mxp__fork_lock_list(&by_hand);
    mxp__fork_lock_list(&by_hand);
    mxp__lock(&by_hand.lock);
    assert_int_equal(in_child(take_by_hand), 2);  // its own and the first one's
    mxp__unlock(&by_hand.lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lock_that_another_thread_holds_is_free_in_the_child),
        cmocka_unit_test(lock_listed_by_hand_is_free_too_and_listing_twice_is_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
