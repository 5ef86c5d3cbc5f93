// SPDX-License-Identifier: Apache-2.0
// See block_stats.h.
#include "page/block_stats.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "page/columns.h"

enum { KIND, COUNT, SUM, LEAST, LARGEST, BUCKETS, INDEX, AMOUNT };

static const char memory_for[] = "the statistics of the page";

static int make_room(mxp_block_stats *stats, uint32_t kind)
{
    const size_t before = stats->place_capacity;
    if (mxp__grow(&stats->place_of, &stats->place_capacity, (size_t)kind + 1,
                  sizeof *stats->place_of) != MXP_OK ||
        mxp__grow(&stats->kinds, &stats->capacity, stats->count + 1, sizeof *stats->kinds) !=
            MXP_OK ||
        mxp__grow(&stats->numbers, &stats->number_capacity, stats->count + 1,
                  sizeof *stats->numbers) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    if (stats->place_capacity > before) {
        memset(stats->place_of + before, 0,
               (stats->place_capacity - before) * sizeof *stats->place_of);
    }
    return MXP_OK;
}

int mxp__block_stats_add(mxp_block_stats *stats, uint32_t kind, uint64_t duration_ns)
{
    if (kind >= stats->place_capacity || stats->place_of[kind] == 0) {
        if (make_room(stats, kind) != MXP_OK) {
            return MXP_ENOMEM;
        }
        mxp__histogram_init(&stats->kinds[stats->count]);
        stats->numbers[stats->count++] = kind;
        stats->place_of[kind] = (uint32_t)stats->count;
    }
    mxp__histogram_add(&stats->kinds[stats->place_of[kind] - 1], duration_ns);
    return MXP_OK;
}

static void put_row(mxp_block_stats *stats, size_t place)
{
    const mxp_histogram *of = &stats->kinds[place];
    mxp_strbuf *columns = stats->columns;
    uint32_t buckets = 0;
    for (uint32_t i = 0; i < MXP__HISTOGRAM_BUCKETS; i++) {
        if (of->bucket[i] > 0) {
            mxp__column_put(&columns[INDEX], i);
            mxp__column_put(&columns[AMOUNT], of->bucket[i]);
            buckets++;
        }
    }
    mxp__column_put(&columns[KIND], stats->numbers[place]);
    mxp__column_put(&columns[COUNT], of->count);
    mxp__column_put(&columns[SUM],
                    of->total < MXP_PAGE_NUMBER_MAX ? of->total : MXP_PAGE_NUMBER_MAX);
    mxp__column_put(&columns[LEAST], of->min);
    mxp__column_put(&columns[LARGEST], of->max);
    mxp__column_put(&columns[BUCKETS], buckets);
}

int mxp__block_stats_end(mxp_block_stats *stats, mxp_page_spool *spool, mxp_block_rows *rows)
{
    *rows = (mxp_block_rows){.section = (uint32_t)stats->section_count,
                             .first = (uint32_t)stats->rows,
                             .count = (uint32_t)stats->count};
    for (size_t i = 0; i < stats->count; i++) {
        put_row(stats, i);
        stats->place_of[stats->numbers[i]] = 0;
    }
    stats->rows += stats->count;
    stats->count = 0;
    stats->blocks++;
    return stats->blocks == MXP_STATS_BLOCKS ? mxp__block_stats_finish(stats, spool) : MXP_OK;
}

int mxp__block_stats_finish(mxp_block_stats *stats, mxp_page_spool *spool)
{
    mxp_spooled_section section;
    if (stats->blocks == 0) {
        return MXP_OK;
    }
    int error =
        mxp__page_spool_columns(spool, stats->columns, MXP_STATS_COLUMNS, stats->rows, &section);
    if (error == MXP_OK && mxp__grow(&stats->sections, &stats->section_capacity,
                                     stats->section_count + 1, sizeof *stats->sections) != MXP_OK) {
        error = mxp__fail_memory(memory_for);
    }
    if (error == MXP_OK) {
        stats->sections[stats->section_count++] = section;
    }
    for (size_t i = 0; i < MXP_STATS_COLUMNS; i++) {
        mxp__strbuf_clear(&stats->columns[i]);
    }
    stats->rows = stats->blocks = 0;
    return error;
}

void mxp__block_stats_fini(mxp_block_stats *stats)
{
    for (size_t i = 0; i < MXP_STATS_COLUMNS; i++) {
        mxp__strbuf_fini(&stats->columns[i]);
    }
    mxp__free(stats->kinds, stats->capacity * sizeof *stats->kinds);
    mxp__free(stats->numbers, stats->number_capacity * sizeof *stats->numbers);
    mxp__free(stats->place_of, stats->place_capacity * sizeof *stats->place_of);
    mxp__free(stats->sections, stats->section_capacity * sizeof *stats->sections);
    *stats = (mxp_block_stats){0};
}
