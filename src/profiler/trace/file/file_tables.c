// SPDX-License-Identifier: Apache-2.0
// Parses NAMES, THREADS, MODULES, CLOCK_CUT, LOSS, INFO and STATS. A checksum only shows that
// a section is as it was written. Any program may have written it, so every count and length
// is compared with the bytes that are left before anything is allocated or read.
#include "profiler/trace/file/file_tables.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/trace/file/file_tables_parts.h"

enum {
    // Indices beyond the entries of THREADS that a chunk may have: the section may be lost, or not
    // written yet. A recorder gives out more than these only while it holds more threads at once,
    // each with a page of the file.
    THREADS_UNKNOWN = 65536,
    THREAD_LEAST_BYTES = 4096
};

// ---- names -------------------------------------------------------------------------------------
// What a category refers to has a lower id, so that following categories always ends.
static bool take_name(content *from, uint32_t id, mxp_name_view *name)
{
    struct {
        uint32_t category;
        uint8_t style, unit;
        uint16_t zero;
        uint32_t length;
    } fixed;
    if (!take(from, &fixed, sizeof fixed)) {
        return false;
    }
    *name = (mxp_name_view){
        .text = take_text(from, fixed.length),
        .length = fixed.length,
        .category = fixed.category < id ? fixed.category : MXP_NAME_NONE,
        .style = fixed.style,
        .unit = fixed.unit,
    };
    return name->text != NULL && skip_padding(from, 4);
}

// Names that were in a section that is lost. The file had room for so many.
static int add_lost_names(mxp_file_tables *tables, uint32_t count)
{
    static const mxp_name_view lost = {.text = "<lost name>", .length = 11};
    if (mxp__grow(&tables->names, &tables->name_capacity, tables->name_count + count,
                  sizeof lost) != MXP_OK) {
        return mxp__fail_memory("the names of a native trace");
    }
    while (count-- > 0) {
        tables->names[tables->name_count++] = lost;
    }
    return MXP_OK;
}

static int read_names_section(mxp_file_tables *tables, mxp_file_index *index, uint64_t offset)
{
    content from = content_of(index, offset);
    uint32_t first = 0, count = 0;
    uint64_t first_max =
        index->damaged || index->mapped ? index->bytes.size_bytes / 16 : tables->name_count;
    if (!take(&from, &first, sizeof first) || !take(&from, &count, sizeof count) ||
        first < tables->name_count || first > first_max) {
        mxp__file_index_damage(index, offset, "names that do not follow those before");
        return MXP_OK;
    }
    int error = add_lost_names(tables, first - (uint32_t)tables->name_count);
    for (uint32_t i = 0; i < count && error == MXP_OK; i++) {
        mxp_name_view name;
        uint64_t at = from.offset;
        if (!take_name(&from, (uint32_t)tables->name_count, &name)) {
            mxp__file_index_damage(index, at, "a name that reaches beyond its section");
            return MXP_OK;
        }
        error =
            mxp__grow(&tables->names, &tables->name_capacity, tables->name_count + 1, sizeof name);
        if (error == MXP_OK) {
            tables->names[tables->name_count++] = name;
        } else {
            error = mxp__fail_memory("the names of a native trace");
        }
    }
    return error;
}

// With each the system maps what stands around it.
int mxp__file_tables_each(mxp_file_tables *tables, mxp_file_index *index, unsigned type,
                          int (*read)(mxp_file_tables *, mxp_file_index *, uint64_t offset))
{
    const mxp_file_offsets *list = &index->lists[type];
    int error = MXP_OK;
    for (size_t i = 0; i < list->count && error == MXP_OK; i++) {
        mxp__file_bytes_touch(&index->bytes, list->at[i] - list->at[i == 0 ? 0 : i - 1]);
        error = read(tables, index, list->at[i]);
    }
    return error;
}

static int read_names(mxp_file_tables *tables, mxp_file_index *index)
{
    return mxp__file_tables_each(tables, index, MXP_SECTION_NAMES, read_names_section);
}

// ---- threads -----------------------------------------------------------------------------------
int mxp__file_tables_threads(mxp_file_tables *tables, size_t count)
{
    if (mxp__grow(&tables->threads, &tables->thread_capacity, count, sizeof *tables->threads) !=
        MXP_OK) {
        return mxp__fail_memory("the threads of a native trace");
    }
    while (tables->thread_count < count) {
        uint32_t i = (uint32_t)tables->thread_count++;
        tables->threads[i] = (mxp_thread_entry){.index = i};
    }
    return MXP_OK;
}

// Indices are below it.
static size_t index_limit(const mxp_file_index *index)
{
    const size_t size_bytes = index->bytes.size_bytes;
    return THREADS_UNKNOWN + size_bytes / THREAD_LEAST_BYTES +
           size_bytes / sizeof(mxp_thread_entry);
}

