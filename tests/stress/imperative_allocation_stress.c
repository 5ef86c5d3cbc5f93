// SPDX-License-Identifier: Apache-2.0
// No memory at the n-th allocation, for n = 1, 2, 3 ... until none fails any more, in a process of
// its own each time and with both engines: a step of training through the C functions, with a
// custom operator, views, files and pushed functions. Whatever fails says that it is for want of
// memory; afterwards the same step works and gives what it always gives; once the program has freed
// its arrays, none is left. MXPROF_TEST_LONG=1: also three failures in a row. Not under
// ThreadSanitizer, whose forked children may have no threads.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <mxprof/error.h>
#include <nnvm/c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "add_one.h"
#include "runtime/tensor/tensor.h"
#include "stress_time.h"

enum { ROWS = 4, COLUMNS = 6, CLASSES = 3, OUTCOMES = CLASSES * COLUMNS, BULK = 7 };
enum { NOTHING_FAILED = 10, OTHER_ERROR, DIFFERENT, LEFT_OVER, FAILS_STILL, UNBALANCED };

// ---- an allocator that fails once
// -------------------------------------------------------------
static uint64_t calls, fail_at;  // atomic; 0: never
static uint64_t refused;
static unsigned in_a_row;

static void *reallocate(void *context, void *pointer, size_t old_bytes, size_t size_bytes)
{
    (void)context;
    if (size_bytes == 0) {
        free(pointer);
        return NULL;
    }
    if (size_bytes > old_bytes) {
        uint64_t call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
        uint64_t at = __atomic_load_n(&fail_at, __ATOMIC_RELAXED);
        if (at != 0 && call >= at && call < at + in_a_row) {
            __atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
            return NULL;
        }
    }
    return realloc(pointer, size_bytes);
}

// ---- the step
// ---------------------------------------------------------------------------------
static bool all_good;

static bool did(int status)
{
    // With several refusals the reason may be lost, because it is memory too.
    const char *reason = in_a_row == 1 ? "memory" : "";
    if (status != 0 && (MXGetLastError()[0] == '\0' || strstr(MXGetLastError(), reason) == NULL)) {
        fprintf(stderr, "'%s'\n", MXGetLastError());
        _exit(OTHER_ERROR);
    }
    all_good = all_good && status == 0;
    return status == 0;
}

static NDArrayHandle make(int64_t rows, int64_t columns)
{
    float values[ROWS * COLUMNS];
    const int64_t shape[] = {rows, columns};
    for (int64_t i = 0; i < rows * columns; i++) {
        values[i] = (float)(i % 5) / 4 - 0.5F;
    }
    NDArrayHandle array = NULL;
    if (did(MXNDArrayCreate64(shape, 2, 1, 0, 0, 0, &array))) {
        did(MXNDArraySyncCopyFromCPU(array, values, (size_t)(rows * columns)));
    }
    return array;
}

// Runs an operator; null where an input is missing, as after a failure.
static NDArrayHandle run(const char *name, int count, NDArrayHandle *inputs, NDArrayHandle out,
                         const char *key, const char *value)
{
    OpHandle op = NULL;
    NDArrayHandle *list = out != NULL ? &out : NULL;
    const int *types = NULL;
    int outputs = 1;
    for (int i = 0; i < count; i++) {
        if (inputs[i] == NULL) {
            return NULL;
        }
    }
    if (!did(NNGetOpHandle(name, &op)) ||
        !did(MXImperativeInvoke(op, count, inputs, &outputs, &list, key != NULL, &key, &value,
                                &types))) {
        return NULL;
    }
    return list[0];
}

static void release(NDArrayHandle *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (arrays[i] != NULL && MXNDArrayFree(arrays[i]) != 0) {
            _exit(UNBALANCED);
        }
        arrays[i] = NULL;
    }
}

static int pushed, deleted;

static void pushed_function(void *rctx, void *on_start, void *on_complete, void *param)
{
    (void)rctx, (void)on_start, (void)param;
    const struct MXEngineCallback *done = on_complete;
    done->callback(done->engine, done->param, NULL);
}

static void pushed_deleter(void *param)
{
    __atomic_fetch_add((int *)param, 1, __ATOMIC_RELAXED);
}

static void push_functions(NDArrayHandle array)
{
    pushed++;
    did(MXEnginePushAsyncND(pushed_function, &deleted, pushed_deleter, NULL, NULL, 0, &array, 1,
                            NULL, 0, "a function", false));
}

static void use_files(NDArrayHandle array)
{
    const char *names[] = {"weight"}, **found_names;
    NDArrayHandle *found;
    uint32_t count = 0, name_count = 0;
    if (did(MXNDArraySave("failed_allocation.params", 1, &array, names)) &&
        did(MXNDArrayLoad("failed_allocation.params", &count, &found, &name_count, &found_names))) {
        release(found, count);
    }
}

