// SPDX-License-Identifier: Apache-2.0
// Maps thread slabs into a recording file and out of it. A slab keeps its address, because its
// thread uses it without a lock.
#include <string.h>

#include "base/atomic.h"
#include "profiler/recorder/memory/pool.h"
#include "profiler/recorder/memory/ring.h"
#include "profiler/recorder/store/store.h"
#include "profiler/recorder/store/store_rescue.h"
#include "profiler/recorder/thread/rules.h"

static_assert(sizeof(mxp_recorder_section) % 64 == 0, "a thread's part begins a cache line");
static_assert(sizeof(mxp_recorder_section) + sizeof(mxp_thread) <= MXP__THREAD_PART_BYTES,
              "a thread's part fits into its page");
static_assert(offsetof(mxp_thread, lost) == sizeof(mxp_recorder) &&
                  offsetof(mxp_thread, name) == sizeof(mxp_recorder) + 8,
              "readers of files find them there");
static_assert(offsetof(mxp_recorder, open) == 64, "readers of files find them there");
static_assert(sizeof(mxp_recorder_section) + offsetof(mxp_thread, open_args) == 656,
              "readers of files find them there");

// Member by member: a header that is there already stays whole at every time.
static void put_section(mxp_section *section, unsigned type)
{
    section->magic = MXP_SECTION_MAGIC;
    section->type = (uint16_t)type;
    section->length_bytes = MXP__THREAD_PART_BYTES;
}

static void describe(const mxp_recording_file *store, mxp_thread *thread,
                     mxp_recorder_section *slab)
{
    put_section(&slab->section, MXP_SECTION_RECORDER);
    slab->section.payload_bytes = MXP__THREAD_PART_BYTES - sizeof(mxp_section);
    slab->section.flags = MXP_SECTION_HAS_OPEN_ARGS;
    slab->thread = thread->index;
    slab->tid = thread->tid;
    slab->start_ticks = thread->start_ticks;
    slab->base = (uintptr_t)store->file.base;
    slab->block = (uintptr_t)mxp__thread_slab(thread);
}

void mxp__store_leave_chunk(mxp_thread *thread)
{
    thread->chunk_end = mxp_atomic_own(&thread->hot.cursor);
    mxp_atomic_store(&thread->hot.limit, NULL);
}

static mxp_recorder_section *slab_at(const mxp_recording_file *store, uint64_t offset)
{
    return (mxp_recorder_section *)(store->file.base + offset);
}

static mxp_recorder_section *take_free_slab(mxp_recording_file *store)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return NULL;
    }
    mxp_recorder_section *slab = NULL;
    if (store->free_slabs != 0) {
        slab = slab_at(store, store->free_slabs);
        store->free_slabs = slab->section.checksum;
    }
    mxp__spin_unlock(&mxp__pool_lock);
    return slab;
}

static mxp_thread *thread_at(const mxp_recording_file *store, uint64_t offset)
{
    return (mxp_thread *)(slab_at(store, offset) + 1);
}

// ---- losses ------------------------------------------------------------------------------------
// A page like that of a thread that is gone.
void mxp__store_put_unmapped_page(mxp_recording_file *store, uint64_t offset)
{
    mxp_recorder_section *page = slab_at(store, offset);
    put_section(&page->section, MXP_SECTION_RECORDER);
    page->section.payload_bytes = MXP__THREAD_PART_BYTES - sizeof(mxp_section);
    page->thread = MXP_RECORDER_NO_HOME;
    page->start_ticks = mxp_ticks();
    store->unmapped_page = offset;
}

void mxp__store_count_unmapped(uint64_t count)
{
    mxp_recording_file *store = mxp_atomic_load_acquire(&mxp__store_active);
    if (store != NULL && !mxp__store_is_damaged(store)) {
        mxp_atomic_add(&thread_at(store, store->unmapped_page)->lost, count);
    }
}

