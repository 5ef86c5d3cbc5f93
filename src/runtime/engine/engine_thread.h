// SPDX-License-Identifier: Apache-2.0
// What the engine keeps for each thread that has touched it: the memory it takes operations from,
// the operations it has collected for a bulk, what it is running, and its share of the counts.
//
// A thread's state outlives it, because its operations do; a later thread takes it over when all of
// its blocks have been returned. States are found by a 16-bit index.
#ifndef MXN_ENGINE_ENGINE_THREAD_H
#define MXN_ENGINE_ENGINE_THREAD_H

#include <pthread.h>

#include "base/atomic.h"
#include "runtime/engine/operation.h"

enum { MXN__BLOCK_CLASSES = 6, MXN__THREADS_MAX = 65535, MXN__TRACE_INDEX_UNKNOWN = 0xffff };
enum { MXN__END_SLEPT = 1 };

typedef struct mxn_free_node {
    struct mxn_free_node *next;
} mxn_free_node;

// Blocks of one other thread that wait to be returned together.
typedef struct mxn_block_batch {
    mxn_free_node *first, *last;
    uint32_t count;
    uint32_t owner;
} mxn_block_batch;

typedef struct mxn_bulk {
    int size;  // as set; 0: off
    uint32_t count, uses;
    uint32_t device;
    uint8_t queue;  // MXN__QUEUE_*
    mxn_operation *first, *last;
} mxn_bulk;

// Each written by its own thread only (relaxed; `retired` with release), read by any.
typedef struct mxn_thread_counters {
    mxp_atomic_u64 retired;  // queue entries over: pairs with `queued` of engine_state.h
    mxp_atomic_u64 executed, skipped, failed, visible, bulks, deletions, waits;
} mxn_thread_counters;

typedef MXP_ATOMIC(mxn_free_node *) mxn_returned;

typedef struct mxn_thread {
    // The owner's own.
    mxn_free_node *free[MXN__BLOCK_CLASSES];
    char *slab_at, *slab_end;
    _Alignas(64) mxn_block_batch batches[MXN__BLOCK_CLASSES];
    mxn_bulk bulk;
    // End stamp of what it ran just before, 0 if it has done else since; a worker that has slept
    // since, while operations are recorded: MXN__END_SLEPT.
    uint64_t last_end;
    const mxn_operation *running;  // innermost, null: none
    struct mxn_naive_call *naive_call;  // innermost, null: none
    const mxn_callback *callback;  // innermost, null: none
    uint32_t var_id, var_id_end;  // unused variable ids
    uint32_t made[MXN__BLOCK_CLASSES], made_large;
    uint32_t phase;  // MXP_PHASE_*
    uint16_t index;  // in the table
    uint16_t trace_index;  // mxp_thread_index(), MXN__TRACE_INDEX_UNKNOWN before it is needed
    bool is_worker;
    bool parallel;  // may enter parallel kernels
    bool hands_over;  // it runs what is in `handed`
    mxn_operation *handed, *handed_last;  // released, of MXN__QUEUE_NONE
    void *slabs;
    struct mxn_thread *next_left;  // in the list of states whose thread is gone
    // Read by others.
    _Alignas(64) mxn_thread_counters counters;
    // Written by others.
    _Alignas(64) mxn_returned returned[MXN__BLOCK_CLASSES];
    mxp_atomic_u32 freed_large;
} mxn_thread;

extern __thread mxn_thread *mxn__self __attribute__((tls_model("initial-exec")));

// Null without memory, or with more than 65535 threads at once; the detail is set.
mxn_thread *mxn__thread_begin(void);

static inline mxn_thread *mxn__thread_self(void)
{
    mxn_thread *self = mxn__self;
    return __builtin_expect(self != NULL, 1) ? self : mxn__thread_begin();
}

// For who cannot fail: without memory for the state it waits until there is some.
mxn_thread *mxn__thread_at_last(void);

extern mxn_thread *mxn__thread_table[MXN__THREADS_MAX];  // entries never change once set

static inline mxn_thread *mxn__thread_at(uint16_t index)
{
    return mxn__thread_table[index];
}

// Calls for every state there is, also of threads that are gone.
uint32_t mxn__thread_count(void);

// Starts a thread that no signal is delivered to. MXP_ENOMEM.
int mxn__thread_create(pthread_t *thread, void *(*function)(void *), void *argument);

// Around a fork, and in the child, where all threads but the caller's are gone. `prepared`: prepare
// was called before the fork, so this thread holds the locks.
void mxn__threads_fork_prepare(void);
void mxn__threads_fork_parent(void);
void mxn__threads_fork_child(bool prepared);

static inline void mxn__counter_add(mxp_atomic_u64 *counter)
{
    mxp_atomic_store(counter, mxp_atomic_own(counter) + 1);
}

#endif
