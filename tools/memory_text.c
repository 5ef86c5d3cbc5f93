// SPDX-License-Identifier: Apache-2.0
// `mxprof memory` for people: of each device a line on the moment, the table of owners, and a line
// each on growth and on blocks from the system, or the table of one of those.
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/device_name.h"
#include "memory_lines.h"
#include "profiler/export/scope_path.h"
#include "text/figure.h"
#include "text/label.h"
#include "text/shares.h"
#include "text/text_table.h"

static void put_name(const mxp_memory_shown *view, uint32_t id, mxp_strbuf *out)
{
    mxp_name_view name = view->source->name(view->source, id);
    mxp__put_label(&view->screen, name.text, name.length, out);
}

void mxp__memory_put_row(const mxp_memory_shown *view, const mxp_memory_device *device, int by,
                         uint32_t owner, mxp_strbuf *out)
{
    mxp_strbuf text = {0};
    mxp__memory_row_name(view->source, device, by, owner, &text);
    mxp__put_label(&view->screen, mxp__strbuf_text(&text), text.length, out);
    out->failed = out->failed || text.failed;
    mxp__strbuf_fini(&text);
}

// "lenet:conv0/Convolution"
void mxp__memory_put_operator(const mxp_memory_shown *view, uint32_t scope, uint32_t name,
                              mxp_strbuf *out)
{
    mxp_strbuf path = {0};
    mxp__scope_path(view->source, scope, &path);
    if (path.length > 0 && path.data[path.length - 1] == ':') {
        path.length--;
    }
    mxp__put_label(&view->screen, mxp__strbuf_text(&path), path.length, out);
    mxp__strbuf_puts(out, path.length > 0 ? "/" : "");
    out->failed = out->failed || path.failed;
    mxp__strbuf_fini(&path);
    put_name(view, name, out);
}

static void put_moment(const mxp_memory_shown *view, int64_t ns, mxp_strbuf *out)
{
    const mxp_step_window *step = mxp__memory_step_at(view, ns);
    if (step != NULL) {
        mxp__strbuf_printf(out, " in step %" PRIu64 ", ", step->number);
        mxp__put_duration(&view->screen, (double)(ns - step->begin_ns), out);
        mxp__strbuf_puts(out, " after its begin");
    }
    mxp__strbuf_printf(out, "%s at %.6f s", step != NULL ? "," : "", (double)ns / 1e9);
}

// ---- the table of owners -----------------------------------------------------------------------
static void put_categories(const mxp_memory_row *row, mxp_strbuf *out)
{
    uint64_t done = 0, last = UINT64_MAX;
    for (int words = 0; words < 3 && done < row->amount.bytes; words++) {
        uint32_t largest = MXP_MEMORY_CATEGORIES;
        for (uint32_t i = 0; i < MXP_MEMORY_CATEGORIES; i++) {
            uint64_t bytes = row->by_category[i];
            bool is_next = bytes > 0 && bytes < last;
            if (is_next &&
                (largest == MXP_MEMORY_CATEGORIES || bytes > row->by_category[largest])) {
                largest = i;
            }
        }
        if (largest == MXP_MEMORY_CATEGORIES) {
            return;
        }
        last = row->by_category[largest];
        done += last;
        mxp__strbuf_printf(out, "%s%s", words == 0 ? "" : ", ", mxp__memory_category(largest));
    }
}

static void put_owner_row(const mxp_memory_shown *view, mxp_text_table *table,
                          const mxp_memory_row *row, uint64_t tenths, uint64_t total)
{
    mxp__put_bytes((double)row->amount.bytes, mxp__text_cell(table));
    mxp__put_tenths(tenths, mxp__text_cell(table));
    mxp__text_bar(table, total == 0 ? 0 : (double)row->amount.bytes / (double)total);
    mxp_strbuf *blocks = mxp__text_cell(table);
    if (row->amount.blocks > 0) {
        mxp__put_count((double)row->amount.blocks, blocks);
    }
    if (view->by != MXP_MEMORY_BY_CATEGORY && row->amount.blocks > 0) {
        put_categories(row, mxp__text_cell(table));
    }
}

