// SPDX-License-Identifier: Apache-2.0
// Indices of threads: the number of a thread in every output. Each of the first MXP__THREADS_KEPT
// threads has one of its own. A later one takes over that of the thread that has been released for
// longest, so that what is kept of threads has a bound; the sequence of the chunks continues. Only
// where none is released there are more indices, up to MXP__THREADS_MAX.
#ifndef MXP_PROF_THREAD_INDEX_H
#define MXP_PROF_THREAD_INDEX_H

#include "profiler/recorder/thread/thread.h"

enum { MXP__THREADS_KEPT = 0xffff, MXP__THREADS_MAX = 1 << 20 };

// For a thread that registers: its index, and the sequence of its first chunk. False: all are in
// use, or there is no memory. One that is not linked gives it back.
bool mxp__index_take(uint32_t *index, uint32_t *sequence);
void mxp__index_give_back(uint32_t index);

// A thread has come into the list of threads, or is gone from it; the next chunk of its index has
// that sequence. If that is the sequence with which it came, it has left nothing: it counts as
// never there, and its index is the next one to be given. Under the pool lock.
void mxp__index_link(mxp_thread *thread);
void mxp__index_unlink(mxp_thread *thread, uint32_t sequence);

mxp_thread *mxp__index_thread(uint32_t index);  // that is in the list; null: none
uint32_t mxp__index_linked(void);  // how many are

uint32_t mxp__index_count(void);  // all are below it
uint64_t mxp__index_threads(void);  // that were ever in the list
uint64_t mxp__index_folded(void);  // of those: that are under the index of an earlier one

void mxp__index_keep(uint32_t count);  // in place of MXP__THREADS_KEPT; for tests
void mxp__index_fork_child(void);

#endif
