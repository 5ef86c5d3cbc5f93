// SPDX-License-Identifier: Apache-2.0
// Random programs of ten thousand operations, one thread's or several's: what the profile says of
// operators, API calls and memory is what the engine counts, what the pool counts, and what the
// programs themselves count.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "engine_work.h"
#include "live_events.h"
#include "profiler/export/export.h"
#include "profiler/recorder/recorder.h"
#include "random_program.h"
#include "rows.h"
#include "runtime/storage/storage.h"
#include "runtime/tensor/tensor.h"

enum { STEPS = 10000, THREADS = 3, DEVICE = 0, OWNERS = 64, OLDER_BYTES = 4000 };

typedef struct counts {
    mxn_engine_counts engine;
    mxn_storage_counts storage;
} counts;

static counts counts_now(void)
{
    counts now;
    mxn_engine_counts_get(&now.engine);
    mxn_storage_counts_get(DEVICE, &now.storage);
    return now;
}

typedef struct fixture {
    program_result results[THREADS];
    int threads;
    counts before, quiet, after;  // quiet: nothing pending, the arrays are still there
    mxn_owner owners[OWNERS];  // then
    int owner_count;
    live_events live;
} fixture;

static void look(const program_result *result, void *context)
{
    (void)result;
    fixture *f = context;
    f->quiet = counts_now();
    f->owner_count = mxn_storage_owners(DEVICE, f->owners, OWNERS);
}

// Memory that the profiler has not seen being allocated.
static mxn_array *older_array(void)
{
    static const int64_t dims[] = {OLDER_BYTES / sizeof(float)};
    mxn_shape shape;
    mxn_array *array = NULL;
    assert_int_equal(mxn_shape_set(&shape, 1, dims, "test"), 0);
    assert_int_equal(mxn_array_new(&shape, 0, (mxn_context){MXN_CPU, DEVICE}, NULL, false, &array),
                     0);
    return array;
}

typedef struct program_thread {
    pthread_t thread;
    program_options options;
    program_result *result;
} program_thread;

static void *run_thread(void *argument)
{
    program_thread *t = argument;
    program_run(&t->options, t->result);
    return NULL;
}

static void run_programs(fixture *f)
{
    program_thread all[THREADS];
    if (f->threads == 1) {
        const program_options options = {.seed = 12, .steps = STEPS, .look = look, .context = f};
        program_run(&options, &f->results[0]);
        return;
    }
    for (int i = 0; i < f->threads; i++) {
        all[i].options = (program_options){.seed = 31 + (uint64_t)i, .steps = STEPS / f->threads};
        all[i].result = &f->results[i];
        assert_int_equal(pthread_create(&all[i].thread, NULL, run_thread, &all[i]), 0);
    }
    for (int i = 0; i < f->threads; i++) {
        pthread_join(all[i].thread, NULL);
    }
}

static void record(fixture *f)
{
    // Starts what starts once: the workspace has its size.
    const program_options first = {.seed = 11, .steps = 1000};
    program_run(&first, &f->results[0]);
    free(f->results[0].steps);
    mxn_array *older = older_array();
    f->before = counts_now();
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    run_programs(f);
    mxn_array_release(older);
    assert_int_equal(mxn_wait_all(), 0);
    mxp__recorder_stop(1);
    f->after = counts_now();
    f->live = live_events_take(MXP__CONSUMER_FILE);
    assert_true(live_events_lost(&f->live) == 0);
}

static void finish(fixture *f)
{
    live_events_free(&f->live);
    for (int i = 0; i < f->threads; i++) {
        free(f->results[i].steps);
    }
}

static uint64_t steps_of(const fixture *f, const char *name)
{
    uint64_t count = 0;
    for (int i = 0; i < f->threads; i++) {
        count += program_steps_of(&f->results[i], name);
    }
    return count;
}

static uint64_t calls_of(const fixture *f, const char *name)
{
    uint64_t count = 0;
    for (int i = 0; i < f->threads; i++) {
        count += program_calls_of(&f->results[i], name);
    }
    return count;
}

