// SPDX-License-Identifier: Apache-2.0
// Every function that takes code of the program's own, with good and with bad arguments.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <string.h>

#include "walk.h"

enum { CPU = 1, GPU = 2 };

static NDArrayHandle array, freed;
static int runs, deleted;

static NDArrayHandle make(void)
{
    const uint32_t shape[] = {2};
    const float values[] = {1, 1};
    NDArrayHandle made = NULL;
    assert_int_equal(MXNDArrayCreate(shape, 1, CPU, 0, 0, 0, &made), 0);
    assert_int_equal(MXNDArraySyncCopyFromCPU(made, values, 2), 0);
    return made;
}

static int set_up(void **state)
{
    (void)state;
    array = make();
    freed = make();
    return MXNDArrayFree(freed);
}

static int tear_down(void **state)
{
    (void)state;
    return MXNDArrayFree(array);
}

// ---- pushing ----------------------------------------------------------------------------------
static void work(void *context, void *parameter)
{
    (void)context;
    __atomic_fetch_add((int *)parameter, 1, __ATOMIC_RELEASE);
}

static void work_later(void *context, void *on_start, void *on_complete, void *parameter)
{
    (void)on_start;
    const struct MXEngineCallback done = *(struct MXEngineCallback *)on_complete;
    work(context, parameter);
    done.callback(done.engine, done.param, NULL);
}

static bool ran(void)
{
    assert_int_equal(MXNDArrayWaitAll(), 0);
    const int before = __atomic_exchange_n(&runs, 0, __ATOMIC_ACQ_REL);
    return before == 1;
}

#define NOTHING
#define WAIT , false

// What is listed, arrays or variables, is `none` for functions of variables: nobody outside of the
// library has one.
#define PUSH(function, code, wait)                                                                \
    do {                                                                                          \
        const struct MXContext gpu = {GPU, 0}, nowhere = {99, 0};                                 \
        GOOD(function, (code, &runs, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, "walk" wait), ran()); \
        BAD(function, (NULL, &runs, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, "walk" wait));         \
        BAD(function, (code, &runs, NULL, &gpu, NULL, 0, NULL, 0, NULL, 0, "walk" wait));         \
        BAD(function, (code, &runs, NULL, &nowhere, NULL, 0, NULL, 0, NULL, 0, "walk" wait));     \
        BAD(function, (code, &runs, NULL, NULL, NULL, -1, NULL, 0, NULL, 0, "walk" wait));        \
        BAD(function, (code, &runs, NULL, NULL, NULL, 0, NULL, -1, NULL, 0, "walk" wait));        \
        BAD(function, (code, &runs, NULL, NULL, NULL, 1, NULL, 0, NULL, 0, "walk" wait));         \
        BAD(function, (code, &runs, NULL, NULL, NULL, 0, NULL, 1, NULL, 0, "walk" wait));         \
    } while (0)

#define PUSH_ARRAYS(function, code, wait)                                                     \
    do {                                                                                      \
        NDArrayHandle twice[] = {array, array};                                               \
        GOOD(function, (code, &runs, NULL, NULL, NULL, 0, &array, 1, NULL, 0, "walk" wait),   \
             ran());                                                                          \
        BAD_HANDLES(function, freed,                                                          \
                    (code, &runs, NULL, NULL, &bad, 1, NULL, 0, NULL, 0, "walk" wait));       \
        BAD_HANDLES(function, freed,                                                          \
                    (code, &runs, NULL, NULL, NULL, 0, &bad, 1, NULL, 0, "walk" wait));       \
        BAD(function, (code, &runs, NULL, NULL, NULL, 0, twice, 2, NULL, 0, "walk" wait));    \
        BAD(function, (code, &runs, NULL, NULL, &array, 1, &array, 1, NULL, 0, "walk" wait)); \
    } while (0)

