// SPDX-License-Identifier: Apache-2.0
// Rows are found by a hash of what is equal in their calls: operator, scope, shapes, and the cost
// that the program has told. Rows whose hashes are equal have keys that follow one another.
#include "profiler/analysis/roof/roof.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/id_map.h"
#include "profiler/analysis/window/record_times.h"

typedef struct row_place {
    uint64_t key;
    size_t row;
} row_place;

typedef struct roof_pass {
    mxp_source *source;
    const mxp_choice *choice;
    mxp_id_map places;
    bool *is_idle;  // by name id: does no work of a step
    size_t near;  // step of the operator before
    mxp_roof *roof;
} roof_pass;

static const char memory_for[] = "the operators beside their ceilings";

// ---- rows --------------------------------------------------------------------------------------
static bool is_of(const mxp_roof_row *row, const mxp_event *event, const mxp_operator_view *view)
{
    return row->name == event->name && row->scope == view->scope && row->shape == view->shape &&
           row->flops == view->flops && row->bytes == view->bytes;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const mxp_event *event, const mxp_operator_view *view)
{
    uint32_t cost[2];
    memcpy(&cost[0], &view->flops, sizeof cost[0]);
    memcpy(&cost[1], &view->bytes, sizeof cost[1]);
    uint64_t hash = mix(event->name, (uint64_t)view->scope << 32 | view->shape);
    return mix(hash, (uint64_t)cost[0] << 32 | cost[1]);
}

