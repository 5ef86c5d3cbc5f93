// SPDX-License-Identifier: Apache-2.0
// See store.h. A file's mapping outlives its end as long as a chunk of it is still to be read here
// or is some thread's current one.
#include "prof/store.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/mapped_file.h"
#include "prof/names.h"
#include "prof/pool.h"
#include "prof/ring.h"
#include "prof/state.h"

enum {
    PAGE_BYTES = 4096,
    NAMES_BYTES = 65536,
    POPULATE_BYTES = 960 << 10,
    STEP_LEAST_BYTES = 1 << 20,  // by which the file grows: an eighth of it within these bounds
    STEP_MOST_BYTES = 16 << 20
};

typedef struct recording_file {
    struct recording_file *next;  // ended before, still mapped
    mxp_mapped_file file;
    uint64_t used_bytes;  // sections end here; under the pool lock
    uint64_t present_bytes;  // pages up to here have been populated (atomic)
    uint64_t chunks;  // taken and not given back, and one while it is open (atomic)
    uint64_t free_blocks;  // room of threads that are gone, for a ring; linked; under the pool lock
    unsigned clock_turn;  // which CLOCK section is written next
    mxp_section *names;  // the NAMES section that grows; under the names' lock
} recording_file;

static recording_file *active;  // atomic: changed while nobody records
static recording_file *ended;  // under the drain lock

// ---- room --------------------------------------------------------------------------------------
static uint64_t page_up(uint64_t size_bytes)
{
    return (size_bytes + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

static bool reserve(recording_file *store, uint64_t end)
{
    if (end <= store->file.reserved_bytes || end > store->file.limit_bytes) {
        return end <= store->file.reserved_bytes;
    }
    uint64_t step = end / 8;
    step = step < STEP_LEAST_BYTES ? STEP_LEAST_BYTES : step;
    step = step > STEP_MOST_BYTES ? STEP_MOST_BYTES : step;
    uint64_t wanted = page_up(end + step);
    wanted = wanted < store->file.limit_bytes ? wanted : store->file.limit_bytes;
    return mxp__mapped_file_reserve(&store->file, wanted) ||
           mxp__mapped_file_reserve(&store->file, end);  // the last bytes of a full disk
}

// Room of whole pages, with the header of a section whose content is zeros. The header stands
// before the room counts as used, so that the sections are a chain at every moment.
static mxp_section *take_room(recording_file *store, unsigned type, uint64_t size_bytes)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return NULL;
    }
    mxp_section *section = NULL;
    if (reserve(store, store->used_bytes + size_bytes)) {
        section = (mxp_section *)(store->file.base + store->used_bytes);
        section->length_bytes = size_bytes;
        section->type = (uint16_t)type;
        __atomic_store_n(&section->magic, MXP_SECTION_MAGIC, __ATOMIC_RELEASE);
        store->used_bytes += size_bytes;
    }
    mxp__spin_unlock(&mxp__pool_lock);
    return section;
}

static uint64_t offset_of(const recording_file *store, const void *place)
{
    return (uint64_t)((const char *)place - store->file.base);
}

static bool holds(const recording_file *store, const void *place)
{
    return store != NULL && (const char *)place >= store->file.base &&
           offset_of(store, place) < store->file.limit_bytes;
}

// ---- chunks ------------------------------------------------------------------------------------
// A ring in a file leaves a quarter of it for names, threads, and what is recorded while it is
// pinned.
static bool ring_is_full(const recording_file *store)
{
    uint64_t chunks = __atomic_load_n(&store->chunks, __ATOMIC_RELAXED);
    return mxp__ring_is_on() && chunks * MXP_CHUNK_BYTES >= store->file.limit_bytes / 4 * 3;
}