// ---- operators --------------------------------------------------------------------------------
static uint64_t row_count(const fixture *f, const char *section, const char *name)
{
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(f->live.source, MXP_GROUP_NAME, &rows, &count);
    const mxp_row *row = row_find(rows, count, section, name);
    uint64_t found = row != NULL ? row->count : 0;
    mxp__aggregate_destroy(aggregate);
    return found;
}

static void check_operator(const fixture *f, const char *name, uint64_t expected)
{
    assert_int_equal(live_events_count(&f->live, MXP_KIND_OPERATOR, name), expected);
    assert_int_equal(row_count(f, "operator", name), expected);
}

// Each name that any program has asked for; the same one more often does no harm.
static uint64_t check_steps(const fixture *f, const program_result *result)
{
    for (size_t i = 0; i < result->step_count && i < 500; i++) {
        const char *name = result->steps[i].name;
        size_t first = 0;
        while (strcmp(result->steps[first].name, name) != 0) {
            first++;
        }
        if (first == i) {
            check_operator(f, name, steps_of(f, name));
        }
    }
    assert_true(result->ran == result->pushed && result->deleted == result->pushed);
    return result->step_count;
}

static void check_operators(const fixture *f)
{
    const mxn_engine_counts *a = &f->after.engine, *b = &f->before.engine;
    uint64_t steps = 0;
    for (int i = 0; i < f->threads; i++) {
        steps += check_steps(f, &f->results[i]);
    }
    uint64_t waits = a->waits - b->waits, deletions = a->deletions - b->deletions;
    uint64_t bulks = a->bulks - b->bulks;
    check_operator(f, "WaitForVar", waits);
    check_operator(f, "DeleteVariable", deletions);
    check_operator(f, "ImperativeBulk", bulks);
    size_t all = live_events_count(&f->live, MXP_KIND_OPERATOR, NULL);
    assert_int_equal(all, a->visible - b->visible + bulks);
    assert_int_equal(all, steps + waits + deletions + bulks);
    assert_int_equal(a->pushed - b->pushed, a->completed - b->completed);
    assert_true(a->failed == b->failed && a->skipped == b->skipped);
}

// ---- API calls --------------------------------------------------------------------------------
static void check_calls(const fixture *f)
{
    uint64_t all = 0;
    for (size_t i = 0; i < f->results[0].call_count; i++) {
        const char *name = f->results[0].calls[i].name;
        uint64_t count = calls_of(f, name);
        assert_int_equal(live_events_count(&f->live, MXP_KIND_SPAN, name), count);
        assert_int_equal(row_count(f, "MXNET_C_API", name), count);
        all += count;
    }
    const size_t pool_calls = live_events_count(&f->live, MXP_KIND_SPAN, "from system") +
                              live_events_count(&f->live, MXP_KIND_SPAN, "to system");
    assert_int_equal(live_events_count(&f->live, MXP_KIND_SPAN, NULL), all + pool_calls);
    assert_int_equal(row_count(f, "MXNET_C_API", "MXNet C API Calls"), all);
    assert_int_equal(row_count(f, "MXNET_C_API", "MXNet C API Concurrency"), 2 * all);
}

// ---- memory -----------------------------------------------------------------------------------
// The owner, or a new one.
static mxn_owner *owner_of(mxn_owner *owners, int *count, uint32_t scope, mxp_name name)
{
    for (int i = 0; i < *count; i++) {
        if (owners[i].scope == scope && owners[i].name == name) {
            return &owners[i];
        }
    }
    assert_true(*count < OWNERS);
    owners[*count] = (mxn_owner){.scope = scope, .name = name};
    return &owners[(*count)++];
}

static int by_time(const void *left, const void *right)
{
    const mxp_event *a = *(const mxp_event *const *)left, *b = *(const mxp_event *const *)right;
    return a->begin_ticks < b->begin_ticks ? -1 : a->begin_ticks > b->begin_ticks;
}

// Those of memory, in the order in which the totals changed. free() it.
static const mxp_event **memory_events(const live_events *live, size_t *count)
{
    const mxp_event **found = malloc((live->count + 1) * sizeof(*found));
    assert_non_null(found);
    *count = 0;
    for (size_t i = 0; i < live->count; i++) {
        if (live->events[i].kind == MXP_KIND_MEMORY) {
            found[(*count)++] = &live->events[i];
        }
    }
    qsort(found, *count, sizeof(*found), by_time);
    return found;
}

