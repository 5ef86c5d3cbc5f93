// SPDX-License-Identifier: Apache-2.0
// Several threads call the C ABI at random: operators, functions of their own of every kind and
// property, bulks, waits, copies, views, arrays that come and go, operations that fail, children
// that are forked, a profiler that goes on and off and writes its file. Every element of an array
// is the number of writes it has had; operators and functions add one, so what anyone reads tells
// whether everything pushed before has run, and nothing else. What they read and write is plain
// memory, so ThreadSanitizer judges too.
//
// Twice for each kind of engine: under a lock around each push, which makes the order known and
// every value exact, and without, where each write must be alone and none be lost.
// 4 s, 30 s with MXPROF_TEST_LONG=1; MXPROF_TEST_SECONDS overrides.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>

#include "base/os/os.h"
#include "cmocka_all.h"
#include "engine_work.h"
#include "random.h"
#include "stress_time.h"

#if defined(__SANITIZE_THREAD__)
enum { FORKS = 0 };  // threads cannot be made in a child of several threads
#else
enum { FORKS = 1 };
#endif
enum { CELLS = 16, THREADS = 3, TOUCHED_MAX = 4, ELEMENTS = 32 };

typedef struct cell {
    float *data;
    uint32_t readers, writers;  // functions inside now
} cell;

typedef struct slot {
    NDArrayHandle array;
    cell *cell;
    uint64_t pushed;  // writes
} slot;

typedef struct touch {
    cell *cell;
    uint64_t expected;  // writes, if the order is known
    bool writes;
} touch;

typedef struct job {
    touch touched[TOUCHED_MAX];
    int count;
    void (*complete)(void *engine, void *param, const void *error);
    void *engine, *param;
    bool fails;
    struct job *next;
} job;

static slot slots[CELLS];
static NDArrayHandle spoilt;  // what fails writes it
static OpHandle plus_scalar, copy, zeros;
static pthread_mutex_t model_lock = PTHREAD_MUTEX_INITIALIZER;
static bool ordered, done, completed;
static uint64_t faults, jobs_pushed, jobs_run, jobs_freed, operators_run;

static void fault(const char *what)
{
    if (__atomic_fetch_add(&faults, 1, __ATOMIC_RELAXED) < 10) {
        fprintf(stderr, "engine_calls_stress: %s\n", what);
    }
}

static void check(int answer)
{
    if (answer != 0) {
        fault(MXGetLastError());
    }
}

// ---- inside functions -------------------------------------------------------------------------
static void check_value(const touch *t)
{
    for (int i = 0; i < ELEMENTS; i++) {
        if (ordered ? t->cell->data[i] != (float)t->expected
                    : t->cell->data[i] != t->cell->data[0]) {
            fault("a value is not that of the writes pushed before");
            return;
        }
    }
}

static void enter(const touch *t)
{
    if (t->writes) {
        if (__atomic_fetch_add(&t->cell->writers, 1, __ATOMIC_RELAXED) != 0 ||
            __atomic_load_n(&t->cell->readers, __ATOMIC_RELAXED) != 0) {
            fault("a write is not alone");
        }
    } else {
        __atomic_fetch_add(&t->cell->readers, 1, __ATOMIC_RELAXED);
        if (__atomic_load_n(&t->cell->writers, __ATOMIC_RELAXED) != 0) {
            fault("a read meets a write");
        }
    }
    check_value(t);
}

static void leave(const touch *t)
{
    if (t->writes) {
        for (int i = 0; i < ELEMENTS; i++) {
            t->cell->data[i] += 1;
        }
        __atomic_fetch_sub(&t->cell->writers, 1, __ATOMIC_RELAXED);
    } else {
        __atomic_fetch_sub(&t->cell->readers, 1, __ATOMIC_RELAXED);
    }
}

static void run_job(void *rctx, void *argument)
{
    (void)rctx;
    const job *j = argument;
    for (int i = 0; i < j->count; i++) {
        enter(&j->touched[i]);
    }
    for (int i = 0; i < j->count; i++) {
        leave(&j->touched[i]);
    }
    __atomic_fetch_add(&jobs_run, 1, __ATOMIC_RELAXED);
}

