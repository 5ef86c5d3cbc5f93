// SPDX-License-Identifier: Apache-2.0
// Two levels by name id: 4096 pages of 1024 histograms; ids beyond that (4 million) have no memory.
// The table and everything in it lie in chunks, linked through their headers.
#include "profiler/recorder/thread/stats.h"

#include <string.h>

#include "profiler/recorder/memory/pool.h"

enum { PAGES = 4096, PAGE_NAMES = 1024 };

typedef mxp_chunk_header *take_chunk(void);  // from where a table takes what it lies in

struct mxp_stats_table {
    mxp_chunk_header *chunks;  // newest first
    char *at, *end;  // space in the newest
    uint32_t count;
    mxp_histogram **pages[PAGES];
};

static void *carve(mxp_stats_table *table, size_t size_bytes, take_chunk *take)
{
    if ((size_t)(table->end - table->at) < size_bytes) {
        mxp_chunk_header *chunk = take();
        if (chunk == NULL) {
            return NULL;
        }
        memset(chunk, 0, MXP_CHUNK_BYTES);
        chunk->next = (uintptr_t)table->chunks;
        table->chunks = chunk;
        table->at = (char *)(chunk + 1);
        table->end = (char *)chunk + MXP_CHUNK_BYTES;
    }
    void *memory = table->at;
    table->at += size_bytes;
    return memory;
}

static mxp_stats_table *create(take_chunk *take)
{
    mxp_chunk_header *chunk = take();
    if (chunk == NULL) {
        return NULL;
    }
    memset(chunk, 0, MXP_CHUNK_BYTES);
    mxp_stats_table *table = (mxp_stats_table *)(chunk + 1);
    table->chunks = chunk;
    table->at = (char *)(table + 1);
    table->end = (char *)chunk + MXP_CHUNK_BYTES;
    return table;
}

static mxp_histogram *histogram_of(mxp_stats_table **table, uint32_t name, take_chunk *take)
{
    if (name >= (uint32_t)PAGES * PAGE_NAMES ||
        (*table == NULL && (*table = create(take)) == NULL)) {
        return NULL;
    }
    mxp_histogram ***page = &(*table)->pages[name / PAGE_NAMES];
    if (*page == NULL &&
        (*page = carve(*table, PAGE_NAMES * sizeof(mxp_histogram *), take)) == NULL) {
        return NULL;
    }
    mxp_histogram **slot = &(*page)[name % PAGE_NAMES];
    if (*slot == NULL) {
        mxp_histogram *histogram = carve(*table, sizeof(mxp_histogram), take);
        if (histogram == NULL) {
            return NULL;
        }
        mxp__histogram_init(histogram);
        *slot = histogram;
        (*table)->count++;
    }
    return *slot;
}

bool mxp__stats_add(mxp_stats_table **table, uint32_t name, uint64_t duration_ns)
{
    mxp_histogram *histogram = histogram_of(table, name, mxp__pool_take_reserve);
    if (histogram == NULL) {
        return false;
    }
    mxp__histogram_add(histogram, duration_ns);
    return true;
}

void mxp__stats_each(const mxp_stats_table *table,
                     void (*visit)(void *context, uint32_t name, const mxp_histogram *histogram),
                     void *context)
{
    for (uint32_t page = 0; table != NULL && page < PAGES; page++) {
        for (uint32_t i = 0; table->pages[page] != NULL && i < PAGE_NAMES; i++) {
            if (table->pages[page][i] != NULL) {
                visit(context, page * PAGE_NAMES + i, table->pages[page][i]);
            }
        }
    }
}

typedef struct merge_context {
    mxp_stats_table **into;
    uint64_t lost;
} merge_context;

static void merge_one(void *context, uint32_t name, const mxp_histogram *histogram)
{
    merge_context *merge = context;
    mxp_histogram *to = histogram_of(merge->into, name, mxp__pool_take_to_read);
    if (to == NULL) {
        merge->lost += histogram->count;
    } else {
        mxp__histogram_merge(to, histogram);
    }
}

uint64_t mxp__stats_merge(mxp_stats_table **into, const mxp_stats_table *from)
{
    merge_context merge = {into, 0};
    mxp__stats_each(from, merge_one, &merge);
    return merge.lost;
}

void mxp__stats_free(mxp_stats_table *table)
{
    mxp_chunk_header *chunk = table != NULL ? table->chunks : NULL;
    while (chunk != NULL) {
        mxp_chunk_header *next = (mxp_chunk_header *)(uintptr_t)chunk->next;
        mxp__pool_give_chunk(chunk);  // the table itself lies in the last one
        chunk = next;
    }
}

uint32_t mxp__stats_count(const mxp_stats_table *table)
{
    return table != NULL ? table->count : 0;
}