// Pages come several chunks at a time: a call for each costs a tenth more.
static void populate(recording_file *store, uint64_t begin, uint64_t end)
{
    uint64_t present = __atomic_load_n(&store->present_bytes, __ATOMIC_RELAXED);
    if (end <= present) {
        return;
    }
    uint64_t reserved = __atomic_load_n(&store->file.reserved_bytes, __ATOMIC_RELAXED);
    uint64_t to = end + POPULATE_BYTES < reserved ? end + POPULATE_BYTES : reserved;
    uint64_t from = present > begin ? present : begin;
    if (__atomic_compare_exchange_n(&store->present_bytes, &present, to, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
        mxp__mapped_file_populate(&store->file, from, to - from);
    }
}

static mxp_chunk_header *take_from_file(recording_file *store)
{
    mxp_section *section = take_room(store, MXP_SECTION_CHUNK, MXP_CHUNK_BYTES);
    if (section == NULL) {
        return NULL;
    }
    __atomic_fetch_add(&store->chunks, 1, __ATOMIC_RELAXED);
    populate(store, offset_of(store, section), offset_of(store, section) + MXP_CHUNK_BYTES);
    return (mxp_chunk_header *)section;
}

mxp_chunk_header *mxp__store_take_chunk(void)
{
    recording_file *store = __atomic_load_n(&active, __ATOMIC_ACQUIRE);
    bool full = store != NULL && ring_is_full(store);
    mxp_chunk_header *chunk = NULL;
    if (!full) {
        chunk = store != NULL ? take_from_file(store) : mxp__pool_take_chunk();
    }
    if (chunk == NULL && mxp__ring_is_on()) {
        chunk = mxp__ring_take();
        if (chunk == NULL) {  // pinned
            chunk = store != NULL ? take_from_file(store) : mxp__pool_take_reserve();
        }
    }
    return chunk;
}

// Under the drain lock; `store` has ended.
static void release(recording_file *store)
{
    if (__atomic_sub_fetch(&store->chunks, 1, __ATOMIC_RELAXED) != 0) {
        return;
    }
    recording_file **link = &ended;
    while (*link != store) {
        link = &(*link)->next;
    }
    *link = store->next;
    mxp__mapped_file_close(&store->file);
    mxp__free(store, sizeof *store);
}

void mxp__store_give_chunk(mxp_chunk_header *chunk)
{
    if (holds(active, chunk)) {
        __atomic_fetch_sub(&active->chunks, 1, __ATOMIC_RELAXED);
        return;
    }
    recording_file *store = ended;
    while (store != NULL && !holds(store, chunk)) {
        store = store->next;
    }
    if (store != NULL) {
        release(store);
    } else {
        mxp__pool_give_chunk(chunk);
    }
}

bool mxp__store_holds(const void *words)
{
    return holds(active, words);
}

bool mxp__store_is_own(const mxp_chunk_header *chunk)
{
    const recording_file *store = __atomic_load_n(&active, __ATOMIC_ACQUIRE);
    return store == NULL || holds(store, chunk);
}

void mxp__store_settle(void)
{
    mxp__drain_lock();
    if (mxp__ring_is_on()) {
        mxp__hold();
        mxp__ring_forget();
        mxp__release();
    }
    mxp__drain_unlock();
}

int mxp__store_copy(const mxp_block *block)
{
    size_t payload_bytes = (size_t)(block->end - block->words) * sizeof *block->words;
    size_t size_bytes = page_up(sizeof(mxp_chunk_header) + payload_bytes);
    mxp_section *section = take_room(active, MXP_SECTION_CHUNK, size_bytes);
    if (section == NULL) {
        return mxp__fail(MXP_EIO, "the recording file has no room for what was recorded before");
    }
    mxp_chunk_header *chunk = (mxp_chunk_header *)section;
    chunk->thread = block->thread;
    chunk->sequence = block->sequence;
    chunk->base_ticks = block->base_ticks;
    chunk->lost_before = block->lost_before;
    memcpy(chunk + 1, block->words, payload_bytes);
    section->payload_bytes = payload_bytes;
    return MXP_OK;
}

// ---- thread blocks -----------------------------------------------------------------------------
static_assert(sizeof(mxp_recorder_section) % 64 == 0, "a thread's part begins a cache line");
static_assert(sizeof(mxp_recorder_section) + sizeof(mxp_thread) <= MXP__THREAD_PART_BYTES,
              "a thread's part fits into its page");
static_assert(offsetof(mxp_thread, lost) == sizeof(mxp_recorder) &&
                  offsetof(mxp_thread, name) == sizeof(mxp_recorder) + 8,
              "readers of files find them there");
static_assert(offsetof(mxp_recorder, open) == 64, "readers of files find them there");

// Member by member: a header that stands there already stays whole at every moment.
static void put_section(mxp_section *section, unsigned type)
{
    section->magic = MXP_SECTION_MAGIC;
    section->type = (uint16_t)type;
    section->length_bytes = MXP__THREAD_PART_BYTES;
}

static void describe(const recording_file *store, mxp_thread *thread, mxp_recorder_section *block)
{
    put_section(&block->section, MXP_SECTION_RECORDER);
    block->section.payload_bytes = MXP__THREAD_PART_BYTES - sizeof(mxp_section);
    block->thread = thread->index;
    block->tid = thread->tid;
    block->start_ticks = thread->start_ticks;
    block->base = (uintptr_t)store->file.base;
    block->block = (uintptr_t)mxp__thread_block(thread);
}

// The next record of the thread opens a chunk where chunks now come from.
static void leave_chunk(mxp_thread *thread)
{
    thread->chunk_end = thread->hot.cursor;
    __atomic_store_n(&thread->hot.limit, NULL, __ATOMIC_RELAXED);
}

static mxp_recorder_section *block_at(const recording_file *store, uint64_t offset)
{
    return (mxp_recorder_section *)(store->file.base + offset);
}

static mxp_recorder_section *take_free_block(recording_file *store)
{
    if (!mxp__spin_lock(&mxp__pool_lock)) {
        return NULL;
    }
    mxp_recorder_section *block = NULL;
    if (store->free_blocks != 0) {
        block = block_at(store, store->free_blocks);
        store->free_blocks = block->section.checksum;
    }
    mxp__spin_unlock(&mxp__pool_lock);
    return block;
}

// In the file the thread is gone, and its embedded chunk empty, before anything else changes there.
static void give_free_block(recording_file *store, uint64_t offset)
{
    mxp_recorder_section *block = block_at(store, offset);
    mxp_thread *thread = (mxp_thread *)(block + 1);
    __atomic_store_n(&thread->hot.cursor, NULL, __ATOMIC_RELEASE);
    mxp_section *chunk = &block_at(store, offset + MXP__THREAD_PART_BYTES)->section;
    __atomic_store_n(&chunk->payload_bytes, 0, __ATOMIC_RELEASE);
    if (mxp__spin_lock(&mxp__pool_lock)) {
        block->section.checksum = store->free_blocks;
        store->free_blocks = offset;
        mxp__spin_unlock(&mxp__pool_lock);
    }
}

// A new thread has both pages of its block in the file: its first records go to the second one. A
// thread that finds no room there has no use for that page.
void mxp__store_home_new(mxp_thread *thread)
{
    recording_file *store = __atomic_load_n(&active, __ATOMIC_ACQUIRE);
    if (store == NULL || thread->home != 0) {
        return;
    }
    mxp_recorder_section *room = take_free_block(store);
    if (room == NULL) {
        room =
            (mxp_recorder_section *)take_room(store, MXP_SECTION_RECORDER, MXP__THREAD_BLOCK_BYTES);
    }
    if (room == NULL) {
        leave_chunk(thread);
        return;
    }
    uint64_t offset = offset_of(store, room);
    mxp_chunk_header *chunk = (mxp_chunk_header *)block_at(store, offset + MXP__THREAD_PART_BYTES);
    put_section(&chunk->section, MXP_SECTION_CHUNK);  // before the section in front gets shorter
    describe(store, thread, room);
    memcpy(&chunk->section + 1, &mxp__thread_first_chunk(thread)->section + 1,
           sizeof *chunk - sizeof chunk->section);
    memcpy(room + 1, thread, sizeof *thread);
    if (mxp__mapped_file_place(&store->file, mxp__thread_block(thread), offset,
                               MXP__THREAD_BLOCK_BYTES)) {
        thread->home = offset;
        thread->home_whole = 1;
    } else {
        leave_chunk(thread);
    }
}

// Threads that do not record may begin a span meanwhile, which needs no `busy`: what they store
// between the copy and the change of pages is lost, and with it at most that span's name among the
// open ones.
static void home_running(recording_file *store, mxp_thread *thread)
{
    mxp_recorder_section *room =
        (mxp_recorder_section *)take_room(store, MXP_SECTION_RECORDER, MXP__THREAD_PART_BYTES);
    if (room == NULL) {
        return;  // a full disk: its records are in chunks, only its open spans are not in the file
    }
    memcpy(room + 1, thread, sizeof *thread);
    describe(store, thread, room);
    uint64_t offset = offset_of(store, room);
    if (mxp__mapped_file_place(&store->file, mxp__thread_block(thread), offset,
                               MXP__THREAD_PART_BYTES)) {
        thread->home = offset;
    }
}

// Room that is used again: of a ring, and only if no loss is to be told.
static bool is_reusable(const mxp_thread *thread)
{
    return active != NULL && mxp__ring_is_on() && thread->home_whole && thread->lost == 0 &&
           thread->hot.lost_busy == 0;
}

bool mxp__store_leave(mxp_thread *thread, bool keep)
{
    if (thread->home == 0) {
        return true;
    }
    char *block = (char *)mxp__thread_block(thread);
    char content[MXP__THREAD_BLOCK_BYTES];
    memcpy(content, block, sizeof content);
    uint64_t home = thread->home;
    bool reusable = !keep && is_reusable(thread);
    if (!mxp__anonymous_place(block, MXP__THREAD_BLOCK_BYTES)) {
        return false;
    }
    if (keep) {
        memcpy(block, content, sizeof content);
        thread->home = 0;
        thread->home_whole = 0;
    } else if (reusable) {
        give_free_block(active, home);
    }
    return true;
}

// ---- names -------------------------------------------------------------------------------------
static void *extend_names(recording_file *store, uint64_t entry_bytes)
{
    mxp_section *section = store->names;
    if (section == NULL ||
        sizeof *section + section->payload_bytes + entry_bytes > section->length_bytes) {
        uint64_t wanted = page_up(sizeof *section + 2 * sizeof(uint32_t) + entry_bytes);
        section = take_room(store, MXP_SECTION_NAMES, wanted < NAMES_BYTES ? NAMES_BYTES : wanted);
        store->names = section;
        if (section == NULL) {
            return NULL;
        }
    }
    return (char *)(section + 1) + section->payload_bytes;
}

static uint64_t put_name(char *to, const mxp_name_view *name)
{
    const uint32_t head[3] = {name->category, name->style | (uint32_t)name->unit << 8,
                              name->length};
    memcpy(to, head, sizeof head);
    memcpy(to + sizeof head, name->text, name->length);  // the zeros behind it are there
    return (sizeof head + name->length + 1 + 3) & ~UINT64_C(3);
}

// The count is raised last: a name that is not whole does not count.
void mxp__store_add_name(uint32_t id, const mxp_name_view *name)
{
    recording_file *store = __atomic_load_n(&active, __ATOMIC_ACQUIRE);
    if (store == NULL) {
        return;
    }
    mxp_section *before = store->names;
    char *to = extend_names(store, sizeof(uint32_t) * 3 + (uint64_t)name->length + 4);
    if (to == NULL) {
        return;  // the disk is full: readers show <lost name>
    }
    uint32_t *counts = (uint32_t *)(store->names + 1);  // first id, count
    if (store->names != before) {
        counts[0] = id;
        store->names->payload_bytes = 2 * sizeof *counts;
        to += 2 * sizeof *counts;
    }
    uint64_t size_bytes = put_name(to, name);
    __atomic_store_n(&store->names->payload_bytes, store->names->payload_bytes + size_bytes,
                     __ATOMIC_RELEASE);
    __atomic_store_n(&counts[1], id - counts[0] + 1, __ATOMIC_RELEASE);
}

// ---- clock -------------------------------------------------------------------------------------
// In turn, so that one of them is whole at every moment.
void mxp__store_put_clock(const void *section, size_t size_bytes)
{
    if (active == NULL || size_bytes != MXP__STORE_CLOCK_BYTES) {
        return;
    }
    memcpy(active->file.base + MXP__STORE_HEADER_BYTES + active->clock_turn * size_bytes, section,
           size_bytes);
    active->clock_turn ^= 1;
}

// ---- begin and end -----------------------------------------------------------------------------
static int fill(recording_file *store, const mxp_file_header *header, const void *sections,
                size_t sections_bytes)
{
    store->used_bytes = MXP__STORE_HEADER_BYTES + sections_bytes;
    if (!mxp__mapped_file_reserve(&store->file, store->used_bytes)) {
        return mxp__fail(MXP_EIO, "cannot record into a file: there is no room for it on the disk");
    }
    memcpy(store->file.base, header, sizeof *header);
    memcpy(store->file.base + MXP__STORE_HEADER_BYTES, sections, sections_bytes);
    return MXP_OK;
}

static int create(recording_file **created, const char *path, uint64_t limit_bytes)
{
    recording_file *store = mxp__alloc(sizeof *store);
    if (store == NULL) {
        return mxp__fail_memory("the recording file");
    }
    int error = mxp__mapped_file_open(&store->file, path, page_up(limit_bytes));
    if (error != MXP_OK) {
        mxp__free(store, sizeof *store);
        return error;
    }
    store->chunks = 1;
    *created = store;
    return MXP_OK;
}

static void destroy(recording_file *store)
{
    mxp__mapped_file_close(&store->file);
    mxp__free(store, sizeof *store);
}

// All threads go over to the file. Nobody records meanwhile.
static void enter(recording_file *store)
{
    mxp__hold();
    mxp__names_lock();
    __atomic_store_n(&active, store, __ATOMIC_RELEASE);
    mxp__names_each(mxp__store_add_name);
    mxp__names_unlock();
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        if (__atomic_load_n(&thread->exited, __ATOMIC_ACQUIRE) == 0) {
            home_running(store, thread);
            leave_chunk(thread);
        }
    }
    mxp__release();
}

