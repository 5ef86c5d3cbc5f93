// SPDX-License-Identifier: Apache-2.0
// `mxprof roof --json`: the ceilings, and every row; rates in operations and bytes a second, times
// in ns.
#include "roof_shown.h"
#include "text/json_writer.h"

static void put_name(const mxp_roof_shown *shown, const char *key, uint32_t id, mxp_json *json)
{
    mxp_name_view name = shown->source->name(shown->source, id);
    mxp__json_bytes(json, key, name.text, name.length);
}

static void put_rates(const char *key, const mxp_ceiling_rate *rates, mxp_json *json)
{
    mxp__json_object(json, key);
    for (int i = 0; i < MXP__CEILINGS; i++) {
        if (rates[i].rate > 0) {
            mxp__json_row(json, mxp__ceiling_name((mxp_ceiling)i));
            mxp__json_number(json, "rate", rates[i].rate);
            mxp__json_number(json, "best", rates[i].best);
            mxp__json_number(json, "median", rates[i].median);
            mxp__json_end(json);
        }
    }
    mxp__json_end(json);
}

static void put_ceilings(const mxp_ceilings *ceilings, const char *key, mxp_json *json)
{
    mxp__json_object(json, key);
    mxp__json_text(json, "cpu", ceilings->machine.cpu);
    mxp__json_u64(json, "cores", ceilings->machine.cores);
    mxp__json_text(json, "kernel", ceilings->machine.kernel);
    mxp__json_text(json, "version", ceilings->machine.version);
    mxp__json_list(json, "cache_bytes");
    for (int i = 0; i < MXP__CEILING_LEVELS; i++) {
        mxp__json_u64(json, NULL, ceilings->machine.cache_bytes[i]);
    }
    mxp__json_end(json);
    mxp__json_u64(json, "vector_bytes", ceilings->vector_bytes);
    put_rates("one_thread", ceilings->one, json);
    put_rates("all_threads", ceilings->all, json);
    mxp__json_end(json);
}

void mxp__ceilings_json(const mxp_ceilings *ceilings, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    put_ceilings(ceilings, NULL, &json);
}

static void put_row(const mxp_roof_shown *shown, const mxp_roof_row *row, mxp_json *json)
{
    static const char *const kernels[] = {"unknown", "own", "oneDNN", "reference"};
    mxp__json_row(json, NULL);
    put_name(shown, "shape", row->shape, json);
    mxp__json_text(json, "family", mxp__family_name(row->family));
    mxp__json_text(json, "kernel", kernels[row->kernel]);
    mxp__json_u64(json, "calls", row->calls);
    mxp__json_u64(json, "run_ns", row->run_ns);
    mxp__json_number(json, "flops", (double)row->flops);
    mxp__json_number(json, "bytes", (double)row->bytes);
    if (row->is_known) {
        mxp__json_text(json, "ceiling", mxp__ceiling_name(row->bound));
        mxp__json_number(json, "least_ns", row->least_ns);
    }
    if (row->is_known && !shown->roof.is_void) {
        mxp__json_number(json, "share", row->share);
        mxp__json_number(json, "above_ns", row->above_ns);
    } else {
        mxp__json_null(json, "share");
    }
    mxp__json_end(json);
}

static void put_group(const mxp_roof_shown *shown, const mxp_roof_group *group, mxp_json *json)
{
    mxp__json_object(json, NULL);
    put_name(shown, "operator", group->name, json);
    put_name(shown, "scope", group->scope, json);
    mxp__json_u64(json, "calls", group->calls);
    mxp__json_u64(json, "run_ns", group->run_ns);
    if (group->has_path) {
        mxp__json_u64(json, "path_ns", group->path_ns);
    }
    if (group->known_run_ns > 0 && !shown->roof.is_void) {
        mxp__json_number(json, "share", group->least_ns / (double)group->known_run_ns);
        mxp__json_number(json, "above_ns", group->above_ns);
        mxp__json_number(json, "gain_ns", mxp__roof_gain_ns(group));
    } else {
        mxp__json_null(json, "share");
    }
    mxp__json_array(json, "rows");
    for (size_t i = 0; i < group->count; i++) {
        put_row(shown, &shown->roof.rows[group->first + i], json);
    }
    mxp__json_end(json);
    mxp__json_end(json);
}

void mxp__roof_json(const mxp_roof_shown *shown, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    mxp__json_object(&json, NULL);
    mxp__json_u64(&json, "pid", shown->source->pid);
    put_ceilings(&shown->ceilings, "ceilings", &json);
    mxp__json_bool(&json, "is_void", shown->roof.is_void);
    if (shown->choice.steps != NULL) {
        mxp__json_u64(&json, "steps", shown->choice.step_count);
    }
    mxp__json_u64(&json, "run_ns", shown->roof.run_ns);
    mxp__json_u64(&json, "known_run_ns", shown->roof.known_run_ns);
    mxp__json_array(&json, "operators");
    for (size_t i = 0; i < shown->roof.group_count; i++) {
        if (mxp__roof_takes(shown, &shown->roof.groups[i])) {
            put_group(shown, &shown->roof.groups[i], &json);
        }
    }
    mxp__json_end(&json);
    mxp__json_end(&json);
}
