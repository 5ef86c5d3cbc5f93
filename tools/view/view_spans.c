// SPDX-License-Identifier: Apache-2.0
// The spans of all processes as sections: tracks and blocks, tiles, statistics, counters.
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "view/view.h"

// Threads that have tracks of their own; with at most four of each they are a thousand.
enum { LOUD_THREADS = 250 };

// ---- quiet threads -----------------------------------------------------------------------------
static int by_records(const void *one, const void *other)
{
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a != b ? (a > b ? -1 : 1) : 0;
}

// Which threads get a track: those with more records than `least`, and of those with as many the
// first `ties`.
typedef struct loud_threads {
    bool are_all;
    uint64_t least;
    size_t ties;
} loud_threads;

static int find_loud(const mxp_view *view, loud_threads *loud)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < view->process_count; i++) {
        count += mxp__view_source(view, i)->thread_count;
    }
    *loud = (loud_threads){.are_all = count <= LOUD_THREADS};
    if (loud->are_all) {
        return MXP_OK;
    }
    uint64_t *records = mxp__alloc(count * sizeof *records);
    if (records == NULL) {
        return mxp__fail_memory("the threads of the page");
    }
    for (size_t i = 0; i < view->process_count; i++) {
        const mxp_source *source = mxp__view_source(view, i);
        for (size_t k = 0; k < source->thread_count; k++) {
            records[at++] = source->threads[k].records;
        }
    }
    qsort(records, count, sizeof *records, by_records);
    loud->least = records[LOUD_THREADS - 1];
    while (loud->ties < LOUD_THREADS && records[LOUD_THREADS - 1 - loud->ties] == loud->least) {
        loud->ties++;
    }
    mxp__free(records, count * sizeof *records);
    return MXP_OK;
}

static bool takes_track(loud_threads *loud, uint64_t records)
{
    if (records == loud->least && loud->ties > 0) {
        loud->ties--;
        return true;
    }
    return records > loud->least;
}

static int mark_quiet(mxp_view *view, mxp_view_process *process, loud_threads *loud)
{
    const mxp_source *source = process->of->source;
    process->is_quiet = mxp__alloc(source->thread_count * sizeof *process->is_quiet);
    if (process->is_quiet == NULL && source->thread_count > 0) {
        return mxp__fail_memory("the threads of the page");
    }
    for (size_t i = 0; i < source->thread_count; i++) {
        process->is_quiet[i] = !takes_track(loud, source->threads[i].records);
        view->dropped.quiet_threads += process->is_quiet[i];
    }
    return MXP_OK;
}

// ---- processes ---------------------------------------------------------------------------------
static int walk_process(mxp_view *view, size_t number, loud_threads *loud)
{
    mxp_view_process *process = &view->processes[number];
    const mxp_steps *steps = &process->of->steps;
    int error = loud->are_all ? MXP_OK : mark_quiet(view, process, loud);
    process->sums = mxp__alloc(steps->count * sizeof *process->sums);
    if (process->sums == NULL && steps->count > 0) {
        return mxp__fail_memory("the steps of the page");
    }
    const mxp_walked_process walked = {.source = process->of->source,
                                       .steps = steps,
                                       .number = (uint32_t)number,
                                       .thread_base = process->thread_base,
                                       .is_quiet = process->is_quiet,
                                       .sums = process->sums};
    return error == MXP_OK ? mxp__page_walk(&view->page, &walked) : error;
}

// ---- sections ----------------------------------------------------------------------------------
static int keep_tiles(mxp_view *view)
{
    const mxp_tiles *tiles = &view->page.blocks.tiles;
    mxp_strbuf raw = {0}, packed = {0};
    mxp_spooled_section at;
    char name[32];
    int error = MXP_OK;
    view->levels = mxp__tiles_worth(tiles);
    for (size_t level = 0; level < view->levels && error == MXP_OK; level++) {
        mxp__strbuf_clear(&packed);
        snprintf(name, sizeof name, "t%zu", level);
        error = mxp__tiles_pack(tiles, level, &raw, &packed);
        if (error == MXP_OK) {
            error = mxp__page_spool_add(&view->page.blocks.spool, &packed, raw.length, &at);
        }
        error = error == MXP_OK ? mxp__view_keep_section(view, name, &at) : error;
    }
    mxp__strbuf_fini(&raw);
    mxp__strbuf_fini(&packed);
    return error;
}