int mxp__store_open(const char *path, uint64_t limit_bytes, const mxp_file_header *header,
                    const void *sections, size_t sections_bytes)
{
    recording_file *store = NULL;
    mxp__drain_lock();
    int error = create(&store, path, limit_bytes);
    if (error == MXP_OK) {
        error = fill(store, header, sections, sections_bytes);
        error = error == MXP_OK ? mxp__mapped_file_publish(&store->file, path) : error;
        if (error == MXP_OK) {
            enter(store);
        } else {
            destroy(store);
        }
    }
    mxp__drain_unlock();
    return error;
}

bool mxp__store_is_open(void)
{
    return __atomic_load_n(&active, __ATOMIC_ACQUIRE) != NULL;
}

// No chunk of an ended file may come into the ring's queue.
static void leave_ring(const recording_file *store)
{
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        if (holds(store, thread->current)) {
            mxp__ring_empty(thread);
        }
    }
    mxp__ring_forget();
}

// The sections are ours, so the chain is as we made it.
static void count_sections(const recording_file *store, mxp_store_end *end)
{
    end->offset = MXP__STORE_HEADER_BYTES;
    while (end->offset < store->used_bytes) {
        const mxp_section *section = (const mxp_section *)(store->file.base + end->offset);
        end->sections++;
        end->record_bytes += section->type == MXP_SECTION_CHUNK ? section->payload_bytes : 0;
        end->offset += section->length_bytes;
    }
}

