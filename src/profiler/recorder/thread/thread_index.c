// SPDX-License-Identifier: Apache-2.0
// See thread_index.h. What is known of an index stands in parts that are never given back.
#include "profiler/recorder/thread/thread_index.h"

#include "profiler/pages.h"
#include "profiler/recorder/memory/pool.h"

// Under the pool lock.
typedef struct place {
    mxp_thread *thread;  // in the list; null: none
    uint32_t next;  // of a free one: the one that was given after it, + 1
    uint32_t sequence : 31;  // of the next chunk
    uint32_t used : 1;  // by a thread that was in the list
} place;

enum { PART = 256, PARTS = MXP__THREADS_MAX / PART };

static place *parts[PARTS];  // atomic
static struct {
    uint32_t count;  // atomic: given out at least once
    uint32_t kept;
    // Under the pool lock.
    uint32_t oldest, newest;  // free ones, + 1
    uint32_t linked;
    uint64_t threads, folded;  // atomic
} indices = {.kept = MXP__THREADS_KEPT};

static place *place_of(uint32_t index)
{
    return &__atomic_load_n(&parts[index / PART], __ATOMIC_ACQUIRE)[index % PART];
}

// Who comes second gives its pages back.
static bool has_part(uint32_t index)
{
    place **part = &parts[index / PART], *none = NULL;
    if (__atomic_load_n(part, __ATOMIC_ACQUIRE) != NULL) {
        return true;
    }
    place *made = mxp__pages_map(PART * sizeof *made);
    if (made != NULL && !__atomic_compare_exchange_n(part, &none, made, false, __ATOMIC_ACQ_REL,
                                                     __ATOMIC_RELAXED)) {
        mxp__pages_unmap(made, PART * sizeof *made);
    }
    return made != NULL;
}

static bool take_free(uint32_t *index)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return false;
    }
    bool found = indices.oldest != 0;
    if (found) {
        *index = indices.oldest - 1;
        indices.oldest = place_of(*index)->next;
    }
    mxp__spin_unlock(&mxp__pool_lock);
    return found;
}

static bool take_new(uint32_t *index)
{
    *index = __atomic_load_n(&indices.count, __ATOMIC_RELAXED);
    do {
        if (*index >= MXP__THREADS_MAX || !has_part(*index)) {
            return false;
        }
    } while (!__atomic_compare_exchange_n(&indices.count, index, *index + 1, false,
                                          __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return true;
}

bool mxp__index_take(uint32_t *index, uint32_t *sequence)
{
    bool all_kept = __atomic_load_n(&indices.count, __ATOMIC_RELAXED) >= indices.kept;
    if (!(all_kept && take_free(index)) && !take_new(index)) {
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
    at->thread = thread;
    indices.linked++;
    __atomic_fetch_add(&indices.threads, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&indices.folded, at->used, __ATOMIC_RELAXED);
    at->used = 1;
}

// A page that has just come back as zeros says index 0, which is another thread's.
void mxp__index_unlink(mxp_thread *thread, uint32_t next)
{
    place *at = place_of(thread->index);
    indices.linked--;
    if (at->thread != thread) {
        return;
    }
    at->sequence = (next > at->sequence ? next : at->sequence) & INT32_MAX;
    at->thread = NULL;
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
    return __atomic_load_n(&indices.count, __ATOMIC_ACQUIRE);
}

uint64_t mxp__index_threads(void)
{
    return __atomic_load_n(&indices.threads, __ATOMIC_RELAXED);
}

uint64_t mxp__index_folded(void)
{
    return __atomic_load_n(&indices.folded, __ATOMIC_RELAXED);
}

void mxp__index_keep(uint32_t count)
{
    indices.kept = count;
}

void mxp__index_fork_child(void)
{
    for (uint32_t index = 0; index < indices.count; index++) {
        *place_of(index) = (place){0};
    }
    indices.count = indices.linked = indices.oldest = indices.newest = 0;
    indices.threads = indices.folded = 0;
}
