// SPDX-License-Identifier: Apache-2.0
// The writing half of docs/format.md. Records are not copied. The checksum of a chunk is taken just
// before it is written, so its records are read from memory once; header and records of several
// chunks are written by one writev. All other sections are small and built in a buffer
// (section_tables.c).
#include "profiler/trace/file/section_writer.h"

#include <assert.h>
#include <errno.h>
#include <mxprof/error.h>
#include <string.h>
#include <sys/uio.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "profiler/trace/file/section.h"
#include "profiler/trace/file/section_body.h"

enum {
    BATCH_CHUNKS = MXP__WRITER_HOLDS,  // at most, in one writev
    BATCH_BYTES = 256 << 10  // at least, if there are so many: what a core's own cache holds
};

// ---- bytes -------------------------------------------------------------------------------------
// Opens the file again if the program has closed its descriptor.
static bool have_descriptor(mxp_section_writer *writer)
{
    mxp_descriptor *checked = writer->checked;
    if (checked == NULL || mxp__descriptor_is_ours(checked)) {
        return true;
    }
    if (!mxp__descriptor_open_again(checked, writer->name)) {
        errno = EBADF;
        return false;
    }
    writer->fd = checked->fd;
    return true;
}

static bool is_worth_a_try(const mxp_section_writer *writer, int *tries)
{
    enum { LOST_TRIES = 100 };
    return errno == EINTR || (errno == EAGAIN && mxp__os_wait_to_write(writer->fd)) ||
           (errno == EBADF && writer->checked != NULL && (*tries)++ < LOST_TRIES);
}

static ssize_t write_once(mxp_section_writer *writer, const struct iovec *vectors, int count)
{
    int tries = 0;
    ssize_t written;
    do {
        if (!have_descriptor(writer)) {
            return -1;
        }
        written = writer->is_placed ? pwritev(writer->fd, vectors, count, (off_t)writer->place)
                                    : writev(writer->fd, vectors, count);
    } while (written < 0 && is_worth_a_try(writer, &tries));
    errno = written == 0 ? ENOSPC : errno;
    return written;
}

static int write_vectors(mxp_section_writer *writer, struct iovec *vectors, int count)
{
    while (count > 0) {
        ssize_t written = write_once(writer, vectors, count);
        if (written <= 0) {
            return mxp__fail(MXP_EIO, "cannot write '%s': %s", writer->path,
                             mxp__descriptor_reason());
        }
        writer->progress.bytes += (uint64_t)written;
        writer->place += (uint64_t)written;
        size_t left = (size_t)written;
        while (count > 0 && left >= vectors->iov_len) {
            left -= vectors->iov_len;
            vectors++;
            count--;
        }
        if (count > 0) {
            vectors->iov_base = (char *)vectors->iov_base + left;
            vectors->iov_len -= left;
        }
    }
    return MXP_OK;
}

static int write_bytes(mxp_section_writer *writer, void *data, size_t size_bytes)
{
    struct iovec vector = {data, size_bytes};
    return write_vectors(writer, &vector, 1);
}

void mxp__body_align(mxp_strbuf *body, size_t align)
{
    static char zeros[4096];  // not const: it would take as much of the library's file
    size_t count = (size_t)(mxp__align_up(body->length, align) - body->length);
    for (; count > sizeof zeros; count -= sizeof zeros) {
        mxp__body_put(body, zeros, sizeof zeros);
    }
    mxp__body_put(body, zeros, count);
}

// ---- sections ----------------------------------------------------------------------------------
void mxp__section_begin(mxp_section_writer *writer)
{
    static const mxp_section none;
    mxp__strbuf_clear(&writer->body);
    mxp__body_put(&writer->body, &none, sizeof none);  // filled in at its end
}

int mxp__section_end(mxp_section_writer *writer, unsigned type)
{
    mxp_strbuf *body = &writer->body;
    mxp_section section = {
        .magic = MXP_SECTION_MAGIC,
        .type = (uint16_t)type,
        .flags = MXP_SECTION_HAS_CHECKSUM,
        .payload_bytes = body->length - sizeof section,
    };
    mxp__body_align(body, writer->align_bytes != 0 ? writer->align_bytes : MXP__SECTION_ALIGN);
    if (body->failed) {
        return mxp__fail_memory("a section of a native trace");
    }
    section.length_bytes = body->length;
    mxp_checksum checksum;
    mxp__section_checksum_begin(&checksum, &section);
    mxp__checksum_add(&checksum, body->data + sizeof section, body->length - sizeof section);
    section.checksum = mxp__checksum_end(&checksum);
    memcpy(body->data, &section, sizeof section);
    writer->progress.sections++;
    return writer->fd < 0 ? MXP_OK : write_bytes(writer, body->data, body->length);
}

