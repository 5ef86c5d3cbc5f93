// SPDX-License-Identifier: Apache-2.0
// A queue and threads: whenever it is longer than the number of threads that wait for work, more
// are started, until AT_WORK_MAX of them run functions that do not wait for the engine. What a
// function waits for may need one of these threads too, so one that waits does not count. They
// stay; idle ones sleep.
//
// Fork. The engine waits for all operations before a fork, so the queue is empty then; the child
// begins without threads.
#include "runtime/imperative/custom/custom_thread.h"

#include <assert.h>
#include <mxprof/record.h>
#include <pthread.h>
#include <string.h>

#include "base/fail.h"
#include "base/fork_lock.h"
#include "base/name_once.h"
#include "base/os/quiet_thread.h"
#include "runtime/engine/engine.h"

enum { AT_WORK_MAX = 64 };

static pthread_cond_t work_there = PTHREAD_COND_INITIALIZER;
// Under the lock.
static mxn_custom_task *first, *last;
static unsigned queued, waiting, threads;
static unsigned blocked;  // of the threads, in a wait of their function

static void begin_anew(void)
{
    pthread_cond_init(&work_there, NULL);
    first = last = NULL;
    queued = waiting = threads = blocked = 0;
}

static mxp_fork_lock lock = MXP__FORK_LOCK_INIT(begin_anew);

static mxn_custom_task *take(bool *waited)
{
    mxp__fork_lock(&lock);
    *waited = first == NULL;
    while (first == NULL) {
        mxp__lock_wait(&lock.lock, &work_there);
    }
    waiting--;
    mxn_custom_task *task = first;
    first = task->next;
    queued--;
    mxp__fork_unlock(&lock);
    return task;
}

// The thread had nothing to do since `begin_ticks`, which is read whether or not there are records:
// they may begin while it waits. Tasks that only free things are told as well: what they push would
// come from nowhere. Of a task that an operation without a record has put nothing could be told.
static void record_wait(const mxn_custom_task *task, bool waited, uint64_t begin_ticks)
{
    static mxp_atomic_u32 name;
    enum { CLASSES = MXP_CLASS_SYMBOLIC | MXP_CLASS_IMPERATIVE };
    if (task->handed_by != 0 && mxp_enabled(CLASSES)) {
        const mxp_wait wait = {.name = mxp__span_name_once(&name, "operator", "CustomOperatorTask"),
                               .what = MXP_WAIT_TASK,
                               .flags = waited ? MXP_WAIT_BLOCKED | MXP_WAIT_SLEPT : 0,
                               .ended_by = task->handed_by,
                               .begin_ticks = begin_ticks,
                               .end_ticks = waited ? 0 : begin_ticks};
        mxp_wait_emit(CLASSES, &wait);
    }
}

static void *serve(void *unused)
{
    mxp_thread_name("custom operators");
    for (;;) {
        const uint64_t begin_ticks = mxp_ticks();
        bool waited;
        mxn_custom_task *task = take(&waited);
        record_wait(task, waited, begin_ticks);
        task->run(task);
        mxp__fork_lock(&lock);
        waiting++;
        mxp__fork_unlock(&lock);
    }
    return unused;
}

// A thread counts as waiting from its start on, so that the next task does not start one more.
static int start_locked(void)
{
    assert(mxp__lock_is_held(&lock.lock));
    int failed = mxp__os_start_thread(NULL, serve, NULL);
    if (failed != 0) {
        return mxp__fail(MXP_ENOMEM, "cannot start a thread for custom operators: %s",
                         strerror(failed));
    }
    threads++;
    waiting++;
    return MXP_OK;
}

static int start_if_needed_locked(void)
{
    assert(mxp__lock_is_held(&lock.lock));
    return queued > waiting && threads - blocked < AT_WORK_MAX ? start_locked() : MXP_OK;
}

static void append_locked(mxn_custom_task *task)
{
    assert(mxp__lock_is_held(&lock.lock));
    task->next = NULL;
    *(first == NULL ? &first : &last->next) = task;
    last = task;
}

int mxn__custom_thread_put(mxn_custom_task *task)
{
    task->handed_by = mxn_running_id();
    mxp__fork_lock(&lock);
    queued++;
    int error = start_if_needed_locked();
    if (error == MXP_OK || threads > 0) {
        append_locked(task);
        pthread_cond_signal(&work_there);
        error = MXP_OK;
    } else {
        queued--;
    }
    mxp__fork_unlock(&lock);
    return error;
}

// That no thread could be started for others is nobody's error here: they wait for the next.
void mxn__custom_thread_waits(bool begins)
{
    mxp__fork_lock(&lock);
    if (begins) {
        blocked++;
        (void)start_if_needed_locked();
    } else {
        assert(blocked > 0);
        blocked--;
    }
    mxp__fork_unlock(&lock);
}
