// SPDX-License-Identifier: Apache-2.0
// The aggregate by name: spans and operators are summed range by range, in no order of time. The
// loop is a table look-up and a histogram a span. What needs order is in aggregate_counters.c,
// aggregate_scopes.c and aggregate_steps.c.
#include "profiler/export/table/aggregate.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/export/api_calls.h"
#include "profiler/export/export.h"
#include "profiler/export/table/aggregate_state.h"

static const char memory_for[] = "the aggregate statistics";

// ---- labels and rows --------------------------------------------------------------------------
int mxp__label_make(mxp_label *label, const char *section, size_t section_length, const char *name,
                    size_t name_length)
{
    *label = (mxp_label){mxp__alloc(section_length + name_length + 2), section_length, name_length};
    if (label->text == NULL) {
        return mxp__fail_memory(memory_for);
    }
    memcpy(label->text, section, section_length);
    memcpy(label->text + section_length + 1, name, name_length);
    return MXP_OK;
}

void mxp__label_fini(mxp_label *label)
{
    mxp__free(label->text, label->section_length + label->name_length + 2);
    label->text = NULL;
}

int mxp__label_of_name(mxp_label *label, const mxp_source *source, uint32_t id, const char *suffix)
{
    mxp_name_view view = source->name(source, id);
    mxp_name_view category = source->name(source, view.category);
    mxp_strbuf section = {0};
    if (category.length > 0) {
        mxp__strbuf_append(&section, category.text, category.length);
    } else {
        mxp__strbuf_puts(&section, "user");
    }
    mxp__strbuf_puts(&section, suffix);
    int error = section.failed
                    ? mxp__fail_memory(memory_for)
                    : mxp__label_make(label, section.data, section.length, view.text, view.length);
    mxp__strbuf_fini(&section);
    return error;
}

mxp_duration_row *mxp__duration_add(const mxp_aggregate *aggregate, mxp_duration_table *table,
                                    uint32_t id, mxp_label *label)
{
    size_t needed = (size_t)id + 1;
    mxp_duration_row *row = mxp__alloc(sizeof *row);
    if (row == NULL ||
        mxp__grow(&table->rows, &table->capacity, needed, sizeof *table->rows) != MXP_OK) {
        mxp__free(row, sizeof *row);
        mxp__label_fini(label);
        mxp__fail_memory(memory_for);
        return NULL;
    }
    if (needed > table->count) {
        memset(table->rows + table->count, 0, (needed - table->count) * sizeof *table->rows);
        table->count = needed;
    }
    mxp__histogram_init(&row->histogram);
    row->label = *label;
    if (aggregate->selects != NULL) {
        mxp_row labels = mxp__row_labelled(label);
        row->selected = mxp__selection_find(aggregate->selects, &labels);
    }
    table->rows[id] = row;
    return row;
}

void mxp__duration_table_clear(mxp_duration_table *table)
{
    for (size_t id = 0; id < table->count; id++) {
        if (table->rows[id] != NULL) {
            mxp__label_fini(&table->rows[id]->label);
            mxp__free(table->rows[id], sizeof *table->rows[id]);
        }
    }
    mxp__free(table->rows, table->capacity * sizeof *table->rows);
    *table = (mxp_duration_table){0};
}

uint32_t mxp__known_name(const mxp_source *source, uint32_t id)
{
    return id < source->name_count ? id : source->name_count;
}

int mxp__each_record(mxp_source *source, mxp_record_visit visit, void *context)
{
    int damage = MXP_OK;
    mxp_record_range range;
    int found;
    for (size_t number = 0; (found = source->range(source, number, &range)) != 0; number++) {
        if (found == MXP_EFORMAT) {
            damage = found;
            continue;
        }
        if (found < 0) {
            return found;
        }
        mxp_decoder decoder;
        mxp_event event;
        int next;
        mxp__decoder_begin(&decoder, source->timebase, &range);
        while ((next = mxp__decoder_next(&decoder, &event)) == 1) {
            int error = visit(context, &event);
            if (error != MXP_OK) {
                return error;
            }
        }
        damage = next < 0 ? next : damage;
    }
    return damage;
}

// ---- by name ----------------------------------------------------------------------------------
// What the first pass found that the second one is for.
typedef struct name_pass {
    mxp_aggregate *aggregate;
    mxp_source *source;
    bool has_counters, has_state;
    uint64_t state;  // the last
    int64_t state_ns;
} name_pass;

