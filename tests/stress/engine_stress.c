// SPDX-License-Identifier: Apache-2.0
// Random operations from several threads, against a model: every read must find exactly the writes
// pushed before it, every write must find all earlier reads over. Properties, bulks, waits,
// deletions, asynchronous completions and the profiler going on and off are mixed in. What a
// variable stands for is plain memory, so ThreadSanitizer judges too.
//
// Twice for each kind of engine: once under a lock around each push, which makes the total order
// known and every expectation exact, once without, where each thread's own order must hold.
// 3 s, 30 s with MXPROF_TEST_LONG=1; MXPROF_TEST_SECONDS overrides.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxprof/error.h>
#include <mxprof/profiler.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "engine_work.h"
#include "random.h"
#include "stress_time.h"

enum { CELLS = 24, THREADS = 3, TOUCHED_MAX = 6, OPERATIONS_A_BATCH = 200 };

// What a variable stands for. Writers change it, readers only look.
typedef struct model_cell {
    uint64_t writes;
    uint64_t last_of_thread[THREADS];  // number of the last write of each thread
    uint32_t readers, writers;  // inside now
} model_cell;

typedef struct model_touch {
    model_cell *cell;
    uint64_t expected_writes;  // with the lock
    bool writes;
} model_touch;

typedef struct model_job {
    model_touch touched[TOUCHED_MAX];
    uint32_t count;
    unsigned thread;
    uint64_t number;  // of the pushing thread
    uint32_t spin;
    mxn_completion *completion;
    struct model_job *next;
} model_job;

// The model: the variables in use, and how many writes were pushed.
typedef struct model_slot {
    mxn_var *var;
    model_cell *cell;
    uint64_t pushed_writes;
} model_slot;

static model_slot slots[CELLS];
static pthread_mutex_t model_lock = PTHREAD_MUTEX_INITIALIZER;
static bool ordered;  // pushes happen under model_lock
static bool done;  // pushers end
static bool completed;  // then the completer, when all is over
static uint64_t faults, jobs_run, jobs_pushed, jobs_freed;
static mxp_name names[3];

static void fault(const char *what)
{
    if (__atomic_fetch_add(&faults, 1, __ATOMIC_RELAXED) < 10) {
        fprintf(stderr, "engine_stress: %s\n", what);
    }
}

// ---- inside operations ------------------------------------------------------------------------

static void enter(const model_touch *touched)
{
    model_cell *cell = touched->cell;
    if (touched->writes) {
        if (__atomic_fetch_add(&cell->writers, 1, __ATOMIC_RELAXED) != 0 ||
            __atomic_load_n(&cell->readers, __ATOMIC_RELAXED) != 0) {
            fault("a write is not alone");
        }
    } else {
        __atomic_fetch_add(&cell->readers, 1, __ATOMIC_RELAXED);
        if (__atomic_load_n(&cell->writers, __ATOMIC_RELAXED) != 0) {
            fault("a read meets a write");
        }
    }
    if (ordered && cell->writes != touched->expected_writes) {
        fault("an operation does not find the writes pushed before it");
    }
}

static void leave(const model_touch *touched, const model_job *job)
{
    model_cell *cell = touched->cell;
    if (cell->last_of_thread[job->thread] >= job->number) {
        fault("operations of one thread changed places");
    }
    if (touched->writes) {
        cell->writes++;
        cell->last_of_thread[job->thread] = job->number;
        __atomic_fetch_sub(&cell->writers, 1, __ATOMIC_RELAXED);
    } else {
        __atomic_fetch_sub(&cell->readers, 1, __ATOMIC_RELAXED);
    }
}

static void job_begin(const model_job *job)
{
    for (uint32_t i = 0; i < job->count; i++) {
        enter(&job->touched[i]);
    }
    for (volatile uint32_t i = 0; i < job->spin; i++) {
    }
}

static void job_end(const model_job *job)
{
    for (uint32_t i = 0; i < job->count; i++) {
        leave(&job->touched[i], job);
    }
    __atomic_fetch_add(&jobs_run, 1, __ATOMIC_RELAXED);
}

static int run_job(const mxn_run *run, void *argument)
{
    (void)run;
    job_begin(argument);
    job_end(argument);
    return 0;
}

static void free_job(void *argument)
{
    free(argument);
    __atomic_fetch_add(&jobs_freed, 1, __ATOMIC_RELAXED);
}

static void free_cell(void *argument)
{
    const model_cell *cell = argument;
    if (cell->readers != 0 || cell->writers != 0) {
        fault("a deletion comes too early");
    }
    free(argument);
}

// ---- asynchronous operations ------------------------------------------------------------------

static pthread_mutex_t later_lock = PTHREAD_MUTEX_INITIALIZER;
static model_job *later;

static void run_job_later(const mxn_run *run, void *argument, mxn_completion *completion)
{
    (void)run;
    model_job *job = argument;
    job_begin(job);
    job->completion = completion;
    pthread_mutex_lock(&later_lock);
    job->next = later;
    later = job;
    pthread_mutex_unlock(&later_lock);
}

