// SPDX-License-Identifier: Apache-2.0
// One reading for steps, one for their paths, one for the operators: of a step are those that were
// pushed in it, wherever they ran.
#include "profiler/analysis/comparison/compared_run.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/strbuf.h"
#include "profiler/analysis/comparison/run_settings.h"
#include "profiler/analysis/path/path.h"
#include "profiler/export/scope_path.h"

typedef struct row_cache {
    mxp_id_map ids;  // of row_ids
    mxp_row_keys *keys;
    mxp_row_sums *sums;
} row_cache;

typedef struct run_reader {
    mxp_source *source;
    const mxp_choice_wish *wish;  // or null
    mxp_steps steps;
    mxp_step_window whole;  // the recording, where there are no steps
    bool *chosen;  // by step
    mxp_compared_rows *rows;
    mxp_compared_run *run;
    row_cache path_cache, operator_cache, shape_cache;
    mxp_strbuf scope, name, shape;
} run_reader;

static int no_memory(void)
{
    return mxp__fail_memory("the figures of a run");
}

// ---- steps -------------------------------------------------------------------------------------
static bool is_wished(const mxp_choice_wish *wish, const mxp_step_window *step)
{
    if (wish == NULL || wish->steps != MXP_STEPS_RANGE) {
        return mxp__step_is_plain(step);
    }
    return step->number >= wish->first && step->number <= wish->last && !step->is_open &&
           !step->has_loss && !step->has_pause;
}

static int choose_steps(run_reader *reader)
{
    mxp_steps *steps = &reader->steps;
    mxp_compared_run *run = reader->run;
    run->has_steps = steps->count > 0;
    run->length_capacity = run->has_steps ? steps->count : 1;
    reader->chosen = mxp__alloc(run->length_capacity * sizeof(bool));
    run->lengths_ns = mxp__alloc(run->length_capacity * sizeof(double));
    run->step_cpu_ns = mxp__alloc(run->length_capacity * sizeof(double));
    if (reader->chosen == NULL || run->lengths_ns == NULL || run->step_cpu_ns == NULL) {
        return no_memory();
    }
    for (size_t i = 0; i < steps->count; i++) {
        const mxp_step_window *step = &steps->all[i];
        reader->chosen[i] = is_wished(reader->wish, step);
        run->first_run_steps += step->is_first_run && !reader->chosen[i];
        run->marred_steps += !step->is_open && (step->has_loss || step->has_pause);
    }
    return MXP_OK;
}

// The recording as its one step.
static void make_whole(run_reader *reader)
{
    mxp_steps *steps = &reader->steps;
    reader->whole = (mxp_step_window){.begin_ns = steps->first_ns,
                                      .mark_ns = steps->first_ns,
                                      .end_ns = steps->last_ns,
                                      .cpu_ns = MXP__NOT_RECORDED,
                                      .run_delay_ns = MXP__NOT_RECORDED};
    reader->chosen[0] = steps->last_ns > steps->first_ns;
}

static double mean_of(double sum, size_t count)
{
    return count == 0 ? -1 : sum / (double)count;
}

static int sum_steps(run_reader *reader)
{
    mxp_compared_run *run = reader->run;
    const mxp_step_window *all = run->has_steps ? reader->steps.all : &reader->whole;
    const size_t count = run->has_steps ? reader->steps.count : 1;
    double cpu = 0, delay = 0;
    size_t delay_steps = 0;
    for (size_t i = 0; i < count; i++) {
        if (!reader->chosen[i]) {
            continue;
        }
        const int64_t length_ns = all[i].end_ns - all[i].begin_ns;
        run->lengths_ns[run->step_count++] = (double)length_ns;
        run->total_ns += length_ns;
        if (all[i].cpu_ns != MXP__NOT_RECORDED) {
            cpu += (double)all[i].cpu_ns;
            run->step_cpu_ns[run->cpu_count++] = (double)all[i].cpu_ns;
        }
        if (all[i].run_delay_ns != MXP__NOT_RECORDED) {
            delay += (double)all[i].run_delay_ns;
            delay_steps++;
        }
    }
    run->mean_ns = mean_of((double)run->total_ns, run->step_count);
    run->cpu_ns = mean_of(cpu, run->cpu_count);
    run->delay_ns = mean_of(delay, delay_steps);
    if (run->step_count == 0) {
        return mxp__fail(MXP_EINVAL, "'%s' has no step that is whole: %s", run->path,
                         run->has_steps ? "all have losses or pauses, or other numbers"
                                        : "nothing is recorded");
    }
    return MXP_OK;
}

