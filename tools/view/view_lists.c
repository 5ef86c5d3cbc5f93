// SPDX-License-Identifier: Apache-2.0
// Lists of the page's head: where its sections' rows are, what is missing, and when.
#include <inttypes.h>

#include "page/columns.h"
#include "profiler/clock/timebase.h"
#include "profiler/trace/loss.h"
#include "view/view_head.h"

void mxp__view_put_tiles(const mxp_view *view, mxp_strbuf *out)
{
    const mxp_tiles *tiles = &view->page.blocks.tiles;
    mxp__strbuf_puts(out, "[");
    for (size_t level = 0; level < view->levels; level++) {
        const char *comma = "";
        mxp__strbuf_printf(out, "%s{\"width_ns\": %" PRIu64 ", \"bins\": %" PRIu64 ", \"lanes\": [",
                           level > 0 ? ",\n" : "", tiles->levels.width_ns[level],
                           mxp__tiles_bins(tiles, level));
        for (size_t i = 0; i < tiles->lane_count; i++) {
            const mxp_tile_lane *lane = tiles->lanes[i];
            if (lane->rows[level].count > 0) {
                mxp__strbuf_printf(out, "%s[%" PRIu32 ", %" PRIu32 ", %zu]", comma, lane->track,
                                   lane->depth, lane->rows[level].count);
                comma = ", ";
            }
        }
        mxp__strbuf_puts(out, "]}");
    }
    mxp__strbuf_puts(out, "]");
}

void mxp__view_put_blocks(const mxp_view *view, mxp_strbuf *out)
{
    const char *comma = "";
    mxp__strbuf_puts(out, "[");
    for (size_t i = 0; i < view->page.blocks.count; i++) {
        const mxp_page_block *block = &view->page.blocks.all[i];
        if (block->is_dropped) {
            continue;
        }
        const size_t class_of = block->class_of < view->levels ? block->class_of : view->levels;
        mxp__strbuf_printf(out, "%s[%" PRIu32 ", %zu, %" PRIu32 ", %" PRIu64 ", %" PRIu64, comma,
                           block->track, class_of, block->count, block->first_ns, block->last_ns);
        mxp__strbuf_printf(out, ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "]", block->rows.section,
                           block->rows.first, block->rows.count);
        comma = ",\n";
    }
    mxp__strbuf_puts(out, "]");
}

void mxp__view_put_sizes(const mxp_view *view, mxp_strbuf *out)
{
    size_t number = 0;
    const char *comma = "";
    mxp__strbuf_puts(out, "{");
    for (size_t i = 0; i < view->section_count; i++) {
        if (!view->sections[i].is_dropped) {
            mxp__strbuf_printf(out, "%s\"%s\": %" PRIu64, comma, view->sections[i].name,
                               view->sections[i].at.bytes);
            comma = ", ";
        }
    }
    for (size_t i = 0; i < view->page.blocks.count; i++) {
        const mxp_page_block *block = &view->page.blocks.all[i];
        if (!block->is_dropped) {
            mxp__strbuf_printf(out, "%s\"b%zu\": %" PRIu64, comma, number++, block->section.bytes);
            comma = ", ";
        }
    }
    mxp__strbuf_puts(out, "}");
}

void mxp__view_put_counters(const mxp_view *view, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    mxp__json_array(&json, NULL);
    for (size_t i = 0; i < view->page.counters.count; i++) {
        const mxp_page_counter *counter = &view->page.counters.all[i];
        const mxp_source *source = mxp__view_source(view, counter->process);
        const mxp_name_view name = source->name(source, counter->name);
        const mxp_name_view category = source->name(source, name.category);
        mxp__json_row(&json, NULL);
        mxp__json_u64(&json, "process", counter->process);
        mxp__json_bytes(&json, "name", name.text, name.length);
        mxp__json_bytes(&json, "category", category.text, category.length);
        mxp__json_u64(&json, "unit", name.unit);
        mxp__json_u64(&json, "bins", counter->shown);
        mxp__json_u64(&json, "bin_ns", counter->width_ns);
        mxp__json_end(&json);
    }
    mxp__json_end(&json);
}

void mxp__view_put_flows(const mxp_view *view, mxp_strbuf *out)
{
    mxp__strbuf_printf(out, "{\"points\": %zu, \"left_out\": %" PRIu64 "}", view->page.flows.count,
                       view->page.flows.left_out);
}

// ---- what is missing ---------------------------------------------------------------------------
static int64_t since_begin(const mxp_view *view, int64_t ns)
{
    return ns > view->page.begin_ns ? ns - view->page.begin_ns : 0;
}

