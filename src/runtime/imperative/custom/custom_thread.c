// SPDX-License-Identifier: Apache-2.0
// A queue and threads: whenever it is longer than the number of threads that wait for work, more
// are started, until AT_WORK_MAX of them run functions that do not wait for the engine. What a
// function waits for may need one of these threads too, so one that waits does not count. They
// stay; idle ones sleep.
//
// Fork. The engine waits for all operations before a fork, so the queue is empty then; the child
// begins without threads.
#include "runtime/imperative/custom/custom_thread.h"

#include <mxprof/record.h>
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/fail.h"
#include "base/lock.h"
#include "base/os/os.h"

enum { SIGNAL_SET_BYTES = 128, AT_WORK_MAX = 64 };

static mxp_lock lock = MXP__LOCK_INIT;
static pthread_cond_t work_there = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
// Under the lock.
static mxn_custom_task *first, *last;
static unsigned queued, waiting, threads;
static unsigned blocked;  // of the threads, in a wait of their function

static void begin_anew(void)
{
    mxp__lock_reset(&lock);
    pthread_cond_init(&work_there, NULL);
    first = last = NULL;
    queued = waiting = threads = blocked = 0;
}

static void install_fork_handler(void)
{
    pthread_atfork(NULL, NULL, begin_anew);
}

static mxn_custom_task *take(void)
{
    mxp__lock(&lock);
    while (first == NULL) {
        mxp__lock_wait(&lock, &work_there);
    }
    waiting--;
    mxn_custom_task *task = first;
    first = task->next;
    queued--;
    mxp__unlock(&lock);
    return task;
}

static void *serve(void *unused)
{
    mxp_thread_name("custom operators");
    for (;;) {
        mxn_custom_task *task = take();
        task->run(task);
        mxp__lock(&lock);
        waiting++;
        mxp__unlock(&lock);
    }
    return unused;
}

// A thread counts as waiting from its start on, so that the next task does not start one more.
static int start_locked(void)
{
    assert(mxp__lock_is_held(&lock));
    _Alignas(16) char signals[SIGNAL_SET_BYTES];
    pthread_t thread;
    mxp__os_block_signals(signals);
    int failed = pthread_create(&thread, NULL, serve, NULL);
    mxp__os_restore_signals(signals);
    if (failed != 0) {
        return mxp__fail(MXP_ENOMEM, "cannot start a thread for custom operators: %s",
                         strerror(failed));
    }
    pthread_detach(thread);
    threads++;
    waiting++;
    return MXP_OK;
}

static int start_if_needed_locked(void)
{
    assert(mxp__lock_is_held(&lock));
    return queued > waiting && threads - blocked < AT_WORK_MAX ? start_locked() : MXP_OK;
}

static void append_locked(mxn_custom_task *task)
{
    assert(mxp__lock_is_held(&lock));
    task->next = NULL;
    *(first == NULL ? &first : &last->next) = task;
    last = task;
}

int mxn__custom_thread_put(mxn_custom_task *task)
{
    pthread_once(&once, install_fork_handler);
    mxp__lock(&lock);
    queued++;
    int error = start_if_needed_locked();
    if (error == MXP_OK || threads > 0) {
        append_locked(task);
        pthread_cond_signal(&work_there);
        error = MXP_OK;
    } else {
        queued--;
    }
    mxp__unlock(&lock);
    return error;
}

// That no thread could be started for others is nobody's error here: they wait for the next.
void mxn__custom_thread_waits(bool begins)
{
    mxp__lock(&lock);
    if (begins) {
        blocked++;
        (void)start_if_needed_locked();
    } else {
        assert(blocked > 0);
        blocked--;
    }
    mxp__unlock(&lock);
}