static void free_job(void *argument)
{
    free(argument);
    __atomic_fetch_add(&jobs_freed, 1, __ATOMIC_RELAXED);
}

// ---- functions that complete later ------------------------------------------------------------
static pthread_mutex_t later_lock = PTHREAD_MUTEX_INITIALIZER;
static job *later;

static void run_job_later(void *rctx, void *on_start, void *on_complete, void *argument)
{
    (void)rctx;
    (void)on_start;
    const struct MXEngineCallback *given = on_complete;
    job *j = argument;
    j->complete = given->callback;
    j->engine = given->engine;
    j->param = given->param;
    pthread_mutex_lock(&later_lock);
    j->next = later;
    later = j;
    pthread_mutex_unlock(&later_lock);
}

static void *completer(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&later_lock);
        job *j = later;
        later = j != NULL ? j->next : NULL;
        pthread_mutex_unlock(&later_lock);
        if (j != NULL) {
            run_job(NULL, j);
            j->complete(j->engine, j->param, j->fails ? "failed" : NULL);
        } else if (__atomic_load_n(&completed, __ATOMIC_ACQUIRE)) {
            return NULL;
        } else {
            mxp__os_sleep_us(20);
        }
    }
}

// ---- arrays -----------------------------------------------------------------------------------
static slot slot_new(void)
{
    static const char *const keys[] = {"shape"}, *const values[] = {"(32,)"};
    slot made = {.cell = calloc(1, sizeof(cell))};
    int count = 0;
    NDArrayHandle *outputs = NULL;
    assert_non_null(made.cell);
    assert_int_equal(MXImperativeInvoke(zeros, 0, NULL, &count, &outputs, 1, (const char **)keys,
                                        (const char **)values, NULL),
                     0);
    made.array = outputs[0];
    void *data = NULL;
    assert_int_equal(MXNDArrayGetData(made.array, &data), 0);
    made.cell->data = data;
    return made;
}

static void free_cell(void *rctx, void *argument)
{
    (void)rctx;
    const cell *c = argument;
    if (c->readers != 0 || c->writers != 0) {
        fault("an array's end comes too early");
    }
    free(argument);
}

// The cell goes with the array: a function that writes it, the last to do so.
static void slot_free(slot *s)
{
    check(MXEnginePushSyncND(free_cell, s->cell, NULL, NULL, NULL, 0, &s->array, 1, NULL, 0, NULL));
    check(MXNDArrayFree(s->array));
}

// ---- pushing ----------------------------------------------------------------------------------
static uint64_t count_write(slot *s)
{
    return __atomic_fetch_add(&s->pushed, 1, __ATOMIC_RELAXED);
}

static void run_operator(OpHandle op, slot *s, bool in_place)
{
    static const char *const keys[] = {"scalar"}, *const values[] = {"1"};
    int count = in_place;
    NDArrayHandle made = s->array, *outputs = in_place ? &made : NULL;
    if (in_place) {
        count_write(s);
    }
    check(MXImperativeInvoke(op, 1, &s->array, &count, &outputs, in_place, (const char **)keys,
                             (const char **)values, NULL));
    __atomic_fetch_add(&operators_run, 1, __ATOMIC_RELAXED);
    if (!in_place) {
        check(MXNDArrayFree(outputs[0]));
    }
}