static mxp_duration_row *row_of_name(name_pass *pass, uint32_t id)
{
    mxp_duration_table *table = &pass->aggregate->durations;
    uint32_t known = mxp__known_name(pass->source, id);
    mxp_duration_row *row = mxp__duration_find(table, known);
    mxp_label label;
    if (row != NULL || mxp__label_of_name(&label, pass->source, id, "") != MXP_OK) {
        return row;
    }
    if (mxp__is_api_name(pass->source, id)) {
        pass->aggregate->has_api = true;
    }
    return mxp__duration_add(pass->aggregate, table, known, &label);
}

static void note_other(name_pass *pass, const mxp_event *event)
{
    if (event->kind == MXP_KIND_COUNTER || event->kind == MXP_KIND_MEMORY) {
        pass->has_counters = true;
    } else if (event->kind == MXP_KIND_META && event->phase == MXP_META_STATE &&
               (!pass->has_state || event->begin_ns >= pass->state_ns)) {
        pass->has_state = true;
        pass->state = event->value.u64;
        pass->state_ns = event->begin_ns;
    }
}

// Durations of lean spans straight from their words, for as long as they lie within the decoder's
// segment of the clock. With begin b and duration d in ticks since the segment's start, end minus
// begin in ns is floor((b + d) m / 2^32) - floor(b m / 2^32) = (d m + (b m mod 2^32)) / 2^32: to
// the nanosecond what the decoder says, by two small multiplications instead of two wide ones.
typedef struct lean_clock {
    uint64_t base;  // of the range
    uint64_t base_past;  // from the segment's start to it
    uint64_t limit;  // spans must end at most this long after the segment's start
    uint64_t mult;  // at most 2^32, so that d * mult and the rest fit 64 bits
    uint32_t start_low;
    bool usable;
} lean_clock;

static lean_clock lean_clock_of(const mxp_decoder *decoder)
{
    uint64_t start = decoder->clock.ticks0;
    uint64_t start_past = start - decoder->ticks_min;
    uint64_t limit = decoder->ticks_range - start_past;
    return (lean_clock){
        .base = decoder->range.base_ticks,
        .base_past = decoder->range.base_ticks - start,
        .limit = limit < decoder->clock_range ? limit : decoder->clock_range,
        .mult = decoder->clock.mult,
        .start_low = (uint32_t)start,
        .usable = decoder->clock.mult <= UINT64_C(1) << 32 && start_past <= decoder->ticks_range,
    };
}

// Adds lean spans from `at` on and returns where the first record stands that needs more.
static const uint64_t *add_lean_spans(const mxp_duration_table *table, const lean_clock *clock,
                                      const uint64_t *at, const uint64_t *end)
{
    mxp_duration_row *const *rows = table->rows;
    const size_t row_count = table->count;
    const lean_clock now = *clock;
    for (; end - at >= 2; at += 2) {
        uint64_t stamp = at[0] >> 16, duration = at[1] >> 32;
        uint32_t name = (uint32_t)at[1];
        uint64_t distance = (stamp + duration - now.base) << 16;
        uint64_t end_past = now.base_past + (uint64_t)((int64_t)distance >> 16);
        if ((at[0] & 0xffff) != (MXP_KIND_SPAN | 1 << 8) || end_past > now.limit ||
            end_past < duration || name >= row_count || rows[name] == NULL) {
            break;
        }
        uint32_t begin_rest = ((uint32_t)stamp - now.start_low) * (uint32_t)now.mult;
        mxp__histogram_add(&rows[name]->histogram, (duration * now.mult + begin_rest) >> 32);
    }
    return at;
}

// mxp__each_record with its visit written out: this is the loop that the speed depends on.
static int add_range(name_pass *pass, const mxp_record_range *range)
{
    const mxp_duration_table *table = &pass->aggregate->durations;
    mxp_decoder decoder;
    mxp_event event;
    int found;
    mxp__decoder_begin(&decoder, pass->source->timebase, range);
    for (;;) {
        lean_clock clock = lean_clock_of(&decoder);
        if (clock.usable && pass->aggregate->selects == NULL) {
            decoder.at = add_lean_spans(table, &clock, decoder.at, decoder.range.end);
        }
        if ((found = mxp__decoder_next(&decoder, &event)) != 1) {
            return found;
        }
        if (event.kind != MXP_KIND_SPAN && event.kind != MXP_KIND_OPERATOR) {
            note_other(pass, &event);
            continue;
        }
        mxp_duration_row *row = row_of_name(pass, event.name);
        if (row == NULL) {
            return MXP_ENOMEM;
        }
        mxp__duration_note(row, (uint64_t)(event.end_ns - event.begin_ns));
    }
}

static int add_ranges(name_pass *pass)
{
    int damage = MXP_OK;
    mxp_record_range range;
    int found;
    for (size_t number = 0; (found = pass->source->range(pass->source, number, &range)) != 0;
         number++) {
        int error = found == 1 ? add_range(pass, &range) : found;
        if (error == MXP_EFORMAT) {
            damage = error;
        } else if (error != MXP_OK) {
            return error;
        }
    }
    return damage;
}

