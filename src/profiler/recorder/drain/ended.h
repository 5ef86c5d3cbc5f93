// SPDX-License-Identifier: Apache-2.0
// What is kept of threads that were released. Threads that had one index one after the other have
// one entry, and of each reason one loss. All under the drain lock.
#ifndef MXP_PROF_ENDED_H
#define MXP_PROF_ENDED_H

#include "profiler/recorder/thread/thread.h"
#include "profiler/trace/source.h"

typedef struct mxp_ended_totals {
    uint64_t records, bytes, lost;
} mxp_ended_totals;

// Keeps entry, losses and totals of a thread that is about to be released.
int mxp__ended_add(mxp_thread *thread);
const mxp_ended_totals *mxp__ended_totals(void);
mxp_thread_entry mxp__ended_entry(uint32_t index);  // all 0: none had it

size_t mxp__ended_loss_count(void);
const mxp_loss_entry *mxp__ended_loss(size_t number);
// The one that continues with `loss`, of a later thread of that index; SIZE_MAX: none.
size_t mxp__ended_loss_before(const mxp_loss_entry *loss);
void mxp__ended_join(mxp_loss_entry *to, const mxp_loss_entry *loss);

void mxp__ended_fork_child(void);

#endif
