// SPDX-License-Identifier: Apache-2.0
// Every function of executors, cached operators and deferred compute, with good and with bad
// arguments.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <string.h>

#include "walk.h"

enum { CPU = 1, GPU = 2, WRITE = 1, NO_REQUEST = 99, SIZE = 2 };

static SymbolHandle network, freed_symbol;  // square(x)
static NDArrayHandle array, gradient, freed;
static ExecutorHandle executor, freed_executor;
static mx_uint request = WRITE;

static NDArrayHandle make(float first)
{
    const uint32_t shape[] = {SIZE};
    const float values[] = {first, first};
    NDArrayHandle made = NULL;
    assert_int_equal(MXNDArrayCreate(shape, 1, CPU, 0, 0, 0, &made), 0);
    assert_int_equal(MXNDArraySyncCopyFromCPU(made, values, SIZE), 0);
    return made;
}

static SymbolHandle make_network(void)
{
    OpHandle op = NULL;
    SymbolHandle x = NULL, made = NULL;
    assert_int_equal(NNGetOpHandle("square", &op), 0);
    assert_int_equal(MXSymbolCreateVariable("x", &x), 0);
    assert_int_equal(MXSymbolCreateAtomicSymbol(op, 0, NULL, NULL, &made), 0);
    assert_int_equal(MXSymbolCompose(made, "y", 1, NULL, &x), 0);
    assert_int_equal(MXSymbolFree(x), 0);
    return made;
}

static ExecutorHandle bind(void)
{
    ExecutorHandle made = NULL;
    assert_int_equal(
        MXExecutorBind(network, CPU, 0, 1, &array, &gradient, &request, 0, NULL, &made), 0);
    return made;
}

static int set_up(void **state)
{
    (void)state;
    network = make_network();
    freed_symbol = make_network();
    array = make(3);
    gradient = make(0);
    freed = make(0);
    executor = bind();
    freed_executor = bind();
    return MXSymbolFree(freed_symbol) | MXNDArrayFree(freed) | MXExecutorFree(freed_executor);
}

static int tear_down(void **state)
{
    (void)state;
    return MXExecutorFree(executor) | MXNDArrayFree(array) | MXNDArrayFree(gradient) |
           MXSymbolFree(network);
}

static float first_of(NDArrayHandle of)
{
    float values[SIZE] = {0};
    assert_int_equal(MXNDArraySyncCopyToCPU(of, values, SIZE), 0);
    return values[0];
}

static float taken(NDArrayHandle of)
{
    const float first = first_of(of);
    assert_int_equal(MXNDArrayFree(of), 0);
    return first;
}

// ---- binding ----------------------------------------------------------------------------------
#define NOTHING
#define NO_MAP 0, NULL, NULL, NULL,
#define SHARED NULL,

// The ways to bind differ in a map of groups before the arrays, and in an executor at the end.
#define BIND(function, map, shared)                                                                \
    do {                                                                                           \
        ExecutorHandle made = NULL;                                                                \
        GOOD(function,                                                                             \
             (network, CPU, 0, map 1, &array, &gradient, &request, 0, NULL, shared & made),        \
             MXExecutorFree(made) == 0);                                                           \
        BAD_HANDLES(function, freed_symbol,                                                        \
                    (bad, CPU, 0, map 1, &array, &gradient, &request, 0, NULL, shared & made));    \
        BAD_HANDLES(function, freed,                                                               \
                    (network, CPU, 0, map 1, &bad, &gradient, &request, 0, NULL, shared & made));  \
        BAD(function, (network, CPU, 0, map 1, &array, &freed, &request, 0, NULL, shared & made)); \
        BAD(function,                                                                              \
            (network, CPU, 0, map 1, &array, &gradient, &unknown, 0, NULL, shared & made));        \
        BAD(function,                                                                              \
            (network, GPU, 0, map 1, &array, &gradient, &request, 0, NULL, shared & made));        \
        BAD(function,                                                                              \
            (network, CPU, 0, map 0, &array, &gradient, &request, 0, NULL, shared & made));        \
        BAD(function,                                                                              \
            (network, CPU, 0, map 1, NULL, &gradient, &request, 0, NULL, shared & made));          \
        BAD(function,                                                                              \
            (network, CPU, 0, map 1, &array, &gradient, &request, 1, NULL, shared & made));        \
        BAD(function,                                                                              \
            (network, CPU, 0, map 1, &array, &gradient, &request, 0, NULL, shared NULL));          \
    } while (0)