// Keeps the losses of an ended thread of a ring for readers after a crash. The first ended thread
// with losses keeps its slab in the file, and the losses of later ones are added to it, so that
// their slabs can be reused. False: this thread is the first one. Under the pool lock.
static bool hand_losses_on(mxp_recording_file *store, uint64_t offset)
{
    assert(mxp__spin_is_held(&mxp__pool_lock));
    assert(offset < store->used_bytes && "a thread's page is not in the file");
    mxp_thread *from = thread_at(store, offset);
    if (mxp_atomic_own(&from->lost) + mxp_atomic_own(&from->hot.lost_busy) == 0) {
        return true;
    }
    if (store->losses_page == 0) {
        store->losses_page = offset;
        uint64_t chunk = slab_at(store, offset)->block + MXP__THREAD_PART_BYTES;
        uint64_t *begin = (uint64_t *)(uintptr_t)(chunk + sizeof(mxp_chunk_header));
        mxp_atomic_store_release(&from->hot.cursor, begin);
        return false;
    }
    mxp_thread *to = thread_at(store, store->losses_page);
    mxp_atomic_set(&to->hot.lost_busy,
                   mxp_atomic_own(&to->hot.lost_busy) + mxp_atomic_own(&from->hot.lost_busy));
    mxp_atomic_set(&to->hot.reserved[2], mxp__reasons_sum(mxp_atomic_own(&to->hot.reserved[2]),
                                                          mxp_atomic_own(&from->hot.reserved[2])));
    mxp_atomic_set(&to->lost, mxp_atomic_own(&to->lost) + mxp_atomic_own(&from->lost));
    return true;
}

// Makes a slab of the file reusable. A reader after a crash first must not see the thread any
// more, nor records in its embedded chunk, so these are cleared before anything else is changed.
static void give_free_slab(mxp_recording_file *store, uint64_t offset)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return;
    }
    bool is_free = hand_losses_on(store, offset);
    if (is_free) {
        mxp_atomic_store_release(&thread_at(store, offset)->hot.cursor, NULL);
    }
    mxp_section *chunk = &slab_at(store, offset + MXP__THREAD_PART_BYTES)->section;
    mxp_word_store_release(&chunk->payload_bytes, 0);
    if (is_free) {
        slab_at(store, offset)->section.checksum = store->free_slabs;
        store->free_slabs = offset;
    }
    mxp__spin_unlock(&mxp__pool_lock);
}

// Maps both pages of a new thread's slab, because its first records go to the second one. If there
// is no space in the file, that page cannot be used, and the thread takes a chunk for its first
// record.
void mxp__store_map_thread(mxp_thread *thread)
{
    mxp_recording_file *store = mxp_atomic_load_acquire(&mxp__store_active);
    if (store == NULL || mxp__store_is_damaged(store) || thread->file_offset != 0) {
        return;
    }
    mxp_recorder_section *section = take_free_slab(store);
    if (section == NULL) {
        section = (mxp_recorder_section *)mxp__store_allocate(store, MXP_SECTION_RECORDER,
                                                              MXP__THREAD_SLAB_BYTES);
    }
    if (section == NULL) {
        mxp__store_leave_chunk(thread);
        return;
    }
    uint64_t offset = mxp__store_offset(store, section);
    mxp_chunk_header *chunk = (mxp_chunk_header *)slab_at(store, offset + MXP__THREAD_PART_BYTES);
    put_section(&chunk->section, MXP_SECTION_CHUNK);  // before the section before it gets shorter
    describe(store, thread, section);
    memcpy(&chunk->section + 1, &mxp__thread_first_chunk(thread)->section + 1,
           sizeof *chunk - sizeof chunk->section);
    uint32_t note = mxp__rescue_note_mapping(thread, true);
    memcpy(section + 1, thread, sizeof *thread);
    MXP_TEST_POINT(PAGES);
    if (!mxp__store_is_damaged(store) &&
        mxp__mapped_file_place(&store->file, mxp__thread_slab(thread), offset,
                               MXP__THREAD_SLAB_BYTES)) {
        mxp__rescue_placed(store, note);
        thread->file_offset = offset;
        thread->fully_mapped = 1;
    } else {
        mxp__store_leave_chunk(thread);
    }
}

// Copies memory to which the thread may be storing.
static void copy_words(void *to, const void *from, size_t size_bytes)
{
    const uint64_t *words = from;
    for (size_t i = 0; i < size_bytes / sizeof *words; i++) {
        uint64_t word = mxp_word_load(&words[i]);
        memcpy((char *)to + i * sizeof word, &word, sizeof word);
    }
}

