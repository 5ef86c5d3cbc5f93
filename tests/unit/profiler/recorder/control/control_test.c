// SPDX-License-Identifier: Apache-2.0
// Holds: whom they wait for, and what they do without on a system that refuses membarrier.
#include "cmocka_all.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

#include <mxprof/record.h>

#include "base/atomic.h"
#include "base/os/os.h"
#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/test_point.h"
#include "profiler/recorder/thread/silent.h"

#ifdef MXP_TEST_POINTS
// ---- who comes while a hold looks --------------------------------------------------------------
enum { RUNS, READY, LOOKED, BUSY, HELD };

static MXP_ATOMIC(int) stage;
static __thread bool is_recorder;

static int stage_now(void)
{
    return mxp_atomic_load_acquire(&stage);
}

static void wait_for(int wished)
{
    while (stage_now() < wished) {
        sched_yield();
    }
}

static void go_on_to(int next, int awaited)
{
    mxp_atomic_store_release(&stage, next);
    wait_for(awaited);
}

static void come_while_it_looks(mxp_test_point point)
{
    if (point == MXP_POINT_LOOK && stage_now() == READY) {
        go_on_to(LOOKED, BUSY);
    } else if (point == MXP_POINT_BUSY && is_recorder && stage_now() == LOOKED) {
        go_on_to(BUSY, HELD);
    }
}

static void *end_a_span_meanwhile(void *name)
{
    const mxp_name *span = name;
    uint64_t token = mxp_span_begin(*span);
    is_recorder = true;
    go_on_to(READY, LOOKED);
    mxp_span_end(*span, token);
    return NULL;
}

// Whoever was outside of a record when the hold looked waits for its end before the next one.
static void a_thread_that_comes_while_a_hold_looks_is_not_silent(void **state)
{
    (void)state;
    mxp_name name = mxp_span_name("test", "span");
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_atomic_store_release(&mxp__test_point_hook, come_while_it_looks);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, end_a_span_meanwhile, &name), 0);
    wait_for(READY);
    mxp__recorder_stop(1);
    go_on_to(HELD, HELD);
    pthread_join(thread, NULL);
    mxp_atomic_store_release(&mxp__test_point_hook, NULL);
    assert_int_equal(mxp__threads_unanswered(), 0);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "span"), 1);
    assert_int_equal(live_events_lost(&live), 0);
    live_events_free(&live);
}

enum { HOLD_US = 300000 };
static uint64_t waiter_cpu_ns;

static void hold_long(mxp_test_point point)
{
    if (point == MXP_POINT_LOOK && stage_now() == READY) {
        mxp_atomic_store_release(&stage, LOOKED);
        mxp__os_sleep_us(HOLD_US);
    }
}

static uint64_t cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static void *record_in_the_hold(void *name)
{
    const mxp_name *span = name;
    uint64_t token = mxp_span_begin(*span);
    go_on_to(READY, LOOKED);
    uint64_t before = cpu_ns();
    mxp_span_end(*span, token);
    waiter_cpu_ns = cpu_ns() - before;
    return NULL;
}

// One of real-time priority would otherwise keep the processor from who holds it up.
static void who_waits_for_the_end_of_a_hold_leaves_the_processor_to_others(void **state)
{
    (void)state;
    mxp_name name = mxp_span_name("test", "span");
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_atomic_store_release(&stage, 0);
    mxp_atomic_store_release(&mxp__test_point_hook, hold_long);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, record_in_the_hold, &name), 0);
    wait_for(READY);
    mxp__recorder_stop(1);
    pthread_join(thread, NULL);
    mxp_atomic_store_release(&mxp__test_point_hook, NULL);
    assert_int_equal(stage_now(), LOOKED);
    assert_true(waiter_cpu_ns < UINT64_C(1000) * HOLD_US / 4);
}
#endif

// ---- a system that refuses ---------------------------------------------------------------------
static bool refuse_membarrier(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool warns(void)
{
    bool found = false;
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    for (size_t i = 0; i < live.source->info_count; i++) {
        found = found || strcmp(live.source->info[i].key, "barrier_warning") == 0;
    }
    live_events_free(&live);
    return found;
}

static void a_refused_barrier_is_told(void **state)
{
    (void)state;
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    assert_false(warns());
    if (!refuse_membarrier()) {
        skip();
    }
    mxp__recorder_stop(1);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_instant(MXP_CLASS_USER, MXP_NAME_NONE, MXP_INSTANT_THREAD);
    assert_true(warns());
    mxp__recorder_stop(1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
#ifdef MXP_TEST_POINTS
        cmocka_unit_test(a_thread_that_comes_while_a_hold_looks_is_not_silent),
        cmocka_unit_test(who_waits_for_the_end_of_a_hold_leaves_the_processor_to_others),
#endif
        cmocka_unit_test(a_refused_barrier_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
