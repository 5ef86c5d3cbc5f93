// SPDX-License-Identifier: Apache-2.0
// The tables of a native file as sections: names, clock, threads and the rest. What a file that
// grows has told of a table already is not told again (mxp_told).
#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "profiler/trace/checksum.h"
#include "profiler/trace/file/section_body.h"

enum { NAMES_SECTION_BYTES = 1 << 20 };  // the size at which a section of names is ended

static void put(mxp_strbuf *body, const void *data, size_t size_bytes)
{
    mxp__body_put(body, data, size_bytes);
}

static void put_u32(mxp_strbuf *body, uint32_t value)
{
    put(body, &value, sizeof value);
}

// A text and its terminating zero.
static void put_text(mxp_strbuf *body, const char *text, size_t length)
{
    put(body, text, length);
    put(body, "", 1);
}

// ---- what is new -------------------------------------------------------------------------------
void mxp__section_writer_forget(mxp_section_writer *writer)
{
    for (mxp_told *told = writer->told; told <= &writer->told[MXP_SECTION_LAST]; told++) {
        mxp__strbuf_fini(&told->content);
        told->whole_bytes = 0;
    }
}

void mxp__section_writer_fini(mxp_section_writer *writer)
{
    mxp__section_writer_forget(writer);
    mxp__free(writer->sequences, writer->sequence_capacity * sizeof *writer->sequences);
    mxp__strbuf_fini(&writer->body);
}

static bool is_due_whole(const mxp_told *told)
{
    return told->content.length == 0 || told->news_bytes >= told->whole_bytes;
}

static void keep(mxp_section_writer *writer, mxp_told *told, const void *content, size_t size_bytes)
{
    mxp__strbuf_clear(&told->content);
    if (writer->appends) {
        put(&told->content, content, size_bytes);
    }
}

// Ends a section of a table, or of what is new of it, if anything is.
static int end_news(mxp_section_writer *writer, unsigned type, bool is_whole)
{
    mxp_told *told = &writer->told[type];
    const uint64_t size_bytes = writer->body.length;
    if (!is_whole && size_bytes == sizeof(mxp_section)) {
        return MXP_OK;
    }
    const bool is_first = told->whole_bytes == 0;
    told->news_bytes = is_first ? size_bytes : is_whole ? 0 : told->news_bytes + size_bytes;
    told->whole_bytes = is_whole ? size_bytes : told->whole_bytes;
    return mxp__section_end(writer, type);
}

// Ends a section of a whole table, unless the two before say the same.
static int end_table(mxp_section_writer *writer, unsigned type)
{
    mxp_told *told = &writer->told[type];
    const mxp_strbuf *body = &writer->body;
    if (!writer->appends || body->failed) {
        return mxp__section_end(writer, type);
    }
    const uint64_t checksum = mxp__checksum(body->data, body->length);
    const bool is_same = told->whole_bytes == body->length && told->checksum == checksum;
    const bool is_told = is_same && told->news_bytes == 0;
    told->news_bytes = !is_same;
    told->whole_bytes = body->length;
    told->checksum = checksum;
    return is_told ? MXP_OK : mxp__section_end(writer, type);
}

// ---- tables ------------------------------------------------------------------------------------
// What was told of a clock: its points up to here, and so many segments.
typedef struct told_clock {
    uint64_t ticks;
    size_t segments;
} told_clock;

// Where what is new of the clock begins.
static void find_news(const mxp_told *told, const mxp_timebase *timebase, size_t *point,
                      size_t *segment)
{
    told_clock before;
    memcpy(&before, told->content.data, sizeof before);
    *segment = before.segments;
    *point = timebase->point_count;
    while (*point > 0 && timebase->points[*point - 1].ticks > before.ticks) {
        (*point)--;
    }
}

// Segments never change, but for the first one when a second point comes.
static void keep_clock(mxp_section_writer *writer, const mxp_timebase *timebase)
{
    const size_t points = timebase->point_count;
    told_clock now = {0, timebase->segment_count};
    if (points >= 2) {
        now.ticks = timebase->points[points - 1].ticks;
    }
    keep(writer, &writer->told[MXP_SECTION_CLOCK], &now, points >= 2 ? sizeof now : 0);
}

int mxp__write_clock(mxp_section_writer *writer, const mxp_timebase *timebase)
{
    const mxp_told *told = &writer->told[MXP_SECTION_CLOCK];
    size_t point = 0, segment = 0;
    const bool is_whole = is_due_whole(told);
    if (!is_whole) {
        find_news(told, timebase, &point, &segment);
    }
    mxp_clock_header header = {
        .source = timebase->source,
        .points = (uint32_t)(timebase->point_count - point),
        .segments = (uint32_t)(timebase->segment_count - segment),
        .segments_before = (uint32_t)segment,
        .residual_ns = timebase->residual_ns,
        .jump_ns = timebase->jump_ns,
        .jump_ticks = timebase->jump_ticks,
    };
    mxp__section_begin(writer);
    put(&writer->body, &header, sizeof header);
    put(&writer->body, timebase->points + point, header.points * sizeof *timebase->points);
    put(&writer->body, timebase->segments + segment, header.segments * sizeof *timebase->segments);
    keep_clock(writer, timebase);
    return end_news(writer, MXP_SECTION_CLOCK, is_whole);
}