static void binding(void **state)
{
    (void)state;
    mx_uint unknown = NO_REQUEST;
    BIND(MXExecutorBind, NOTHING, NOTHING);
    BIND(MXExecutorBindX, NO_MAP, NOTHING);
    BIND(MXExecutorBindEX, NO_MAP, SHARED);
    ExecutorHandle made = NULL;
    BAD(MXExecutorBindEX,
        (network, CPU, 0, NO_MAP 1, &array, &gradient, &request, 0, NULL, freed_executor, &made));
    made = bind();
    GOOD(MXExecutorFree, (made), true);
    BAD_HANDLES(MXExecutorFree, made, (bad));
}

// ---- binding with arrays that are made for it -------------------------------------------------
#define SIMPLE(symbol, device, word, name, last)                                                   \
    (symbol, device, 0, 0, NULL, NULL, NULL, 1, NULL, word, 1, name, sizes, begins, 0, NULL, NULL, \
     0, NULL, NULL, 0, NULL, &buffer_length, NULL, NULL, &updated_names, &updated, &count,         \
     &arguments, &gradients, &states_count, &states, NULL, last)

#define SIMPLE_BIND(function, size_type)                                                \
    do {                                                                                \
        const size_type sizes[] = {SIZE};                                               \
        GOOD(function, SIMPLE(network, CPU, &write, &x, &made),                         \
             count == 1 && states_count == 0 && MXExecutorFree(made) == 0);             \
        assert_int_equal(MXNDArrayFree(arguments[0]) | MXNDArrayFree(gradients[0]), 0); \
        BAD_HANDLES(function, freed_symbol, SIMPLE(bad, CPU, &write, &x, &made));       \
        BAD(function, SIMPLE(network, GPU, &write, &x, &made));                         \
        BAD(function, SIMPLE(network, CPU, &wrong, &x, &made));                         \
        BAD(function, SIMPLE(network, CPU, &write, &wrong, &made));                     \
        BAD(function, SIMPLE(network, CPU, &write, NULL, &made));                       \
        BAD(function, SIMPLE(network, CPU, &write, &x, NULL));                          \
    } while (0)

static void simple_binding(void **state)
{
    (void)state;
    const char *write = "write", *wrong = "wrong", *x = "x", **updated_names = NULL;
    const mx_uint begins[] = {0, 1};
    int buffer_length = -1;
    mx_uint count = 0, states_count = 9;
    NDArrayHandle *arguments = NULL, *gradients = NULL, *states = NULL, *updated = NULL;
    ExecutorHandle made = NULL;
    SIMPLE_BIND(MXExecutorSimpleBind, mx_uint);
    SIMPLE_BIND(MXExecutorSimpleBindEx, int);
    SIMPLE_BIND(MXExecutorSimpleBindEx64, int64_t);
}

#define SHAPE(device, name, sizes, from, last)                                                     \
    (0, 1, device, 0, 0, NULL, NULL, NULL, 1, name, sizes, begins, &count, &arguments, &gradients, \
     &states_count, &states, from, last)

#define RESHAPE(function, size_type)                                                    \
    do {                                                                                \
        const size_type sizes[] = {1};                                                  \
        GOOD(function, SHAPE(CPU, &x, sizes, executor, &made),                          \
             count == 1 && MXExecutorFree(made) == 0);                                  \
        assert_int_equal(MXNDArrayFree(arguments[0]) | MXNDArrayFree(gradients[0]), 0); \
        BAD_HANDLES(function, freed_executor, SHAPE(CPU, &x, sizes, bad, &made));       \
        BAD(function, SHAPE(GPU, &x, sizes, executor, &made));                          \
        BAD(function, SHAPE(CPU, &wrong, sizes, executor, &made));                      \
        BAD(function, SHAPE(CPU, NULL, sizes, executor, &made));                        \
        BAD(function, SHAPE(CPU, &x, NULL, executor, &made));                           \
        BAD(function, SHAPE(CPU, &x, sizes, executor, NULL));                           \
    } while (0)

static void reshaping(void **state)
{
    (void)state;
    const char *x = "x", *wrong = "wrong";
    const mx_uint begins[] = {0, 1};
    mx_uint count = 0, states_count = 9;
    NDArrayHandle *arguments = NULL, *gradients = NULL, *states = NULL;
    ExecutorHandle made = NULL;
    RESHAPE(MXExecutorReshape, mx_uint);
    RESHAPE(MXExecutorReshapeEx, int);
}

// ---- running ----------------------------------------------------------------------------------
static int told;

static void monitor(const char *name, NDArrayHandle of, void *handle)
{
    (void)name, (void)handle;
    told++;
    MXNDArrayFree(of);
}