// A later entry of an index is what became of it.
static int read_threads_section(mxp_file_tables *tables, mxp_file_index *index, uint64_t offset)
{
    content from = content_of(index, offset);
    mxp_thread_entry entry;
    while (from.left > 0) {
        uint64_t at = from.offset;
        if (!take(&from, &entry, sizeof entry) || entry.index >= index_limit(index)) {
            mxp__file_index_damage(index, at, "a thread entry that makes no sense");
            return MXP_OK;
        }
        int error = mxp__file_tables_threads(tables, (size_t)entry.index + 1);
        if (error != MXP_OK) {
            return error;
        }
        tables->threads[entry.index] = entry;
    }
    return MXP_OK;
}

// Every chunk gets a thread entry; one whose thread cannot be is left out.
static int add_chunk_threads(mxp_file_tables *tables, mxp_file_index *index)
{
    size_t kept = 0;
    for (size_t i = 0; i < index->chunk_count; i++) {
        const mxp_file_chunk *chunk = &index->chunks[i];
        if (chunk->thread >= index_limit(index)) {
            mxp__file_index_damage(index, chunk->offset, "a chunk of thread %u, which cannot be",
                                   chunk->thread);
            continue;
        }
        int error = mxp__file_tables_threads(tables, (size_t)chunk->thread + 1);
        if (error != MXP_OK) {
            return error;
        }
        index->chunks[kept++] = *chunk;
    }
    index->chunk_count = kept;
    return MXP_OK;
}

// ---- modules, cuts, losses, info, statistics ---------------------------------------------------
static void read_modules(mxp_file_tables *tables, mxp_file_index *index)
{
    uint64_t offset = index->last[MXP_SECTION_MODULES];
    if (offset == 0) {
        return;
    }
    content from = content_of(index, offset);
    if (from.left % sizeof(mxp_module_entry) != 0) {
        mxp__file_index_damage(index, offset, "a module that is cut short");
    }
    tables->modules = (const mxp_module_entry *)(const void *)from.at;
    tables->module_count = (size_t)(from.left / sizeof(mxp_module_entry));
}

static void read_clock_cuts(mxp_file_tables *tables, mxp_file_index *index)
{
    uint64_t offset = index->last[MXP_SECTION_CLOCK_CUT];
    if (offset == 0) {
        return;
    }
    content from = content_of(index, offset);
    if (from.left < sizeof(mxp_clock_owner) ||
        (from.left - sizeof(mxp_clock_owner)) % sizeof(mxp_clock_cut) != 0) {
        if (from.left != 0) {  // a process that died while it wrote them left none
            mxp__file_index_damage(index, offset, "cuts of a clock that are cut short");
        }
        return;
    }
    tables->clock_owner = (const mxp_clock_owner *)(const void *)from.at;
    tables->clock_bytes = (size_t)from.left;
}

static void read_losses(mxp_file_tables *tables, mxp_file_index *index)
{
    uint64_t offset = index->last[MXP_SECTION_LOSS];
    if (offset == 0) {
        return;
    }
    content from = content_of(index, offset);
    if (from.left % sizeof(mxp_loss_entry) != 0) {
        mxp__file_index_damage(index, offset, "a loss entry that is cut short");
    }
    tables->losses = (const mxp_loss_entry *)(const void *)from.at;
    tables->loss_count = (size_t)(from.left / sizeof(mxp_loss_entry));
}

// Of the first keys, of which there are never so many, a later pair replaces the earlier one.
static mxp_info_pair *pair_of(mxp_file_tables *tables, const char *key)
{
    enum { KEYS_LOOKED_AT = 256 };
    const size_t most = tables->info_count < KEYS_LOOKED_AT ? tables->info_count : KEYS_LOOKED_AT;
    for (size_t i = 0; i < most; i++) {
        if (strcmp(tables->info[i].key, key) == 0) {
            return &tables->info[i];
        }
    }
    return NULL;
}

static int add_pair(mxp_file_tables *tables, const mxp_info_pair *pair)
{
    mxp_info_pair *before = pair_of(tables, pair->key);
    if (before != NULL) {
        *before = *pair;
        return MXP_OK;
    }
    if (mxp__grow(&tables->info, &tables->info_capacity, tables->info_count + 1, sizeof *pair) !=
        MXP_OK) {
        return mxp__fail_memory("the info of a native trace");
    }
    tables->info[tables->info_count++] = *pair;
    return MXP_OK;
}

static int read_info_section(mxp_file_tables *tables, mxp_file_index *index, uint64_t offset)
{
    content from = content_of(index, offset);
    int error = MXP_OK;
    while (from.left > 0 && error == MXP_OK) {
        uint32_t lengths[2];
        mxp_info_pair pair = {NULL, NULL};
        uint64_t at = from.offset;
        if (take(&from, lengths, sizeof lengths)) {
            pair.key = take_text(&from, lengths[0]);
            pair.value = pair.key != NULL ? take_text(&from, lengths[1]) : NULL;
        }
        if (pair.value == NULL || !skip_padding(&from, 4)) {
            mxp__file_index_damage(index, at, "an info pair that reaches beyond its section");
            return MXP_OK;
        }
        error = add_pair(tables, &pair);
    }
    return error;
}