static void put_owner_lines(const mxp_memory_shown *view, const mxp_memory_device *device,
                            const mxp_memory_rows *rows, const uint64_t *tenths,
                            mxp_text_table *table)
{
    uint64_t total = rows->total.bytes, left = 1000;
    size_t shown = rows->count <= view->top ? rows->count : view->top;
    for (size_t i = 0; i < shown; i++) {
        const mxp_memory_row *row = &rows->rows[i];
        mxp__memory_put_row(view, device, view->by, row->owner, mxp__text_cell(table));
        put_owner_row(view, table, row, tenths[i], total);
        mxp__text_row(table, i == 0 ? MXP_LOOK_LARGEST : MXP_LOOK_PLAIN);
        left -= tenths[i];
    }
    if (shown < rows->count || left > 0) {
        mxp_memory_row rest = rows->left_out;
        mxp__memory_rows_rest(rows, shown, &rest);
        if (rows->left_out.amount.bytes > 0) {
            mxp__strbuf_puts(mxp__text_cell(table), "all others");
        } else {
            mxp__strbuf_printf(mxp__text_cell(table), "%zu others", rows->count - shown);
        }
        put_owner_row(view, table, &rest, left, total);
        mxp__text_row(table, MXP_LOOK_FAINT);
    }
    mxp__strbuf_puts(mxp__text_cell(table), "asked for");
    mxp__put_bytes((double)total, mxp__text_cell(table));
    mxp__put_tenths(1000, mxp__text_cell(table));
    mxp__text_row(table, MXP_LOOK_TOTAL);
    mxp__strbuf_puts(mxp__text_cell(table), "rounded up by");
    mxp__put_bytes((double)rows->total.rounding_bytes, mxp__text_cell(table));
    mxp__put_percent((double)rows->total.rounding_bytes / (double)total, mxp__text_cell(table));
    mxp__text_row(table, MXP_LOOK_FAINT);
}

static void put_owner_table(const mxp_memory_shown *view, const mxp_memory_device *device,
                            const mxp_memory_rows *rows, const uint64_t *tenths, mxp_strbuf *out)
{
    static const char *const headings[] = {[MXP_MEMORY_BY_SCOPE] = "owner",
                                           [MXP_MEMORY_BY_ARRAY] = "array",
                                           [MXP_MEMORY_BY_CATEGORY] = "category",
                                           [MXP_MEMORY_BY_OWNER] = "owner"};
    const mxp_text_column columns[] = {
        {headings[view->by], MXP_COLUMN_NAME, 0}, {"bytes", MXP_COLUMN_RIGHT, 0},
        {"share", MXP_COLUMN_RIGHT, 0},           {"", MXP_COLUMN_BAR, 1},
        {"blocks", MXP_COLUMN_RIGHT, 3},          {"what", MXP_COLUMN_LEFT, 2}};
    const size_t count = sizeof columns / sizeof columns[0];
    mxp_text_table table;
    mxp__text_table_init(&table, &view->screen, columns,
                         view->by == MXP_MEMORY_BY_CATEGORY ? count - 1 : count);
    put_owner_lines(view, device, rows, tenths, &table);
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
}

static int put_owners(const mxp_memory_shown *view, const mxp_memory_device *device,
                      mxp_strbuf *out)
{
    mxp_memory_rows rows;
    uint64_t *bytes = NULL;
    int error = mxp__memory_rows_make(device, &view->filter, view->by, view->moment, false, &rows);
    if (error == MXP_OK && rows.count > 0 &&
        (bytes = mxp__alloc(2 * rows.count * sizeof *bytes)) == NULL) {
        error = MXP_ENOMEM;
    }
    for (size_t i = 0; error == MXP_OK && i < rows.count; i++) {
        bytes[i] = rows.rows[i].amount.bytes;
    }
    if (error == MXP_OK && rows.count > 0) {
        uint64_t *tenths = bytes + rows.count;
        error = mxp__share_tenths(bytes, rows.count, rows.total.bytes, tenths);
        if (error == MXP_OK) {
            put_owner_table(view, device, &rows, tenths, out);
        }
    }
    mxp__free(bytes, 2 * rows.count * sizeof *bytes);
    mxp__memory_rows_fini(&rows);
    return error;
}