// All threads go back to memory. Nobody records meanwhile.
static void leave(mxp_store_end *end)
{
    mxp__hold();
    for (mxp_thread *thread = mxp__threads(); thread != NULL; thread = thread->next) {
        mxp__thread_close_chunk(thread);
        mxp__store_leave(thread, true);
        if (holds(active, thread->current)) {
            leave_chunk(thread);
        }
    }
    recording_file *store = active;
    count_sections(store, end);
    mxp__names_lock();  // nobody adds one to it any more
    __atomic_store_n(&active, NULL, __ATOMIC_RELEASE);
    mxp__names_unlock();
    store->next = ended;
    ended = store;
    if (mxp__ring_is_on()) {
        leave_ring(store);
    }
    mxp__release();
}

void mxp__store_finish(mxp_store_end *end)
{
    *end = (mxp_store_end){.fd = -1};
    mxp__drain_lock();
    recording_file *store = active;
    if (store != NULL) {
        leave(end);
        end->fd = dup(store->file.fd);
        release(store);
    }
    mxp__drain_unlock();
}

// Thread blocks and mappings of the parent are left alone but for their addresses: what the child
// does must not reach the file.
void mxp__store_fork_child(void)
{
    if (active != NULL) {
        mxp__mapped_file_close(&active->file);
        active = NULL;
    }
    for (; ended != NULL; ended = ended->next) {
        mxp__mapped_file_close(&ended->file);
    }
    for (mxp_thread *thread = mxp__threads(), *next; thread != NULL; thread = next) {
        next = thread->next;  // is gone with the page
        mxp__store_leave(thread, false);
    }
}
