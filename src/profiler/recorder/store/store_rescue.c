// SPDX-License-Identifier: Apache-2.0
// See store_rescue.h. What the handler reads is here and not in the pages that may be gone: a table
// of files and one of threads, whose entries are never given back to the system.
#include "profiler/recorder/store/store_rescue.h"

#include <sys/mman.h>

#include "base/atomic.h"
#include "base/os/bus_guard.h"
#include "base/os/os.h"
#include "profiler/pages.h"
#include "profiler/recorder/thread/thread_index.h"

enum { FILES = 1024, PART = 512, PARTS = 2 * MXP__THREADS_MAX / PART };

// What became of a file, or of a thread's slab.
enum { WHOLE = 0, BEING_SAVED = 1, SAVED = 2, LOST = 3 };

typedef struct mapping {
    MXP_ATOMIC(mxp_thread *) thread;  // null: free
    MXP_ATOMIC(mxp_thread *) next;
    uint64_t start_ticks;
    mxp_atomic_u64 records;  // counted so far
    uint32_t index, tid, name;
    uint32_t number;  // what the thread knows it by
    uint32_t whole;
    mxp_atomic_u32 state;
} mapping;

static mxp_recording_file_slot files[FILES];  // one that is damaged stays
static MXP_ATOMIC(int) file_count;  // places that were ever used
static MXP_ATOMIC(mapping *) parts[PARTS];
static mxp_atomic_u32 part_count, mappings_used, turn;
static mxp_atomic_u32 turns;  // of rescues: begun and ended
static mxp_atomic_u64 lost_records;

// ---- files -------------------------------------------------------------------------------------
static mxp_recording_file *file_at(const void *place)
{
    int count = mxp_atomic_load_acquire(&file_count);
    for (int i = 0; i < count; i++) {
        mxp_recording_file *store = mxp_atomic_load_acquire(&files[i]);
        if (mxp__store_file_holds(store, place)) {
            return store;
        }
    }
    return NULL;
}

uint32_t mxp__rescue_turns(void)
{
    return mxp_atomic_load_acquire(&turns);
}

bool mxp__rescue_is_lost(const void *chunk)
{
    return mxp__rescue_turns() != 0 && mxp__store_is_damaged(file_at(chunk));
}

uint64_t mxp__rescue_lost_records(void)
{
    return mxp_atomic_load(&lost_records);
}

static bool wait_for(const mxp_atomic_u32 *state)
{
    uint32_t now;
    for (unsigned tries = 0; (now = mxp_atomic_load_acquire(state)) == BEING_SAVED; tries++) {
        mxp__os_wait_turn(tries);
    }
    return now == SAVED;
}

bool mxp__rescue_is_over(const mxp_recording_file *store)
{
    if (store != NULL) {
        wait_for(&store->damaged);
    }
    return mxp__store_is_damaged(store);
}

// ---- threads -----------------------------------------------------------------------------------
static mapping *mapping_number(uint32_t number)
{
    mapping *part = mxp_atomic_load_acquire(&parts[number / PART]);
    return part != NULL ? &part[number % PART] : NULL;
}

static uint32_t mapping_count(void)
{
    return mxp_atomic_load_acquire(&part_count) * PART;
}

// If two threads add a part at once, the second one gives its pages back.
static bool add_part(void)
{
    uint32_t count = mxp_atomic_load_acquire(&part_count);
    mapping *made = count < PARTS ? mxp__pages_map(PART * sizeof(mapping)) : NULL;
    mapping *none = NULL;
    if (made == NULL) {
        return false;
    }
    if (mxp_atomic_cas_acq_rel(&parts[count], &none, made)) {
        mxp_atomic_store_release(&part_count, count + 1);
    } else {
        mxp__pages_unmap(made, PART * sizeof(mapping));
    }
    return true;
}

// Half of the places stay free, so that one is found soon.
static uint32_t take_mapping(mxp_thread *thread)
{
    if ((mxp_atomic_add(&mappings_used, 1) + 1) * 2 >= mapping_count() && !add_part()) {
        mxp_atomic_sub(&mappings_used, 1);
        return 0;
    }
    for (;;) {
        uint32_t number = mxp_atomic_add(&turn, 1) % mapping_count();
        mxp_thread *none = NULL;
        if (mxp_atomic_cas_acq_rel(&mapping_number(number)->thread, &none, thread)) {
            return number + 1;
        }
    }
}