// Statistics that the recorder gathered without a trace.
static int add_statistics(name_pass *pass)
{
    for (size_t i = 0; i < pass->source->stats_count; i++) {
        const mxp_stats_view *view = &pass->source->stats[i];
        mxp_duration_row *row = row_of_name(pass, view->name);
        if (row == NULL) {
            return MXP_ENOMEM;
        }
        row->unit = pass->source->name(pass->source, view->name).unit;
        mxp__histogram_merge(&row->histogram, view->histogram);
    }
    return MXP_OK;
}

static bool has_rows(const mxp_counter_table *table)
{
    return table->count > 0;
}

static int add_by_name(mxp_aggregate *aggregate, mxp_source *source)
{
    name_pass pass = {.aggregate = aggregate, .source = source};
    int error = add_ranges(&pass);
    int damage = error == MXP_EFORMAT ? error : MXP_OK;
    if (error == MXP_OK || damage != MXP_OK) {
        error = add_statistics(&pass);
    }
    if (error == MXP_OK && aggregate->selects == NULL) {
        bool counters_run = has_rows(&aggregate->counters) || has_rows(&aggregate->devices);
        if (pass.has_counters || aggregate->has_api || (pass.has_state && counters_run)) {
            error = mxp__aggregate_counters(aggregate, source);
        } else if (pass.has_state) {
            mxp__activity_change(&aggregate->activity, pass.state_ns, pass.state);
        }
    }
    if (error == MXP_OK && aggregate->selects == NULL) {
        error = mxp__aggregate_counter_views(aggregate, source);
    }
    return error != MXP_OK ? error : damage;
}

// ---- the aggregate ----------------------------------------------------------------------------
int mxp__aggregate_create(int group, mxp_aggregate **aggregate)
{
    *aggregate = mxp__alloc(sizeof **aggregate);
    if (*aggregate == NULL) {
        return mxp__fail_memory(memory_for);
    }
    (*aggregate)->group = group;
    (*aggregate)->latest_ns = INT64_MIN;
    return MXP_OK;
}

void mxp__aggregate_reset(mxp_aggregate *aggregate)
{
    mxp__duration_table_clear(&aggregate->durations);
    mxp__duration_table_clear(&aggregate->outside);
    mxp__duration_table_clear(&aggregate->uncovered);
    for (size_t phase = 0; phase < MXP__PHASES; phase++) {
        mxp__duration_table_clear(&aggregate->phases[phase]);
    }
    mxp__counter_table_clear(&aggregate->counters);
    mxp__counter_table_clear(&aggregate->devices);
    mxp__counter_table_clear(&aggregate->api);
    mxp__counter_table_clear(&aggregate->owners);
    aggregate->has_api = false;
    mxp__processes_destroy(aggregate->processes);
    aggregate->processes = NULL;
    mxp__step_state_destroy(aggregate->steps);
    aggregate->steps = NULL;
}

void mxp__aggregate_destroy(mxp_aggregate *aggregate)
{
    if (aggregate == NULL) {
        return;
    }
    mxp__aggregate_reset(aggregate);
    mxp__scope_state_destroy(aggregate->scopes);
    mxp__owner_state_destroy(aggregate->owner_state);
    mxp__aggregate_rows_free(aggregate);
    mxp__selection_destroy(aggregate->exact);
    mxp__free(aggregate, sizeof *aggregate);
}

static int add_process(mxp_aggregate *aggregate, mxp_source *source)
{
    aggregate->pid = source->pid;
    switch (aggregate->group) {
    case MXP_GROUP_SCOPE:
        return mxp__aggregate_scopes(aggregate, source);
    case MXP_GROUP_STEP:
        return mxp__aggregate_steps(aggregate, source);
    default:
        return add_by_name(aggregate, source);
    }
}

int mxp__aggregate_add(mxp_aggregate *aggregate, mxp_source *source)
{
    int error = add_process(aggregate, source);
    if (source->process_count < 2 || (error != MXP_OK && error != MXP_EFORMAT)) {
        return error;
    }
    int others = mxp__processes_add(aggregate, source);
    return others != MXP_OK ? others : error;
}

bool mxp__aggregate_mixed_steps(const mxp_aggregate *aggregate, size_t n, uint32_t *pid)
{
    if (n > 0) {
        aggregate =
            aggregate->processes == NULL ? NULL : mxp__processes_get(aggregate->processes, n - 1);
    }
    if (aggregate == NULL || !mxp__steps_are_mixed(aggregate)) {
        return false;
    }
    *pid = aggregate->pid;
    return true;
}
