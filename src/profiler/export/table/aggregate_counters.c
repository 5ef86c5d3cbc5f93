// SPDX-License-Identifier: Apache-2.0
// Counters and memory: last, smallest and largest value, and the mean weighted by the time in which
// recording was on. The mean needs the samples of all threads in the order of time. All threads are
// drained at one time, so the order continues from drain to drain. One exception: samples of a
// thread that did not answer the last drain come late. Such a sample is counted and may be the
// smallest or largest value, but it is not the last one and has no weight in the mean.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/device_name.h"
#include "base/fail.h"
#include "profiler/export/api_calls.h"
#include "profiler/export/table/aggregate_state.h"
#include "profiler/trace/reader.h"

// ---- time -------------------------------------------------------------------------------------
static int64_t active_at(const mxp_activity *activity, int64_t ns)
{
    bool counts = !activity->is_off && ns > activity->since_ns;
    return activity->active_ns + (counts ? ns - activity->since_ns : 0);
}

void mxp__activity_change(mxp_activity *activity, int64_t ns, uint64_t state)
{
    activity->active_ns = active_at(activity, ns);
    activity->since_ns = ns > activity->since_ns ? ns : activity->since_ns;
    activity->is_off = state != MXP_STATE_RUN && state != MXP_STATE_RESUME;
}

// ---- values -----------------------------------------------------------------------------------
double mxp__number_double(mxp_number number, uint32_t type)
{
    switch (type) {
    case MXP_ARG_F64:
        return number.f64;
    case MXP_ARG_I64:
        return (double)number.i64;
    default:
        return (double)number.u64;
    }
}

static bool is_less(mxp_number a, mxp_number b, uint32_t type)
{
    switch (type) {
    case MXP_ARG_F64:
        return a.f64 < b.f64;
    case MXP_ARG_I64:
        return a.i64 < b.i64;
    default:
        return a.u64 < b.u64;
    }
}

// Converts a row to doubles: the counter was recorded with two types, and only a double holds both.
static void make_double(mxp_counter_row *row)
{
    mxp_number *values[] = {&row->last, &row->least, &row->most};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        values[i]->f64 = mxp__number_double(*values[i], row->value_type);
    }
    row->value_type = MXP_ARG_F64;
}

void mxp__counter_sample(mxp_counter_row *row, const mxp_activity *activity, int64_t ns,
                         mxp_number value, uint32_t type)
{
    int64_t active_ns = active_at(activity, ns);
    if (row->count == 0) {
        row->value_type = type;
        row->first = mxp__number_double(value, type);
        row->least = row->most = value;
        row->first_active_ns = row->last_active_ns = active_ns;
    } else if (type != row->value_type) {
        value.f64 = mxp__number_double(value, type);
        make_double(row);
        type = MXP_ARG_F64;
    }
    row->least = is_less(value, row->least, type) ? value : row->least;
    row->most = is_less(row->most, value, type) ? value : row->most;
    if (row->count++ > 0 && ns < row->last_ns) {
        return;
    }
    if (active_ns > row->last_active_ns) {
        double last = mxp__number_double(row->last, row->value_type);
        row->integral += (last - row->first) * (double)(active_ns - row->last_active_ns);
        row->last_active_ns = active_ns;
    }
    row->last = value;
    row->last_ns = ns;
}

void mxp__counter_follow(mxp_counter_row *row, const mxp_activity *activity, int64_t ns,
                         mxp_number value, uint32_t type)
{
    bool is_late = row->count > 0 && ns < row->last_ns;
    mxp__counter_sample(row, activity, is_late ? row->last_ns : ns, value, type);
}

double mxp__counter_mean(const mxp_counter_row *row, const mxp_activity *activity, int64_t now_ns)
{
    double last = mxp__number_double(row->last, row->value_type);
    int64_t active_ns = active_at(activity, now_ns);
    active_ns = active_ns > row->last_active_ns ? active_ns : row->last_active_ns;
    double weight = (double)(active_ns - row->first_active_ns);
    if (row->count == 1 || !(weight > 0)) {
        return last;
    }
    double sum = row->integral + (last - row->first) * (double)(active_ns - row->last_active_ns);
    double mean = row->first + sum / weight;
    double least = mxp__number_double(row->least, row->value_type);
    double most = mxp__number_double(row->most, row->value_type);
    return mean < least ? least : mean > most ? most : mean;  // rounding
}

// ---- rows -------------------------------------------------------------------------------------
void mxp__counter_table_clear(mxp_counter_table *table)
{
    for (size_t id = 0; id < table->count; id++) {
        if (table->rows[id] != NULL) {
            mxp__label_fini(&table->rows[id]->label);
            mxp__label_fini(&table->rows[id]->renamed);
            mxp__free(table->rows[id], sizeof *table->rows[id]);
        }
    }
    mxp__free(table->rows, table->capacity * sizeof *table->rows);
    *table = (mxp_counter_table){0};
}