static void push_job(uint64_t *random, bool plain)
{
    static const int properties[] = {0, 3, 4, 7};
    NDArrayHandle reads[TOUCHED_MAX], writes[TOUCHED_MAX];
    int read_count = 0, write_count = 0;
    uint32_t taken = 0;
    job *j = calloc(1, sizeof(job));
    assert_non_null(j);
    for (uint64_t wanted = random_below(random, TOUCHED_MAX + 1); wanted > 0; wanted--) {
        uint32_t index = (uint32_t)random_below(random, CELLS);
        slot *s = &slots[index];
        if ((taken >> index & 1) != 0) {
            continue;
        }
        taken |= 1u << index;
        bool write = random_below(random, 3) == 0;
        uint64_t expected = write ? count_write(s) : __atomic_load_n(&s->pushed, __ATOMIC_RELAXED);
        j->touched[j->count++] = (touch){s->cell, expected, write};
        *(write ? &writes[write_count++] : &reads[read_count++]) = s->array;
    }
    __atomic_fetch_add(&jobs_pushed, 1, __ATOMIC_RELAXED);
    if (!plain && random_below(random, 4) == 0) {
        check(MXEnginePushAsyncND(run_job_later, j, free_job, NULL, reads, read_count, writes,
                                  write_count, NULL, 0, "later", false));
        return;
    }
    const int *property =
        plain || random_below(random, 2) == 0 ? NULL : &properties[random_below(random, 4)];
    int priority = property != NULL && *property == 3 ? (int)random_below(random, 9) - 4 : 0;
    check(MXEnginePushSyncND(run_job, j, free_job, NULL, reads, read_count, writes, write_count,
                             property, priority, "now"));
}

// Fine, or the error of an operation that has failed.
static void check_wait(int answer)
{
    if (answer != 0 && strstr(MXGetLastError(), "operation of the program has failed") == NULL) {
        fault(MXGetLastError());
    }
}

static void push_failing(void)
{
    job *j = calloc(1, sizeof(job));
    assert_non_null(j);
    j->fails = true;
    __atomic_fetch_add(&jobs_pushed, 1, __ATOMIC_RELAXED);
    // NaiveEngine tells at once.
    check_wait(MXEnginePushAsyncND(run_job_later, j, free_job, NULL, NULL, 0, &spoilt, 1, NULL, 0,
                                   "failing", false));
}

static void push_bulk(uint64_t *random)
{
    int size = 0;
    check(MXEngineSetBulkSize((int)random_below(random, 10), NULL));
    for (uint64_t i = 1 + random_below(random, 12); i > 0; i--) {
        if (random_below(random, 2) == 0) {
            push_job(random, true);
        } else {
            run_operator(plus_scalar, &slots[random_below(random, CELLS)], true);
        }
    }
    check(MXEngineSetBulkSize(0, &size));
}

static void read_values(slot *s)
{
    float values[ELEMENTS];
    uint64_t expected = __atomic_load_n(&s->pushed, __ATOMIC_RELAXED);
    check(MXNDArraySyncCopyToCPU(s->array, values, ELEMENTS));
    for (int i = 0; i < ELEMENTS; i++) {
        if (ordered && values[i] != (float)expected) {
            fault("a copy does not find the writes pushed before");
            return;
        }
    }
}

// What a thread does next; under the lock if the order is to be known.
static void do_one(uint64_t *random)
{
    slot *s = &slots[random_below(random, CELLS)];
    switch (random_below(random, 32)) {
    case 0:
        push_bulk(random);
        break;
    case 1:
        if (ordered) {  // the copy is the caller's: nobody may push a write meanwhile
            read_values(s);
        }
        break;
    case 2:
        if (ordered) {  // nobody may use the old one afterwards
            slot_free(s);
            *s = slot_new();
        }
        break;
    case 3:
        check(MXNDArrayWaitToRead(s->array));
        break;
    case 4:
        push_failing();
        check_wait(MXNDArrayWaitToRead(spoilt));
        break;
    case 5:
    case 6:
        run_operator(copy, s, false);
        break;
    default:
        if (random_below(random, 3) == 0) {
            run_operator(plus_scalar, s, true);
        } else {
            push_job(random, false);
        }
    }
}

static void *pusher(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument * 7919 + 5;
    for (int i = 0; !__atomic_load_n(&done, __ATOMIC_ACQUIRE); i++) {
        if (ordered) {
            pthread_mutex_lock(&model_lock);
        }
        do_one(&random);
        if (ordered) {
            pthread_mutex_unlock(&model_lock);
        }
        if (i % 500 == 499) {
            check_wait(MXNDArrayWaitAll());
        }
    }
    return NULL;
}

