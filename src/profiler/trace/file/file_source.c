// SPDX-License-Identifier: Apache-2.0
// A native file as a source. What is wrong with it is found when it is opened, except for the
// checksums of chunks of very large files and the lengths of records: those come as errors with an
// offset when they are read.
#include "profiler/trace/file/native.h"

#include <inttypes.h>
#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/strbuf.h"
#include "profiler/trace/file/file_open.h"
#include "profiler/trace/file/file_state.h"
#include "profiler/trace/merge.h"

typedef struct file_source {
    mxp_source source;  // must stay first
    mxp_file_index index;
    mxp_file_tables tables;
    char left_out[512];  // what INFO tells of gaps
} file_source;

static file_source *file_source_of(mxp_source *source)
{
    return (file_source *)(void *)source;
}

// ---- the source's functions --------------------------------------------------------------------
static mxp_name_view view_name(const mxp_source *source, uint32_t id)
{
    const file_source *file = (const file_source *)(const void *)source;
    if (id >= file->tables.name_count) {
        return (mxp_name_view){.text = "<bad name>", .length = 10};
    }
    return file->tables.names[id];
}

static void rename_one(mxp_source *source, uint32_t id, const mxp_name_view *name)
{
    file_source *file = file_source_of(source);
    if (id < file->tables.name_count) {
        file->tables.names[id] = *name;
    }
}

static int get_open_range(const file_source *file, size_t number, mxp_record_range *range)
{
    if (number >= file->tables.open_count) {
        return 0;
    }
    *range = file->tables.open[number];
    return 1;
}

static int get_range(mxp_source *source, size_t number, mxp_record_range *range)
{
    file_source *file = file_source_of(source);
    if (number >= file->index.chunk_count) {
        return get_open_range(file, number - file->index.chunk_count, range);
    }
    const mxp_file_chunk *chunk = &file->index.chunks[number];
    uint64_t offset = chunk->offset;
    if (!mxp__file_chunk_check(&file->index, number)) {
        *range = (mxp_record_range){.thread = chunk->thread,
                                    .sequence = chunk->sequence,
                                    .unread_bytes = chunk->payload_bytes};
        return mxp__fail(MXP_EFORMAT, "damaged at offset %" PRIu64 ": a chunk's checksum is wrong",
                         offset);
    }
    const uint64_t *words =
        (const void *)(file->index.bytes.data + offset + sizeof(mxp_chunk_header));
    *range = (mxp_record_range){
        .words = words,
        .end = words + chunk->payload_bytes / sizeof *words,
        .base_ticks = chunk->base_ticks,
        .lost_before = chunk->lost_before,
        .thread = chunk->thread,
        .sequence = chunk->sequence,
        .offset = offset + sizeof(mxp_chunk_header),
    };
    mxp__file_bytes_touch(&file->index.bytes, chunk->payload_bytes);
    return 1;
}

static int get_range_thread(mxp_source *source, size_t number, uint32_t *thread)
{
    const mxp_file_index *index = &file_source_of(source)->index;
    if (number >= index->chunk_count) {
        mxp_record_range open;
        int found = get_open_range(file_source_of(source), number - index->chunk_count, &open);
        *thread = found ? open.thread : 0;
        return found;
    }
    *thread = index->chunks[number].thread;
    return 1;
}

static void close_file(mxp_source *source)
{
    file_source *file = file_source_of(source);
    mxp__file_tables_fini(&file->tables);
    mxp__file_index_fini(&file->index);
    mxp__free(file, sizeof *file);
}

// ---- opening -----------------------------------------------------------------------------------
static void fill_source(file_source *file)
{
    const mxp_file_tables *tables = &file->tables;
    const void *header = file->index.bytes.data + file->index.begin;
    file->source = (mxp_source){
        .pid = ((const mxp_file_header *)header)->pid,
        .state = mxp__file_state(&file->index, tables),
        .timebase = &tables->timebase,
        .name_count = (uint32_t)tables->name_count,
        .thread_count = (uint32_t)tables->thread_count,
        .threads = tables->threads,
        .loss_count = tables->loss_count,
        .losses = tables->losses,
        .stats_count = tables->stats_count,
        .stats = tables->stats,
        .module_count = tables->module_count,
        .modules = tables->modules,
        .clock_bytes = tables->clock_bytes,
        .clock_owner = tables->clock_owner,
        .info_count = tables->info_count,
        .info = tables->info,
        .name = view_name,
        .range = get_range,
        .close = close_file,
        .range_thread = get_range_thread,
        .rename = rename_one,
    };
}