mxp_file_header mxp__file_header_of(const mxp_source *source, uint32_t header_bytes, uint32_t flags)
{
    const mxp_timebase *timebase = source->timebase;
    mxp_file_header header = {
        .byte_order = MXP_BYTE_ORDER_MARK,
        .version = MXP_FORMAT_VERSION,
        .min_reader = MXP_FORMAT_MIN_READER,
        .header_bytes = header_bytes,
        .flags = flags,
        .created_real_ns = timebase->point_count > 0 ? timebase->points[0].realtime_ns : 0,
        .pid = source->pid,
        .pointer_bytes = sizeof(void *),
    };
    memcpy(header.magic, MXP_FILE_MAGIC, sizeof header.magic);
    header.checksum = mxp__file_header_checksum(&header);
    return header;
}

int mxp__write_file_header(mxp_section_writer *writer, const mxp_source *source)
{
    mxp_file_header header = mxp__file_header_of(source, sizeof header, 0);
    return write_bytes(writer, &header, sizeof header);
}

int mxp__write_end(mxp_section_writer *writer)
{
    mxp__section_begin(writer);
    mxp__body_put(&writer->body, &writer->progress.sections, sizeof writer->progress.sections);
    mxp__body_put(&writer->body, &writer->progress.record_bytes,
                  sizeof writer->progress.record_bytes);
    return mxp__section_end(writer, MXP_SECTION_END);
}

// ---- chunks ------------------------------------------------------------------------------------
typedef struct chunk_batch {
    mxp_chunk_header headers[BATCH_CHUNKS];
    struct iovec vectors[2 * BATCH_CHUNKS];
    int count;
    size_t bytes;
} chunk_batch;

static int flush_batch(mxp_section_writer *writer, chunk_batch *batch)
{
    int count = batch->count;
    batch->count = 0;
    batch->bytes = 0;
    return write_vectors(writer, batch->vectors, 2 * count);
}

static int take_sequence(mxp_section_writer *writer, uint32_t thread, uint32_t *sequence)
{
    if (mxp__grow(&writer->sequences, &writer->sequence_capacity, (size_t)thread + 1,
                  sizeof *writer->sequences) != MXP_OK) {
        return mxp__fail_memory("the threads of a native trace");
    }
    while (writer->sequence_count <= thread) {
        writer->sequences[writer->sequence_count++] = 0;
    }
    *sequence = writer->sequences[thread]++;
    return MXP_OK;
}

// Sequence numbers are counted per file, because a chunk that two drains shared is written as two.
static void add_to_batch(chunk_batch *batch, const mxp_record_range *range, uint32_t sequence)
{
    size_t size_bytes = (size_t)(range->end - range->words) * sizeof *range->words;
    mxp_chunk_header *header = &batch->headers[batch->count];
    *header = (mxp_chunk_header){
        .section = {.magic = MXP_SECTION_MAGIC,
                    .type = MXP_SECTION_CHUNK,
                    .flags = MXP_SECTION_HAS_CHECKSUM,
                    .length_bytes = sizeof *header + size_bytes,
                    .payload_bytes = size_bytes},
        .thread = range->thread,
        .sequence = sequence,
        .base_ticks = range->base_ticks,
        .lost_before = range->lost_before,
    };
    mxp_checksum checksum;
    mxp__section_checksum_begin(&checksum, &header->section);
    mxp__checksum_add(&checksum, &header->section + 1, sizeof *header - sizeof header->section);
    mxp__checksum_add(&checksum, range->words, size_bytes);
    header->section.checksum = mxp__checksum_end(&checksum);
    struct iovec *vectors = &batch->vectors[2 * batch->count++];
    vectors[0] = (struct iovec){header, sizeof *header};
    vectors[1] = (struct iovec){(void *)(uintptr_t)range->words, size_bytes};
    batch->bytes += sizeof *header + size_bytes;
}

static int write_chunks(mxp_section_writer *writer, mxp_source *source, chunk_batch *batch)
{
    int error = MXP_OK;
    for (size_t number = 0; error == MXP_OK; number++) {
        mxp_record_range range;
        int found = source->range(source, number, &range);
        if (found != 1) {
            error = found;
            break;
        }
        if (range.words == range.end || (writer->leaves_filed_out && range.filed)) {
            continue;
        }
        assert((range.end - range.words) % 2 == 0);
        uint32_t sequence = 0;
        error = take_sequence(writer, range.thread, &sequence);
        if (error == MXP_OK) {
            add_to_batch(batch, &range, sequence);
            writer->progress.sections++;
            writer->progress.record_bytes += batch->headers[batch->count - 1].section.payload_bytes;
            if (batch->count == BATCH_CHUNKS || batch->bytes >= BATCH_BYTES) {
                error = flush_batch(writer, batch);
            }
        }
    }
    return error == MXP_OK ? flush_batch(writer, batch) : error;
}

int mxp__write_chunks(mxp_section_writer *writer, mxp_source *source)
{
    chunk_batch *batch = mxp__alloc(sizeof *batch);
    if (batch == NULL) {
        return mxp__fail_memory("writing a native trace");
    }
    int error = write_chunks(writer, source, batch);
    mxp__free(batch, sizeof *batch);
    return error;
}
