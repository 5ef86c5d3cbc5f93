// SPDX-License-Identifier: Apache-2.0
// Jobs: programs that a starter (mpirun, mpiexec, srun, mxnet-launch) starts as several processes,
// on this machine or others. The starter is not observed; what its processes need to know goes with
// its own options for that.
#ifndef MXP_TOOLS_RUN_JOB_H
#define MXP_TOOLS_RUN_JOB_H

#include <stdbool.h>

#include "command.h"
#include "run_traces.h"

typedef enum mxp_starter {
    MXP_STARTER_NONE,
    MXP_STARTER_MPIRUN,  // Open MPI's: -x NAME
    MXP_STARTER_HYDRA,  // MPICH's and Intel's: -genv NAME VALUE
    MXP_STARTER_SRUN,  // --export=ALL,NAME=VALUE
    MXP_STARTER_LAUNCH,  // --env NAME[=VALUE]
} mxp_starter;

mxp_starter mxp__starter_of(const char *program);

// The variables of this process before it gets those of a run.
typedef struct mxp_variables {
    char **all;  // "NAME=VALUE"
    size_t count, capacity;
} mxp_variables;

int mxp__variables_keep(mxp_variables *kept);  // MXP_ENOMEM
void mxp__variables_free(mxp_variables *kept);

// Sets MXPROF_RUN_JOB, if it is not set, to a random number, or in a process that a starter has
// started to one that all of its job find alike; and MXPROF_RUN_RANK
// (profiler/session/run_folder.h). False: it was no job's process.
void mxp__job_begin(mxp_starter starter);
bool mxp__job_join(void);
bool mxp__job_is_first(void);  // of the processes that a starter has started, number 0

// The starter's arguments with options that hand on what has changed since `kept`. LD_PRELOAD
// becomes again what it was: it is for the job's processes and not for the starter. *line is freed
// by mxp__starter_line_free. MXP_ENOMEM.
typedef struct mxp_starter_line {
    char **arguments;  // null-terminated
    size_t count, capacity;
    char **texts;  // made for it
    size_t text_count, text_capacity;
} mxp_starter_line;
int mxp__starter_line(mxp_starter starter, char *const *arguments, const mxp_variables *kept,
                      mxp_starter_line *line);
void mxp__starter_line_free(mxp_starter_line *line);

// A line for each of these files of the folder: its process, records, losses, whether it died.
// MXP_EIO: there is none that can be read.
int mxp__job_files(const char *folder, const mxp_run_traces *traces, mxp_strbuf *out);

#endif
