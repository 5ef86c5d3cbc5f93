// SPDX-License-Identifier: Apache-2.0
// See live_copy.h.
#include "profiler/trace/file/live_copy.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/atomic.h"
#include "base/fail.h"
#include "profiler/trace/file/live_sections.h"
#include "profiler/trace/file/private_pages.h"

// ---- what counts -------------------------------------------------------------------------------
static bool is_same_chunk(const mxp_chunk_header *a, const mxp_chunk_header *b)
{
    return a->thread == b->thread && a->sequence == b->sequence && a->base_ticks == b->base_ticks;
}

static uint64_t closed_bytes(const mxp_live_chunk *chunk, const mxp_chunk_header *header)
{
    uint64_t payload_bytes = header->section.payload_bytes;
    bool makes_sense = payload_bytes <= chunk->length_bytes - sizeof *header &&
                       payload_bytes % MXP_RECORD_UNIT == 0;
    return makes_sense ? payload_bytes : 0;
}

// Standing values are changed in place. Each of these records is independent of the one before.
static bool is_standing(const mxp_live_chunk *chunk)
{
    return chunk->before.sequence == MXP_SEQUENCE_STANDING;
}

// How many bytes of a chunk existed when its thread's cursor was read. A thread without RECORDER
// started later, or had ended before the file was begun; the chunks of an ended one are complete.
static uint64_t payload_of(const mxp_live_chunk *chunk, const mxp_live_thread *thread)
{
    const mxp_chunk_header *header = &chunk->before;
    if (is_standing(chunk)) {
        return closed_bytes(chunk, header);
    }
    if (thread == NULL) {
        return is_same_chunk(&chunk->found, header) ? closed_bytes(chunk, &chunk->found) : 0;
    }
    if (thread->state != MXP__LIVE_KNOWN || header->sequence < thread->sequence) {
        return closed_bytes(chunk, header);
    }
    return chunk->offset == thread->chunk_offset && header->sequence == thread->sequence
               ? thread->payload_bytes
               : 0;
}

static void read_headers(mxp_live_sections *found)
{
    for (size_t i = 0; i < found->chunk_count; i++) {
        mxp_live_chunk *chunk = &found->chunks[i];
        mxp_chunk_header *before = &chunk->before;
        bool whole =
            mxp__file_read_at(found->fd, before, sizeof *before, chunk->offset) == sizeof *before &&
            before->section.magic == MXP_SECTION_MAGIC && before->section.type == MXP_SECTION_CHUNK;
        chunk->payload_bytes =
            whole ? payload_of(chunk, mxp__live_thread(found, before->thread)) : 0;
    }
    for (size_t i = 0; i < found->names_count; i++) {
        mxp_live_names *names = &found->names[i];
        mxp__file_read_at(found->fd, names->counts, sizeof names->counts,
                          names->offset + sizeof(mxp_section));
    }
}

// ---- what was overwritten ----------------------------------------------------------------------
static void note_overwritten(mxp_live_thread *thread, uint32_t sequence)
{
    if (!thread->overwritten || sequence > thread->overwritten_to) {
        thread->overwritten = true;
        thread->overwritten_to = sequence;
    }
}

static void leave_out(mxp_live_chunk *chunk, mxp_file_bytes *bytes)
{
    bytes->overwritten_chunks++;
    bytes->overwritten_bytes += chunk->payload_bytes;
    chunk->payload_bytes = 0;
}

// The chunk in which a thread was may be gone before anything of it is copied.
static void check_current(mxp_live_sections *found, mxp_file_bytes *bytes)
{
    for (size_t i = 0; i < found->chunk_count; i++) {
        const mxp_chunk_header *header = &found->chunks[i].before;
        mxp_live_thread *thread = mxp__live_thread(found, header->thread);
        if (thread != NULL && thread->state == MXP__LIVE_KNOWN &&
            found->chunks[i].offset == thread->chunk_offset &&
            header->sequence == thread->sequence) {
            thread->is_there = true;
        }
    }
    for (size_t i = 0; i < found->thread_count; i++) {
        mxp_live_thread *thread = &found->threads[i];
        if (thread->state == MXP__LIVE_UNSTEADY) {
            note_overwritten(thread, UINT32_MAX);
        } else if (thread->state == MXP__LIVE_KNOWN && !thread->is_there) {
            note_overwritten(thread, thread->sequence);
            bytes->overwritten_chunks++;
            bytes->overwritten_bytes += thread->payload_bytes;
        }
    }
}