// Maps the first page of a thread that is running. mxp_span_begin does not set `busy`, so it may
// run between the copy and the exchange of the pages, and what it stores then is lost. The loss is
// one entry of the stack of open spans: after a crash that span is not listed. The span itself is
// recorded.
void mxp__store_map_running_thread(mxp_recording_file *store, mxp_thread *thread)
{
    assert(mxp__nobody_records());
    mxp_recorder_section *section = (mxp_recorder_section *)mxp__store_allocate(
        store, MXP_SECTION_RECORDER, MXP__THREAD_PART_BYTES);
    if (section == NULL) {
        return;  // a full disk: its records are in chunks, only its open spans are not in the file
    }
    uint32_t note = mxp__rescue_note_mapping(thread, false);
    copy_words(section + 1, thread, sizeof *thread);
    describe(store, thread, section);
    uint64_t offset = mxp__store_offset(store, section);
    MXP_TEST_POINT(PAGES);
    if (!mxp__store_is_damaged(store) &&
        mxp__mapped_file_place(&store->file, mxp__thread_slab(thread), offset,
                               MXP__THREAD_PART_BYTES)) {
        mxp__rescue_placed(store, note);
        thread->file_offset = offset;
        thread->page_ticks = mxp_ticks();
        thread->stranded = 0;
    }
}

// The next freeze that finds the thread outside of a record takes its page out of the file.
static void strand(mxp_thread *thread)
{
    thread->stranded = thread->stranded != 0 || thread->file_offset != 0;
    thread->file_offset = 0;
    thread->fully_mapped = 0;
}

void mxp__store_strand(mxp_thread *thread)
{
    assert(mxp__nobody_records());
    assert(mxp__position_is_in_chunk(&thread->answered));
    const mxp_position answered = thread->answered;
    if (answered.chunk != NULL) {
        answered.chunk->section.payload_bytes =
            (uint64_t)(answered.at - mxp__chunk_words(answered.chunk)) * sizeof(uint64_t);
    }
    strand(thread);
}

// Of a ring, or of a thread without a record.
bool mxp__store_is_reusable(mxp_thread *thread)
{
    return mxp_atomic_own(&mxp__store_active) != NULL && thread->fully_mapped &&
           (mxp__ring_is_on() || mxp__thread_is_empty(thread));
}

bool mxp__store_is_short_of_slabs(void)
{
    enum { FEW_BYTES = 8 * MXP__THREAD_SLAB_BYTES };
    mxp_recording_file *store = mxp_atomic_load_acquire(&mxp__store_active);
    if (store == NULL || !mxp__spin_lock(&mxp__pool_lock)) {
        return false;
    }
    bool is_short =
        store->free_slabs == 0 && store->used_bytes + FEW_BYTES > store->file.limit_bytes;
    mxp__spin_unlock(&mxp__pool_lock);
    return is_short;
}

bool mxp__store_unmap_thread(mxp_thread *thread, bool keep)
{
    if (thread->file_offset == 0 && thread->stranded == 0) {
        mxp__rescue_forget_mapping(thread);
        return true;
    }
    char *slab = (char *)mxp__thread_slab(thread);
    char content[MXP__THREAD_SLAB_BYTES];
    bool was_damaged;
    do {  // what was there at one time
        was_damaged = mxp__rescue_is_over(mxp_atomic_own(&mxp__store_active));
        copy_words(content, slab, sizeof content);
    } while (mxp__store_is_damaged(mxp_atomic_own(&mxp__store_active)) != was_damaged);
    uint64_t file_offset = thread->file_offset;
    bool reusable = !keep && file_offset != 0 && mxp__store_is_reusable(thread);
    MXP_TEST_POINT(PAGES);
    if (!mxp__anonymous_place(slab, MXP__THREAD_SLAB_BYTES, content)) {
        if (keep) {
            strand(thread);
        }
        return false;
    }
    mxp__rescue_forget_mapping(thread);
    thread->stranded = 0;
    if (keep) {
        thread->page_ticks = mxp_ticks();
        thread->file_offset = 0;
        thread->fully_mapped = 0;
    } else if (reusable) {
        give_free_slab(mxp_atomic_own(&mxp__store_active), file_offset);
    }
    return true;
}