mxp_counter_row *mxp__counter_find_or_add(mxp_counter_table *table, uint32_t id)
{
    size_t needed = (size_t)id + 1;
    if (needed > table->count) {
        if (mxp__grow(&table->rows, &table->capacity, needed, sizeof *table->rows) != MXP_OK) {
            return NULL;
        }
        memset(table->rows + table->count, 0, (needed - table->count) * sizeof *table->rows);
        table->count = needed;
    }
    if (table->rows[id] == NULL) {
        table->rows[id] = mxp__alloc(sizeof *table->rows[id]);
    }
    return table->rows[id];
}

static int row_of_name(mxp_aggregate *aggregate, const mxp_source *source, uint32_t name,
                       mxp_counter_row **found)
{
    uint32_t id = mxp__known_name(source, name);
    mxp_counter_row *row = *found = mxp__counter_find_or_add(&aggregate->counters, id);
    if (row == NULL) {
        return mxp__fail_memory("the aggregate statistics");
    }
    if (row->label.text == NULL) {
        row->unit = source->name(source, name).unit;
        return mxp__label_of_name(&row->label, source, name, "");
    }
    return MXP_OK;
}

static int add_counter(mxp_aggregate *aggregate, const mxp_source *source, const mxp_event *event)
{
    if (event->phase == MXP_ARG_F64 && !isfinite(event->value.f64)) {
        return MXP_OK;  // infinite or NaN: it has no place in a mean
    }
    mxp_counter_row *row;
    int error = row_of_name(aggregate, source, event->name, &row);
    if (error != MXP_OK) {
        return error;
    }
    uint32_t type =
        event->phase == MXP_ARG_F64 || event->phase == MXP_ARG_I64 ? event->phase : MXP_ARG_U64;
    mxp__counter_sample(row, &aggregate->activity, event->begin_ns,
                        (mxp_number){.u64 = event->value.u64}, type);
    return MXP_OK;
}

static int device_row(mxp_aggregate *aggregate, uint32_t device, mxp_counter_row **found)
{
    static const char section[] = "Device Storage";
    mxp_counter_row *row = *found = mxp__counter_find_or_add(&aggregate->devices, device);
    if (row == NULL) {
        return mxp__fail_memory("the aggregate statistics");
    }
    if (row->label.text == NULL) {
        char name[32] = "Memory: ";
        mxp__device_name(device, name + strlen(name), MXP__DEVICE_NAME_CHARS);
        row->unit = MXP_UNIT_BYTES;
        return mxp__label_make(&row->label, section, sizeof section - 1, name, strlen(name));
    }
    return MXP_OK;
}

static int add_memory(mxp_aggregate *aggregate, const mxp_event *event)
{
    mxp_memory_view memory;
    mxp__event_memory(event, &memory);
    mxp_counter_row *row;
    int error = device_row(aggregate, memory.device, &row);
    if (error != MXP_OK) {
        return error;
    }
    mxp__counter_sample(row, &aggregate->activity, event->begin_ns,
                        (mxp_number){.u64 = memory.live_bytes}, MXP_ARG_U64);
    return MXP_OK;
}

// Appends samples that their thread has summed already: they follow all that the row has.
static void append(mxp_counter_row *row, const mxp_counter_view *view, int64_t drained_active_ns,
                   int64_t drained_ns)
{
    mxp_counter_row more = {.value_type = view->type,
                            .last.u64 = view->last,
                            .least.u64 = view->least,
                            .most.u64 = view->most};
    int64_t from_ns = drained_active_ns - view->first_age_ns;
    int64_t to_ns = drained_active_ns - view->last_age_ns;
    if (row->count == 0) {
        row->value_type = view->type;
        row->first = view->first;
        row->least = more.least;
        row->most = more.most;
        row->first_active_ns = row->last_active_ns = from_ns;
    } else if (row->value_type != view->type) {
        make_double(row);
        make_double(&more);
    }
    double last = row->count > 0 ? mxp__number_double(row->last, row->value_type) : row->first;
    row->integral += (last - row->first) * (double)(from_ns - row->last_active_ns) +
                     view->integral + (view->first - row->first) * (double)(to_ns - from_ns);
    row->least = is_less(more.least, row->least, row->value_type) ? more.least : row->least;
    row->most = is_less(row->most, more.most, row->value_type) ? more.most : row->most;
    row->last = more.last;
    row->last_active_ns = to_ns;
    row->last_ns = drained_ns - view->last_age_ns;
    row->count += view->count;
}

