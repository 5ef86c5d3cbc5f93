// SPDX-License-Identifier: Apache-2.0
// Whether a signal came to this process alone or to its whole group, as a terminal's Ctrl-C does:
// the program is in the group too, and must not get it twice. The system does not say, so a process
// that does nothing else waits in the group for the same signals.
#ifndef MXP_TOOLS_RUN_WITNESS_H
#define MXP_TOOLS_RUN_WITNESS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct mxp_witness {
    pid_t process;  // 0: there is none
    int seen;  // a byte for each signal that it got; -1: none
} mxp_witness;

// Starts one that waits for these signals. It ends with the thread that calls this.
void mxp__witness_start(mxp_witness *witness, const sigset_t *of_group);
// For handlers: whether the witness got the signal too, which may take a moment. Without a witness
// it is taken to be the group's.
bool mxp__witness_saw(const mxp_witness *witness, int signal);
void mxp__witness_stop(mxp_witness *witness);

#endif