static void *completer(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&later_lock);
        model_job *job = later;
        later = job != NULL ? job->next : NULL;
        pthread_mutex_unlock(&later_lock);
        if (job != NULL) {
            job_end(job);
            mxn_complete(job->completion, 0);
        } else if (__atomic_load_n(&completed, __ATOMIC_ACQUIRE)) {
            return NULL;
        } else {
            mxp__os_sleep_us(20);
        }
    }
}

// ---- pushing ----------------------------------------------------------------------------------

static model_slot slot_new(void)
{
    model_slot made = {.var = mxn_var_new(), .cell = calloc(1, sizeof(model_cell))};
    assert_non_null(made.var);
    assert_non_null(made.cell);
    return made;
}

static model_job *job_new(uint64_t *random, unsigned thread, uint64_t number, mxn_var **reads,
                          mxn_var **writes, mxn_work *work)
{
    model_job *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->thread = thread;
    made->number = number;
    made->spin = random_below(random, 4) == 0 ? (uint32_t)random_below(random, 2000) : 0;
    uint32_t wanted = (uint32_t)random_below(random, TOUCHED_MAX + 1);
    uint64_t taken = 0;
    for (uint32_t i = 0; i < wanted; i++) {
        uint32_t index = (uint32_t)random_below(random, CELLS);
        if ((taken >> index & 1) != 0) {
            continue;
        }
        taken |= UINT64_C(1) << index;
        model_slot *slot = &slots[index];
        bool write = random_below(random, 3) == 0;
        made->touched[made->count++] =
            (model_touch){.cell = slot->cell,
                          .expected_writes = ordered ? slot->pushed_writes : 0,
                          .writes = write};
        if (write) {
            if (ordered) {
                slot->pushed_writes++;
            }
            writes[work->write_count++] = slot->var;
        } else {
            reads[work->read_count++] = slot->var;
        }
    }
    return made;
}

static void choose_kind(uint64_t *random, mxn_work *work)
{
    static const int properties[] = {MXN_NORMAL,          MXN_NORMAL, MXN_NORMAL, MXN_NORMAL,
                                     MXN_CPU_PRIORITIZED, MXN_ASYNC,  MXN_NO_SKIP};
    work->property = properties[random_below(random, 7)];
    work->priority = work->property == MXN_CPU_PRIORITIZED ? (int)random_below(random, 5) - 2 : 0;
    work->flags = random_below(random, 2) == 0 ? MXN_WORK_PARALLEL : 0;
    work->name = names[random_below(random, 3)];
    work->function.sync = run_job;
    if (random_below(random, 8) == 0) {
        work->function.async = run_job_later;
        work->form = MXN_ASYNC_FUNCTION;
    }
}

static void push_one(uint64_t *random, unsigned thread, uint64_t number)
{
    mxn_var *reads[TOUCHED_MAX], *writes[TOUCHED_MAX];
    mxn_work work = {.reads = reads, .writes = writes, .deleter = free_job};
    if (ordered) {
        pthread_mutex_lock(&model_lock);
    }
    work.argument = job_new(random, thread, number, reads, writes, &work);
    choose_kind(random, &work);
    if (mxn_push(&work) != 0) {
        fault(mxp_last_error());
    }
    __atomic_fetch_add(&jobs_pushed, 1, __ATOMIC_RELAXED);
    if (ordered) {
        pthread_mutex_unlock(&model_lock);
    }
}

// Only while the order is known, because nobody may use the old one afterwards.
static void replace_one(uint64_t *random)
{
    pthread_mutex_lock(&model_lock);
    model_slot *slot = &slots[random_below(random, CELLS)];
    mxn_var_delete(slot->var, free_cell, slot->cell, 0);
    *slot = slot_new();
    pthread_mutex_unlock(&model_lock);
}

static void wait_for_one(uint64_t *random)
{
    // Without the lock another thread might delete it meanwhile.
    pthread_mutex_lock(&model_lock);
    model_slot *slot = &slots[random_below(random, CELLS)];
    int code =
        random_below(random, 2) == 0 ? mxn_var_wait(slot->var) : mxn_var_wait_write(slot->var);
    if (code != 0) {
        fault(mxp_last_error());
    }
    pthread_mutex_unlock(&model_lock);
}

// Between two operations. A bulk is pushed before others see the model again: what it holds has its
// place in the order only then.
static void something_else(uint64_t *random)
{
    switch (random_below(random, 40)) {
    case 0:
        if (mxn_wait_all() != 0) {
            fault(mxp_last_error());
        }
        break;
    case 1:
        wait_for_one(random);
        break;
    case 2:
    case 3:
        if (ordered) {
            replace_one(random);
        }
        break;
    default:
        break;
    }
}