static int keep_statistics(mxp_view *view)
{
    const mxp_block_stats *stats = &view->page.blocks.stats;
    int error = MXP_OK;
    for (size_t i = 0; i < stats->section_count && error == MXP_OK; i++) {
        char name[32];
        snprintf(name, sizeof name, "s%zu", i);
        error = mxp__view_keep_section(view, name, &stats->sections[i]);
    }
    return error;
}

// All counters with so many bins as one, and what they take in the page.
static int pack_counters(mxp_view *view, size_t join, mxp_spooled_section *sections,
                         uint64_t *page_bytes)
{
    int error = MXP_OK;
    *page_bytes = 0;
    for (size_t i = 0; i < view->page.counters.count && error == MXP_OK; i++) {
        error = mxp__page_counter_pack(&view->page.counters, i, join, &view->page.blocks.spool,
                                       &sections[i]);
        *page_bytes += (sections[i].packed_bytes + 2) / 3 * 4;  // in base64
    }
    return error;
}

// In a limited page they have fewer bins rather than more than their part of it.
static int keep_counters(mxp_view *view)
{
    enum { PERCENT = 10, JOIN_MOST = 64 };
    const size_t count = view->page.counters.count;
    mxp_spooled_section *sections = mxp__alloc(count * sizeof *sections);
    uint64_t page_bytes = 0;
    int error =
        sections == NULL && count > 0 ? mxp__fail_memory("the counters of the page") : MXP_OK;
    for (size_t join = 1; error == MXP_OK && count > 0 && join <= JOIN_MOST; join *= 2) {
        error = pack_counters(view, join, sections, &page_bytes);
        if (page_bytes <= view->wish->limit_bytes / 100 * PERCENT) {
            break;
        }
    }
    for (size_t i = 0; i < count && error == MXP_OK; i++) {
        char name[32];
        snprintf(name, sizeof name, "c%zu", i);
        error = mxp__view_keep_section(view, name, &sections[i]);
    }
    mxp__free(sections, count * sizeof *sections);
    return error;
}

// In a limited page they are left out rather than take more than their part of it.
static int keep_flows(mxp_view *view)
{
    enum { PERCENT = 5 };
    mxp_page_flows *flows = &view->page.flows;
    mxp_spooled_section at;
    if (flows->count == 0) {
        return MXP_OK;
    }
    const int error = mxp__page_flows_pack(flows, &view->page.blocks.spool, &at);
    if (error == MXP_OK &&
        (at.packed_bytes + 2) / 3 * 4 > view->wish->limit_bytes / 100 * PERCENT) {
        flows->left_out += flows->count;
        flows->count = 0;
        return MXP_OK;
    }
    return error == MXP_OK ? mxp__view_keep_section(view, "f", &at) : error;
}

int mxp__view_spans(mxp_view *view)
{
    mxp_page_data *page = &view->page;
    loud_threads loud;
    page->blocks.windows = view->windows;
    page->blocks.window_count = view->window_count;
    page->blocks.tiles.levels = mxp__page_levels_of((uint64_t)(page->end_ns - page->begin_ns));
    page->counters.begin_ns = page->begin_ns;
    page->counters.end_ns = page->end_ns;
    int error = mxp__page_spool_open(&page->blocks.spool);
    error = error == MXP_OK ? find_loud(view, &loud) : error;
    for (size_t i = 0; i < view->process_count && error == MXP_OK; i++) {
        error = walk_process(view, i, &loud);
    }
    error = error == MXP_OK ? mxp__blocks_finish(&page->blocks) : error;
    error = error == MXP_OK ? keep_tiles(view) : error;
    error = error == MXP_OK ? keep_statistics(view) : error;
    error = error == MXP_OK ? keep_counters(view) : error;
    return error == MXP_OK ? keep_flows(view) : error;
}
