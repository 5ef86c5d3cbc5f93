// SPDX-License-Identifier: Apache-2.0
// See thread_index.h. What is known of an index is in parts that are never given back.
#include "profiler/recorder/thread/thread_index.h"

#include "base/atomic.h"
#include "profiler/pages.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/thread/rules.h"

// Under the pool lock.
typedef struct place {
    mxp_thread *thread;  // in the list; null: none
    uint32_t next;  // of a free one: the one that was given after it, + 1
    uint32_t sequence : 31;  // of the next chunk
    uint32_t used : 1;  // by a thread that was in the list
} place;

enum { PART = 256, PARTS = MXP__THREADS_MAX / PART };

typedef MXP_ATOMIC(place *) part_slot;
static part_slot parts[PARTS];
static struct {
    mxp_atomic_u32 count;  // given out at least once
    uint32_t kept;
    // Under the pool lock.
    uint32_t oldest, newest;  // free ones, + 1
    uint32_t unused;  // free ones of threads that have left nothing, + 1: the newest first
    uint32_t linked;
    mxp_atomic_u64 threads, folded;
} indices = {.kept = MXP__THREADS_KEPT};

static place *place_of(uint32_t index)
{
    return &mxp_atomic_load_acquire(&parts[index / PART])[index % PART];
}

// If two threads add the part at once, the second one gives its pages back.
static bool has_part(uint32_t index)
{
    part_slot *part = &parts[index / PART];
    place *none = NULL;
    if (mxp_atomic_load_acquire(part) != NULL) {
        return true;
    }
    place *made = mxp__pages_map(PART * sizeof *made);
    if (made != NULL && !mxp_atomic_cas_acq_rel(part, &none, made)) {
        mxp__pages_unmap(made, PART * sizeof *made);
    }
    return made != NULL;
}

// `all_kept`: one of a thread that has left something may be taken, too.
static bool take_free(uint32_t *index, bool all_kept)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return false;
    }
    uint32_t *list = all_kept && indices.unused == 0 ? &indices.oldest : &indices.unused;
    const bool found = *list != 0;
    if (found) {
        *index = *list - 1;
        *list = place_of(*index)->next;
    }
    mxp__spin_unlock(&mxp__pool_lock);
    return found;
}

static bool take_new(uint32_t *index)
{
    *index = mxp_atomic_load(&indices.count);
    do {
        if (*index >= MXP__THREADS_MAX || !has_part(*index)) {
            return false;
        }
    } while (!mxp_atomic_cas_acq_rel(&indices.count, index, *index + 1));
    return true;
}

bool mxp__index_take(uint32_t *index, uint32_t *sequence)
{
    bool all_kept = mxp_atomic_load(&indices.count) >= indices.kept;
    if (!take_free(index, all_kept) && !take_new(index)) {
        return false;
    }
    *sequence = place_of(*index)->sequence;
    return true;
}

// Under the pool lock.
static void give(uint32_t index)
{
    place_of(index)->next = 0;
    if (indices.oldest != 0) {
        place_of(indices.newest - 1)->next = index + 1;
    } else {
        indices.oldest = index + 1;
    }
    indices.newest = index + 1;
}

void mxp__index_give_back(uint32_t index)
{
    if (mxp__spin_lock(&mxp__pool_lock)) {
        give(index);
        mxp__spin_unlock(&mxp__pool_lock);
    }
}

void mxp__index_link(mxp_thread *thread)
{
    place *at = place_of(thread->index);
    assert(mxp__spin_is_held(&mxp__pool_lock));
    assert(at->thread == NULL && "a thread is registered under an index that another one has");
    at->thread = thread;
    indices.linked++;
    mxp_atomic_add(&indices.threads, 1);
    mxp_atomic_add(&indices.folded, at->used);
    at->used = 1;
}

// A page that has just come back as zeros says index 0, which is another thread's.
void mxp__index_unlink(mxp_thread *thread, uint32_t next)
{
    place *at = place_of(thread->index);
    assert(mxp__spin_is_held(&mxp__pool_lock));
    assert(indices.linked != 0 && "more threads are gone than were registered");
    indices.linked--;
    if (at->thread != thread) {
        return;
    }
    at->thread = NULL;
    if (next == at->sequence) {
        at->used = next != 0;
        mxp_atomic_sub(&indices.threads, 1);
        mxp_atomic_sub(&indices.folded, at->used);
        at->next = indices.unused;
        indices.unused = thread->index + 1;
        return;
    }
    at->sequence = (next > at->sequence ? next : at->sequence) & INT32_MAX;
    give(thread->index);
}

mxp_thread *mxp__index_thread(uint32_t index)
{
    return index < mxp__index_count() ? place_of(index)->thread : NULL;
}

uint32_t mxp__index_linked(void)
{
    return indices.linked;
}

uint32_t mxp__index_count(void)
{
    return mxp_atomic_load_acquire(&indices.count);
}

uint64_t mxp__index_threads(void)
{
    return mxp_atomic_load(&indices.threads);
}

uint64_t mxp__index_folded(void)
{
    return mxp_atomic_load(&indices.folded);
}

void mxp__index_keep(uint32_t count)
{
    indices.kept = count;
}

void mxp__index_fork_child(void)
{
    for (uint32_t index = 0; index < mxp_atomic_own(&indices.count); index++) {
        *place_of(index) = (place){0};
    }
    mxp_atomic_set(&indices.count, 0);
    indices.linked = indices.oldest = indices.newest = indices.unused = 0;
    mxp_atomic_set(&indices.threads, 0);
    mxp_atomic_set(&indices.folded, 0);
}