static mapping *mapping_of(const mxp_thread *thread)
{
    return thread->rescue_slot != 0 ? mapping_number(thread->rescue_slot - 1) : NULL;
}

uint32_t mxp__rescue_note_mapping(mxp_thread *thread, bool whole)
{
    thread->rescue_slot = thread->rescue_slot != 0 ? thread->rescue_slot : take_mapping(thread);
    mapping *noted = mapping_of(thread);
    if (noted == NULL) {
        return 0;
    }
    noted->start_ticks = thread->start_ticks;
    noted->index = thread->index;
    noted->tid = thread->tid;
    noted->name = mxp_atomic_own(&thread->name);
    noted->whole = whole;
    noted->number = thread->rescue_slot;
    mxp_atomic_store(&noted->next, thread->next);
    mxp_atomic_store(&noted->records, thread->records);
    mxp_atomic_store_release(&noted->state, WHOLE);
    return thread->rescue_slot;
}

// A page of a damaged file may be mapped after the rescue. Until this call an access to it comes to
// the handler.
void mxp__rescue_placed(const mxp_recording_file *store, uint32_t note)
{
    if (note != 0 && mxp__store_is_damaged(store)) {
        wait_for(&store->damaged);
        mxp_atomic_store_release(&mapping_number(note - 1)->state, WHOLE);
    }
}

void mxp__rescue_forget_mapping(mxp_thread *thread)
{
    mapping *noted = mapping_of(thread);
    thread->rescue_slot = 0;
    if (noted != NULL) {
        mxp_atomic_store_release(&noted->thread, NULL);
        mxp_atomic_sub(&mappings_used, 1);
    }
}

void mxp__rescue_note_next(const mxp_thread *thread)
{
    mapping *noted = mapping_of(thread);
    if (noted != NULL) {
        mxp_atomic_store_release(&noted->next, thread->next);
    }
}

void mxp__rescue_note_records(const mxp_thread *thread)
{
    mapping *noted = mapping_of(thread);
    if (noted != NULL) {
        mxp_atomic_store(&noted->records, thread->records);
    }
}

// ---- the rescue, in a handler ------------------------------------------------------------------
static mapping *mapping_at(const void *place)
{
    for (uint32_t i = 0; i < mapping_count(); i++) {
        mapping *noted = mapping_number(i);
        mxp_thread *thread = mxp_atomic_load_acquire(&noted->thread);
        const char *slab = thread != NULL ? (const char *)mxp__thread_slab(thread) : NULL;
        if (slab != NULL && (const char *)place >= slab &&
            (const char *)place < slab + MXP__THREAD_SLAB_BYTES) {
            return noted;
        }
    }
    return NULL;
}

// As a thread that has just registered, but for `begins_anew`: its next record restarts it.
static void describe(const mapping *noted, mxp_thread *thread, mxp_thread *made)
{
    made->index = noted->index;
    made->tid = noted->tid;
    mxp_atomic_set(&made->name, noted->name);
    made->start_ticks = noted->start_ticks;
    made->next = mxp_atomic_load_acquire(&noted->next);
    made->rescue_slot = noted->number;
    mxp_atomic_set(&made->begins_anew, 1);
    made->first = made->current = mxp__thread_first_chunk(thread);
    made->chunk_end = mxp__chunk_words(made->current);
    mxp_atomic_set(&made->hot.cursor, made->chunk_end);
}

// Its second page, if that is no page of the file: nothing of it leads into the file any more.
static void empty_first_chunk(mxp_thread *thread)
{
    mxp_chunk_header *chunk = mxp__thread_first_chunk(thread);
    mxp_word_store_release(&chunk->section.payload_bytes, 0);
    mxp_word_store_release(&chunk->next, 0);
}