static void pushing(void **state)
{
    (void)state;
    PUSH(MXEnginePushSync, work, NOTHING);
    PUSH(MXEnginePushAsync, work_later, WAIT);
    PUSH(MXEnginePushSyncND, work, NOTHING);
    PUSH(MXEnginePushAsyncND, work_later, WAIT);
    PUSH_ARRAYS(MXEnginePushSyncND, work, NOTHING);
    PUSH_ARRAYS(MXEnginePushAsyncND, work_later, WAIT);
    assert_int_equal(runs, 0);
}

// ---- operators and gradients of the program's own ---------------------------------------------
typedef int (*any_function)(void);

static int backward(int num_ograds, int num_igrads, void **ptrs, const int *reqs,
                    const int is_train, void *own)
{
    (void)reqs, (void)is_train, (void)own;
    for (int i = 0; i < num_ograds + num_igrads; i++) {
        MXNDArrayFree(ptrs[i]);
    }
    return 1;
}

static int forget(void *own)
{
    __atomic_fetch_add((int *)own, 1, __ATOMIC_RELEASE);
    return 1;
}

static void gradients(void **state)
{
    (void)state;
    any_function functions[] = {(any_function)(void (*)(void))backward,
                                (any_function)(void (*)(void))forget};
    void *contexts[] = {&deleted, &deleted};
    struct MXCallbackList callbacks = {2, functions, contexts}, none = {0, NULL, NULL};
    NDArrayHandle x = make(), y = make(), gradient = make();
    mx_uint write = 1;
    assert_int_equal(MXAutogradMarkVariables(1, &x, &write, &gradient), 0);
    assert_int_equal(MXAutogradSetIsRecording(1, NULL), 0);
    GOOD(MXCustomFunctionRecord, (1, &x, 1, &y, &callbacks), true);
    BAD_HANDLES(MXCustomFunctionRecord, freed, (1, &bad, 1, &y, &callbacks));
    BAD_HANDLES(MXCustomFunctionRecord, freed, (1, &x, 1, &bad, &callbacks));
    BAD(MXCustomFunctionRecord, (-1, &x, 1, &y, &callbacks));
    BAD(MXCustomFunctionRecord, (1, NULL, 1, &y, &callbacks));
    BAD(MXCustomFunctionRecord, (1, &x, 1, NULL, &callbacks));
    BAD(MXCustomFunctionRecord, (1, &x, 1, &y, NULL));
    BAD(MXCustomFunctionRecord, (1, &x, 1, &y, &none));
    assert_int_equal(MXAutogradSetIsRecording(0, NULL), 0);
    assert_int_equal(MXNDArrayFree(x) | MXNDArrayFree(y) | MXNDArrayFree(gradient), 0);
}

static int refuse(const char *op_type, const int num_kwargs, const char **keys, const char **values,
                  struct MXCallbackList *ret)
{
    (void)op_type, (void)num_kwargs, (void)keys, (void)values, (void)ret;
    return 0;
}

static void operators(void **state)
{
    (void)state;
    OpHandle custom = NULL;
    const char *key = "op_type", *value = "walk";
    NDArrayHandle *outputs = NULL;
    int count = 0;
    GOOD(MXCustomOpRegister, (value, refuse), NNGetOpHandle("Custom", &custom) == 0);
    BAD(MXCustomOpRegister, (NULL, refuse));
    BAD(MXCustomOpRegister, (value, NULL));
    BAD(MXImperativeInvoke, (custom, 1, &array, &count, &outputs, 1, &key, &value, NULL));
    value = "nobody registered this";
    BAD(MXImperativeInvoke, (custom, 1, &array, &count, &outputs, 1, &key, &value, NULL));
}

static void all_were_called(void **state)
{
    (void)state;
    walk_complete("mxnet/c_api_engine.h");
    walk_complete("mxnet/c_api_custom.h");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushing),
        cmocka_unit_test(gradients),
        cmocka_unit_test(operators),
        cmocka_unit_test(all_were_called),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
