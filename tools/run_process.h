// SPDX-License-Identifier: Apache-2.0
// Runs a program in the place of this one: same terminal, standard streams and process group.
#ifndef MXP_TOOLS_RUN_PROCESS_H
#define MXP_TOOLS_RUN_PROCESS_H

#include <stdbool.h>

// Starts arguments[0], looked for as a shell does, with the environment of this process, and waits
// until it ends. SIGINT and SIGQUIT of the terminal, or of who sends them to the whole group, reach
// it without us; those for us alone, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and SIGCONT are handed on;
// when it is stopped, so are we. 0 and its wait status, or the
// errno of what kept it from starting. `is_alone`: of it only, not of its children, the run is
// (MXPROF_RUN_PROCESS).
int mxp__run_process(char *const *arguments, bool is_alone, int *status);

// Ends this process as `status` says the other one ended: by its code, or by its signal, without a
// core file of our own.
_Noreturn void mxp__end_like(int status);

#endif