static bool save_mapping(mapping *noted)
{
    mxp_thread *thread = mxp_atomic_load_acquire(&noted->thread);
    uint32_t whole = WHOLE;
    if (thread == NULL || !mxp_atomic_cas_acq_rel(&noted->state, &whole, BEING_SAVED)) {
        return true;
    }
    size_t size_bytes = noted->whole ? MXP__THREAD_SLAB_BYTES : MXP__THREAD_PART_BYTES;
    char *made = mxp__os_map_pages(size_bytes);
    if (made != NULL) {
        describe(noted, thread, (mxp_thread *)((mxp_recorder_section *)made + 1));
    }
    bool saved = made != NULL && mxp__pages_move(made, size_bytes, mxp__thread_slab(thread));
    if (saved && !noted->whole) {
        empty_first_chunk(thread);
    }
    mxp_atomic_add(&lost_records, mxp_atomic_load(&noted->records));
    mxp_atomic_store_release(&noted->state, saved ? SAVED : LOST);
    return saved;
}

static bool save_all(mxp_recording_file *store)
{
    void *memory = mmap(store->file.base, store->file.limit_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    bool saved = memory == store->file.base;
    if (store == mxp_atomic_load_acquire(&mxp__store_active)) {
        for (uint32_t i = 0; i < mapping_count(); i++) {
            saved = save_mapping(mapping_number(i)) && saved;
        }
    }
    return saved;
}

// By whoever comes first; the others wait.
static bool save_file(mxp_recording_file *store)
{
    uint32_t whole = WHOLE;
    if (mxp_atomic_cas_acq_rel(&store->damaged, &whole, BEING_SAVED)) {
        mxp_atomic_add_release(&turns, 1);
        bool saved = save_all(store);
        mxp_atomic_store_release(&store->damaged, saved ? SAVED : LOST);
        mxp_atomic_add_release(&turns, 1);
    }
    return wait_for(&store->damaged);
}

// A page that was saved and left before its thread came here is nobody's any more, and readable.
static bool rescue(void *place)
{
    mxp_recording_file *store = file_at(place);
    if (store != NULL) {
        return save_file(store);
    }
    mapping *noted = mapping_at(place);
    store = mxp_atomic_load_acquire(&mxp__store_active);
    bool saved = noted != NULL && store != NULL && save_file(store) && save_mapping(noted) &&
                 wait_for(&noted->state);
    return saved || (mxp__rescue_turns() != 0 && mxp__os_is_readable(place));
}

// ---- without a signal --------------------------------------------------------------------------
bool mxp__rescue_check(mxp_recording_file *store)
{
    const char *base = store->file.base;
    return base[0] != '\0' || !rescue((void *)(uintptr_t)base);
}

void mxp__rescue_page(mxp_thread *thread)
{
    mxp_recording_file *store = mxp_atomic_load_acquire(&mxp__store_active);
    if (store != NULL) {
        (void)rescue(store->file.base);
    }
    (void)rescue(thread);
}

// ---- begin and end -----------------------------------------------------------------------------
void mxp__rescue_guard(mxp_recording_file *store)
{
    for (int i = 0; i < FILES; i++) {
        if (mxp_atomic_own(&files[i]) == NULL) {
            mxp_atomic_store_release(&files[i], store);
            mxp_atomic_store_release(
                &file_count, i < mxp_atomic_own(&file_count) ? mxp_atomic_own(&file_count) : i + 1);
            store->guarded = true;
            mxp__bus_guard_begin(rescue);
            return;
        }
    }
}

// One that is damaged stays known as lost, and the handler stays for it: a thread may have met a
// page that was gone, and not have come to the handler yet.
void mxp__rescue_unguard(mxp_recording_file *store)
{
    if (mxp__store_is_damaged(store)) {
        return;
    }
    for (int i = 0; i < FILES && store->guarded; i++) {
        if (mxp_atomic_own(&files[i]) != store) {
            continue;
        }
        mxp_atomic_store_release(&files[i], NULL);
        store->guarded = false;
        mxp__bus_guard_end();
    }
}

void mxp__rescue_fork_child(void)
{
    for (int i = 0; i < FILES; i++) {
        mxp_atomic_set(&files[i], NULL);
    }
    mxp_atomic_set(&lost_records, 0);
    mxp__bus_guard_end_all();
}