// A block that was there before is nobody's: its release is found by its number.
static bool is_known(const mxp_event **events, size_t at, uint64_t block)
{
    for (size_t i = at; i-- > 0;) {
        mxp_memory_view view;
        mxp__event_memory(events[i], &view);
        if (view.block == block) {
            return (events[i]->flags & MXP_MEM_FREE) == 0;
        }
    }
    return false;
}

static uint64_t sum_of(const mxn_owner *owners, int count)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) {
        sum += owners[i].live_bytes;
    }
    return sum;
}

static void check_every_event(const fixture *f, const mxp_event **events, size_t count)
{
    mxn_owner owners[OWNERS];
    int owner_count = 0;
    uint64_t unattributed = f->before.storage.live_bytes, allocations = 0, reused = 0;
    for (size_t i = 0; i < count; i++) {
        mxp_memory_view view;
        mxp__event_memory(events[i], &view);
        assert_int_equal(view.device, DEVICE);
        assert_true(view.rounded_bytes >= view.requested_bytes && view.requested_bytes > 0);
        mxn_owner *owner = owner_of(owners, &owner_count, view.scope, events[i]->name);
        if ((events[i]->flags & MXP_MEM_FREE) == 0) {
            owner->live_bytes += view.requested_bytes;
            allocations++;
            reused += (events[i]->flags & MXP_MEM_REUSED) != 0;
        } else if (is_known(events, i, view.block)) {
            assert_true(owner->live_bytes >= view.requested_bytes);
            owner->live_bytes -= view.requested_bytes;
        } else {
            unattributed -= view.requested_bytes;
        }
        assert_int_equal(sum_of(owners, owner_count) + unattributed, view.live_bytes);
    }
    const mxn_storage_counts *a = &f->after.storage, *b = &f->before.storage;
    assert_int_equal(allocations, a->allocations - b->allocations);
    assert_int_equal(count - allocations, a->frees - b->frees);
    assert_int_equal(reused, a->reused - b->reused);
}

static void check_memory(const fixture *f)
{
    const mxn_storage_counts *a = &f->after.storage, *b = &f->before.storage;
    size_t count;
    const mxp_event **events = memory_events(&f->live, &count);
    check_every_event(f, events, count);
    mxp_memory_view last;
    mxp__event_memory(events[count - 1], &last);
    assert_int_equal(last.live_bytes, a->live_bytes);
    assert_int_equal(a->live_bytes, b->live_bytes - OLDER_BYTES);
    assert_int_equal(row_count(f, "Device Storage", "Memory: cpu/0"), count);
    free(events);
}

// The pool, its owners and the program, when all was quiet.
static void check_owners(const fixture *f)
{
    const mxn_storage_counts *b = &f->before.storage;
    assert_int_equal(f->quiet.storage.live_bytes - b->live_bytes, f->results[0].live_bytes);
    assert_in_range(f->owner_count, 1, OWNERS);
    assert_int_equal(sum_of(f->owners, f->owner_count), f->quiet.storage.live_bytes);
}

// ---- all of it --------------------------------------------------------------------------------
static void check_figures(int threads)
{
    fixture f = {.threads = threads};
    record(&f);
    check_operators(&f);
    check_calls(&f);
    check_memory(&f);
    if (threads == 1) {
        check_owners(&f);
    }
    finish(&f);
}

static void all_figures_agree(void **state)
{
    (void)state;
    check_figures(1);
}

static void all_figures_of_several_threads_agree(void **state)
{
    (void)state;
    check_figures(THREADS);
}

static void all_figures_agree_with_naive_engine(void **state)
{
    (void)state;
    engine_use("NaiveEngine");
    check_figures(1);
    check_figures(THREADS);
    engine_use(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_figures_agree),
        cmocka_unit_test(all_figures_of_several_threads_agree),
        cmocka_unit_test(all_figures_agree_with_naive_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
