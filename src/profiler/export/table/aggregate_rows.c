// SPDX-License-Identifier: Apache-2.0
// Rows in print order.
#include <stdlib.h>
#include <string.h>

#include <mxprof/profiler.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/export/export.h"
#include "profiler/export/table/aggregate_state.h"

// Collects rows; the first lack of memory stops it.
typedef struct row_list {
    mxp_aggregate *into;  // its scratch takes them
    mxp_aggregate *aggregate;  // whose rows are being collected: the same, or another process's
    int sort_by, ascending;
    size_t count;
    int error;
} row_list;

// ---- collecting -------------------------------------------------------------------------------
static double key_of(const mxp_row *row, const row_list *list)
{
    const double time_scale =
        row->is_counter || row->unit == MXP_UNIT_BYTES ? 1 : 1e-6;  // as it is printed
    double key;
    switch (list->sort_by) {
    case MXP_SORT_AVG:
        key = row->avg * time_scale;
        break;
    case MXP_SORT_MIN:
        key = row->min * time_scale;
        break;
    case MXP_SORT_MAX:
        key = row->max * time_scale;
        break;
    case MXP_SORT_COUNT:
        key = (double)row->count;
        break;
    default:
        key = row->total * time_scale;
    }
    return list->ascending ? key : -key;
}

static void add_row(row_list *list, const mxp_row *row)
{
    mxp_aggregate *into = list->into;
    if (list->error != MXP_OK) {
        return;
    }
    if (mxp__grow(&into->sorted, &into->sorted_capacity, list->count + 1, sizeof *into->sorted) !=
        0) {
        list->error = mxp__fail_memory("the rows of the table");
        return;
    }
    into->sorted[list->count++] = (mxp_sorted_row){.row = *row, .pid = list->aggregate->pid};
}

mxp_row mxp__row_labelled(const mxp_label *label)
{
    return (mxp_row){.section = label->text,
                     .section_length = label->section_length,
                     .name = label->text + label->section_length + 1,
                     .name_length = label->name_length};
}

static void add_durations(row_list *list, const mxp_duration_table *table)
{
    for (size_t id = 0; id < table->count; id++) {
        if (table->rows[id] == NULL || table->rows[id]->histogram.count == 0) {
            continue;
        }
        const mxp_histogram *histogram = &table->rows[id]->histogram;
        mxp_row row = mxp__row_labelled(&table->rows[id]->label);
        row.count = histogram->count;
        row.total = (double)histogram->total;
        row.min = (double)histogram->min;
        row.max = (double)histogram->max;
        row.avg = row.total / (double)row.count;
        row.histogram = histogram;
        row.unit = table->rows[id]->unit;
        row.value_type = MXP_ARG_U64;
        row.last.u64 = histogram->total;
        row.least.u64 = histogram->min;
        row.most.u64 = histogram->max;
        add_row(list, &row);
    }
}

// A counter and spans may have one name; JSON has no room for two members of one name.
static const mxp_label *other_label(row_list *list, mxp_counter_row *counter)
{
    if (counter->renamed.text == NULL) {
        const mxp_label *label = &counter->label;
        mxp_strbuf name = {0};
        mxp__strbuf_append(&name, label->text + label->section_length + 1, label->name_length);
        mxp__strbuf_puts(&name, " (counter)");
        int error = name.failed ? mxp__fail_memory("the rows of the table")
                                : mxp__label_make(&counter->renamed, label->text,
                                                  label->section_length, name.data, name.length);
        mxp__strbuf_fini(&name);
        list->error = list->error != MXP_OK ? list->error : error;
    }
    return counter->renamed.text != NULL ? &counter->renamed : &counter->label;
}

