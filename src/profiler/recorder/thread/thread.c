// SPDX-License-Identifier: Apache-2.0
// Registration, chunks and the end of recording threads.
#include "profiler/recorder/thread/thread.h"

#include <errno.h>
#include <pthread.h>

#include "base/atomic.h"
#include "base/os/os.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/record/emit.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_due.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/thread/early_names.h"
#include "profiler/recorder/thread/names.h"
#include "profiler/recorder/thread/rules.h"
#include "profiler/recorder/thread/silent.h"
#include "profiler/recorder/thread/thread_index.h"

__thread mxp_recorder *mxp_self __attribute__((tls_model("initial-exec")));

enum { REGISTERING_PLACES = 64 };

static struct {
    MXP_ATOMIC(mxp_thread *) list;  // pushed under the pool lock, unlinked under the drain lock
    // Threads on their way into the list. A freeze that has waited for them in vain has later
    // ones counted in the next place.
    mxp_atomic_u32 registering[REGISTERING_PLACES];
    mxp_atomic_u32 registering_at;
    mxp_atomic_u32 ended;  // those that have ended and are not released
    mxp_atomic_u64 orphans;  // spans that released threads have left open
    mxp_atomic_u64 lost;  // records of threads that could not register
    mxp_atomic_u64 lost_from, lost_to;
} threads;

static pthread_key_t exit_key;
static int exit_key_error;  // 0: made; else nobody learns that a thread has ended
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;

// Sets `busy`. If a freeze is in progress, waits for its end first. After return no freeze proceeds
// until `busy` is cleared. The thread is in the list. False: a handler has interrupted the freezing
// thread.
static bool enter_busy(mxp_thread *self)
{
    mxp_inline_enter(&self->hot);
    return mxp__emit_gate_slow(MXP__FORCED);
}

// Whether it may be that nothing of the thread is to be read: it has told its name or scope while
// nothing was recorded, or all that it has recorded is counted.
static bool may_leave(const mxp_thread *self)
{
    return mxp_atomic_own(&self->hot.cursor) == mxp__chunk_words(self->current) ||
           mxp__rec.limits.statistics_only != 0;
}

// Runs when the thread ends. What it recorded stays until it is drained.
static void thread_exit(void *slab)
{
    mxp_thread *self = slab;
    mxp_self = &self->hot;
    enter_busy(self);
    while (mxp__thread_is_silent(self)) {
        mxp__thread_answer(self);
        enter_busy(self);
        mxp__thread_queue_late(self);
    }
    mxp_self = NULL;
    mxp__thread_finish_chunk(self);
    self->end_ticks = mxp_ticks();
    mxp__thread_close_chunk(self);  // a reader of the recording file needs its length
    const bool leaves = may_leave(self);
    mxp__ring_add(self, self->current);  // from here on another thread may take the chunk
    mxp_atomic_add(&threads.ended, 1);
    mxp_atomic_store_release(&self->exited, 1u);  // pairs with the drain
    mxp_inline_leave(&self->hot);
    if (leaves) {
        mxp__thread_leave(self);
    }
}

static void make_exit_key(void)
{
    exit_key_error = pthread_key_create(&exit_key, thread_exit);
}

static uint32_t current_name(uint32_t tid)
{
    uint32_t told = mxp__early_name_take(tid);
    if (told != MXP_NAME_NONE) {
        return told;
    }
    char name[64];
    mxp__os_thread_name(name, sizeof name);
    if (name[0] == '\0') {
        return MXP_NAME_NONE;
    }
    return mxp_intern(NULL, name, MXP_STYLE_NONE, MXP_UNIT_NONE);
}

static void call_at_exit(void *self)
{
    if (exit_key_error == 0) {
        pthread_setspecific(exit_key, self);
    }
}

static bool link_thread(mxp_thread *self)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return false;
    }
    self->next = mxp_atomic_own(&threads.list);
    mxp__rescue_note_next(self);
    mxp__index_link(self);
    mxp_atomic_store_release(&threads.list, self);  // pairs with mxp__threads
    mxp__spin_unlock(&mxp__pool_lock);
    return true;
}

static uint32_t registering_at(void)
{
    return mxp_atomic_load_seq_cst(&threads.registering_at);
}

// Between the two a thread enters the open file and then the list of threads, from where on others
// write to its slab too. A freeze waits until no thread is in between. False: a handler has
// interrupted the freezing thread.
static bool begin_registering(uint32_t *place)
{
    for (;;) {
        *place = registering_at();
        mxp_atomic_add_seq_cst(&threads.registering[*place], 1);
        bool held = (mxp_atomic_load_seq_cst(&mxp_control.gate) & MXP_GATE_HOLD) != 0;
        if ((!held && *place == registering_at()) || mxp__freeze_is_ours()) {
            return !held;
        }
        mxp_atomic_sub_seq_cst(&threads.registering[*place], 1);
        mxp__wait_for_thaw();
    }
}