// Without a clock the records have no times: an error is better than wrong numbers.
static int check_clock(const file_source *file)
{
    if (file->index.chunk_count == 0 || file->tables.timebase.segment_count > 0) {
        return MXP_OK;
    }
    return mxp__fail(MXP_EFORMAT,
                     "damaged at offset %" PRIu64 ": %s; no CLOCK section can be "
                     "read, so the times of its records are unknown",
                     file->index.damage_offset,
                     file->index.damaged ? file->index.damage_text : "the file is incomplete");
}

// An INFO pair of the file itself may tell of what was left out when it was recovered.
static mxp_info_pair *find_left_out(const mxp_file_tables *tables)
{
    for (size_t i = 0; i < tables->info_count; i++) {
        if (strcmp(tables->info[i].key, "left_out") == 0) {
            return &tables->info[i];
        }
    }
    return NULL;
}

static void describe_gaps(const mxp_file_index *index, const char *before, mxp_strbuf *out)
{
    for (size_t i = 0; i < index->gap_count && i < MXP__GAPS_LISTED; i++) {
        mxp__strbuf_printf(out, "%s%" PRIu64 " bytes at offset %" PRIu64, i > 0 ? ", " : "",
                           index->gaps[i].bytes, index->gaps[i].offset);
    }
    if (index->gap_count > 1) {
        mxp__strbuf_printf(out, "; %" PRIu64 " bytes in %" PRIu64 " places", index->gap_bytes,
                           index->gap_count);
    }
    if (before != NULL) {
        mxp__strbuf_printf(out, "; before: %s", before);
    }
}

// Bytes that could not be read stay a loss in whatever is made of the file.
static int note_left_out(file_source *file)
{
    mxp_file_tables *tables = &file->tables;
    if (file->index.gap_count == 0) {
        return MXP_OK;
    }
    mxp_info_pair *pair = find_left_out(tables);
    mxp_strbuf text = {0};
    describe_gaps(&file->index, pair != NULL ? pair->value : NULL, &text);
    strncat(file->left_out, mxp__strbuf_text(&text), sizeof file->left_out - 1);
    mxp__strbuf_fini(&text);
    if (pair == NULL) {
        if (mxp__grow(&tables->info, &tables->info_capacity, tables->info_count + 1,
                      sizeof *tables->info) != MXP_OK) {
            return mxp__fail_memory("the info of a native trace");
        }
        pair = &tables->info[tables->info_count++];
    }
    *pair = (mxp_info_pair){"left_out", file->left_out};
    return MXP_OK;
}

static int read_process(file_source *file)
{
    const mxp_file_bytes *bytes = &file->index.bytes;
    uint64_t begin = file->index.begin;
    int error = mxp__file_header_check(bytes->data + begin, bytes->size_bytes - begin);
    if (error != MXP_OK) {
        return error;
    }
    error = mxp__file_index_scan(&file->index);
    if (error != MXP_OK) {
        return error;
    }
    error = mxp__file_tables_read(&file->tables, &file->index);
    if (error != MXP_OK) {
        return error;
    }
    error = check_clock(file);
    if (error != MXP_OK) {
        return error;
    }
    error = mxp__file_open_complete(&file->index, &file->tables);
    if (error != MXP_OK) {
        return error;
    }
    return note_left_out(file);
}

// Opens the process whose header is at `begin`. Takes over the bytes, also on error.
static int open_process(const mxp_file_bytes *bytes, uint64_t begin, file_source **opened)
{
    file_source *file = mxp__alloc(sizeof *file);
    if (file == NULL) {
        mxp_file_bytes taken = *bytes;
        mxp__file_bytes_close(&taken);
        return mxp__fail_memory("reading a native trace");
    }
    file->index.bytes = *bytes;
    file->index.begin = begin;
    int error = read_process(file);
    if (error != MXP_OK) {
        close_file(&file->source);
        return error;
    }
    fill_source(file);
    *opened = file;
    return MXP_OK;
}