// ---- meanwhile --------------------------------------------------------------------------------
static int child_works(void)
{
    slot s = slot_new();
    float values[ELEMENTS] = {0};
    for (int i = 0; i < 10; i++) {
        run_operator(plus_scalar, &s, true);
    }
    int answer = MXNDArraySyncCopyToCPU(s.array, values, ELEMENTS);
    return answer == 0 && values[ELEMENTS - 1] == 10 ? 0 : 1;
}

static void fork_one(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(child_works());
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

// Also on a machine that is busy with other things.
static bool has_done_something(void)
{
    return __atomic_load_n(&jobs_pushed, __ATOMIC_RELAXED) > 500 &&
           __atomic_load_n(&operators_run, __ATOMIC_RELAXED) > 100;
}

static void run_for(uint64_t ms)
{
    uint64_t end_ns = mxp__os_monotonic_ns() + ms * 1000000;
    for (int i = 0; mxp__os_monotonic_ns() < end_ns || !has_done_something(); i++) {
        assert_int_equal(MXSetProfilerState(i % 2 == 0), 0);
        mxp__os_sleep_us(10000);
        if (i % 8 == 7) {
            assert_int_equal(MXDumpProfile(1), 0);
        }
        if (FORKS && i % 16 == 15) {
            fork_one();
        }
    }
    assert_int_equal(MXSetProfilerState(0), 0);
}

// ---- rounds -----------------------------------------------------------------------------------
static void end_round(void)
{
    check_wait(MXNDArrayWaitAll());
    assert_int_equal(MXNDArrayWaitAll(), 0);  // the error was told once
    ordered = true;  // from here on
    for (int i = 0; i < CELLS; i++) {
        read_values(&slots[i]);
        slot_free(&slots[i]);
    }
    assert_int_equal(MXNDArrayFree(spoilt), 0);
    assert_int_equal(MXNDArrayWaitAll(), 0);
}

static void run_round(const char *type, bool with_order, uint64_t ms)
{
    pthread_t threads[THREADS], completing;
    mxn_engine_counts before, after;
    engine_use(type);
    mxn_engine_counts_get(&before);
    ordered = with_order;
    done = completed = false;
    jobs_run = jobs_pushed = jobs_freed = operators_run = 0;
    for (int i = 0; i < CELLS; i++) {
        slots[i] = slot_new();
    }
    slot extra = slot_new();
    spoilt = extra.array;
    free(extra.cell);
    assert_int_equal(pthread_create(&completing, NULL, completer, NULL), 0);
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, pusher, (void *)i), 0);
    }
    run_for(ms);
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    end_round();
    __atomic_store_n(&completed, true, __ATOMIC_RELEASE);
    pthread_join(completing, NULL);
    mxn_engine_counts_get(&after);
    printf("  %s, %s: %llu functions, %llu operators\n", type != NULL ? type : "default",
           with_order ? "known order" : "free", (unsigned long long)jobs_pushed,
           (unsigned long long)operators_run);
    assert_true(faults == 0);
    assert_true(jobs_freed == jobs_pushed);
    assert_true(after.pushed - before.pushed == after.completed - before.completed);
    assert_true(has_done_something());
}

static void order_holds(const char *type)
{
    const uint64_t round_ms = (uint64_t)(1000 * stress_seconds(4, 30)) / 6;
    run_round(type, true, round_ms);
    run_round(type, false, round_ms);
}

static void order_holds_with_default_engine(void **state)
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
    static const char *const keys[] = {"profile_all", "aggregate_stats", "continuous_dump",
                                       "filename"};
    static const char *const values[] = {"1", "1", "1", "engine_calls_stress.json"};
    assert_int_equal(NNGetOpHandle("_plus_scalar", &plus_scalar), 0);
    assert_int_equal(NNGetOpHandle("_copy", &copy), 0);
    assert_int_equal(NNGetOpHandle("_zeros", &zeros), 0);
    return MXSetProfilerConfig(4, keys, values);
}

int main(void)
{
    setenv("MXNET_CPU_KERNELS", "ref", 1);  // what ThreadSanitizer sees the inside of
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_holds_with_default_engine),
        cmocka_unit_test(order_holds_with_light_workers),
        cmocka_unit_test(order_holds_with_naive_engine),
    };
    return cmocka_run_group_tests(tests, configure, NULL);
}
