// SPDX-License-Identifier: Apache-2.0
// Arguments of the open spans of a thread, kept in its page until the spans end (open_args.h of the
// public headers has the layout). An entry never moves, and changes only when its span is no longer
// open: so whoever reads the page of a dead process finds an open span's own arguments, or none.
#ifndef MXP_PROF_OPEN_ARGS_H
#define MXP_PROF_OPEN_ARGS_H

#include <mxprof/record.h>

#include "profiler/recorder/thread/thread.h"

// Keeps the arguments for the open span with this token, all or none; what is left out is counted.
// The caller holds busy.
void mxp__open_args_put(mxp_thread *self, uint64_t token, const mxp_arg *args, uint32_t count);

// Counts arguments for which there is no place.
void mxp__open_args_leave_out(void);

// The arguments that were kept for this token, at most `most`; gives how many. Their texts are in
// the page: they are good until the next put. The caller holds busy.
uint32_t mxp__open_args_take(const mxp_thread *self, uint64_t token, mxp_arg *args, uint32_t most);

// The only entry of this token, or null. Copying writes it behind the head of a record and gives
// the record's words. Dropping it when its span is off the stack makes room if it is the last one.
// The caller holds busy.
const uint64_t *mxp__open_args_sole(const mxp_thread *self, uint64_t token);
uint32_t mxp__open_args_copy(uint64_t *words, const uint64_t *entry);
void mxp__open_args_drop(mxp_thread *self, const uint64_t *entry);

#endif
