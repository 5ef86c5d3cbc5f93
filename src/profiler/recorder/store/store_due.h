// SPDX-License-Identifier: Apache-2.0
// The recording file of a forked child. At the fork it is only planned: everything that needs
// memory is done there, and no file is made. The first thread that records makes it, whatever it
// has interrupted and whoever holds malloc's lock: by system calls only. A child that executes
// another program or ends without a record leaves nothing behind.
#ifndef MXP_PROF_STORE_DUE_H
#define MXP_PROF_STORE_DUE_H

#include "profiler/recorder/recording_file.h"

// Called by a thread that is about to be the first in the list, with signals blocked. False: a
// handler interrupted this function, and its record is lost. Where the file cannot be made,
// recording continues in memory. *made: it was made here.
bool mxp__store_make_due(bool *made);

// Between the two no file is made.
void mxp__store_due_fork_prepare(void);
void mxp__store_due_fork_parent(void);
void mxp__store_due_fork_child(void);  // none is due

#endif
