// SPDX-License-Identifier: Apache-2.0
// A process that is to take a snapshot of itself: whether it can, by which signal, and where it
// puts it.
#ifndef MXP_SNAPSHOT_PROCESS_H
#define MXP_SNAPSHOT_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

typedef struct mxp_snapshot_process {
    int signal;  // that takes snapshots
    bool handles_signal;
    bool is_stopped;  // by a signal or a debugger
    bool has_library, takes_snapshots;
    uint32_t own_pid;
    mxp_strbuf pattern;  // what it makes names of snapshots from; empty: unknown
} mxp_snapshot_process;

// Reads what the process says of itself, and waits a while for the mark of one that has just begun
// to record. An error with its line: there is no such process, or it takes no snapshots. The caller
// gives `pattern` back.
int mxp__snapshot_process_check(long pid, mxp_snapshot_process *of);

// The pattern of its snapshots: `name`, unless it is null; else what the mark says, its
// environment, or the default.
void mxp__snapshot_process_pattern(long pid, const char *name, mxp_snapshot_process *of);

#endif