int mxp__aggregate_counter_views(mxp_aggregate *aggregate, const mxp_source *source)
{
    int64_t active_ns = active_at(&aggregate->activity, source->drained_ns);
    for (size_t i = 0; i < source->counter_count; i++) {
        const mxp_counter_view *view = &source->counters[i];
        mxp_counter_row *row;
        int error = (view->name & MXP_COUNTER_OF_DEVICE) != 0
                        ? device_row(aggregate, view->name & 0xff, &row)
                        : row_of_name(aggregate, source, view->name, &row);
        if (error != MXP_OK) {
            return error;
        }
        append(row, view, active_ns, source->drained_ns);
    }
    return MXP_OK;
}

static int add_event(mxp_aggregate *aggregate, const mxp_source *source, const mxp_event *event)
{
    if (event->end_ns > aggregate->latest_ns && mxp__event_clock(event) == MXP_CLOCK_TRACE) {
        aggregate->latest_ns = event->end_ns;
    }
    switch (event->kind) {
    case MXP_KIND_COUNTER:
        return add_counter(aggregate, source, event);
    case MXP_KIND_MEMORY:
        return add_memory(aggregate, event);
    case MXP_KIND_META:
        if (event->phase == MXP_META_STATE) {
            mxp__activity_change(&aggregate->activity, event->begin_ns, event->value.u64);
        }
        return MXP_OK;
    default:
        return MXP_OK;
    }
}

// ---- API calls --------------------------------------------------------------------------------
enum { ROW_CALLS, ROW_CONCURRENCY, API_ROWS };

typedef struct api_state {
    mxp_api_stream *stream;
    mxp_api_change next;  // if `found` is 1
    int found;  // what the stream returned last
    uint64_t calls_before;  // in earlier sources
} api_state;

static int add_api_sample(mxp_aggregate *aggregate, uint32_t id, int64_t ns, uint64_t value)
{
    static const char *const names[API_ROWS] = {MXP__API_CALLS, MXP__API_CONCURRENCY};
    mxp_counter_row *row = mxp__counter_find_or_add(&aggregate->api, id);
    if (row == NULL) {
        return mxp__fail_memory("the aggregate statistics");
    }
    if (row->label.text == NULL) {
        int error = mxp__label_make(&row->label, MXP__API_CATEGORY, strlen(MXP__API_CATEGORY),
                                    names[id], strlen(names[id]));
        if (error != MXP_OK) {
            return error;
        }
    }
    mxp__counter_follow(row, &aggregate->activity, ns, (mxp_number){.u64 = value}, MXP_ARG_U64);
    return MXP_OK;
}

// Adds the changes up to `until_ns`.
static int add_api(mxp_aggregate *aggregate, api_state *api, int64_t until_ns)
{
    int error = MXP_OK;
    while (api->found == 1 && api->next.ns <= until_ns && error == MXP_OK) {
        if (!api->next.is_end) {
            aggregate->api_calls = api->calls_before + api->next.calls;
            error = add_api_sample(aggregate, ROW_CALLS, api->next.ns, aggregate->api_calls);
        }
        if (error == MXP_OK) {
            error = add_api_sample(aggregate, ROW_CONCURRENCY, api->next.ns, api->next.open);
        }
        api->found = mxp__api_stream_next(api->stream, &api->next);
    }
    return error;
}

static int begin_api(mxp_aggregate *aggregate, mxp_source *source, api_state *api)
{
    *api = (api_state){.calls_before = aggregate->api_calls};
    if (!aggregate->has_api) {
        return MXP_OK;
    }
    int error = mxp__api_stream_open(source, NULL, &api->stream);
    if (error == MXP_OK) {
        api->found = mxp__api_stream_next(api->stream, &api->next);
    }
    return error;
}

// ---- all of it --------------------------------------------------------------------------------
static int add_events(mxp_aggregate *aggregate, mxp_source *source, api_state *api)
{
    mxp_reader *reader;
    mxp_event event;
    int error = mxp__reader_open(source, &reader);
    if (error != MXP_OK) {
        return error;
    }
    while ((error = mxp__reader_next(reader, &event)) == 1) {
        error = add_api(aggregate, api, event.begin_ns);
        if (error == MXP_OK) {
            error = add_event(aggregate, source, &event);
        }
        if (error != MXP_OK) {
            break;
        }
    }
    mxp__reader_close(reader);
    int rest =
        error == MXP_OK || error == MXP_EFORMAT ? add_api(aggregate, api, INT64_MAX) : MXP_OK;
    return rest != MXP_OK ? rest : error;
}

int mxp__aggregate_counters(mxp_aggregate *aggregate, mxp_source *source)
{
    api_state api;
    int error = begin_api(aggregate, source, &api);
    if (error == MXP_OK) {
        error = add_events(aggregate, source, &api);
    }
    mxp__api_stream_close(api.stream);
    return error;
}
