// SPDX-License-Identifier: Apache-2.0
// Folder runtime/parallel: the threads that share a kernel.
//
// Parallel kernels run on the thread of their job and on helpers of the process, which serve
// one job at a time. Only operations that the engine lets run in parallel (mxn_job.parallel) have
// more than one thread. oneDNN brings an OpenMP runtime that keeps a pool for every thread that
// calls it; so that two pools never fight for the cores, a thread that has called it gets all its
// helpers from there. Private to op/ but for the setting.
#ifndef MXN_PARALLEL_THREAD_POOL_H
#define MXN_PARALLEL_THREAD_POOL_H

#include <stdbool.h>
#include <stdint.h>

// MXSetNumOMPThreads: how many threads kernels use from now on. At first MXNET_OMP_MAX_THREADS,
// else OMP_NUM_THREADS, else one for each processor.
void mxn_thread_pool_resize(int threads);
// MXP_EVALUE: MXNET_OMP_MAX_THREADS is ill-formed.
int mxn_thread_pool_check(void);

// At the begin of a job, on its thread: the setting counts until the next one.
void mxn__threads_enter(bool parallel);
// How many threads the job may use: 1 outside parallel operations and for less work than pays for
// waking them. `work` counts elements touched or multiplied.
int mxn__threads_for(double work);
int mxn__threads_most(void);  // the same for as much work as there can be
// A thread that runs no job asks for kernels of a parallel one: as many threads as such a job has,
// until it returns what it had, its own setting of OpenMP included. It may run nothing meanwhile.
typedef struct mxn_thread_setting {
    int threads, library_threads;
    bool in_library;
} mxn_thread_setting;
mxn_thread_setting mxn__threads_borrow(void);
void mxn__threads_return(const mxn_thread_setting *before);
// Before calling the library: tells it how many threads it may use.
int mxn__threads_for_library(void);

// part(argument, 0 .. threads - 1, threads), each once, by as many threads as are there in time;
// returns when all are done. `threads` is what mxn__threads_for said, or less if the library has
// fewer.
typedef void (*mxn_parallel_part)(void *argument, int index, int threads);
void mxn__parallel_run(int threads, mxn_parallel_part part, void *argument);

// The share of a part in `count` things: begin .. end.
static inline int64_t mxn__part_begin(int64_t count, int index, int threads)
{
    return count * index / threads;
}

#endif
