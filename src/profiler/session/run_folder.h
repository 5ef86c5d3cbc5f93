// SPDX-License-Identifier: Apache-2.0
// MXPROF_RUN: the folder of a run that `mxprof run` began. Every process of the run records into a
// file of its own there, from its begin to its end. A program that uses the profiler itself writes
// its trace and its tables as it configures them, from the same records, but what it says of the
// recording file does not count, and its stops and last dumps do not end it. A pause counts.
// MXPROF_RUN_RANK: the name of the variable that numbers the processes of a job, which a starter
// such as mpirun sets: their files are called by that number. MXPROF_RUN_PROCESS: the number of the
// only process of the run; its children record nothing.
#ifndef MXP_SESSION_RUN_FOLDER_H
#define MXP_SESSION_RUN_FOLDER_H

#include <mxprof/profiler.h>
#include <stdbool.h>

// Called once, when the session is created, with the configuration that the environment gives.
void mxp__run_folder_init(mxp_config *config);
bool mxp__run_folder_is_set(void);
bool mxp__run_folder_is_alone(void);  // a run without this process's children
// Puts what belongs to the run into a configuration that the program asks for. Its strings stay
// ours.
void mxp__run_folder_keep(mxp_config *config);

#endif
