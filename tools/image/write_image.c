// SPDX-License-Identifier: Apache-2.0
// Writes a recorder's memory as the file that its process would have left, had it recorded into one
// (MXP_FILE_MAPPED): threads' pages as RECORDER sections, their chunks, the names, the clock.
// Cursors stay addresses of the process; `base` of each RECORDER leads from them into the file.
//
// Of a process that runs, the cursor is read first and each chunk's header twice: a chunk that was
// used again meanwhile is left out with all before it, as live_copy.h does it.
#include <inttypes.h>
#include <mxprof/async.h>
#include <mxprof/error.h>
#include <mxprof/module.h>
#include <mxprof/profiler.h>
#include <mxprof/record_inline.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "image/image_source.h"
#include "image/recorder_image.h"
#include "profiler/export/sink.h"
#include "profiler/trace/file/section.h"
#include "profiler/trace/file/section_writer.h"

enum { PAGE = MXP__MAPPED_ALIGN, CHUNKS_MOST = 1 << 24, MODULES_MOST = 1 << 16 };

typedef struct thread_chunk {
    uint64_t address;
    mxp_chunk_header header;
} thread_chunk;

typedef struct image_writer {
    const mxp_memory_image *image;
    const mxp_image_anchor *anchor;
    mxp_image_source *names;
    mxp_section_writer to;
    thread_chunk *chunks;  // of the thread at hand
    size_t count, capacity;
    mxp_image_loss *loss;
    char *buffer;  // MXP_CHUNK_BYTES
    uint64_t most_bytes;  // of all memory there is: what would write more goes in a circle
} image_writer;

static int put(image_writer *self, const void *bytes, size_t size_bytes)
{
    if (self->to.progress.bytes > self->most_bytes) {
        return mxp__fail(MXP_EFORMAT, "the recorder's lists of chunks go in a circle");
    }
    mxp_sink sink;
    mxp__sink_fd(&sink, self->to.fd, self->to.path);
    int error = sink.write(&sink, bytes, size_bytes);
    self->to.progress.bytes += size_bytes;
    return error;
}

// ---- chunks ------------------------------------------------------------------------------------
static bool is_chunk_of(const mxp_chunk_header *header, uint32_t thread)
{
    uint64_t length = header->section.length_bytes;
    return header->thread == thread && length >= sizeof *header && length <= MXP_CHUNK_BYTES &&
           length % PAGE == 0;
}

static bool holds(const thread_chunk *chunk, uint64_t cursor)
{
    uint64_t begin = chunk->address + sizeof chunk->header;
    return cursor >= begin && cursor <= chunk->address + chunk->header.section.length_bytes;
}

// The thread's chunks up to that in which its cursor is, oldest first. A link that leads nowhere
// ends them.
static int list_chunks(image_writer *self, uint64_t first, uint32_t thread, uint64_t cursor)
{
    self->count = 0;
    for (uint64_t at = first; at != 0 && self->count < CHUNKS_MOST;) {
        if (mxp__grow(&self->chunks, &self->capacity, self->count + 1, sizeof *self->chunks) !=
            MXP_OK) {
            return mxp__fail_memory("the chunks of a thread");
        }
        thread_chunk *chunk = &self->chunks[self->count];
        chunk->address = at;
        if (!mxp__image_read(self->image, at, &chunk->header, sizeof chunk->header) ||
            !is_chunk_of(&chunk->header, thread)) {
            self->loss->chunks++;
            self->loss->in_file |= !self->image->is_alive;
            return MXP_OK;
        }
        self->count++;
        at = holds(chunk, cursor) ? 0 : chunk->header.next;
    }
    return MXP_OK;
}

static bool is_same(const mxp_chunk_header *a, const mxp_chunk_header *b)
{
    return a->thread == b->thread && a->sequence == b->sequence && a->base_ticks == b->base_ticks;
}

