// SPDX-License-Identifier: Apache-2.0
// `mxprof memory --json`: one object a process, everything in bytes and ns. Of `--later` the
// blocks, of all else the owners, the growth and the blocks from the system.
#include "base/device_name.h"
#include "memory_shown.h"
#include "text/json_writer.h"
#include "text/phase.h"

static void put_row_name(const mxp_memory_shown *view, const mxp_memory_device *device, int by,
                         const char *key, uint32_t owner, mxp_json *json)
{
    mxp_strbuf text = {0};
    mxp__memory_row_name(view->source, device, by, owner, &text);
    mxp__json_bytes(json, key, mxp__strbuf_text(&text), text.length);
    json->out->failed = json->out->failed || text.failed;
    mxp__strbuf_fini(&text);
}

static void put_id(const mxp_memory_shown *view, const char *key, uint32_t id, mxp_json *json)
{
    mxp_name_view name = view->source->name(view->source, id);
    mxp__json_bytes(json, key, name.text, name.length);
}

static void put_step(const mxp_memory_shown *view, int64_t ns, mxp_json *json)
{
    const mxp_step_window *step = mxp__memory_step_at(view, ns);
    if (step == NULL) {
        mxp__json_null(json, "step");
    } else {
        mxp__json_u64(json, "step", step->number);
    }
}

static void put_peak(const mxp_memory_shown *view, const mxp_memory_device *device, mxp_json *json)
{
    const mxp_memory_peak *peak = &device->peak;
    mxp__json_object(json, "peak");
    mxp__json_u64(json, "bytes", peak->bytes);
    mxp__json_i64(json, "at_ns", peak->at_ns);
    put_step(view, peak->at_ns, json);
    if (peak->has_block) {
        mxp__json_u64(json, "block_bytes", peak->block_bytes);
        put_row_name(view, device, MXP_MEMORY_BY_OWNER, "block_of", peak->owner, json);
    }
    if (peak->ran.is_known) {
        mxp__json_row(json, "ran");
        mxp__json_u64(json, "id", peak->ran.id);
        put_id(view, "name", peak->ran.name, json);
        put_id(view, "scope", peak->ran.scope, json);
        mxp__json_text(json, "phase", mxp__phase_label(peak->ran.phase));
        mxp__json_i64(json, "begin_ns", peak->ran.begin_ns);
        mxp__json_i64(json, "end_ns", peak->ran.end_ns);
        mxp__json_end(json);
    }
    mxp__json_end(json);
}

static int put_owners(const mxp_memory_shown *view, const mxp_memory_device *device, mxp_json *json)
{
    static const char *const kinds[] = {"not recorded", "others", "owner"};
    mxp_memory_rows rows;
    int error = mxp__memory_rows_make(device, &view->filter, view->by, view->moment, false, &rows);
    mxp__json_u64(json, "bytes", rows.total.bytes);
    mxp__json_u64(json, "bytes_left_out", rows.left_out.amount.bytes);
    mxp__json_u64(json, "rounding_bytes", rows.total.rounding_bytes);
    mxp__json_array(json, "owners");
    for (size_t i = 0; i < rows.count; i++) {
        const mxp_memory_row *row = &rows.rows[i];
        mxp__json_row(json, NULL);
        put_row_name(view, device, view->by, "owner", row->owner, json);
        mxp__json_text(json, "kind",
                       kinds[row->owner < MXP__OWNER_FIRST ? row->owner : MXP__OWNER_FIRST]);
        mxp__json_u64(json, "bytes", row->amount.bytes);
        mxp__json_u64(json, "rounding_bytes", row->amount.rounding_bytes);
        mxp__json_u64(json, "blocks", row->amount.blocks);
        if (row->owner >= MXP__OWNER_FIRST) {
            mxp__json_row(json, "categories");
            for (uint32_t k = 0; k < MXP_MEMORY_CATEGORIES; k++) {
                if (row->by_category[k] > 0) {
                    mxp__json_u64(json, mxp__memory_category(k), row->by_category[k]);
                }
            }
            mxp__json_end(json);
        }
        mxp__json_end(json);
    }
    mxp__json_end(json);
    mxp__memory_rows_fini(&rows);
    return error;
}

static int put_growth(const mxp_memory_shown *view, const mxp_memory_device *device, mxp_json *json)
{
    const mxp_memory_growth *growth = &device->growth;
    mxp_memory_leak leak;
    int error = mxp__memory_leak_find(device, &leak);
    mxp__json_object(json, "growth");
    mxp__json_u64(json, "steps", leak.steps);
    mxp__json_bool(json, "is_known", leak.is_known);
    if (leak.is_known) {
        mxp__json_bool(json, "grows", leak.grows);
        mxp__json_number(json, "z", leak.z);
        mxp__json_number(json, "bytes_a_step", leak.slope.slope);
        mxp__json_number(json, "bytes_a_step_low", leak.slope.low);
        mxp__json_number(json, "bytes_a_step_high", leak.slope.high);
        mxp__json_array(json, "owners");
        for (size_t i = 0; i < leak.owner_count; i++) {
            mxp__json_row(json, NULL);
            put_row_name(view, device, MXP_MEMORY_BY_OWNER, "owner", leak.owners[i].owner, json);
            mxp__json_number(json, "bytes_a_step", leak.owners[i].slope);
            mxp__json_end(json);
        }
        mxp__json_end(json);
        mxp__json_number(json, "bytes_a_step_of_others", leak.rest_slope);
    }
    mxp__json_u64(json, "steps_a_column", growth->stride);
    mxp__json_array(json, "columns");
    for (size_t i = 0; i < growth->count; i++) {
        const mxp_memory_column *column = &growth->columns[i];
        mxp__json_row(json, NULL);
        mxp__json_u64(json, "step", view->steps.all[i * growth->stride].number);
        mxp__json_u64(json, "least_bytes", column->least_bytes);
        mxp__json_u64(json, "most_bytes", column->most_bytes);
        mxp__json_u64(json, "fresh_blocks", column->fresh_blocks);
        mxp__json_u64(json, "fresh_bytes", column->fresh_bytes);
        mxp__json_end(json);
    }
    mxp__json_end(json);
    mxp__json_end(json);
    return error;
}