static void push_bulk(uint64_t *random, unsigned thread, uint64_t *number)
{
    uint64_t count = 1 + random_below(random, 12);
    if (ordered) {
        pthread_mutex_lock(&model_lock);
    }
    mxn_bulk_size_set((int)random_below(random, 10));
    for (uint64_t i = 0; i < count; i++) {
        mxn_var *reads[TOUCHED_MAX], *writes[TOUCHED_MAX];
        mxn_work work = {.reads = reads, .writes = writes, .deleter = free_job};
        work.argument = job_new(random, thread, ++*number, reads, writes, &work);
        work.function.sync = run_job;
        work.name = names[i % 3];
        if (mxn_push(&work) != 0) {
            fault(mxp_last_error());
        }
        __atomic_fetch_add(&jobs_pushed, 1, __ATOMIC_RELAXED);
    }
    mxn_bulk_size_set(0);
    if (ordered) {
        pthread_mutex_unlock(&model_lock);
    }
}

static void *pusher(void *argument)
{
    unsigned thread = (unsigned)(uintptr_t)argument;
    uint64_t random = thread * 977 + 13, number = 0;
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        for (int i = 0; i < OPERATIONS_A_BATCH; i++) {
            if (random_below(&random, 10) == 0) {
                push_bulk(&random, thread, &number);
            } else {
                push_one(&random, thread, ++number);
            }
            something_else(&random);
        }
    }
    return NULL;
}

// ---- rounds -----------------------------------------------------------------------------------

// Also on a machine that is busy with other things.
static bool has_done_something(void)
{
    return __atomic_load_n(&jobs_pushed, __ATOMIC_RELAXED) > 1000;
}

static void run_for(uint64_t ms)
{
    mxp_session *session = mxp_session_get();
    uint64_t end_ns = mxp__os_monotonic_ns() + ms * 1000000;
    for (int i = 0; mxp__os_monotonic_ns() < end_ns || !has_done_something(); i++) {
        assert_int_equal(i % 2 == 0 ? mxp_session_run(session) : mxp_session_stop(session), 0);
        mxp__os_sleep_us(15000);
    }
    mxp_session_stop(session);
}

static void check_counts(const mxn_engine_counts *before)
{
    mxn_engine_counts after;
    mxn_engine_counts_get(&after);
    uint64_t pushed = after.pushed - before->pushed;
    assert_true(after.completed - before->completed == pushed);
    assert_true(after.failed == before->failed && after.skipped == before->skipped);
    assert_true(pushed >= jobs_pushed);
    assert_true(jobs_run == jobs_pushed);
    assert_true(jobs_freed == jobs_pushed);
}

static void run_round(const char *type, bool with_order, uint64_t ms)
{
    pthread_t threads[THREADS], completing;
    mxn_engine_counts before;
    engine_use(type);
    mxn_engine_counts_get(&before);
    ordered = with_order;
    done = completed = false;
    jobs_run = jobs_pushed = jobs_freed = 0;
    for (int i = 0; i < CELLS; i++) {
        slots[i] = slot_new();
    }
    assert_int_equal(pthread_create(&completing, NULL, completer, NULL), 0);
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, pusher, (void *)i), 0);
    }
    run_for(ms);
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < CELLS; i++) {
        mxn_var_delete(slots[i].var, free_cell, slots[i].cell, 0);
    }
    assert_int_equal(mxn_wait_all(), 0);
    __atomic_store_n(&completed, true, __ATOMIC_RELEASE);
    pthread_join(completing, NULL);
    check_counts(&before);
    printf("  %s, %s: %llu operations\n", type != NULL ? type : "default",
           with_order ? "known order" : "free", (unsigned long long)jobs_pushed);
    assert_true(faults == 0);
    assert_true(has_done_something());
}

static void order_holds(const char *type)
{
    const uint64_t round_ms = (uint64_t)(1000 * stress_seconds(3, 30)) / 6;
    run_round(type, true, round_ms);
    run_round(type, false, round_ms);
}

static void order_holds_with_one_compute_worker(void **state)
{
    (void)state;
    order_holds(NULL);
}

static void order_holds_with_light_workers(void **state)
{
    (void)state;
    setenv("MXNET_CPU_WORKER_NTHREADS", "3", 1);
    order_holds("ThreadedEngine");
    unsetenv("MXNET_CPU_WORKER_NTHREADS");
}

static void order_holds_with_naive_engine(void **state)
{
    (void)state;
    order_holds("NaiveEngine");
}

static int configure(void **state)
{
    (void)state;
    mxp_config config;
    mxp_config_init(&config);
    config.filename = "engine_stress.json";
    config.continuous_dump = 0;
    config.aggregate_stats = 1;
    config.statistics_only = 1;
    names[1] = mxp_span_name("operator", "first");
    names[2] = mxp_span_name("operator", "second");
    return mxp_session_configure(mxp_session_get(), &config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_holds_with_one_compute_worker),
        cmocka_unit_test(order_holds_with_light_workers),
        cmocka_unit_test(order_holds_with_naive_engine),
    };
    return cmocka_run_group_tests(tests, configure, NULL);
}