static void running(void **state)
{
    (void)state;
    mx_uint count = 0;
    NDArrayHandle *outputs = NULL, head = make(1), heads[] = {head, head};
    ExecutorHandle fresh = bind();
    BAD(MXExecutorBackward, (fresh, 0, NULL));  // before any forward
    assert_int_equal(MXExecutorFree(fresh), 0);
    GOOD(MXExecutorSetMonitorCallback, (executor, monitor, NULL), true);
    BAD_HANDLES(MXExecutorSetMonitorCallback, freed_executor, (bad, monitor, NULL));
    GOOD(MXExecutorSetMonitorCallbackEX, (executor, monitor, NULL, true), true);
    BAD_HANDLES(MXExecutorSetMonitorCallbackEX, freed_executor, (bad, monitor, NULL, true));
    GOOD(MXExecutorForward, (executor, 1), told == 3);
    BAD_HANDLES(MXExecutorForward, freed_executor, (bad, 1));
    GOOD(MXExecutorOutputs, (executor, &count, &outputs), count == 1 && taken(outputs[0]) == 9);
    BAD_HANDLES(MXExecutorOutputs, freed_executor, (bad, &count, &outputs));
    BAD(MXExecutorOutputs, (executor, NULL, &outputs));
    BAD(MXExecutorOutputs, (executor, &count, NULL));
    GOOD(MXExecutorBackward, (executor, 1, &head), first_of(gradient) == 6);
    BAD_HANDLES(MXExecutorBackward, freed_executor, (bad, 1, &head));
    BAD(MXExecutorBackward, (executor, 1, &freed));
    BAD(MXExecutorBackward, (executor, 1, NULL));
    BAD(MXExecutorBackward, (executor, 2, heads));
    GOOD(MXExecutorBackwardEx, (executor, 1, &head, 1), first_of(gradient) == 6);
    BAD_HANDLES(MXExecutorBackwardEx, freed_executor, (bad, 1, &head, 1));
    BAD(MXExecutorBackwardEx, (executor, 2, heads, 1));
    assert_int_equal(MXExecutorSetMonitorCallback(executor, NULL, NULL), 0);
    assert_int_equal(MXNDArrayFree(head), 0);
}

static void asking(void **state)
{
    (void)state;
    const char *text = NULL;
    SymbolHandle symbol = NULL;
    GOOD(MXExecutorPrint, (executor, &text), strstr(text, "square") != NULL);
    BAD_HANDLES(MXExecutorPrint, freed_executor, (bad, &text));
    BAD(MXExecutorPrint, (executor, NULL));
    GOOD(MXExecutorGetOptimizedSymbol, (executor, &symbol), MXSymbolFree(symbol) == 0);
    BAD_HANDLES(MXExecutorGetOptimizedSymbol, freed_executor, (bad, &symbol));
    BAD(MXExecutorGetOptimizedSymbol, (executor, NULL));
}

// ---- cached operators -------------------------------------------------------------------------
#define NO_THREADS
#define THREADS , true

#define CREATE(function, last)                                                             \
    do {                                                                                   \
        CachedOpHandle made = NULL;                                                        \
        GOOD(function, (network, 1, &key, &value, &made last), MXFreeCachedOp(made) == 0); \
        BAD_HANDLES(function, freed_symbol, (bad, 0, NULL, NULL, &made last));             \
        BAD(function, (network, 1, &wrong, &value, &made last));                           \
        BAD(function, (network, 1, &key, &wrong, &made last));                             \
        BAD(function, (network, 1, NULL, &value, &made last));                             \
        BAD(function, (network, -1, &key, &value, &made last));                            \
        BAD(function, (network, 0, NULL, NULL, NULL last));                                \
    } while (0)

static void hook(const char *name, const char *op, NDArrayHandle of)
{
    (void)op;
    monitor(name, of, NULL);
}

#define CALL(function, device)                                                           \
    do {                                                                                 \
        int count = 0;                                                                   \
        NDArrayHandle *outputs = NULL;                                                   \
        const int *kinds = NULL;                                                         \
        GOOD(function, (op, 1, &array, device & count, &outputs, &kinds),                \
             count == 1 && taken(outputs[0]) == 9);                                      \
        outputs = NULL;                                                                  \
        BAD_HANDLES(function, gone, (bad, 1, &array, device & count, &outputs, &kinds)); \
        BAD_HANDLES(function, freed, (op, 1, &bad, device & count, &outputs, &kinds));   \
        BAD(function, (op, 0, &array, device & count, &outputs, &kinds));                \
        BAD(function, (op, -1, &array, device & count, &outputs, &kinds));               \
        BAD(function, (op, 1, NULL, device & count, &outputs, &kinds));                  \
        BAD(function, (op, 1, &array, device NULL, &outputs, &kinds));                   \
        BAD(function, (op, 1, &array, device & count, NULL, &kinds));                    \
    } while (0)

#define DEVICE CPU, 0,