// `durations`: of the same ids, null if there are none.
static void add_counters(row_list *list, const mxp_counter_table *table,
                         const mxp_duration_table *durations, int64_t now_ns)
{
    for (size_t id = 0; id < table->count; id++) {
        mxp_counter_row *counter = table->rows[id];
        if (counter == NULL || counter->count == 0) {
            continue;
        }
        bool is_shared = durations != NULL && mxp__duration_find(durations, (uint32_t)id) != NULL;
        mxp_row row = mxp__row_labelled(is_shared ? other_label(list, counter) : &counter->label);
        row.is_counter = 1;
        row.count = counter->count;
        row.total = mxp__number_double(counter->last, counter->value_type);
        row.min = mxp__number_double(counter->least, counter->value_type);
        row.max = mxp__number_double(counter->most, counter->value_type);
        row.avg = mxp__counter_mean(counter, &list->aggregate->activity, now_ns);
        row.value_type = counter->value_type;
        row.unit = counter->unit;
        row.last = counter->last;
        row.least = counter->least;
        row.most = counter->most;
        add_row(list, &row);
    }
}

// ---- order ------------------------------------------------------------------------------------
static int compare_bytes(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

static int is_uncovered(const mxp_row *row)
{
    return row->section_length == strlen(MXP__UNCOVERED) &&
           memcmp(row->section, MXP__UNCOVERED, strlen(MXP__UNCOVERED)) == 0;
}

static int compare_sections(const mxp_row *a, const mxp_row *b)
{
    int order = is_uncovered(a) - is_uncovered(b);
    return order != 0 ? order
                      : compare_bytes(a->section, a->section_length, b->section, b->section_length);
}

static int compare_rows(const void *a, const void *b)
{
    const mxp_sorted_row *left = a, *right = b;
    int order = compare_sections(&left->row, &right->row);
    if (order == 0 && left->key != right->key) {
        order = left->key < right->key ? -1 : 1;
    }
    if (order == 0) {
        order = compare_bytes(left->row.name, left->row.name_length, right->row.name,
                              right->row.name_length);
    }
    return order != 0 ? order : left->row.is_counter - right->row.is_counter;
}

int mxp__compare_labels(const mxp_row *a, const mxp_row *b)
{
    int order = compare_sections(a, b);
    if (order == 0) {
        order = compare_bytes(a->name, a->name_length, b->name, b->name_length);
    }
    return order != 0 ? order : a->is_counter - b->is_counter;
}

static bool is_memory_section(const mxp_row *row)
{
    static const char *const names[] = {"Device Storage", "Pool Memory"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (compare_bytes(row->section, row->section_length, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

// A section is printed as memory if it has the name and nothing but counters.
static void mark_memory(mxp_row *rows, size_t count)
{
    for (size_t begin = 0, end; begin < count; begin = end) {
        bool is_memory = is_memory_section(&rows[begin]);
        for (end = begin; end < count && compare_sections(&rows[begin], &rows[end]) == 0; end++) {
            is_memory = is_memory && rows[end].is_counter;
        }
        for (size_t i = begin; i < end; i++) {
            rows[i].is_memory = is_memory;
        }
    }
}

static int collect_process(row_list *list, int64_t now_ns)
{
    mxp_aggregate *aggregate = list->aggregate;
    now_ns = now_ns > aggregate->latest_ns ? now_ns : aggregate->latest_ns;
    if (mxp__steps_are_mixed(aggregate)) {
        return MXP_OK;
    }
    if (aggregate->group == MXP_GROUP_STEP) {
        const mxp_row *steps;
        size_t step_count;
        int error = mxp__step_rows(aggregate, &steps, &step_count);
        if (error != MXP_OK) {
            return error;
        }
        for (size_t i = 0; i < step_count; i++) {
            add_row(list, &steps[i]);
        }
    }
    add_durations(list, &aggregate->durations);
    add_durations(list, &aggregate->outside);
    add_durations(list, &aggregate->uncovered);
    for (size_t phase = 0; phase < MXP__PHASES; phase++) {
        add_durations(list, &aggregate->phases[phase]);
    }
    add_counters(list, &aggregate->counters, &aggregate->durations, now_ns);
    add_counters(list, &aggregate->devices, NULL, now_ns);
    add_counters(list, &aggregate->api, NULL, now_ns);
    add_counters(list, &aggregate->owners, NULL, now_ns);
    return list->error;
}

// A further process's counters run up to its own end.
static int collect(row_list *list, int64_t now_ns)
{
    mxp_process_tables *processes = list->into->processes;
    int error = collect_process(list, now_ns);
    for (size_t i = 0; processes != NULL && error == MXP_OK; i++) {
        list->aggregate = mxp__processes_get(processes, i);
        if (list->aggregate == NULL) {
            return mxp__processes_combine(processes, list->into->sorted, &list->count);
        }
        error = collect_process(list, INT64_MIN);
    }
    return error;
}

void mxp__aggregate_rows_free(mxp_aggregate *aggregate)
{
    mxp__free(aggregate->sorted, aggregate->sorted_capacity * sizeof *aggregate->sorted);
    mxp__free(aggregate->rows, aggregate->rows_capacity * sizeof *aggregate->rows);
}

int mxp__aggregate_rows(mxp_aggregate *aggregate, int sort_by, int ascending, int64_t now_ns,
                        const mxp_row **rows, size_t *count)
{
    row_list list = {
        .into = aggregate, .aggregate = aggregate, .sort_by = sort_by, .ascending = ascending};
    int error = collect(&list, now_ns);
    if (error == MXP_OK && mxp__grow(&aggregate->rows, &aggregate->rows_capacity, list.count,
                                     sizeof *aggregate->rows) != 0) {
        error = mxp__fail_memory("the rows of the table");
    }
    if (error != MXP_OK) {
        return error;
    }
    for (size_t i = 0; i < list.count; i++) {
        aggregate->sorted[i].key = key_of(&aggregate->sorted[i].row, &list);
    }
    if (list.count > 1) {
        qsort(aggregate->sorted, list.count, sizeof *aggregate->sorted, compare_rows);
    }
    for (size_t i = 0; i < list.count; i++) {
        aggregate->rows[i] = aggregate->sorted[i].row;
    }
    mark_memory(aggregate->rows, list.count);
    aggregate->row_count = list.count;
    *rows = aggregate->rows;
    *count = list.count;
    return MXP_OK;
}

// ---- percentiles ------------------------------------------------------------------------------
static const struct {
    const char *name;
    double fraction;
} percentiles[MXP__PERCENTILES] = {{"P50", 0.50}, {"P90", 0.90}, {"P99", 0.99}};

const char *mxp__percentile_name(int percentile)
{
    return percentiles[percentile].name;
}

double mxp__percentile_fraction(int percentile)
{
    return percentiles[percentile].fraction;
}

uint64_t mxp__row_percentile(const mxp_row *row, int percentile)
{
    return row->exact != NULL
               ? row->exact[percentile]
               : mxp__histogram_quantile(row->histogram, percentiles[percentile].fraction);
}

// All rows anew, for the selection's sake. Printing them makes the samples of steps.
static int select_once(int group, mxp_source *source, mxp_selection *selection)
{
    mxp_aggregate *aggregate;
    const mxp_row *rows;
    size_t count;
    int error = mxp__aggregate_create(group, &aggregate);
    if (error != MXP_OK) {
        return error;
    }
    aggregate->selects = selection;
    error = mxp__aggregate_add(aggregate, source);
    if (error == MXP_OK || error == MXP_EFORMAT) {  // damage: as when the rows were made
        error = mxp__aggregate_rows(aggregate, MXP_SORT_TOTAL, 0, INT64_MIN, &rows, &count);
    }
    mxp__aggregate_destroy(aggregate);
    return error;
}

int mxp__aggregate_exact(mxp_aggregate *aggregate, mxp_source *source)
{
    mxp__selection_destroy(aggregate->exact);
    mxp_selection *selection = mxp__selection_create(aggregate->rows, aggregate->row_count);
    aggregate->exact = selection;
    int error = selection != NULL ? MXP_OK : MXP_ENOMEM;
    int more = 1;
    while (error == MXP_OK && (more = mxp__selection_begin(selection)) == 1) {
        error = select_once(aggregate->group, source, selection);
        mxp__selection_end(selection);
    }
    error = more < 0 ? more : error;
    for (size_t i = 0; i < aggregate->row_count && error == MXP_OK; i++) {
        aggregate->rows[i].exact = mxp__selection_result(selection, i);
    }
    return error;
}