static void check_headers(mxp_live_sections *found, mxp_file_bytes *bytes)
{
    for (size_t i = 0; i < found->chunk_count; i++) {
        mxp_live_chunk *chunk = &found->chunks[i];
        mxp_chunk_header after;
        bool stays =
            chunk->payload_bytes == 0 || is_standing(chunk) ||
            (mxp__file_read_at(found->fd, &after, sizeof after, chunk->offset) == sizeof after &&
             is_same_chunk(&after, &chunk->before));
        mxp_live_thread *thread = mxp__live_thread(found, chunk->before.thread);
        if (!stays && thread != NULL) {
            note_overwritten(thread, chunk->before.sequence);
        } else if (!stays) {
            leave_out(chunk, bytes);
        }
    }
    for (size_t i = 0; i < found->chunk_count; i++) {
        mxp_live_chunk *chunk = &found->chunks[i];
        const mxp_live_thread *thread = mxp__live_thread(found, chunk->before.thread);
        if (chunk->payload_bytes > 0 && !is_standing(chunk) && thread != NULL &&
            thread->overwritten && chunk->before.sequence <= thread->overwritten_to) {
            leave_out(chunk, bytes);
        }
    }
}

// ---- the copy ----------------------------------------------------------------------------------
// As an address in the recording process.
static uint64_t *begin_of_chunk(const mxp_live_thread *thread)
{
    const mxp_recorder_section *head = &thread->recorder.head;
    uint64_t place = thread->chunk_offset + sizeof(mxp_chunk_header);
    uint64_t base =
        place - thread->offset <= MXP_BLOCK_BYTES ? head->block - thread->offset : head->base;
    return (uint64_t *)(uintptr_t)(base + place);
}

static void put_threads(const mxp_live_sections *found, char *data)
{
    for (size_t i = 0; i < found->thread_count; i++) {
        const mxp_live_thread *thread = &found->threads[i];
        mxp_live_recorder recorder = {.head.section.magic = 0};
        if (thread->offset + sizeof recorder > found->end) {
            continue;
        }
        if (thread->state == MXP__LIVE_NEW) {
            memcpy(&recorder, data + thread->offset, sizeof recorder);
            mxp_atomic_set(&recorder.hot.cursor, NULL);
        } else {
            recorder = thread->recorder;
            bool is_gone = thread->overwritten && thread->overwritten_to >= thread->sequence;
            if (thread->state == MXP__LIVE_UNSTEADY ||
                (thread->state == MXP__LIVE_KNOWN && is_gone)) {
                mxp_atomic_set(&recorder.hot.cursor, begin_of_chunk(thread));
            }
        }
        memcpy(data + thread->offset, &recorder, sizeof recorder);
    }
}

// The memory is given back now and then, because writing one header reads the pages around it.
static void put_chunk_headers(const mxp_live_sections *found, const mxp_file_bytes *bytes,
                              char *data)
{
    for (size_t i = 0; i < found->chunk_count; i++) {
        const mxp_live_chunk *chunk = &found->chunks[i];
        mxp_chunk_header header = chunk->before;
        if (header.section.magic == MXP_SECTION_MAGIC && header.section.type == MXP_SECTION_CHUNK &&
            chunk->offset + chunk->length_bytes <= found->end) {
            header.section.length_bytes = chunk->length_bytes;
            header.section.payload_bytes = chunk->payload_bytes;
            memcpy(data + chunk->offset, &header, sizeof header);
        }
        if (i % 64 == 63) {
            mxp__file_bytes_give_back(bytes);
        }
    }
    for (size_t i = 0; i < found->names_count; i++) {
        const mxp_live_names *names = &found->names[i];
        if (names->offset + sizeof(mxp_section) + sizeof names->counts <= found->end) {
            memcpy(data + names->offset + sizeof(mxp_section), names->counts, sizeof names->counts);
        }
    }
    put_threads(found, data);
}

static int copy(mxp_live_sections *found, mxp_file_bytes *bytes)
{
    int error = mxp__live_walk(found);
    if (error == MXP_OK) {
        error = mxp__live_cursors(found);
    }
    if (error == MXP_OK) {
        error = mxp__live_walk(found);
    }
    if (error != MXP_OK) {
        return error;
    }
    mxp__live_sort(found);
    read_headers(found);
    if (!found->is_finished) {
        check_current(found, bytes);
    }
    bytes->size_bytes = found->has_garbage ? found->size_bytes : found->end;
    char *data = mxp__private_pages(bytes->size_bytes, &bytes->in_file);
    if (data == NULL) {
        return mxp__fail_memory("the copy of a file that is being recorded");
    }
    bytes->data = (const uint8_t *)data;
    bytes->page_bytes = bytes->size_bytes;
    mxp__private_fill(data, bytes->size_bytes, bytes->in_file, found->fd);
    bytes->is_recording = !found->is_finished;
    if (!found->is_finished) {
        check_headers(found, bytes);
        put_chunk_headers(found, bytes, data);
    }
    mxp__file_bytes_give_back(bytes);
    return MXP_OK;
}

int mxp__live_copy(int fd, mxp_file_bytes *bytes)
{
    mxp_live_sections found = {.fd = fd};
    int error = copy(&found, bytes);
    mxp__live_sections_fini(&found);
    return error;
}