static void put_name(mxp_strbuf *body, const mxp_name_view *name)
{
    put_u32(body, name->category);
    put(body, &name->style, sizeof name->style);
    put(body, &name->unit, sizeof name->unit);
    put(body, "\0", 2);
    put_u32(body, name->length);
    put_text(body, name->text, name->length);
    mxp__body_align(body, 4);
}

int mxp__write_names(mxp_section_writer *writer, const mxp_source *source)
{
    mxp_strbuf *body = &writer->body;
    uint32_t id = writer->progress.names;
    while (id < source->name_count) {
        uint32_t first = id;
        mxp__section_begin(writer);
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
        int error = mxp__section_end(writer, MXP_SECTION_NAMES);
        if (error != MXP_OK) {
            return error;
        }
    }
    writer->progress.names = id;
    return MXP_OK;
}

static bool was_told(const mxp_told *told, size_t at, const void *piece, size_t size_bytes)
{
    return at + size_bytes <= told->content.length &&
           memcmp(told->content.data + at, piece, size_bytes) == 0;
}

int mxp__write_threads(mxp_section_writer *writer, const mxp_source *source)
{
    mxp_told *told = &writer->told[MXP_SECTION_THREADS];
    const size_t entry_bytes = sizeof *source->threads;
    const bool is_whole = is_due_whole(told);
    mxp__section_begin(writer);
    for (size_t i = 0; i < source->thread_count; i++) {
        const mxp_thread_entry *entry = &source->threads[i];
        if (is_whole || !was_told(told, i * entry_bytes, entry, entry_bytes)) {
            put(&writer->body, entry, entry_bytes);
        }
    }
    keep(writer, told, source->threads, source->thread_count * entry_bytes);
    return end_news(writer, MXP_SECTION_THREADS, is_whole);
}

int mxp__write_losses(mxp_section_writer *writer, const mxp_source *source)
{
    mxp__section_begin(writer);
    put(&writer->body, source->losses, source->loss_count * sizeof *source->losses);
    return end_table(writer, MXP_SECTION_LOSS);
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
    mxp__section_begin(writer);
    put_u32(&writer->body, (uint32_t)source->stats_count);
    put_u32(&writer->body, 0);
    for (size_t i = 0; i < source->stats_count; i++) {
        put_stats(&writer->body, &source->stats[i]);
    }
    return end_table(writer, MXP_SECTION_STATS);
}

static void put_pair(mxp_strbuf *body, const mxp_info_pair *pair)
{
    const size_t key_length = strlen(pair->key), value_length = strlen(pair->value);
    put_u32(body, (uint32_t)key_length);
    put_u32(body, (uint32_t)value_length);
    put_text(body, pair->key, key_length);
    put_text(body, pair->value, value_length);
    mxp__body_align(body, 4);
}

// Puts the pairs that are new. `all`: of all pairs.
static void put_new_pairs(mxp_section_writer *writer, const mxp_source *source, bool is_whole,
                          mxp_strbuf *all)
{
    const mxp_strbuf *told = &writer->told[MXP_SECTION_INFO].content;
    for (size_t i = 0; i < source->info_count; i++) {
        const size_t at = all->length;
        put_pair(all, &source->info[i]);
        if (all->failed) {
            writer->body.failed = true;
            return;
        }
        const char *pair = all->data + at;
        const size_t size_bytes = all->length - at;
        if (is_whole || memmem(told->data, told->length, pair, size_bytes) == NULL) {
            put(&writer->body, pair, size_bytes);
        }
    }
}

int mxp__write_info(mxp_section_writer *writer, const mxp_source *source)
{
    mxp_told *told = &writer->told[MXP_SECTION_INFO];
    mxp_strbuf all = {0};
    const bool is_whole = is_due_whole(told);
    mxp__section_begin(writer);
    put_new_pairs(writer, source, is_whole, &all);
    keep(writer, told, all.data, all.length);
    mxp__strbuf_fini(&all);
    return end_news(writer, MXP_SECTION_INFO, is_whole);
}

int mxp__write_section(mxp_section_writer *writer, unsigned type, const void *content,
                       size_t size_bytes)
{
    mxp__section_begin(writer);
    put(&writer->body, content, size_bytes);
    return end_table(writer, type);
}
