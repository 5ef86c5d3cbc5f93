// SPDX-License-Identifier: Apache-2.0
// The tables of several processes, and how they become one.
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/export/table/aggregate_state.h"

// What a row in print order holds beyond the tables of one process.
typedef struct own_row {
    struct own_row *next;
    mxp_histogram histogram;
    mxp_label label;
} own_row;

struct mxp_process_tables {
    mxp_aggregate **tables;
    size_t count, capacity;
    own_row *own;
};

static const char memory_for[] = "the statistics of several processes";

static void free_own(mxp_process_tables *processes)
{
    while (processes->own != NULL) {
        own_row *own = processes->own;
        processes->own = own->next;
        mxp__label_fini(&own->label);
        mxp__free(own, sizeof *own);
    }
}

void mxp__processes_destroy(mxp_process_tables *processes)
{
    if (processes == NULL) {
        return;
    }
    for (size_t i = 0; i < processes->count; i++) {
        mxp__aggregate_destroy(processes->tables[i]);
    }
    free_own(processes);
    mxp__free(processes->tables, processes->capacity * sizeof(mxp_aggregate *));
    mxp__free(processes, sizeof *processes);
}

mxp_aggregate *mxp__processes_get(const mxp_process_tables *processes, size_t i)
{
    return i < processes->count ? processes->tables[i] : NULL;
}

static int add_one(mxp_process_tables *processes, const mxp_aggregate *first, mxp_source *source)
{
    if (mxp__grow(&processes->tables, &processes->capacity, processes->count + 1,
                  sizeof(mxp_aggregate *)) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    mxp_aggregate *made;
    int error = mxp__aggregate_create(first->group, &made);
    if (error != MXP_OK) {
        return error;
    }
    made->selects = first->selects;
    processes->tables[processes->count++] = made;
    error = mxp__aggregate_add(made, source);
    const mxp_timebase *timebase = source->timebase;
    if (timebase->point_count > 0) {
        int64_t end_ns =
            mxp__timebase_ns(timebase, timebase->points[timebase->point_count - 1].ticks);
        made->latest_ns = end_ns > made->latest_ns ? end_ns : made->latest_ns;
    }
    return error;
}

int mxp__processes_add(mxp_aggregate *aggregate, const mxp_source *source)
{
    if (aggregate->processes == NULL) {
        aggregate->processes = mxp__alloc(sizeof *aggregate->processes);
    }
    if (aggregate->processes == NULL) {
        return mxp__fail_memory(memory_for);
    }
    int damage = MXP_OK;
    for (size_t i = 1; i < source->process_count; i++) {
        int error = add_one(aggregate->processes, aggregate, source->processes[i]);
        if (error == MXP_EFORMAT) {
            damage = error;
        } else if (error != MXP_OK) {
            return error;
        }
    }
    return damage;
}

// ---- rows --------------------------------------------------------------------------------------
static own_row *make_own(mxp_process_tables *processes)
{
    own_row *own = mxp__alloc(sizeof *own);
    if (own == NULL) {
        mxp__fail_memory(memory_for);
        return NULL;
    }
    own->next = processes->own;
    processes->own = own;
    return own;
}

// Adds the durations of `count` rows of one name to the first one.
static int add_up(mxp_process_tables *processes, mxp_sorted_row *rows, size_t count)
{
    mxp_row *sum = &rows[0].row;
    bool has_histograms = true;
    for (size_t i = 0; i < count; i++) {
        has_histograms = has_histograms && rows[i].row.histogram != NULL;
    }
    own_row *own = has_histograms ? make_own(processes) : NULL;
    if (has_histograms && own == NULL) {
        return MXP_ENOMEM;
    }
    if (own != NULL) {
        own->histogram = *sum->histogram;
    }
    for (size_t i = 1; i < count; i++) {
        const mxp_row *row = &rows[i].row;
        sum->count += row->count;
        sum->total += row->total;
        sum->min = row->min < sum->min ? row->min : sum->min;
        sum->max = row->max > sum->max ? row->max : sum->max;
        sum->last.u64 += row->last.u64;
        sum->least.u64 = row->least.u64 < sum->least.u64 ? row->least.u64 : sum->least.u64;
        sum->most.u64 = row->most.u64 > sum->most.u64 ? row->most.u64 : sum->most.u64;
        if (own != NULL) {
            mxp__histogram_merge(&own->histogram, row->histogram);
        }
    }
    sum->avg = sum->total / (double)sum->count;
    sum->histogram = own != NULL ? &own->histogram : NULL;
    return MXP_OK;
}

static int name_process(mxp_process_tables *processes, mxp_sorted_row *sorted)
{
    mxp_row *row = &sorted->row;
    own_row *own = make_own(processes);
    if (own == NULL) {
        return MXP_ENOMEM;
    }
    mxp_strbuf name = {0};
    mxp__strbuf_append(&name, row->name, row->name_length);
    mxp__strbuf_printf(&name, " [%" PRIu32 "]", sorted->pid);
    int error = name.failed ? mxp__fail_memory(memory_for)
                            : mxp__label_make(&own->label, row->section, row->section_length,
                                              name.data, name.length);
    mxp__strbuf_fini(&name);
    if (error == MXP_OK) {
        row->section = own->label.text;
        row->name = own->label.text + own->label.section_length + 1;
        row->name_length = own->label.name_length;
    }
    return error;
}

static int compare(const void *a, const void *b)
{
    const mxp_sorted_row *left = a, *right = b;
    int order = mxp__compare_labels(&left->row, &right->row);
    return order != 0 ? order : (left->pid > right->pid) - (left->pid < right->pid);
}

int mxp__processes_combine(mxp_process_tables *processes, mxp_sorted_row *rows, size_t *count)
{
    free_own(processes);
    if (*count > 1) {
        qsort(rows, *count, sizeof *rows, compare);
    }
    size_t kept = 0;
    int error = MXP_OK;
    for (size_t begin = 0, end; begin < *count && error == MXP_OK; begin = end) {
        for (end = begin + 1; end < *count; end++) {
            if (mxp__compare_labels(&rows[begin].row, &rows[end].row) != 0) {
                break;
            }
        }
        bool is_shared = end - begin > 1;
        if (is_shared && !rows[begin].row.is_counter) {
            error = add_up(processes, &rows[begin], end - begin);
            rows[kept++] = rows[begin];
            continue;
        }
        for (size_t i = begin; i < end && error == MXP_OK; i++) {
            error = is_shared ? name_process(processes, &rows[i]) : MXP_OK;
            rows[kept++] = rows[i];
        }
    }
    *count = kept;
    return error;
}
