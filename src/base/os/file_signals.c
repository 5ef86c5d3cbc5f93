// SPDX-License-Identifier: Apache-2.0
#include "base/os/file_signals.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

static const int numbers[] = {SIGPIPE, SIGXFSZ};
enum { COUNT = sizeof numbers / sizeof numbers[0] };

void mxp__file_signals_hold(mxp_file_signals *held)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < COUNT; i++) {
        sigaddset(&set, numbers[i]);
    }
    sigpending(&held->pending_before);
    pthread_sigmask(SIG_BLOCK, &set, &held->before);
}

void mxp__file_signals_release(const mxp_file_signals *held)
{
    int saved = errno;
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < COUNT; i++) {
        if (!sigismember(&held->pending_before, numbers[i])) {  // else not ours to take
            sigaddset(&set, numbers[i]);
        }
    }
    static const struct timespec at_once;
    while (sigtimedwait(&set, NULL, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &held->before, NULL);
    errno = saved;
}