// ---- rows --------------------------------------------------------------------------------------
static const char *put_name(run_reader *reader, mxp_strbuf *out, uint32_t id)
{
    mxp__strbuf_clear(out);
    const mxp_name_view view = reader->source->name(reader->source, id);
    mxp__strbuf_append(out, view.text, view.length);
    return mxp__strbuf_text(out);
}

static const char *put_scope(run_reader *reader, uint32_t id)
{
    mxp__strbuf_clear(&reader->scope);
    mxp__scope_path(reader->source, id, &reader->scope);
    return mxp__strbuf_text(&reader->scope);
}

// Which row a file's ids stand for, so that texts are made once.
typedef struct row_ids {
    uint64_t key;
    uint32_t scope, name, third;  // third: kind of a piece, or the shape
    size_t place;
} row_ids;

static uint64_t ids_key(const row_ids *ids)
{
    uint64_t key = ids->scope;
    key = (key ^ key >> 31) * UINT64_C(0x9e3779b97f4a7c15) + ids->name;
    key = (key ^ key >> 31) * UINT64_C(0x9e3779b97f4a7c15) + ids->third;
    key = (key ^ key >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    return key == 0 ? 1 : key;
}

static int find_by_text(run_reader *reader, mxp_row_keys *keys, const row_ids *ids, size_t *place)
{
    mxp_row_key key = {.kind = "", .shape = ""};
    key.scope = put_scope(reader, ids->scope);
    key.name = put_name(reader, &reader->name, ids->name);
    if (keys == &reader->rows->path) {
        key.kind = mxp__path_kind_name((int)ids->third);
    } else if (keys == &reader->rows->shapes) {
        key.shape = put_name(reader, &reader->shape, ids->third);
    }
    return reader->scope.failed || reader->name.failed || reader->shape.failed
               ? no_memory()
               : mxp__row_keys_add(keys, &key, place);
}

static int add_row(run_reader *reader, row_cache *cache, row_ids ids, int64_t ns)
{
    ids.key = ids_key(&ids);
    row_ids *known = mxp__id_map_find(&cache->ids, ids.key);
    if (known == NULL || known->scope != ids.scope || known->name != ids.name ||
        known->third != ids.third) {
        int error = find_by_text(reader, cache->keys, &ids, &ids.place);
        known = error == MXP_OK ? mxp__id_map_add(&cache->ids, ids.key) : NULL;
        if (known == NULL) {
            return error == MXP_OK ? no_memory() : error;
        }
        *known = ids;
    }
    return mxp__row_sums_add(cache->sums, known->place, ns, 1);
}

static int add_piece(run_reader *reader, const mxp_graph *graph, const mxp_path_piece *piece)
{
    const bool has_op = piece->op != MXP__NO_OP;
    const row_ids ids = {.scope = has_op ? graph->ops[piece->op].scope : 0,
                         .name = has_op ? graph->ops[piece->op].name : piece->name,
                         .third = piece->kind};
    return add_row(reader, &reader->path_cache, ids, piece->to_ns - piece->from_ns);
}

static int add_path(void *context, const mxp_graph *graph, const mxp_steps *steps, size_t step,
                    const mxp_path *path)
{
    (void)steps;
    (void)step;
    run_reader *reader = context;
    int error = MXP_OK;
    for (size_t i = 0; i < path->count && error == MXP_OK; i++) {
        error = add_piece(reader, graph, &path->pieces[i]);
    }
    reader->run->contradictions += path->contradictions;
    return error;
}

// The recording as one step, given to what takes those of steps. Thread 0 may be a worker; without
// operators there is none, and it is mostly the program's first.
static int read_path(run_reader *reader, uint64_t limit_bytes)
{
    if (reader->run->has_steps) {
        return mxp__path_steps(reader->source, &reader->steps, reader->chosen, limit_bytes,
                               add_path, reader);
    }
    mxp_steps one = reader->steps;
    one.all = &reader->whole;
    one.count = 1;
    one.thread = reader->run->has_operators ? MXP__PATH_ANY_THREAD : one.thread;
    return mxp__path_steps(reader->source, &one, NULL, limit_bytes, add_path, reader);
}

// ---- operators ---------------------------------------------------------------------------------
static bool is_in_chosen_step(const run_reader *reader, uint64_t ticks)
{
    if (!reader->run->has_steps) {
        return true;
    }
    const size_t step = mxp__steps_of(&reader->steps, ticks);
    return step != SIZE_MAX && reader->chosen[step];
}

static int add_operator(run_reader *reader, const mxp_event *event)
{
    mxp_operator_view view;
    mxp__event_operator(event, &view);
    const bool is_idle =
        event->name < reader->source->name_count && reader->steps.index.idle[event->name];
    if ((event->flags & MXP_OP_BULK_PARENT) != 0 || is_idle ||
        !is_in_chosen_step(reader, view.push_ticks)) {
        return MXP_OK;
    }
    const int64_t run_ns = event->end_ns - event->begin_ns;
    row_ids ids = {.scope = view.scope, .name = event->name};
    int error = add_row(reader, &reader->operator_cache, ids, run_ns);
    ids.third = view.shape;
    return error == MXP_OK ? add_row(reader, &reader->shape_cache, ids, run_ns) : error;
}

// Spans that nest on the steps' thread take the place of operators where there are none.
static int add_span(run_reader *reader, const mxp_event *event)
{
    if (event->thread != reader->steps.thread || event->lane != 0 ||
        mxp__event_clock(event) != MXP_CLOCK_TRACE ||
        reader->source->name(reader->source, event->name).style != MXP_STYLE_SPAN ||
        !is_in_chosen_step(reader, event->begin_ticks)) {
        return MXP_OK;
    }
    return add_row(reader, &reader->operator_cache, (row_ids){.name = event->name},
                   event->end_ns - event->begin_ns);
}

static int read_range(run_reader *reader, const mxp_record_range *range)
{
    const bool has_operators = reader->run->has_operators;
    mxp_decoder decoder;
    mxp_event event;
    int error = MXP_OK;
    mxp__decoder_begin(&decoder, reader->source->timebase, range);
    while (error == MXP_OK && mxp__decoder_next(&decoder, &event) == 1) {
        if (has_operators && mxp__event_is_operator(&event)) {
            error = add_operator(reader, &event);
        } else if (!has_operators && event.kind == MXP_KIND_SPAN) {
            error = add_span(reader, &event);
        }
    }
    return error;
}

static int read_operators(run_reader *reader)
{
    mxp_record_range range;
    int error = MXP_OK, found;
    for (size_t i = 0;
         error == MXP_OK && (found = reader->source->range(reader->source, i, &range)) != 0; i++) {
        if (found == MXP_EFORMAT) {
            continue;  // damaged; the others are read
        }
        error = found < 0 ? found : read_range(reader, &range);
    }
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
static row_cache cache_of(mxp_row_keys *keys, mxp_row_sums *sums)
{
    return (row_cache){.ids = {.entry_bytes = sizeof(row_ids)}, .keys = keys, .sums = sums};
}

static void reader_init(run_reader *reader)
{
    reader->path_cache = cache_of(&reader->rows->path, &reader->run->path_rows);
    reader->operator_cache = cache_of(&reader->rows->operators, &reader->run->operators);
    reader->shape_cache = cache_of(&reader->rows->shapes, &reader->run->shapes);
}

static void reader_fini(run_reader *reader)
{
    mxp__free(reader->chosen, reader->run->length_capacity * sizeof(bool));
    mxp__steps_fini(&reader->steps);
    mxp__id_map_fini(&reader->path_cache.ids);
    mxp__id_map_fini(&reader->operator_cache.ids);
    mxp__id_map_fini(&reader->shape_cache.ids);
    mxp__strbuf_fini(&reader->scope);
    mxp__strbuf_fini(&reader->name);
    mxp__strbuf_fini(&reader->shape);
}

static int read_all(run_reader *reader, uint64_t limit_bytes)
{
    int error = choose_steps(reader);
    if (error == MXP_OK && !reader->run->has_steps) {
        make_whole(reader);
    }
    if (error == MXP_OK) {
        error = sum_steps(reader);
    }
    if (error == MXP_OK) {
        error = read_path(reader, limit_bytes);
    }
    if (error == MXP_OK) {
        error = read_operators(reader);
    }
    return error == MXP_OK ? mxp__run_settings_read(reader->source, reader->run) : error;
}

int mxp__compared_run_read(mxp_source *process, const char *path, const mxp_choice_wish *wish,
                           uint64_t limit_bytes, mxp_compared_rows *rows, mxp_compared_run *run)
{
    *run = (mxp_compared_run){.path = path};
    run_reader reader = {.source = process, .wish = wish, .rows = rows, .run = run};
    reader_init(&reader);
    int error = mxp__steps_find(process, &reader.steps);
    if (error == MXP_OK) {
        const mxp_timebase *timebase = process->timebase;
        run->began_ns = mxp__timebase_is_dated(timebase) ? timebase->points[0].realtime_ns : 0;
        run->has_operators = reader.steps.operators > 0;
        run->unread_ranges = reader.steps.unread_ranges;
        run->other_marks = reader.steps.other_marks;
        error = read_all(&reader, limit_bytes);
    }
    reader_fini(&reader);
    if (error != MXP_OK) {
        mxp__compared_run_fini(run);
    }
    return error;
}