// ---- lines -------------------------------------------------------------------------------------
void mxp__memory_put_device(const mxp_memory_device *device, mxp_strbuf *out)
{
    char name[MXP__DEVICE_NAME_CHARS];
    mxp__device_name(device->device, name, sizeof name);
    mxp__strbuf_puts(out, name);
}

void mxp__memory_put_peak(const mxp_memory_shown *view, const mxp_memory_device *device,
                          mxp_strbuf *out)
{
    const mxp_memory_peak *peak = &device->peak;
    mxp__strbuf_puts(out, ": peak ");
    mxp__put_bytes((double)peak->bytes, out);
    put_moment(view, peak->at_ns, out);
    mxp__strbuf_puts(out, "\n  ");
    if (peak->has_block) {
        mxp__put_bytes((double)peak->block_bytes, out);
        mxp__strbuf_puts(out, " more for ");
        mxp__memory_put_row(view, device, MXP_MEMORY_BY_OWNER, peak->owner, out);
    } else {
        mxp__strbuf_puts(out, "there when it began");
    }
    mxp__strbuf_puts(out, peak->ran.is_known ? ",\n  while " : ", no operator ran");
    if (peak->ran.is_known) {
        mxp__memory_put_operator(view, peak->ran.scope, peak->ran.name, out);
        mxp__strbuf_puts(out, " ran");
    }
    mxp__strbuf_putc(out, '\n');
}

static void put_heading(const mxp_memory_shown *view, const mxp_memory_device *device,
                        mxp_strbuf *out)
{
    mxp__memory_put_device(device, out);
    if (view->moment == MXP__MOMENT_PEAK) {
        mxp__memory_put_peak(view, device, out);
        return;
    }
    mxp__strbuf_puts(out, ": ");
    mxp__put_bytes((double)mxp__memory_total(view, device), out);
    if (view->moment == MXP__MOMENT_NOW) {
        mxp__strbuf_puts(out, " at the end,");
    }
    put_moment(view, view->moment == MXP__MOMENT_NOW ? device->last_ns : view->at_ns, out);
    mxp__strbuf_putc(out, '\n');
}

static void put_slope(const mxp_memory_leak *leak, mxp_strbuf *out)
{
    mxp__put_bytes_change(leak->slope.slope, out);
    mxp__strbuf_puts(out, " a step (95 %: ");
    mxp__put_bytes_change(leak->slope.low, out);
    mxp__strbuf_puts(out, " to ");
    mxp__put_bytes_change(leak->slope.high, out);
    mxp__strbuf_printf(out, ", z %.1f)\n        ", leak->z);
}

void mxp__memory_put_growth(const mxp_memory_leak *leak, mxp_strbuf *out)
{
    mxp__strbuf_puts(out, "growth: ");
    if (!leak->is_known) {
        mxp__strbuf_printf(out, "not known, of %zu steps; it is told from %d on\n", leak->steps,
                           MXP__LEAK_STEPS_MIN);
        return;
    }
    bool rose = leak->last_bytes > leak->first_bytes;
    if (leak->grows) {
        put_slope(leak, out);
    } else {
        mxp__strbuf_puts(out, rose ? "none after the first steps;\n        " : "none; ");
    }
    mxp__strbuf_puts(out, "least of a step ");
    mxp__put_bytes((double)leak->first_bytes, out);
    mxp__strbuf_puts(out, " to ");
    mxp__put_bytes((double)leak->last_bytes, out);
    mxp__strbuf_printf(out, ", %zu steps\n", leak->steps);
}

typedef struct fresh_sum {
    uint64_t blocks, bytes, steps;
} fresh_sum;

