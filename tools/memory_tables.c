// SPDX-License-Identifier: Apache-2.0
// The tables of `mxprof memory` beside that of a moment: whose memory grows, whose blocks came from
// the system, what was used again only after the peak.
#include <mxprof/error.h>
#include <stdlib.h>

#include "memory_lines.h"
#include "text/figure.h"
#include "text/text_table.h"

// ---- growth ------------------------------------------------------------------------------------
int mxp__memory_growth_table(const mxp_memory_shown *view, const mxp_memory_device *device,
                             mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {{"owner", MXP_COLUMN_NAME, 0},
                                              {"a step", MXP_COLUMN_RIGHT, 0},
                                              {"in the first", MXP_COLUMN_RIGHT, 1},
                                              {"in the last", MXP_COLUMN_RIGHT, 1},
                                              {"what", MXP_COLUMN_LEFT, 2}};
    mxp_memory_leak leak;
    int error = mxp__memory_leak_find(device, &leak);
    if (error != MXP_OK) {
        return error;
    }
    mxp__memory_put_device(device, out);
    mxp__strbuf_puts(out, ": ");
    mxp__memory_put_growth(&leak, out);
    mxp__memory_put_doubts(view, device, out);
    if (!leak.grows) {
        return MXP_OK;
    }
    mxp_text_table table;
    mxp__text_table_init(&table, &view->screen, columns, sizeof columns / sizeof columns[0]);
    double rest = leak.rest_slope;
    size_t count = device->growth.count;
    for (size_t i = 0; i < leak.owner_count; i++) {
        const mxp_owner *owner = &device->owners.owners[leak.owners[i].owner];
        if (leak.owners[i].slope == 0 || i >= view->top) {
            rest += leak.owners[i].slope;
            continue;
        }
        mxp__memory_put_row(view, device, MXP_MEMORY_BY_OWNER, leak.owners[i].owner,
                            mxp__text_cell(&table));
        mxp__put_bytes_change(leak.owners[i].slope, mxp__text_cell(&table));
        mxp__put_bytes((double)owner->least_bytes[0], mxp__text_cell(&table));
        mxp__put_bytes((double)owner->least_bytes[count - 1], mxp__text_cell(&table));
        mxp__strbuf_puts(mxp__text_cell(&table), leak.owners[i].owner < MXP__OWNER_FIRST
                                                     ? ""
                                                     : mxp__memory_category(owner->category));
        mxp__text_row(&table, i == 0 ? MXP_LOOK_LARGEST : MXP_LOOK_PLAIN);
    }
    mxp__strbuf_puts(mxp__text_cell(&table), "all others");
    mxp__put_bytes_change(rest, mxp__text_cell(&table));
    mxp__text_row(&table, MXP_LOOK_FAINT);
    mxp__strbuf_puts(mxp__text_cell(&table), "total");
    mxp__put_bytes_change(leak.slope.slope, mxp__text_cell(&table));
    mxp__put_bytes((double)leak.first_bytes, mxp__text_cell(&table));
    mxp__put_bytes((double)leak.last_bytes, mxp__text_cell(&table));
    mxp__text_row(&table, MXP_LOOK_TOTAL);
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
    return MXP_OK;
}

// ---- blocks from the system --------------------------------------------------------------------
int mxp__memory_fresh_table(const mxp_memory_shown *view, const mxp_memory_device *device,
                            mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {{"owner", MXP_COLUMN_NAME, 0},
                                              {"from the system", MXP_COLUMN_RIGHT, 0},
                                              {"blocks", MXP_COLUMN_RIGHT, 0},
                                              {"in steps", MXP_COLUMN_RIGHT, 0}};
    mxp__memory_put_device(device, out);
    mxp__strbuf_puts(out, ": ");
    mxp__memory_put_fresh(view, device, out);
    if (view->memory.system_calls > 0) {
        mxp__strbuf_puts(out, "  calls of the system, of all devices: ");
        mxp__put_count((double)view->memory.system_calls, out);
        mxp__strbuf_puts(out, ", ");
        mxp__put_duration(&view->screen, (double)view->memory.system_ns, out);
        mxp__strbuf_puts(out, " together\n");
    }
    mxp__memory_put_doubts(view, device, out);
    mxp_memory_rows rows;
    int error =
        mxp__memory_rows_make(device, &view->filter, view->by, MXP__MOMENT_NOW, true, &rows);
    if (error == MXP_OK && rows.count > 0) {
        mxp_text_table table;
        mxp__text_table_init(&table, &view->screen, columns, sizeof columns / sizeof columns[0]);
        for (size_t i = 0; i < rows.count && i < view->top; i++) {
            const mxp_memory_row *row = &rows.rows[i];
            mxp__memory_put_row(view, device, view->by, row->owner, mxp__text_cell(&table));
            mxp__put_bytes((double)row->fresh_bytes, mxp__text_cell(&table));
            mxp__put_count((double)row->fresh_blocks, mxp__text_cell(&table));
            mxp__put_count((double)row->fresh_steps, mxp__text_cell(&table));
            mxp__text_row(&table, i == 0 ? MXP_LOOK_LARGEST : MXP_LOOK_PLAIN);
        }
        mxp_memory_row rest = rows.left_out;
        mxp__memory_rows_rest(&rows, view->top, &rest);
        if (rest.fresh_blocks > 0) {
            mxp__strbuf_puts(mxp__text_cell(&table), "all others");
            mxp__put_bytes((double)rest.fresh_bytes, mxp__text_cell(&table));
            mxp__put_count((double)rest.fresh_blocks, mxp__text_cell(&table));
            mxp__text_row(&table, MXP_LOOK_FAINT);
        }
        mxp__text_table_put(&table, out);
        mxp__text_table_fini(&table);
    }
    mxp__memory_rows_fini(&rows);
    return error;
}