static void cached_operators(void **state)
{
    (void)state;
    const char *key = "static_alloc", *value = "true", *wrong = "static_what";
    CachedOpHandle op = NULL, gone = NULL;
    SymbolHandle symbol = NULL;
    CREATE(MXCreateCachedOp, THREADS);
    CREATE(MXCreateCachedOpEX, THREADS);
    CREATE(MXCreateCachedOpEx, NO_THREADS);
    assert_int_equal(MXCreateCachedOpEx(network, 0, NULL, NULL, &op), 0);
    assert_int_equal(MXCreateCachedOpEx(network, 0, NULL, NULL, &gone), 0);
    GOOD(MXFreeCachedOp, (gone), true);
    BAD_HANDLES(MXFreeCachedOp, gone, (bad));
    GOOD(MXCachedOpGetOptimizedSymbol, (op, &symbol), MXSymbolFree(symbol) == 0);
    BAD_HANDLES(MXCachedOpGetOptimizedSymbol, gone, (bad, &symbol));
    BAD(MXCachedOpGetOptimizedSymbol, (op, NULL));
    told = 0;
    GOOD(MXCachedOpRegisterOpHook, (op, hook, false), true);
    BAD_HANDLES(MXCachedOpRegisterOpHook, gone, (bad, hook, false));
    CALL(MXInvokeCachedOp, DEVICE);
    CALL(MXInvokeCachedOpEx, NOTHING);
    assert_true(told >= 2);
    assert_int_equal(MXFreeCachedOp(op), 0);
}

// ---- deferred compute -------------------------------------------------------------------------
static void deferred_compute(void **state)
{
    (void)state;
    int before = -1, count = 0;
    OpHandle op = NULL;
    SymbolHandle x = NULL, symbol = NULL;
    NDArrayHandle given = make(3), plain = make(3), *outputs = NULL;
    assert_int_equal(MXSymbolCreateVariable("x", &x), 0);
    assert_int_equal(NNGetOpHandle("square", &op), 0);
    GOOD(MXNDArraySetDeferredComputeVariable, (&given, &x, 1), true);
    BAD_HANDLES(MXNDArraySetDeferredComputeVariable, freed, (&bad, &x, 1));
    BAD_HANDLES(MXNDArraySetDeferredComputeVariable, freed_symbol, (&given, &bad, 1));
    BAD(MXNDArraySetDeferredComputeVariable, (NULL, &x, 1));
    BAD(MXNDArraySetDeferredComputeVariable, (&given, NULL, 1));
    BAD(MXNDArraySetDeferredComputeVariable, (&given, &x, -1));
    GOOD(MXNDArraySetIsDeferredCompute, (1, &before), before == 0);
    NEVER_FAILS(MXNDArraySetIsDeferredCompute);
    GOOD(MXNDArrayIsDeferredCompute, (&before), before == 1);
    BAD(MXNDArrayIsDeferredCompute, (NULL));
    assert_int_equal(MXImperativeInvoke(op, 1, &given, &count, &outputs, 0, NULL, NULL, NULL), 0);
    NDArrayHandle y = outputs[0];
    GOOD(MXNDArraySetIsDeferredCompute, (0, NULL), true);
    BAD_HANDLES(MXNDArrayGetDeferredComputeSymbol, freed, (&bad, 1, &symbol));
    BAD(MXNDArrayGetDeferredComputeSymbol, (&plain, 1, &symbol));
    BAD(MXNDArrayGetDeferredComputeSymbol, (NULL, 1, &symbol));
    BAD(MXNDArrayGetDeferredComputeSymbol, (&y, -1, &symbol));
    BAD(MXNDArrayGetDeferredComputeSymbol, (&y, 1, NULL));
    GOOD(MXNDArrayGetDeferredComputeSymbol, (&y, 1, &symbol), MXSymbolFree(symbol) == 0);
    GOOD(MXNDArrayClearDeferredCompute, (&given, 1), true);
    BAD_HANDLES(MXNDArrayClearDeferredCompute, freed, (&bad, 1));
    BAD(MXNDArrayClearDeferredCompute, (NULL, 1));
    BAD(MXNDArrayClearDeferredCompute, (&given, -1));
    assert_int_equal(MXSymbolFree(x) | MXNDArrayFree(y) | MXNDArrayFree(given), 0);
    assert_int_equal(MXNDArrayFree(plain), 0);
}

static void all_were_called(void **state)
{
    (void)state;
    walk_complete("mxnet/c_api_executor.h");
    walk_complete("mxnet/c_api_cached_op.h");
    walk_complete("mxnet/c_api_deferred.h");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binding),          cmocka_unit_test(simple_binding),
        cmocka_unit_test(reshaping),        cmocka_unit_test(running),
        cmocka_unit_test(asking),           cmocka_unit_test(cached_operators),
        cmocka_unit_test(deferred_compute), cmocka_unit_test(all_were_called),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
