// SPDX-License-Identifier: Apache-2.0
// What `mxprof run` says when the program has ended: how it ended, what was recorded, where the
// time went, what to type next; or, where nothing was recorded, what could be done.
#ifndef MXP_TOOLS_RUN_SUMMARY_H
#define MXP_TOOLS_RUN_SUMMARY_H

#include "command.h"
#include "program_facts.h"
#include "run_traces.h"

typedef struct mxp_run_result {
    const mxp_command *command;
    char *const *arguments;  // of the program, the program first
    const char *folder;  // as it was named
    const mxp_program_facts *facts;
    int status;  // of wait
    double seconds;
    unsigned rows;  // of the table; 0: none
    bool is_quiet;  // nothing on stderr
    bool as_json;  // on standard output as well
    bool is_python_traced;
    bool is_job;  // the program was a starter
    const mxp_run_traces *traces;  // of the run: those that were not in the folder before
    bool is_beside_others;  // the folder has files of earlier runs
    long living;  // where nothing was recorded: a process of the run that still runs, or 0
} mxp_run_result;

// Takes 2 s at most, then says instead what to type. Whatever fails in it changes nothing else.
void mxp__run_summary(const mxp_run_result *result);

#endif