// Writes one chunk. Its records go up to the cursor, or to what it says where it is full.
static int put_chunk(image_writer *self, const thread_chunk *chunk, uint64_t cursor)
{
    mxp_chunk_header *header = (void *)self->buffer;
    uint64_t length = chunk->header.section.length_bytes;
    bool whole = mxp__image_read(self->image, chunk->address, self->buffer, length);
    uint64_t payload = holds(chunk, cursor) ? cursor - chunk->address - sizeof *header
                                            : header->section.payload_bytes;
    if (!whole || !is_same(header, &chunk->header) || payload > length - sizeof *header ||
        payload % MXP_RECORD_UNIT != 0) {
        self->loss->chunks++;
        payload = 0;
    }
    header->section = (mxp_section){.magic = MXP_SECTION_MAGIC,
                                    .type = MXP_SECTION_CHUNK,
                                    .length_bytes = length,
                                    .payload_bytes = payload};
    header->thread = chunk->header.thread;
    header->next = 0;
    self->to.progress.sections++;
    return put(self, self->buffer, length);
}

// ---- threads -----------------------------------------------------------------------------------
static uint32_t number_in(const char *thread, uint32_t offset)
{
    uint32_t number;
    memcpy(&number, thread + offset, sizeof number);
    return number;
}

static uint64_t word_in(const char *thread, uint32_t offset)
{
    uint64_t word;
    memcpy(&word, thread + offset, sizeof word);
    return word;
}

// The page is followed by the chunks, so it is known where each of them comes.
static void describe(const image_writer *self, char *page, uint64_t cursor)
{
    const char *thread = page + sizeof(mxp_recorder_section);
    uint64_t place = self->to.progress.bytes + PAGE;
    mxp_recorder_section head = {
        .section = {.magic = MXP_SECTION_MAGIC,
                    .type = MXP_SECTION_RECORDER,
                    .flags = MXP_SECTION_HAS_OPEN_ARGS,
                    .length_bytes = PAGE,
                    .payload_bytes = PAGE - sizeof(mxp_section)},
        .thread = number_in(thread, self->anchor->thread_index),
        .tid = number_in(thread, self->anchor->thread_tid),
        .start_ticks = word_in(thread, self->anchor->thread_start),
        .block = UINT64_MAX - MXP_BLOCK_BYTES,  // no cursor lies in there
    };
    for (size_t i = 0; i < self->count; i++) {
        if (holds(&self->chunks[i], cursor)) {
            head.base = self->chunks[i].address - place;
        }
        place += self->chunks[i].header.section.length_bytes;
    }
    memcpy(page, &head, sizeof head);
}

static int put_thread(image_writer *self, uint64_t address, uint64_t *next)
{
    char page[PAGE];
    const char *thread = page + sizeof(mxp_recorder_section);
    if (!mxp__image_read(self->image, address - self->anchor->thread_page, page, sizeof page)) {
        *next = 0;
        self->loss->in_file |= !self->image->is_alive;
        self->loss->chunks++;
        return MXP_OK;
    }
    uint64_t cursor = word_in(thread, offsetof(mxp_recorder, cursor));
    *next = word_in(thread, self->anchor->thread_next);
    int error = list_chunks(self, word_in(thread, self->anchor->thread_first),
                            number_in(thread, self->anchor->thread_index), cursor);
    if (error == MXP_OK) {
        describe(self, page, cursor);
        self->to.progress.sections++;
        error = put(self, page, sizeof page);
    }
    for (size_t i = 0; i < self->count && error == MXP_OK; i++) {
        error = put_chunk(self, &self->chunks[i], cursor);
    }
    return error;
}

static int put_threads(image_writer *self)
{
    enum { THREADS_MOST = 1 << 20 };
    uint64_t at = 0;
    mxp__image_read(self->image, self->anchor->threads, &at, sizeof at);
    int error = MXP_OK;
    for (uint32_t i = 0; i < THREADS_MOST && at != 0 && error == MXP_OK; i++) {
        error = put_thread(self, at, &at);
    }
    return error;
}