static void end_registering(uint32_t place)
{
    uint32_t before = mxp_atomic_sub_seq_cst(&threads.registering[place], 1);
    assert(before != 0 && "more threads have registered than were on their way");
    (void)before;
}

// Its page is not there to tell it; no file ends meanwhile.
static void tell_in_file(void)
{
    uint64_t signals[16];
    mxp__os_block_signals(signals);  // as in thread_register
    uint32_t place;
    if (begin_registering(&place)) {
        mxp__store_count_unmapped(1);
    }
    end_registering(place);
    mxp__os_restore_signals(signals);
}

static void count_registration_loss(uint64_t now)
{
    tell_in_file();
    uint64_t none = 0;
    mxp_atomic_cas(&threads.lost_from, &none, now);
    mxp_atomic_store(&threads.lost_to, now);
    // Pairs with mxp__thread_registration_losses: a reader that sees a loss also sees its times.
    mxp_atomic_add_release(&threads.lost, 1);
}

// Takes the oldest chunk of a ring in memory. No file begins or ends meanwhile.
static mxp_chunk_header *take_oldest(void)
{
    uint64_t signals[16];
    mxp__os_block_signals(signals);  // as in thread_register
    uint32_t place;
    bool registered = begin_registering(&place);
    mxp_chunk_header *oldest = registered && !mxp__store_is_open() ? mxp__ring_take() : NULL;
    end_registering(place);
    mxp__os_restore_signals(signals);
    return oldest;
}

// A ring holds all the memory there may be: its oldest chunk makes room for a thread, or, while
// there is none to be had or another thread is faster, the reserve does.
static mxp_recorder_section *take_slab(void)
{
    mxp_recorder_section *slab = mxp__pool_take_slab();
    if (slab != NULL || !mxp__ring_is_on()) {
        return slab;
    }
    mxp_chunk_header *oldest = take_oldest();
    if (oldest != NULL) {
        mxp__pool_drop_chunk(oldest);
    }
    return mxp__pool_take_reserve_slab();
}

// Returns the thread that is registered: `self`, or the one that a handler on this thread
// registered in the middle. Null: a handler has interrupted the freezing thread.
static mxp_thread *register_in_list(mxp_thread *self)
{
    if (mxp_self != NULL) {
        return (mxp_thread *)mxp_self;
    }
    uint32_t place;
    if (begin_registering(&place)) {
        mxp__store_map_thread(self);
    }
    bool linked = place == registering_at() && link_thread(self);
    if (linked) {
        mxp_self = &self->hot;
        call_at_exit(self);
    } else {  // the file may have ended
        self->stranded = self->file_offset != 0;
        self->file_offset = 0;
        mxp__store_unmap_thread(self, false);
    }
    end_registering(place);
    return linked ? self : NULL;
}

uint32_t mxp__threads_registering(void)
{
    return mxp_atomic_load_seq_cst(&threads.registering[registering_at()]);
}

void mxp__threads_give_up_registering(void)
{
    uint32_t next = (registering_at() + 1) % REGISTERING_PLACES;
    if (mxp_atomic_load_seq_cst(&threads.registering[next]) == 0) {
        mxp_atomic_store_seq_cst(&threads.registering_at, next);
    }
}

bool mxp__threads_register_late(void)
{
    bool late = false;
    for (uint32_t i = 0; i < REGISTERING_PLACES; i++) {
        late = late ||
               (i != registering_at() && mxp_atomic_load_seq_cst(&threads.registering[i]) != 0);
    }
    return late;
}

// A slab with a thread that is complete but not in the list.
static mxp_thread *make_thread(uint64_t now)
{
    uint32_t index, sequence;
    mxp_recorder_section *slab = take_slab();
    if (slab == NULL) {
        return NULL;
    }
    if (!mxp__index_take(&index, &sequence)) {
        mxp__pool_give_slab(slab);
        return NULL;
    }
    mxp_thread *self = (mxp_thread *)(slab + 1);
    self->index = index;
    self->tid = mxp__os_thread_id();
    self->start_ticks = now;
    mxp_atomic_set(&self->name, current_name(self->tid));
    self->uses_scopes = sequence > 0;  // the index's last thread may have left a scope open
    mxp__thread_restart(self, now);
    self->current->sequence = self->sequence = sequence;
    return self;
}

