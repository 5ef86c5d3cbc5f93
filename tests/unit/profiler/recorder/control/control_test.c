// SPDX-License-Identifier: Apache-2.0
// A system that refuses membarrier: recording works, and says what it has to do without.
#include "cmocka_all.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <mxprof/record.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"

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
    static const struct CMUnitTest tests[] = {cmocka_unit_test(a_refused_barrier_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