// ---- tables ------------------------------------------------------------------------------------
static int put_async(image_writer *self)
{
    size_t size_bytes = sizeof(mxp_open_section);
    mxp_open_section *open = mxp__alloc(size_bytes);
    if (open == NULL) {
        return mxp__fail_memory("the open spans of a process");
    }
    mxp__image_read(self->image, self->anchor->async, open->slots, sizeof open->slots);
    int error = mxp__write_section(&self->to, MXP_SECTION_OPEN, open->reserved,
                                   size_bytes - sizeof open->section);
    mxp__free(open, size_bytes);
    return error;
}

static int put_modules(image_writer *self)
{
    uint32_t count = 0;
    mxp__image_read(self->image, self->anchor->module_count, &count, sizeof count);
    size_t size_bytes = count < MODULES_MOST ? count * sizeof(mxp_module_entry) : 0;
    mxp_module_entry *modules = mxp__alloc(size_bytes);
    if (modules == NULL) {
        return size_bytes == 0 ? MXP_OK : mxp__fail_memory("the modules of a process");
    }
    bool whole = mxp__image_read(self->image, self->anchor->modules, modules, size_bytes);
    int error =
        whole ? mxp__write_section(&self->to, MXP_SECTION_MODULES, modules, size_bytes) : MXP_OK;
    mxp__free(modules, size_bytes);
    return error;
}

static int put_tables(image_writer *self)
{
    mxp_source *source = mxp__image_source(self->names);
    int error = mxp__write_clock(&self->to, source->timebase);
    if (error == MXP_OK) {
        error = mxp__write_info(&self->to, source);
    }
    if (error == MXP_OK) {
        error = mxp__write_names(&self->to, source);
    }
    if (error == MXP_OK) {
        error = put_modules(self);
    }
    return error == MXP_OK ? put_async(self) : error;
}

// The header takes a page, so that all sections begin at one.
static int put_header(image_writer *self)
{
    mxp_source *source = mxp__image_source(self->names);
    char page[PAGE] = {0};
    mxp_file_header header = mxp__file_header_of(source, sizeof page, MXP_FILE_MAPPED);
    memcpy(page, &header, sizeof header);
    return put(self, page, sizeof page);
}

// Nothing of what the anchor says is beyond a thread's page.
static bool makes_sense(const mxp_image_anchor *anchor)
{
    const uint32_t offsets[] = {anchor->thread_next, anchor->thread_first, anchor->thread_tid,
                                anchor->thread_index, anchor->thread_start};
    bool good = anchor->thread_page == sizeof(mxp_recorder_section);
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        good = good && offsets[i] <= PAGE - sizeof(mxp_recorder_section) - sizeof(uint64_t);
    }
    return good;
}

static int put_all(image_writer *self)
{
    enum { TABLES_BYTES = 1 << 20 };
    for (size_t i = 0; i < self->image->count; i++) {
        self->most_bytes += self->image->parts[i].size_bytes;
    }
    self->most_bytes += TABLES_BYTES;
    if (!makes_sense(self->anchor)) {
        return mxp__fail(MXP_EFORMAT, "what the recorder says of its threads makes no sense");
    }
    int error = put_header(self);
    if (error == MXP_OK) {
        error = put_tables(self);
    }
    return error == MXP_OK ? put_threads(self) : error;
}

int mxp__image_write(const mxp_memory_image *image, const mxp_image_anchor *anchor, int fd,
                     const char *path, mxp_image_loss *loss)
{
    image_writer self = {.image = image, .anchor = anchor, .loss = loss};
    self.to = (mxp_section_writer){.fd = fd, .path = path, .align_bytes = PAGE};
    self.buffer = mxp__alloc(MXP_CHUNK_BYTES);
    int error = self.buffer == NULL ? mxp__fail_memory("a chunk of a process") : MXP_OK;
    if (error == MXP_OK) {
        error = mxp__image_source_open(image, anchor, &self.names);
    }
    if (error == MXP_OK) {
        error = put_all(&self);
    }
    mxp__image_source_close(self.names);
    mxp__strbuf_fini(&self.to.body);
    mxp__free(self.chunks, self.capacity * sizeof *self.chunks);
    mxp__free(self.buffer, MXP_CHUNK_BYTES);
    return error;
}
