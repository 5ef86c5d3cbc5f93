// SPDX-License-Identifier: Apache-2.0
// The writing half of docs/format.md. Records are not copied. The checksum of a chunk is taken just
// before it is written, so its records are read from memory once; header and records of several
// chunks are written by one writev. All other sections are small and built in a buffer.
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

enum {
    BATCH_CHUNKS = MXP__WRITER_HOLDS,  // at most, in one writev
    BATCH_BYTES = 256 << 10,  // at least, if there are so many: what a core's own cache holds
    NAMES_SECTION_BYTES = 1 << 20  // the size at which a section of names is ended
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

static void put(mxp_strbuf *body, const void *data, size_t size_bytes)
{
    mxp__strbuf_append(body, data, size_bytes);
}

static void put_u32(mxp_strbuf *body, uint32_t value)
{
    put(body, &value, sizeof value);
}

static void put_zeros(mxp_strbuf *body, size_t count)
{
    static char zeros[4096];  // not const: it would take as much of the library's file
    for (; count > sizeof zeros; count -= sizeof zeros) {
        put(body, zeros, sizeof zeros);
    }
    put(body, zeros, count);
}

// A text and its terminating zero. put_padding aligns the end of an entry.
static void put_text(mxp_strbuf *body, const char *text, size_t length)
{
    put(body, text, length);
    put_zeros(body, 1);
}

static void put_padding(mxp_strbuf *body, size_t align)
{
    put_zeros(body, (size_t)(mxp__align_up(body->length, align) - body->length));
}

// ---- sections ----------------------------------------------------------------------------------
static void begin_section(mxp_section_writer *writer)
{
    static const mxp_section none;
    mxp__strbuf_clear(&writer->body);
    put(&writer->body, &none, sizeof none);  // filled in by end_section
}

static int end_section(mxp_section_writer *writer, unsigned type)
{
    mxp_strbuf *body = &writer->body;
    mxp_section section = {
        .magic = MXP_SECTION_MAGIC,
        .type = (uint16_t)type,
        .flags = MXP_SECTION_HAS_CHECKSUM,
        .payload_bytes = body->length - sizeof section,
    };
    put_padding(body, writer->align_bytes != 0 ? writer->align_bytes : MXP__SECTION_ALIGN);
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

int mxp__write_clock(mxp_section_writer *writer, const mxp_timebase *timebase)
{
    mxp_clock_header header = {
        .source = timebase->source,
        .points = (uint32_t)timebase->point_count,
        .segments = (uint32_t)timebase->segment_count,
        .residual_ns = timebase->residual_ns,
        .jump_ns = timebase->jump_ns,
        .jump_ticks = timebase->jump_ticks,
    };
    begin_section(writer);
    put(&writer->body, &header, sizeof header);
    put(&writer->body, timebase->points, timebase->point_count * sizeof *timebase->points);
    put(&writer->body, timebase->segments, timebase->segment_count * sizeof *timebase->segments);
    return end_section(writer, MXP_SECTION_CLOCK);
}

static void put_name(mxp_strbuf *body, const mxp_name_view *name)
{
    put_u32(body, name->category);
    put(body, &name->style, sizeof name->style);
    put(body, &name->unit, sizeof name->unit);
    put_zeros(body, 2);
    put_u32(body, name->length);
    put_text(body, name->text, name->length);
    put_padding(body, 4);
}

int mxp__write_names(mxp_section_writer *writer, const mxp_source *source)
{
    mxp_strbuf *body = &writer->body;
    uint32_t id = writer->progress.names;
    while (id < source->name_count) {
        uint32_t first = id;
        begin_section(writer);
        put_u32(body, first);
        put_u32(body, 0);
        while (id < source->name_count && body->length < NAMES_SECTION_BYTES) {
            mxp_name_view name = source->name(source, id++);
            put_name(body, &name);
        }
        uint32_t count = id - first;
        if (!body->failed) {
            memcpy(body->data + sizeof(mxp_section) + sizeof first, &count, sizeof count);
        }
        int error = end_section(writer, MXP_SECTION_NAMES);
        if (error != MXP_OK) {
            return error;
        }
    }
    writer->progress.names = id;
    return MXP_OK;
}

int mxp__write_threads(mxp_section_writer *writer, const mxp_source *source)
{
    begin_section(writer);
    put(&writer->body, source->threads, source->thread_count * sizeof *source->threads);
    return end_section(writer, MXP_SECTION_THREADS);
}

int mxp__write_losses(mxp_section_writer *writer, const mxp_source *source)
{
    begin_section(writer);
    put(&writer->body, source->losses, source->loss_count * sizeof *source->losses);
    return end_section(writer, MXP_SECTION_LOSS);
}

int mxp__write_modules(mxp_section_writer *writer, const mxp_source *source)
{
    return source->module_count == 0
               ? MXP_OK
               : mxp__write_section(writer, MXP_SECTION_MODULES, source->modules,
                                    source->module_count * sizeof *source->modules);
}

int mxp__write_clock_cuts(mxp_section_writer *writer, const mxp_source *source)
{
    return source->clock_bytes == 0 ? MXP_OK
                                    : mxp__write_section(writer, MXP_SECTION_CLOCK_CUT,
                                                         source->clock_owner, source->clock_bytes);
}

static void put_stats(mxp_strbuf *body, const mxp_stats_view *stats)
{
    const mxp_histogram *histogram = stats->histogram;
    mxp_stats_entry entry = {
        .name = stats->name,
        .count = histogram->count,
        .total_ns = histogram->total,
        .min_ns = histogram->min,
        .max_ns = histogram->max,
    };
    for (uint32_t i = 0; i < MXP__HISTOGRAM_BUCKETS; i++) {
        entry.buckets += histogram->bucket[i] != 0;
    }
    put(body, &entry, sizeof entry);
    for (uint32_t i = 0; i < MXP__HISTOGRAM_BUCKETS; i++) {
        if (histogram->bucket[i] != 0) {
            put_u32(body, i);
            put_u32(body, histogram->bucket[i]);
        }
    }
}

int mxp__write_stats(mxp_section_writer *writer, const mxp_source *source)
{
    begin_section(writer);
    put_u32(&writer->body, (uint32_t)source->stats_count);
    put_u32(&writer->body, 0);
    for (size_t i = 0; i < source->stats_count; i++) {
        put_stats(&writer->body, &source->stats[i]);
    }
    return end_section(writer, MXP_SECTION_STATS);
}

int mxp__write_info(mxp_section_writer *writer, const mxp_source *source)
{
    mxp_strbuf *body = &writer->body;
    begin_section(writer);
    for (size_t i = 0; i < source->info_count; i++) {
        size_t key_length = strlen(source->info[i].key);
        size_t value_length = strlen(source->info[i].value);
        put_u32(body, (uint32_t)key_length);
        put_u32(body, (uint32_t)value_length);
        put_text(body, source->info[i].key, key_length);
        put_text(body, source->info[i].value, value_length);
        put_padding(body, 4);
    }
    return end_section(writer, MXP_SECTION_INFO);
}

int mxp__write_section(mxp_section_writer *writer, unsigned type, const void *content,
                       size_t size_bytes)
{
    begin_section(writer);
    put(&writer->body, content, size_bytes);
    return end_section(writer, type);
}

int mxp__write_end(mxp_section_writer *writer)
{
    begin_section(writer);
    put(&writer->body, &writer->progress.sections, sizeof writer->progress.sections);
    put(&writer->body, &writer->progress.record_bytes, sizeof writer->progress.record_bytes);
    return end_section(writer, MXP_SECTION_END);
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
