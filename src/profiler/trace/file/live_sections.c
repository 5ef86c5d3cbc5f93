// SPDX-License-Identifier: Apache-2.0
// See live_sections.h. A recorder appends sections and never moves one. A RECORDER section covers
// its thread's first chunk until that chunk has a header; then the recorder shortens the section.
#include "profiler/trace/file/live_sections.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "profiler/trace/file/file_bytes.h"
#include "profiler/trace/file/section.h"
#include "profiler/trace/file/section_check.h"

enum { TRIES = 200 };

static const char memory_for[] = "the copy of a file that is being recorded";

// ---- sections ----------------------------------------------------------------------------------
static int add_chunk(mxp_live_sections *found, uint64_t offset, uint64_t length_bytes)
{
    if (mxp__grow(&found->chunks, &found->chunk_capacity, found->chunk_count + 1,
                  sizeof *found->chunks) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    mxp_live_chunk *chunk = &found->chunks[found->chunk_count++];
    *chunk = (mxp_live_chunk){.offset = offset, .length_bytes = length_bytes};
    mxp__file_read_at(found->fd, &chunk->found, sizeof chunk->found, offset);
    return MXP_OK;
}

// A RECORDER longer than its own part covers its thread's first chunk, so that chunk is added too.
// The recorder may shorten the section meanwhile.
static int add_recorder(mxp_live_sections *found, uint64_t offset, uint64_t length_bytes)
{
    if (mxp__grow(&found->threads, &found->thread_capacity, found->thread_count + 1,
                  sizeof *found->threads) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    found->threads[found->thread_count++] = (mxp_live_thread){.offset = offset};
    uint64_t own = MXP__MAPPED_ALIGN;
    return length_bytes > own ? add_chunk(found, offset + own, length_bytes - own) : MXP_OK;
}

static int add_names(mxp_live_sections *found, uint64_t offset)
{
    if (mxp__grow(&found->names, &found->names_capacity, found->names_count + 1,
                  sizeof *found->names) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    found->names[found->names_count++] = (mxp_live_names){.offset = offset};
    return MXP_OK;
}

static int add_section(mxp_live_sections *found, const mxp_section *section)
{
    switch (section->type) {
    case MXP_SECTION_CHUNK:
        return add_chunk(found, found->end, section->length_bytes);
    case MXP_SECTION_RECORDER:
        return add_recorder(found, found->end, section->length_bytes);
    case MXP_SECTION_NAMES:
        return add_names(found, found->end);
    case MXP_SECTION_THREADS:
    case MXP_SECTION_END:
        found->is_finished = true;
        return MXP_OK;
    default:
        return MXP_OK;
    }
}

static uint64_t first_section(int fd)
{
    mxp_file_header header;
    bool whole = mxp__file_read_at(fd, &header, sizeof header, 0) == sizeof header;
    return whole ? header.header_bytes : 0;
}

int mxp__live_walk(mxp_live_sections *found)
{
    struct stat status;
    found->size_bytes = fstat(found->fd, &status) == 0 ? (uint64_t)status.st_size : 0;
    found->end = found->end == 0 ? first_section(found->fd) : found->end;
    mxp_section section;
    int error = MXP_OK;
    while (error == MXP_OK &&
           mxp__file_read_at(found->fd, &section, sizeof section, found->end) == sizeof section) {
        if (section.magic == 0) {
            break;
        }
        if (found->size_bytes < found->end ||
            mxp__section_fault(&section, found->size_bytes - found->end) != NULL ||
            mxp__content_fault(&section) != NULL || mxp__mapped_fault(&section) != NULL) {
            found->has_garbage = true;
            break;
        }
        error = add_section(found, &section);
        found->end += section.length_bytes;
    }
    return error;
}

// ---- threads -----------------------------------------------------------------------------------
// The offset in the file to which a cursor points.
static uint64_t place_of(const mxp_live_thread *thread, const mxp_live_recorder *recorder)
{
    uint64_t cursor = (uintptr_t)mxp_atomic_own(&recorder->hot.cursor);
    bool in_block = cursor - recorder->head.block <= MXP_BLOCK_BYTES;
    return in_block ? thread->offset + (cursor - recorder->head.block)
                    : cursor - recorder->head.base;
}

static const mxp_live_chunk *chunk_at(const mxp_live_sections *found, uint64_t place)
{
    size_t low = 0, high = found->chunk_count;
    while (low < high) {  // `low` becomes one after the last chunk that begins before `place`
        size_t middle = low + (high - low) / 2;
        if (found->chunks[middle].offset < place) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const mxp_live_chunk *chunk = low > 0 ? &found->chunks[low - 1] : NULL;
    bool within = chunk != NULL && place - chunk->offset >= sizeof(mxp_chunk_header) &&
                  place - chunk->offset <= chunk->length_bytes;
    return within && (place - chunk->offset) % MXP_RECORD_UNIT == 0 ? chunk : NULL;
}

static bool read_recorder(int fd, uint64_t offset, mxp_live_recorder *recorder)
{
    return mxp__file_read_at(fd, recorder, sizeof *recorder, offset) == sizeof *recorder;
}

static bool is_same_thread(const mxp_live_recorder *a, const mxp_live_recorder *b)
{
    return a->head.thread == b->head.thread && a->head.start_ticks == b->head.start_ticks &&
           a->head.base == b->head.base && a->head.block == b->head.block;
}

// Removes spans whose begin differs between the two readings: such a span ended in between, and its
// name may already be that of the next span in its place.
static void keep_open_spans(mxp_live_recorder *recorder, const mxp_live_recorder *first)
{
    for (size_t i = 0; i < MXP_OPEN_MAX; i++) {
        if (mxp_atomic_own(&recorder->hot.open[i].begin) !=
            mxp_atomic_own(&first->hot.open[i].begin)) {
            mxp_atomic_set(&recorder->hot.open[i].begin, 0);
        }
    }
}

// Reads the chunk's header, the cursor, and the header again. If the header is unchanged, the
// cursor belonged to that chunk. ELSEWHERE: the chunk there is another thread's, because this
// thread is older than the file and its cursor still points to memory outside of it.
static mxp_live_state look_at(int fd, mxp_live_thread *thread, const mxp_live_chunk *chunk,
                              const mxp_live_recorder *first)
{
    mxp_chunk_header before, after;
    mxp_live_recorder *now = &thread->recorder;
    if (mxp__file_read_at(fd, &before, sizeof before, chunk->offset) != sizeof before ||
        !read_recorder(fd, thread->offset, now) ||
        mxp__file_read_at(fd, &after, sizeof after, chunk->offset) != sizeof after) {
        return MXP__LIVE_UNSTEADY;
    }
    uint64_t place = place_of(thread, now);
    if (!is_same_thread(first, now) || before.thread != after.thread ||
        before.sequence != after.sequence || before.base_ticks != after.base_ticks ||
        place < chunk->offset + sizeof before || place > chunk->offset + chunk->length_bytes ||
        place % MXP_RECORD_UNIT != 0) {
        return MXP__LIVE_UNSTEADY;
    }
    keep_open_spans(now, first);
    thread->chunk_offset = chunk->offset;
    thread->payload_bytes = place - chunk->offset - sizeof before;
    thread->sequence = before.sequence;
    return before.thread == now->head.thread ? MXP__LIVE_KNOWN : MXP__LIVE_ELSEWHERE;
}

static int read_cursor(mxp_live_sections *found, size_t number)
{
    found->threads[number].state = MXP__LIVE_UNSTEADY;
    for (int i = 0; i < TRIES; i++) {
        mxp_live_thread *thread = &found->threads[number];
        mxp_live_recorder first;
        if (!read_recorder(found->fd, thread->offset, &first) ||
            mxp_atomic_own(&first.hot.cursor) == NULL) {
            thread->state = MXP__LIVE_NEW;
            return MXP_OK;
        }
        uint64_t place = place_of(thread, &first);
        const mxp_live_chunk *chunk = chunk_at(found, place);
        if (chunk != NULL) {
            thread->state = look_at(found->fd, thread, chunk, &first);
            if (thread->state != MXP__LIVE_UNSTEADY) {
                return MXP_OK;
            }
        } else {  // the file has grown since the walk, or the chunk is not in the file
            uint64_t end = found->end;
            int error = mxp__live_walk(found);
            if (error != MXP_OK || end == found->end) {
                found->threads[number].recorder = first;
                found->threads[number].state = MXP__LIVE_ELSEWHERE;
                return error;
            }
        }
    }
    return MXP_OK;
}

int mxp__live_cursors(mxp_live_sections *found)
{
    int error = MXP_OK;
    size_t count = found->thread_count;  // threads found from here on are MXP__LIVE_NEW
    for (size_t i = 0; i < count && error == MXP_OK; i++) {
        error = read_cursor(found, i);
    }
    return error;
}

static int compare(const void *a, const void *b)
{
    const mxp_recorder_section *x = &((const mxp_live_thread *)a)->recorder.head;
    const mxp_recorder_section *y = &((const mxp_live_thread *)b)->recorder.head;
    if (x->thread != y->thread) {
        return x->thread < y->thread ? -1 : 1;
    }
    return (x->start_ticks > y->start_ticks) - (x->start_ticks < y->start_ticks);
}

// Of threads that had the same index one after the other only the last one is recording. All chunks
// of the earlier ones are closed.
static void leave_earlier(mxp_live_sections *found, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        const mxp_live_thread *next = &found->threads[i + 1];
        if (found->threads[i].recorder.head.thread == next->recorder.head.thread) {
            found->threads[i].state = MXP__LIVE_ELSEWHERE;
        }
    }
}

void mxp__live_sort(mxp_live_sections *found)
{
    size_t kept = 0;
    for (size_t i = 0; i < found->thread_count; i++) {  // new threads are sorted to the end
        if (found->threads[i].state == MXP__LIVE_NEW) {
            found->threads[i].recorder.head.thread = UINT32_MAX;
        } else {
            kept++;
        }
    }
    if (kept > 0) {
        qsort(found->threads, found->thread_count, sizeof *found->threads, compare);
        leave_earlier(found, kept);
    }
}

mxp_live_thread *mxp__live_thread(const mxp_live_sections *found, uint32_t thread)
{
    size_t low = 0, high = found->thread_count;
    while (low < high) {  // finds the last thread of that index
        size_t middle = low + (high - low) / 2;
        if (found->threads[middle].recorder.head.thread <= thread) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool is_there =
        low > 0 && thread != UINT32_MAX && found->threads[low - 1].recorder.head.thread == thread;
    return is_there ? &found->threads[low - 1] : NULL;
}

void mxp__live_sections_fini(mxp_live_sections *found)
{
    mxp__free(found->names, found->names_capacity * sizeof *found->names);
    mxp__free(found->threads, found->thread_capacity * sizeof *found->threads);
    mxp__free(found->chunks, found->chunk_capacity * sizeof *found->chunks);
    *found = (mxp_live_sections){0};
}