static int read_info(mxp_file_tables *tables, mxp_file_index *index)
{
    return mxp__file_tables_each(tables, index, MXP_SECTION_INFO, read_info_section);
}

static bool take_histogram(content *from, uint32_t *name, mxp_histogram *histogram)
{
    mxp_stats_entry entry;
    if (!take(from, &entry, sizeof entry) || entry.buckets > MXP__HISTOGRAM_BUCKETS) {
        return false;
    }
    mxp__histogram_init(histogram);
    histogram->count = entry.count;
    histogram->total = entry.total_ns;
    histogram->min = entry.min_ns;
    histogram->max = entry.max_ns;
    for (uint32_t i = 0; i < entry.buckets; i++) {
        uint32_t pair[2];
        if (!take(from, pair, sizeof pair) || pair[0] >= MXP__HISTOGRAM_BUCKETS) {
            return false;
        }
        histogram->bucket[pair[0]] = pair[1];
    }
    *name = entry.name;
    return true;
}

static int read_stats(mxp_file_tables *tables, mxp_file_index *index)
{
    uint64_t offset = index->last[MXP_SECTION_STATS];
    if (offset == 0) {
        return MXP_OK;
    }
    content from = content_of(index, offset);
    uint32_t header[2] = {0, 0};  // count, 0
    if (!take(&from, header, sizeof header)) {
        mxp__file_index_damage(index, offset, "statistics without their count");
    }
    for (uint32_t i = 0; i < header[0]; i++) {
        mxp_histogram histogram;
        uint32_t name;
        uint64_t at = from.offset;
        if (!take_histogram(&from, &name, &histogram)) {
            mxp__file_index_damage(index, at, "statistics that make no sense");
            break;
        }
        if (mxp__grow(&tables->stats, &tables->stats_capacity, i + (size_t)1,
                      sizeof *tables->stats) != MXP_OK ||
            mxp__grow(&tables->histograms, &tables->histogram_capacity, i + (size_t)1,
                      sizeof histogram) != MXP_OK) {
            return mxp__fail_memory("the statistics of a native trace");
        }
        tables->stats[i] = (mxp_stats_view){.name = name};
        tables->histograms[i] = histogram;
        tables->stats_count = i + (size_t)1;
    }
    for (size_t i = 0; i < tables->stats_count; i++) {
        tables->stats[i].histogram = &tables->histograms[i];  // they no longer move
    }
    return MXP_OK;
}

// ---- all ---------------------------------------------------------------------------------------
static int read_all_threads(mxp_file_tables *tables, mxp_file_index *index)
{
    int error = mxp__file_tables_each(tables, index, MXP_SECTION_THREADS, read_threads_section);
    return error == MXP_OK ? add_chunk_threads(tables, index) : error;
}

int mxp__file_tables_read(mxp_file_tables *tables, mxp_file_index *index)
{
    static int (*const reads[])(mxp_file_tables *, mxp_file_index *) = {
        read_names, read_all_threads, mxp__file_tables_clock, read_info, read_stats};
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        int error = reads[i](tables, index);
        if (error != MXP_OK) {
            return error;
        }
    }
    read_modules(tables, index);
    read_clock_cuts(tables, index);
    read_losses(tables, index);
    return MXP_OK;
}

uint64_t *mxp__file_tables_add_open(mxp_file_tables *tables, size_t count, uint32_t thread,
                                    uint64_t base_ticks)
{
    uint64_t *words = mxp__alloc(count * sizeof *words);
    if (words == NULL || mxp__grow(&tables->open, &tables->open_capacity, tables->open_count + 1,
                                   sizeof *tables->open) != MXP_OK) {
        mxp__free(words, count * sizeof *words);
        return NULL;
    }
    tables->open[tables->open_count++] = (mxp_record_range){.words = words,
                                                            .end = words + count,
                                                            .base_ticks = base_ticks,
                                                            .thread = thread,
                                                            .sequence = UINT32_MAX};
    return words;
}

void mxp__file_tables_fini(mxp_file_tables *tables)
{
    for (size_t i = 0; i < tables->open_count; i++) {
        const mxp_record_range *open = &tables->open[i];
        mxp__free((void *)(uintptr_t)open->words,
                  (size_t)(open->end - open->words) * sizeof *open->words);
    }
    mxp__free(tables->open, tables->open_capacity * sizeof *tables->open);
    mxp__free(tables->own_losses, tables->own_loss_capacity * sizeof *tables->own_losses);
    mxp__free(tables->names, tables->name_capacity * sizeof *tables->names);
    mxp__free(tables->threads, tables->thread_capacity * sizeof *tables->threads);
    mxp__free(tables->info, tables->info_capacity * sizeof *tables->info);
    mxp__free(tables->stats, tables->stats_capacity * sizeof *tables->stats);
    mxp__free(tables->histograms, tables->histogram_capacity * sizeof *tables->histograms);
    mxp__timebase_fini(&tables->timebase);
    *tables = (mxp_file_tables){0};
}