static mxp_thread *thread_register(void)
{
    uint64_t now = mxp_ticks();
    mxp__threads_make_space();
    mxp_thread *self = make_thread(now);
    if (self == NULL) {
        count_registration_loss(now);
        return NULL;
    }
    pthread_once(&exit_once, make_exit_key);
    uint64_t signals[16];
    mxp__os_block_signals(signals);  // a handler here would wait for a freeze that waits for us
    bool made;
    mxp_thread *registered = mxp__store_make_due(&made) ? register_in_list(self) : NULL;
    mxp__os_restore_signals(signals);
    if (registered != self) {
        mxp__index_give_back(self->index);
        mxp__pool_give_slab(mxp__thread_slab(self));
    }
    if (registered == NULL) {
        count_registration_loss(now);
    } else if (made && mxp__recorder_is_on()) {
        mxp__meta(MXP_META_STATE, 0, MXP_STATE_RUN, 0, MXP__FORCED);
    }
    return registered;
}

// ---- the first record of a process -------------------------------------------------------------
typedef bool (*first_call_function)(void);
static MXP_ATOMIC(first_call_function) first_call;

void mxp__thread_at_first(bool (*call)(void))
{
    mxp_atomic_store_release(&first_call, call);
}

// Signals may be blocked because this runs in a handler.
static void call_first(void)
{
    bool (*call)(void) = mxp_atomic_load_acquire(&first_call);
    if (call != NULL && !mxp__os_blocks_signals() &&
        mxp_atomic_cas_acq_rel(&first_call, &call, NULL) && !call()) {
        mxp__thread_at_first(call);
    }
}

mxp_thread *mxp__thread_self(void)
{
    if (mxp_self != NULL) {
        return (mxp_thread *)mxp_self;
    }
    int saved = errno;
    mxp_thread *self = thread_register();
    call_first();
    errno = saved;
    return self;
}

bool mxp__thread_take_orphan(void)
{
    uint64_t left = mxp_atomic_load(&threads.orphans);
    while (left > 0 && !mxp_atomic_cas(&threads.orphans, &left, left - 1)) {
    }
    return left > 0;
}

const void *mxp__threads_list(void)
{
    return &threads.list;
}

mxp_thread *mxp__threads(void)
{
    return mxp_atomic_load_acquire(&threads.list);
}

// What has come into the list since then comes before its first one.
bool mxp__thread_release(mxp_thread *thread, mxp_thread *before, uint32_t sequence)
{
    assert(mxp__drain_is_held());
    assert(thread->drains == 0 && "a thread is released that a drain refers to");
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return false;
    }
    mxp_thread *at = before != NULL ? before->next : mxp_atomic_own(&threads.list);
    for (; at != NULL && at != thread; at = at->next) {
        before = at;
    }
    if (at == NULL) {  // a page before it has just come back as zeros
        mxp__spin_unlock(&mxp__pool_lock);
        return false;
    }
    if (before != NULL) {
        before->next = thread->next;
    } else {
        mxp_atomic_store_release(&threads.list, thread->next);
    }
    mxp_atomic_sub(&threads.ended, 1);
    mxp__index_unlink(thread, sequence);
    mxp_atomic_add(&threads.orphans, mxp_atomic_own(&thread->hot.depth));
    if (before != NULL) {
        mxp__rescue_note_next(before);
    }
    mxp__spin_unlock(&mxp__pool_lock);
    if (mxp__store_unmap_thread(thread, false)) {
        mxp__pool_give_slab(mxp__thread_slab(thread));
    }
    return true;
}

uint32_t mxp__threads_ended(void)
{
    return mxp_atomic_load(&threads.ended);
}

uint64_t mxp__thread_registration_losses(uint64_t *from, uint64_t *to)
{
    uint64_t lost = mxp_atomic_load_acquire(&threads.lost);
    *from = mxp_atomic_load(&threads.lost_from);
    *to = mxp_atomic_load(&threads.lost_to);
    return lost;
}

void mxp__threads_fork_child(void)
{
    mxp_atomic_set(&threads.list, NULL);
    mxp__index_fork_child();
    for (uint32_t i = 0; i < REGISTERING_PLACES; i++) {
        mxp_atomic_set(&threads.registering[i], 0);
    }
    mxp_atomic_set(&threads.lost, 0);
    mxp_atomic_set(&threads.lost_from, 0);
    mxp_atomic_set(&threads.orphans, 0);
    mxp_atomic_set(&threads.ended, 0);
    if (mxp_self != NULL) {
        call_at_exit(NULL);
        mxp_self = NULL;
    }
}

// ---- public calls about the calling thread -----------------------------------------------------
uint32_t mxp_thread_index(void)
{
    const mxp_thread *self = mxp__thread_self();
    return self != NULL && self->index < 0xffff ? self->index : 0xffff;
}
