// SPDX-License-Identifier: Apache-2.0
// A reader that left a pipe and a limit on file sizes are errors of write(), not the end of the
// program: between hold and release SIGPIPE and SIGXFSZ are blocked for the calling thread and the
// threads it creates; those that arrived are taken.
#ifndef MXP_BASE_OS_FILE_SIGNALS_H
#define MXP_BASE_OS_FILE_SIGNALS_H

#include <signal.h>

typedef struct mxp_file_signals {
    sigset_t before, pending_before;
} mxp_file_signals;

void mxp__file_signals_hold(mxp_file_signals *held);
void mxp__file_signals_release(const mxp_file_signals *held);

#endif