static int put_fresh(const mxp_memory_shown *view, const mxp_memory_device *device, mxp_json *json)
{
    mxp_memory_rows rows;
    int error =
        mxp__memory_rows_make(device, &view->filter, view->by, MXP__MOMENT_NOW, true, &rows);
    mxp__json_array(json, "fresh");
    for (size_t i = 0; i < rows.count; i++) {
        mxp__json_row(json, NULL);
        put_row_name(view, device, view->by, "owner", rows.rows[i].owner, json);
        mxp__json_u64(json, "bytes", rows.rows[i].fresh_bytes);
        mxp__json_u64(json, "blocks", rows.rows[i].fresh_blocks);
        mxp__json_u64(json, "steps", rows.rows[i].fresh_steps);
        mxp__json_end(json);
    }
    mxp__json_end(json);
    mxp__memory_rows_fini(&rows);
    return error;
}

static int put_later(const mxp_memory_shown *view, const mxp_memory_device *device, mxp_json *json)
{
    static const char *const words[] = {"unknown", "then", "later", "none"};
    if (!mxp__memory_uses_known(view, device)) {
        mxp__json_null(json, "blocks_at_peak");
        return 0;
    }
    mxp_memory_uses uses;
    int error = mxp__memory_uses_make(view->source, device, &uses);
    mxp__json_array(json, "blocks_at_peak");
    for (size_t i = 0; i < uses.count; i++) {
        const mxp_peak_block *block = &uses.blocks[i];
        mxp__json_row(json, NULL);
        put_id(view, "scope", block->scope, json);
        put_id(view, "name", block->name, json);
        mxp__json_text(json, "category", mxp__memory_category(block->category));
        mxp__json_u64(json, "bytes", block->bytes);
        mxp__json_u64(json, "variable", block->variable);
        mxp__json_text(json, "used", words[block->use]);
        mxp__json_i64(json, "made_ns", block->made_ns);
        if (block->use == MXP__USE_LATER) {
            mxp__json_i64(json, "used_ns", block->next_ns);
            put_id(view, "used_by", block->next_name, json);
        }
        if (block->was_freed) {
            mxp__json_i64(json, "freed_ns", block->freed_ns);
        }
        mxp__json_end(json);
    }
    mxp__json_end(json);
    mxp__memory_uses_fini(&uses);
    return error;
}

static int put_device(const mxp_memory_shown *view, const mxp_memory_device *device, mxp_json *json)
{
    static const char *const moments[] = {
        [MXP__MOMENT_PEAK] = "peak", [MXP__MOMENT_TIME] = "time", [MXP__MOMENT_NOW] = "end"};
    char name[MXP__DEVICE_NAME_CHARS];
    mxp__device_name(device->device, name, sizeof name);
    mxp__json_object(json, NULL);
    mxp__json_text(json, "device", name);
    mxp__json_u64(json, "records", device->records);
    mxp__json_u64(json, "census_blocks", device->census_blocks);
    mxp__json_u64(json, "gaps", device->gaps);
    mxp__json_u64(json, "gap_bytes", device->gap_bytes);
    put_peak(view, device, json);
    mxp__json_text(json, "moment", moments[view->moment]);
    if (view->moment == MXP__MOMENT_TIME) {
        mxp__json_i64(json, "at_ns", view->at_ns);
    }
    int error = put_owners(view, device, json);
    if (error == 0) {
        error = put_growth(view, device, json);
    }
    if (error == 0) {
        error = put_fresh(view, device, json);
    }
    if (error == 0 && view->what == MXP_MEMORY_LATER) {
        error = put_later(view, device, json);
    }
    mxp__json_end(json);
    return error;
}

int mxp__memory_json(mxp_memory_shown *view, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    int error = 0;
    mxp__json_object(&json, NULL);
    mxp__json_u64(&json, "pid", view->source->pid);
    mxp__json_u64(&json, "lost", view->lost);
    if (view->whole_from_ns != INT64_MIN) {
        mxp__json_i64(&json, "owners_exact_from_ns", view->whole_from_ns);
    }
    mxp__json_u64(&json, "system_calls", view->memory.system_calls);
    mxp__json_u64(&json, "system_ns", view->memory.system_ns);
    mxp__json_array(&json, "devices");
    for (size_t i = 0; i < view->memory.count && error == 0; i++) {
        error = put_device(view, view->memory.devices[i], &json);
    }
    mxp__json_end(&json);
    mxp__json_end(&json);
    return error;
}