static void put_loss(const mxp_view *view, size_t process, const mxp_loss_entry *loss,
                     mxp_json *json)
{
    const mxp_source *source = mxp__view_source(view, process);
    const uint32_t base = view->processes[process].thread_base;
    const bool has_thread = loss->thread < source->thread_count;
    mxp__json_list(json, NULL);
    mxp__json_u64(json, NULL, process);
    mxp__json_i64(json, NULL, has_thread ? (int64_t)base + loss->thread : -1);
    mxp__json_i64(json, NULL,
                  since_begin(view, mxp__timebase_ns(source->timebase, loss->from_ticks)));
    mxp__json_i64(json, NULL,
                  since_begin(view, mxp__timebase_ns(source->timebase, loss->to_ticks)));
    mxp__json_u64(json, NULL, loss->count);
    mxp__json_text(json, NULL, mxp__loss_reason(loss->reason));
    mxp__json_end(json);
}

void mxp__view_put_losses(const mxp_view *view, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    mxp__json_array(&json, NULL);
    for (size_t p = 0; p < view->process_count; p++) {
        const mxp_source *source = mxp__view_source(view, p);
        for (size_t i = 0; i < source->loss_count; i++) {
            put_loss(view, p, &source->losses[i], &json);
        }
    }
    mxp__json_end(&json);
}

// From a stop or a pause to when recording goes on, or to the end.
static void put_states_of(const mxp_view *view, size_t process, mxp_json *json)
{
    enum { STOP, RUN, PAUSE, RESUME };
    const mxp_range_index *index = &view->report.processes[process].steps.index;
    const mxp_range_mark *off = NULL;
    for (size_t i = 0; i <= index->mark_count; i++) {
        const mxp_range_mark *mark = i < index->mark_count ? &index->marks[i] : NULL;
        if (mark != NULL && mark->what != MXP_META_STATE) {
            continue;
        }
        const bool goes_on = mark == NULL || mark->value == RUN || mark->value == RESUME;
        if (off != NULL && goes_on) {
            mxp__json_list(json, NULL);
            mxp__json_u64(json, NULL, process);
            mxp__json_i64(json, NULL, since_begin(view, off->ns));
            mxp__json_i64(json, NULL,
                          since_begin(view, mark != NULL ? mark->ns : view->page.end_ns));
            mxp__json_text(json, NULL, off->value == PAUSE ? "paused" : "stopped");
            mxp__json_end(json);
        }
        off = goes_on ? NULL : off != NULL ? off : mark;
    }
}

void mxp__view_put_states(const mxp_view *view, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    mxp__json_array(&json, NULL);
    for (size_t p = 0; p < view->process_count; p++) {
        put_states_of(view, p, &json);
    }
    mxp__json_end(&json);
}

// ---- what was left out -------------------------------------------------------------------------
static void put_windows(const mxp_view *view, const char *key, mxp_page_zone zone, mxp_json *json)
{
    mxp__json_array(json, key);
    for (size_t i = 0; i < view->window_count; i++) {
        if (view->windows[i].zone >= zone) {
            mxp__json_list(json, NULL);
            mxp__json_i64(json, NULL, view->windows[i].from_ns);
            mxp__json_i64(json, NULL, view->windows[i].until_ns);
            mxp__json_end(json);
        }
    }
    mxp__json_end(json);
}

static void put_class(const mxp_view *view, const char *key, unsigned class_of, mxp_json *json)
{
    if (class_of > view->levels) {
        mxp__json_null(json, key);
    } else {
        mxp__json_u64(json, key, class_of);
    }
}

void mxp__view_put_dropped(const mxp_view *view, mxp_strbuf *out)
{
    const mxp_view_dropped *dropped = &view->dropped;
    mxp_json json = {.out = out};
    mxp_strbuf word = {0};
    mxp__view_put_whole(view, &word);
    mxp__json_object(&json, NULL);
    mxp__json_bool(&json, "is_whole", dropped->spans == 0);
    mxp__json_text(&json, "word", mxp__strbuf_text(&word));
    mxp__json_u64(&json, "spans", view->page.blocks.spans);
    mxp__json_u64(&json, "kept_spans", view->page.blocks.spans - dropped->spans);
    put_windows(view, "kept", MXP_ZONE_KEPT, &json);
    put_windows(view, "full", MXP_ZONE_FULL, &json);
    put_class(view, "class", dropped->class_outside, &json);
    put_class(view, "class_kept", dropped->class_kept, &json);
    mxp__json_bool(&json, "columns", dropped->columns);
    mxp__json_bool(&json, "icicle", dropped->icicle);
    mxp__json_u64(&json, "clock_spans", view->page.clock_spans);
    mxp__json_u64(&json, "quiet_threads", dropped->quiet_threads);
    mxp__json_u64(&json, "path_steps", dropped->path_steps);
    mxp__json_u64(&json, "counter_samples", view->page.counters.left_out);
    mxp__json_end(&json);
    mxp__strbuf_fini(&word);
}