// Forward: what is recorded of x and weight.
static NDArrayHandle forward(NDArrayHandle x, NDArrayHandle weight)
{
    enum { PRODUCT, ACTIVE, ROW, FLAT, DROPPED, CUSTOM, SUM, SCALED, ALL };
    NDArrayHandle a[ALL] = {NULL}, result = NULL;
    int before = 0, flat[] = {-1};
    did(MXAutogradSetIsRecording(1, &before));
    did(MXAutogradSetIsTraining(1, &before));
    NDArrayHandle pair[] = {x, weight};
    a[PRODUCT] = run("dot", 2, pair, NULL, "transpose_b", "True");
    a[ACTIVE] = run("Activation", 1, &a[PRODUCT], NULL, "act_type", "tanh");
    a[DROPPED] = run("Dropout", 1, &a[ACTIVE], NULL, "p", "0.0");
    if (a[DROPPED] != NULL && did(MXNDArraySlice(a[DROPPED], 0, ROWS - 1, &a[ROW])) &&
        did(MXNDArrayReshape(a[ROW], 1, flat, &a[FLAT]))) {
        if (did(add_one_invoke(ADD_ONE_PLAIN, a[FLAT], NULL, &a[CUSTOM]))) {
            a[SCALED] = run("_mul_scalar", 1, &a[CUSTOM], NULL, "scalar", "2");
            a[SUM] = run("log_softmax", 1, &a[SCALED], NULL, NULL, NULL);
            result = run("sum", 1, &a[SUM], NULL, NULL, NULL);
        }
    }
    did(MXAutogradSetIsRecording(0, &before));
    did(MXAutogradSetIsTraining(0, &before));
    release(a, ALL);
    return result;
}

static void step(float *outcome)
{
    enum { X, WEIGHT, GRADIENT, LOSS, UPDATED, COPY, ALL };
    NDArrayHandle a[ALL] = {make(ROWS, COLUMNS), make(CLASSES, COLUMNS), make(CLASSES, COLUMNS)};
    mx_uint write = 1;
    int before = 0;
    bool marked = a[X] != NULL && a[WEIGHT] != NULL && a[GRADIENT] != NULL &&
                  did(MXAutogradMarkVariables(1, &a[WEIGHT], &write, &a[GRADIENT]));
    did(MXRandomSeed(7));
    for (int with_variables = 0; marked && with_variables < 2; with_variables++) {
        NDArrayHandle *found = NULL;
        int *types = NULL;
        a[LOSS] = forward(a[X], a[WEIGHT]);
        did(MXEngineSetBulkSize(with_variables * BULK, &before));
        if (a[LOSS] != NULL &&
            did(MXAutogradBackwardEx(1, &a[LOSS], NULL, (mx_uint)with_variables, &a[WEIGHT], 0, 0,
                                     1, &found, &types)) &&
            with_variables) {
            release(found, 1);
        }
        release(&a[LOSS], 1);
    }
    NDArrayHandle pair[] = {a[WEIGHT], a[GRADIENT]};
    a[UPDATED] = run("sgd_update", 2, pair, NULL, "lr", "0.5");
    did(MXEngineSetBulkSize(0, &before));
    if (a[UPDATED] != NULL) {
        push_functions(a[UPDATED]);
        use_files(a[UPDATED]);
        a[COPY] = make(CLASSES, COLUMNS);
        if (a[COPY] != NULL) {
            did(MXNDArraySyncCopyFromNDArray(a[COPY], a[UPDATED], -1));
            did(MXNDArraySyncCopyToCPU(a[COPY], outcome, OUTCOMES));
        }
    }
    release(a, ALL);
    while (MXNDArrayWaitAll() != 0) {
        all_good = false;
    }
}

// ---- processes ---------------------------------------------------------------------------------
static float *usual;  // shared by all processes: what the step gives

static void nothing_is_left(void)
{
    uint64_t arrays = 1, buffers = 1;
    for (int i = 0; i < 2000 && arrays + buffers > 0; i++) {
        mxn_array_counts(&arrays, &buffers);
        usleep(1000);  // the program's functions for deleting run behind the wait
    }
    if (arrays != 0 || buffers != 0) {
        fprintf(stderr, "%llu arrays, %llu buffers left\n", (unsigned long long)arrays,
                (unsigned long long)buffers);
        _exit(LEFT_OVER);
    }
}

static void child_main(uint64_t number, unsigned row)
{
    float first[OUTCOMES] = {0}, second[OUTCOMES] = {0};
    mxp_set_allocator(
        &(mxp_allocator){.size_bytes = sizeof(mxp_allocator), .reallocate = reallocate});
    OpHandle op = NULL;
    all_good = did(NNGetOpHandle("dot", &op));  // makes the list of all operators
    add_one_register();
    in_a_row = row;
    calls = 0;
    fail_at = number;
    step(first);
    fail_at = 0;
    nothing_is_left();
    all_good = true;
    step(second);
    if (!all_good) {
        fprintf(stderr, "%s\n", MXGetLastError());
        _exit(FAILS_STILL);
    }
    nothing_is_left();
    if (number == 0) {
        memcpy(usual, second, sizeof second);
    } else if (memcmp(usual, second, sizeof second) != 0) {
        _exit(DIFFERENT);
    }
    if (pushed != deleted) {
        _exit(UNBALANCED);
    }
    _exit(refused == 0 ? NOTHING_FAILED : 0);
}

static int in_child(uint64_t number, unsigned row)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(30);
        child_main(number, row);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    if (code != 0 && code != NOTHING_FAILED) {
        print_error("allocation %llu, %u in a row: exit code or signal %d\n",
                    (unsigned long long)number, row, code);
    }
    return code;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    usual = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(usual != MAP_FAILED);
    assert_int_equal(in_child(0, 1), NOTHING_FAILED);
    int bad = 0;
    const unsigned most = getenv("MXPROF_TEST_LONG") != NULL ? 3 : 1;
    for (unsigned row = 1; row <= most; row += 2) {
        int result = 0;
        for (uint64_t number = 1; result != NOTHING_FAILED; number++) {
            result = in_child(number, row);
            bad += result != 0 && result != NOTHING_FAILED;
        }
    }
    assert_int_equal(bad, 0);
    unlink("failed_allocation.params");
}

static void the_same_with_naive_engine(void **state)
{
    setenv("MXNET_ENGINE_TYPE", "NaiveEngine", 1);
    every_allocation_may_fail(state);
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_same_with_naive_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