static fresh_sum sum_fresh(const mxp_memory_growth *growth)
{
    fresh_sum sum = {0};
    for (size_t i = 0; i < growth->count; i++) {
        sum.blocks += growth->columns[i].fresh_blocks;
        sum.bytes += growth->columns[i].fresh_bytes;
        sum.steps += growth->columns[i].fresh_steps;
    }
    return sum;
}

void mxp__memory_put_fresh(const mxp_memory_shown *view, const mxp_memory_device *device,
                           mxp_strbuf *out)
{
    fresh_sum sum = sum_fresh(&device->growth);
    mxp__strbuf_puts(out, "fresh: ");
    if (sum.blocks == 0) {
        mxp__strbuf_puts(out, "no block of any step came from the system\n");
        return;
    }
    mxp__put_count((double)sum.blocks, out);
    mxp__strbuf_puts(out, " blocks, ");
    mxp__put_bytes((double)sum.bytes, out);
    mxp__strbuf_printf(out, ", from the system in %" PRIu64 " of %zu steps", sum.steps,
                       device->growth.step_count);
    uint64_t last = device->growth.fresh_step;
    if (last > 0 && last <= view->steps.count) {
        mxp__strbuf_printf(out, ",\n  the last in step %" PRIu64, view->steps.all[last - 1].number);
    }
    mxp__strbuf_putc(out, '\n');
}

// What is to be known before any figure is believed.
void mxp__memory_put_doubts(const mxp_memory_shown *view, const mxp_memory_device *device,
                            mxp_strbuf *out)
{
    if (view->whole_from_ns != INT64_MIN) {
        mxp__strbuf_printf(out,
                           "  a ring: totals are exact, owners from %.3f s on; blocks from before\n"
                           "  are %s\n",
                           (double)view->whole_from_ns / 1e9,
                           device->gaps == 0 ? "<before recording>" : "<not recorded>");
    }
    if (device->gaps > 0) {
        mxp__strbuf_printf(out,
                           "  records are missing in %" PRIu64
                           " %s, the last at %.3f s: owners may "
                           "be off by ",
                           device->gaps, device->gaps == 1 ? "place" : "places",
                           (double)device->last_gap_ns / 1e9);
        mxp__put_bytes((double)device->gap_bytes, out);
        mxp__strbuf_putc(out, '\n');
    }
}

// ---- a process ---------------------------------------------------------------------------------
static int put_moment_view(const mxp_memory_shown *view, const mxp_memory_device *device,
                           mxp_strbuf *out)
{
    put_heading(view, device, out);
    mxp__memory_put_doubts(view, device, out);
    int error = put_owners(view, device, out);
    mxp_memory_leak leak;
    if (error == MXP_OK && view->steps.count > 0) {
        error = mxp__memory_leak_find(device, &leak);
        if (error == MXP_OK) {
            mxp__memory_put_growth(&leak, out);
            mxp__memory_put_fresh(view, device, out);
        }
    }
    return error;
}

int mxp__memory_text(mxp_memory_shown *view, mxp_strbuf *out)
{
    static int (*const views[])(const mxp_memory_shown *, const mxp_memory_device *,
                                mxp_strbuf *) = {[MXP_MEMORY_PEAK] = put_moment_view,
                                                 [MXP_MEMORY_GROWTH] = mxp__memory_growth_table,
                                                 [MXP_MEMORY_FRESH] = mxp__memory_fresh_table,
                                                 [MXP_MEMORY_LATER] = mxp__memory_later_table};
    if (view->is_several) {
        mxp__strbuf_printf(out, "%sprocess %" PRIu32 "\n", out->length > 0 ? "\n" : "",
                           view->source->pid);
    }
    int error = MXP_OK;
    for (size_t i = 0; i < view->memory.count && error == MXP_OK; i++) {
        mxp__strbuf_puts(out, i == 0 ? "" : "\n");
        error = views[view->what](view, view->memory.devices[i], out);
    }
    return error;
}