// ---- what is used again later ------------------------------------------------------------------
static int by_size(const void *a, const void *b)
{
    const mxp_peak_block *left = a, *right = b;
    if (left->bytes != right->bytes) {
        return (left->bytes < right->bytes) - (left->bytes > right->bytes);
    }
    return (left->made_ns > right->made_ns) - (left->made_ns < right->made_ns);
}

static void put_use(const mxp_memory_shown *view, const mxp_memory_device *device,
                    const mxp_peak_block *block, mxp_text_table *table)
{
    mxp_strbuf *after = mxp__text_cell(table);
    if (block->use == MXP__USE_LATER) {
        mxp__put_duration(&view->screen, (double)(block->next_ns - device->peak.at_ns), after);
        mxp__memory_put_operator(view, block->next_scope, block->next_name, mxp__text_cell(table));
    } else {
        mxp__strbuf_puts(after, "never");
        mxp_strbuf *how = mxp__text_cell(table);
        mxp__strbuf_puts(how, block->was_freed ? "freed after " : "still there at the end");
        if (block->was_freed) {
            mxp__put_duration(&view->screen, (double)(block->freed_ns - device->peak.at_ns), how);
        }
    }
}

static void put_later_table(const mxp_memory_shown *view, const mxp_memory_device *device,
                            const mxp_memory_uses *uses, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {{"block of", MXP_COLUMN_NAME, 0},
                                              {"bytes", MXP_COLUMN_RIGHT, 0},
                                              {"used after", MXP_COLUMN_RIGHT, 0},
                                              {"by", MXP_COLUMN_NAME, 0}};
    mxp_text_table table;
    mxp__text_table_init(&table, &view->screen, columns, sizeof columns / sizeof columns[0]);
    size_t shown = 0;
    for (size_t i = 0; i < uses->count && shown < view->top; i++) {
        const mxp_peak_block *block = &uses->blocks[i];
        if (block->use != MXP__USE_LATER && block->use != MXP__USE_NONE) {
            continue;
        }
        mxp__memory_put_operator(view, block->scope, block->name, mxp__text_cell(&table));
        mxp__put_bytes((double)block->bytes, mxp__text_cell(&table));
        put_use(view, device, block, &table);
        mxp__text_row(&table, shown == 0 ? MXP_LOOK_LARGEST : MXP_LOOK_PLAIN);
        shown++;
    }
    if (shown > 0) {
        mxp__text_table_put(&table, out);
    }
    mxp__text_table_fini(&table);
}

int mxp__memory_later_table(const mxp_memory_shown *view, const mxp_memory_device *device,
                            mxp_strbuf *out)
{
    mxp__memory_put_device(device, out);
    mxp__memory_put_peak(view, device, out);
    mxp__memory_put_doubts(view, device, out);
    if (!mxp__memory_uses_known(view, device)) {
        mxp__strbuf_puts(out, "what is used again is not known: records were lost\n");
        return MXP_OK;
    }
    mxp_memory_uses uses;
    int error = mxp__memory_uses_make(view->source, device, &uses);
    if (error == MXP_OK) {
        uint64_t known = 0;
        mxp__strbuf_puts(out, "of it ");
        static const struct {
            int use;
            const char *text;
        } parts[] = {{MXP__USE_THEN, " in use then, "},
                     {MXP__USE_LATER, " used again only later,\n      "},
                     {MXP__USE_NONE, " not used any more, "}};
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            mxp__put_bytes((double)uses.bytes[parts[i].use], out);
            mxp__strbuf_puts(out, parts[i].text);
            known += uses.bytes[parts[i].use];
        }
        mxp__put_bytes((double)(device->peak.bytes - known), out);
        mxp__strbuf_puts(out, " not known\n");
        if (uses.count > 0) {
            qsort(uses.blocks, uses.count, sizeof *uses.blocks, by_size);
        }
        put_later_table(view, device, &uses, out);
    }
    mxp__memory_uses_fini(&uses);
    return error;
}
