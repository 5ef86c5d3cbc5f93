// SPDX-License-Identifier: Apache-2.0
// Makes a closed pipe and a file-size limit errors of write() instead of signals that end the
// program. From hold to release SIGPIPE and SIGXFSZ are blocked for the calling thread and the
// threads that it creates. Release consumes those that arrived in between. Both by the same thread.
#ifndef MXP_BASE_OS_FILE_SIGNALS_H
#define MXP_BASE_OS_FILE_SIGNALS_H

#include <signal.h>

typedef struct mxp_file_signals {
    sigset_t before, pending_before;
} mxp_file_signals;

void mxp__file_signals_hold(mxp_file_signals *held);
void mxp__file_signals_release(const mxp_file_signals *held);

#endif