// ---- several processes -------------------------------------------------------------------------
typedef struct process_list {
    mxp_source **sources;
    size_t count, capacity;
} process_list;

static int add_process(process_list *list, mxp_source *source)
{
    if (mxp__grow(&list->sources, &list->capacity, list->count + 1, sizeof(mxp_source *)) !=
        MXP_OK) {
        return mxp__fail_memory("reading a native trace");
    }
    list->sources[list->count++] = source;
    return MXP_OK;
}

// Opens the process at *begin, adds it to the list and moves *begin after it. A process that cannot
// be read at all is damage of the file: the bytes from there on are left out.
static int open_next(process_list *list, file_source *first, uint64_t *begin)
{
    const mxp_file_bytes bytes = {.data = first->index.bytes.data,
                                  .size_bytes = first->index.bytes.size_bytes,
                                  .lender = &first->index.bytes};
    file_source *file;
    int error = open_process(&bytes, *begin, &file);
    if (error == MXP_EFORMAT || error == MXP_EVERSION) {
        mxp__file_index_damage(&first->index, *begin, "%s", mxp_last_error());
        *begin = bytes.size_bytes;
        return MXP_OK;
    }
    if (error != MXP_OK) {
        return error;
    }
    error = add_process(list, &file->source);
    if (error != MXP_OK) {
        close_file(&file->source);
        return error;
    }
    *begin = file->index.end;
    if (file->index.damaged) {
        mxp__file_index_damage(&first->index, file->index.damage_offset, "%s",
                               file->index.damage_text);
    }
    return MXP_OK;
}

// Opens the processes after the first one and merges all. Takes over `first`, also on error.
static int open_further(file_source *first, mxp_source **source)
{
    process_list list = {0};
    uint64_t begin = first->index.end;
    int error = add_process(&list, &first->source);
    if (error != MXP_OK) {
        close_file(&first->source);
        return error;
    }
    while (error == MXP_OK && begin < first->index.bytes.size_bytes) {
        error = open_next(&list, first, &begin);
    }
    if (error == MXP_OK) {
        error = mxp__merge_open(list.sources, list.count, source);
    } else {
        for (size_t i = list.count; i-- > 0;) {  // the first one last: it has the bytes
            mxp__source_close(list.sources[i]);
        }
    }
    mxp__free(list.sources, list.capacity * sizeof(mxp_source *));
    return error;
}

// Takes over the bytes, also if it fails.
static int open_bytes(const mxp_file_bytes *bytes, mxp_source **source, mxp_damage *damage)
{
    file_source *file;
    int error = open_process(bytes, 0, &file);
    if (error != MXP_OK) {
        return error;
    }
    *source = &file->source;
    if (file->index.end < bytes->size_bytes) {
        error = open_further(file, source);
    }
    if (error == MXP_OK && damage != NULL && file->index.damaged) {
        *damage = (mxp_damage){file->index.damage_offset, file->index.damage_text};
    }
    return error;
}

int mxp__native_open_memory(const void *data, size_t size_bytes, mxp_source **source,
                            mxp_damage *damage)
{
    *source = NULL;
    if (damage != NULL) {
        *damage = (mxp_damage){0, NULL};
    }
    mxp_file_bytes bytes;
    int error = mxp__file_bytes_given(data, size_bytes, &bytes);
    return error == MXP_OK ? open_bytes(&bytes, source, damage) : error;
}

int mxp__native_open(const char *path, mxp_source **source, mxp_damage *damage)
{
    *source = NULL;
    if (damage != NULL) {
        *damage = (mxp_damage){0, NULL};
    }
    mxp_file_bytes bytes;
    int error = mxp__file_bytes_open(path, sizeof(mxp_file_header), mxp__file_header_check, &bytes);
    if (error == MXP_OK) {
        error = open_bytes(&bytes, source, damage);
    }
    if (error == MXP_EFORMAT || error == MXP_EVERSION) {
        char line[256] = "";
        strncat(line, mxp_last_error(), sizeof line - 1);
        return mxp__fail(error, "cannot read '%s': %s", path, line);
    }
    return error;
}