static int add_row(roof_pass *pass, uint64_t key, const mxp_event *event,
                   const mxp_operator_view *view, mxp_roof_row **row)
{
    mxp_roof *roof = pass->roof;
    if (mxp__grow(&roof->rows, &roof->row_capacity, roof->row_count + 1, sizeof *roof->rows) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    row_place *place = mxp__id_map_add(&pass->places, key);
    if (place == NULL) {
        return mxp__fail_memory(memory_for);
    }
    place->row = roof->row_count++;
    *row = &roof->rows[place->row];
    mxp_name_view name = pass->source->name(pass->source, event->name);
    **row = (mxp_roof_row){.name = event->name,
                           .scope = view->scope,
                           .shape = view->shape,
                           .kernel = (uint32_t)event->flags >> MXP_OP_FAMILY_SHIFT & 3,
                           .family = mxp__family_of(name.text),
                           .flops = view->flops,
                           .bytes = view->bytes};
    return MXP_OK;
}

// *row is null where there is no room for one more.
static int find_row(roof_pass *pass, const mxp_event *event, const mxp_operator_view *view,
                    mxp_roof_row **row)
{
    uint64_t key = hash_of(event, view);
    for (;; key++) {
        key += key == 0;
        const row_place *place = mxp__id_map_find(&pass->places, key);
        if (place == NULL) {
            *row = NULL;
            return pass->roof->row_count < MXP__ROOF_ROWS_MAX ? add_row(pass, key, event, view, row)
                                                              : MXP_OK;
        }
        if (is_of(&pass->roof->rows[place->row], event, view)) {
            *row = &pass->roof->rows[place->row];
            return MXP_OK;
        }
    }
}

// A figure that a program told: not negative, and a number.
static float sound(float value)
{
    return isfinite(value) && value > 0 ? value : 0;
}

// The parent of a bulk stands for its members, unless it did their work: then it has their cost.
// Members without time of their own have none to be compared.
static bool is_looked_at(roof_pass *pass, const mxp_event *event, const mxp_operator_view *view)
{
    const uint32_t flags = event->flags;
    bool is_empty_parent =
        (flags & MXP_OP_BULK_PARENT) != 0 && view->flops == 0 && view->bytes == 0;
    bool is_idle = pass->is_idle != NULL && event->name < pass->source->name_count &&
                   pass->is_idle[event->name];
    return !is_empty_parent && !is_idle &&
           (flags & (MXP_OP_SHARED | MXP_OP_FAILED | MXP_OP_ASYNC)) == 0 &&
           mxp__choice_takes_near(pass->choice, view->push_ticks, event->begin_ns, &pass->near);
}

static int add_operator(roof_pass *pass, const mxp_event *event)
{
    mxp_operator_view view;
    mxp__event_operator(event, &view);
    view.flops = sound(view.flops);
    view.bytes = sound(view.bytes);
    if (!is_looked_at(pass, event, &view)) {
        return MXP_OK;
    }
    mxp_roof_row *row;
    int error = find_row(pass, event, &view, &row);
    if (error != MXP_OK) {
        return error;
    }
    uint64_t ns = (uint64_t)(event->end_ns - event->begin_ns);
    if (row == NULL) {
        pass->roof->left_out_calls++;
        pass->roof->left_out_ns += ns;
    } else {
        row->calls++;
        row->run_ns += ns;
    }
    pass->roof->run_ns += ns;
    return MXP_OK;
}

// ---- ceilings ----------------------------------------------------------------------------------
// The smallest level that holds `bytes`, of those whose bandwidth was measured. L1 and L2 are each
// core's.
static mxp_ceiling level_of(const mxp_ceilings *ceilings, double bytes)
{
    const mxp_machine *machine = &ceilings->machine;
    for (int i = 0; i < MXP__CEILING_LEVELS; i++) {
        double size = (double)machine->cache_bytes[i] * (i < 2 ? machine->cores : 1);
        if (bytes <= size && ceilings->all[MXP__CEILING_L1 + i].rate > 0) {
            return (mxp_ceiling)(MXP__CEILING_L1 + i);
        }
    }
    return MXP__CEILING_MEMORY;
}

static bool has_text(const mxp_source *source, uint32_t id, const char *text)
{
    return id != 0 && strstr(source->name(source, id).text, text) != NULL;
}

double mxp__roof_least_ns(const mxp_source *source, const mxp_ceilings *ceilings,
                          const mxp_roof_call *call, mxp_ceiling *bound)
{
    bool is_double = has_text(source, call->shape, "float64");
    mxp_ceiling unit = is_double ? MXP__CEILING_F64 : MXP__CEILING_F32;
    mxp_ceiling level = level_of(ceilings, sound(call->bytes));
    double rate = ceilings->all[unit].rate, bandwidth = ceilings->all[level].rate;
    double flops_ns = rate > 0 ? sound(call->flops) / rate * 1e9 : 0;
    double bytes_ns = bandwidth > 0 ? sound(call->bytes) / bandwidth * 1e9 : 0;
    *bound = flops_ns > bytes_ns ? unit : level;
    return flops_ns > bytes_ns ? flops_ns : bytes_ns;
}

static void compare_row(const mxp_source *source, const mxp_ceilings *ceilings, mxp_roof_row *row)
{
    const mxp_roof_call call = {.shape = row->shape, .flops = row->flops, .bytes = row->bytes};
    row->least_ns = mxp__roof_least_ns(source, ceilings, &call, &row->bound);
    row->is_known = row->least_ns > 0 && row->run_ns > 0;
    if (row->is_known) {
        double run_ns = (double)row->run_ns, least_ns = row->least_ns * (double)row->calls;
        row->share = least_ns / run_ns;
        row->above_ns = run_ns > least_ns ? run_ns - least_ns : 0;
    }
}

// ---- groups ------------------------------------------------------------------------------------
static int by_group(const void *a, const void *b)
{
    const mxp_roof_row *left = a, *right = b;
    if (left->name != right->name) {
        return left->name < right->name ? -1 : 1;
    }
    if (left->scope != right->scope) {
        return left->scope < right->scope ? -1 : 1;
    }
    if (left->above_ns != right->above_ns) {
        return left->above_ns > right->above_ns ? -1 : 1;
    }
    return (left->run_ns < right->run_ns) - (left->run_ns > right->run_ns);
}

static int make_groups(mxp_roof *roof)
{
    if (roof->row_count > 0) {
        qsort(roof->rows, roof->row_count, sizeof *roof->rows, by_group);
    }
    for (size_t i = 0; i < roof->row_count; i++) {
        const mxp_roof_row *row = &roof->rows[i];
        mxp_roof_group *group =
            roof->group_count == 0 ? NULL : &roof->groups[roof->group_count - 1];
        if (group == NULL || group->name != row->name || group->scope != row->scope) {
            if (mxp__grow(&roof->groups, &roof->group_capacity, roof->group_count + 1,
                          sizeof *roof->groups) != MXP_OK) {
                return mxp__fail_memory(memory_for);
            }
            group = &roof->groups[roof->group_count++];
            *group = (mxp_roof_group){.name = row->name, .scope = row->scope, .first = i};
        }
        group->count++;
        group->calls += row->calls;
        group->run_ns += row->run_ns;
        if (row->is_known) {
            group->known_run_ns += row->run_ns;
            group->least_ns += row->least_ns * (double)row->calls;
            group->above_ns += row->above_ns;
        }
    }
    return MXP_OK;
}

static void judge(mxp_roof *roof)
{
    for (size_t i = 0; i < roof->row_count; i++) {
        const mxp_roof_row *row = &roof->rows[i];
        if (row->is_known) {
            roof->known_run_ns += row->run_ns;
            roof->worst = row->share > roof->rows[roof->worst].share ? i : roof->worst;
            roof->is_void = roof->is_void || row->share > MXP__ROOF_VOID;
        }
    }
}

double mxp__roof_gain_ns(const mxp_roof_group *group)
{
    double share = group->known_run_ns == 0 ? 0 : group->above_ns / (double)group->run_ns;
    return share * (double)(group->has_path ? group->path_ns : group->run_ns);
}

static int by_gain(const void *a, const void *b)
{
    const mxp_roof_group *left = a, *right = b;
    double l = mxp__roof_gain_ns(left), r = mxp__roof_gain_ns(right);
    if (l != r) {
        return l > r ? -1 : 1;
    }
    if (left->above_ns != right->above_ns) {
        return left->above_ns > right->above_ns ? -1 : 1;
    }
    return (left->run_ns < right->run_ns) - (left->run_ns > right->run_ns);
}

void mxp__roof_sort(mxp_roof *roof)
{
    if (roof->group_count > 0) {
        qsort(roof->groups, roof->group_count, sizeof *roof->groups, by_gain);
    }
}

// ---- the pass ----------------------------------------------------------------------------------
// A lean span whose times are plain is sound, and nothing that is looked for.
static bool is_passed_over(const mxp_plain_clock *clock, const uint64_t *words)
{
    mxp_span_times times;
    return mxp__is_lean_span_head(words) && mxp__span_times_at(clock, words, &times);
}

static int read_range(roof_pass *pass, const mxp_record_range *range)
{
    mxp_decoder decoder;
    mxp_event event;
    int found, added = MXP_OK;
    mxp__decoder_begin(&decoder, pass->source->timebase, range);
    mxp_plain_clock clock = mxp__plain_clock_of(&decoder);
    do {
        while (range->end - decoder.at >= 2 && is_passed_over(&clock, decoder.at)) {
            decoder.at += 2;
        }
        found = mxp__decoder_next(&decoder, &event);
        clock = mxp__plain_clock_of(&decoder);
        added = found == 1 && event.kind == MXP_KIND_OPERATOR ? add_operator(pass, &event) : MXP_OK;
    } while (added == MXP_OK && found == 1);
    return added != MXP_OK ? added : found;
}

// Sums do not need the order of time, which would take three times as long.
static int read_all(roof_pass *pass)
{
    mxp_source *source = pass->source;
    mxp_record_range range;
    int found, error = MXP_OK;
    for (size_t i = 0; (found = source->range(source, i, &range)) != 0; i++) {
        const int read = found == 1 ? read_range(pass, &range) : found;
        if (read < 0 && read != MXP_EFORMAT) {
            return read;
        }
        error = read < 0 ? read : error;
    }
    return error;
}

int mxp__roof_make(mxp_source *process, const mxp_choice *choice, const mxp_ceilings *ceilings,
                   mxp_roof *roof)
{
    *roof = (mxp_roof){0};
    roof_pass pass = {.source = process,
                      .choice = choice,
                      .places = {.entry_bytes = sizeof(row_place)},
                      .is_idle = mxp__idle_operators(process),
                      .roof = roof};
    if (pass.is_idle == NULL && process->name_count > 0) {
        return mxp__fail_memory(memory_for);
    }
    int error = read_all(&pass);
    mxp__id_map_fini(&pass.places);
    mxp__free(pass.is_idle, process->name_count);
    for (size_t i = 0; i < roof->row_count; i++) {
        compare_row(process, ceilings, &roof->rows[i]);
    }
    int made = make_groups(roof);
    judge(roof);
    mxp__roof_sort(roof);
    return made != MXP_OK ? made : error;
}

void mxp__roof_fini(mxp_roof *roof)
{
    mxp__free(roof->rows, roof->row_capacity * sizeof *roof->rows);
    mxp__free(roof->groups, roof->group_capacity * sizeof *roof->groups);
    *roof = (mxp_roof){0};
}
