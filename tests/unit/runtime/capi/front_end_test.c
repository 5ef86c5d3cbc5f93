// SPDX-License-Identifier: Apache-2.0
// What front ends call when they are imported: lists that are empty, handles nobody gave out.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <stdlib.h>
#include <string.h>

static void empty_registries_are_empty(void **state)
{
    (void)state;
    uint32_t size = 7;
    DatasetCreator *sets = NULL;
    size = 7;
    assert_int_equal(MXListDatasets(&size, &sets), 0);
    assert_int_equal(size, 0);
    BatchifyFunctionCreator *batchify = NULL;
    size = 7;
    assert_int_equal(MXListBatchifyFunctions(&size, &batchify), 0);
    assert_int_equal(size, 0);
    int count = 7;
    const char **names = NULL;
    assert_int_equal(MXNetFuncListGlobalNames(&count, &names), 0);
    assert_int_equal(count, 0);
    assert_int_equal(MXListDatasets(NULL, &sets), -1);
    assert_int_equal(MXListDatasets(&size, NULL), -1);
}

static void entries_of_empty_registries_are_refused(void **state)
{
    (void)state;
    int somewhere = 0;
    const char *name = NULL, *text = NULL, **names = NULL, **types = NULL, **texts = NULL;
    uint32_t count = 0;
    MXNetFunctionHandle packed = &somewhere;
    assert_int_equal(
        MXDatasetGetDatasetInfo(&somewhere, &name, &text, &count, &names, &types, &texts), -1);
    assert_int_equal(
        MXBatchifyFunctionGetFunctionInfo(NULL, &name, &text, &count, &names, &types, &texts), -1);
    assert_int_equal(MXFuncGetInfo(NULL, &name, &text, &count, &names, &types, &texts, NULL), -1);
    assert_int_equal(MXFuncDescribe(NULL, &count, &count, &count, NULL), -1);
    assert_int_equal(MXNetFuncGetGlobal("_npi.add", &packed), 0);
    assert_null(packed);
}

static NDArrayHandle make(uint32_t rank, const uint32_t *shape, const float *values, size_t count)
{
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayCreate(shape, rank, 1, 0, 0, 0, &array), 0);
    assert_int_equal(MXNDArraySyncCopyFromCPU(array, values, count), 0);
    return array;
}

// The old functions of arrays: a one in each row, and one element of each row replaced.
static void array_functions_do_what_the_first_front_ends_want(void **state)
{
    (void)state;
    const uint32_t shape[] = {2, 3};
    const float rows[] = {1, 2, 3, 4, 5, 6}, values[] = {7, 8}, places[] = {2, 0};
    const float ones[] = {0, 0, 1, 1, 0, 0}, filled[] = {1, 2, 7, 8, 5, 6};
    float found[6];
    FunctionHandle encode = NULL, fill = NULL;
    NDArrayHandle use[] = {make(2, shape, rows, 6), make(1, shape, values, 2),
                           make(1, shape, places, 2)};
    NDArrayHandle out = make(2, shape, rows, 6), pair[] = {use[2], out};
    assert_int_equal(MXGetFunction("_onehot_encode", &encode), 0);
    assert_int_equal(MXFuncInvokeEx(encode, pair, NULL, &out, 0, NULL, NULL), 0);
    assert_int_equal(MXNDArraySyncCopyToCPU(out, found, 6), 0);
    assert_memory_equal(found, ones, sizeof found);
    assert_int_equal(MXGetFunction("fill_element_0index", &fill), 0);
    assert_int_equal(MXFuncInvokeEx(fill, use, NULL, &out, 0, NULL, NULL), 0);
    assert_int_equal(MXNDArraySyncCopyToCPU(out, found, 6), 0);
    assert_memory_equal(found, filled, sizeof found);
    NDArrayHandle flat[] = {use[2], use[1]};
    assert_int_equal(MXFuncInvokeEx(encode, flat, NULL, &out, 0, NULL, NULL), -1);
    assert_non_null(strstr(MXGetLastError(), "rank 1"));
    assert_int_equal(MXNDArrayFree(out), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(MXNDArrayFree(use[i]), 0);
    }
}

static void operators_have_info_by_both_names(void **state)
{
    (void)state;
    OpHandle op = NULL;
    const char *name = NULL, *text = NULL, **names = NULL, **types = NULL, **texts = NULL;
    nn_uint count = 0;
    assert_int_equal(NNGetOpHandle("_PlusScalar", &op), 0);
    assert_int_equal(NNGetOpInfo(op, &name, &text, &count, &names, &types, &texts, NULL), 0);
    assert_string_equal(name, "_plus_scalar");
    assert_string_equal(names[0], "data");
    assert_int_equal(NNGetOpInfo(NULL, &name, &text, &count, &names, &types, &texts, NULL), -1);
}

static void roles_follow_the_environment(void **state)
{
    (void)state;
    int worker = 0, server = 1, scheduler = 1;
    unsetenv("DMLC_ROLE");
    assert_int_equal(MXKVStoreIsWorkerNode(&worker), 0);
    assert_int_equal(MXKVStoreIsServerNode(&server), 0);
    assert_int_equal(MXKVStoreIsSchedulerNode(&scheduler), 0);
    assert_true(worker == 1 && server == 0 && scheduler == 0);
    setenv("DMLC_ROLE", "server", 1);
    MXKVStoreIsWorkerNode(&worker);
    MXKVStoreIsServerNode(&server);
    assert_true(worker == 0 && server == 1);
    assert_int_equal(MXKVStoreIsWorkerNode(NULL), -1);
}

static void symbols_are_refused_clearly(void **state)
{
    (void)state;
    const int64_t shape[] = {1};
    NDArrayHandle array = NULL;
    SymbolHandle symbol = NULL;
    assert_int_equal(MXNDArrayCreate64(shape, 1, 1, 0, 0, 0, &array), 0);
    assert_int_equal(MXAutogradGetSymbol(array, &symbol), -1);
    assert_non_null(strstr(MXGetLastError(), "symbol"));
    int free_mem = 0, total = 0;
    assert_int_equal(MXGetGPUMemoryInformation(0, &free_mem, &total), -1);
    assert_non_null(strstr(MXGetLastError(), "gpu(0)"));
    MXNDArrayFree(array);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_registries_are_empty),
        cmocka_unit_test(entries_of_empty_registries_are_refused),
        cmocka_unit_test(array_functions_do_what_the_first_front_ends_want),
        cmocka_unit_test(operators_have_info_by_both_names),
        cmocka_unit_test(roles_follow_the_environment),
        cmocka_unit_test(symbols_are_refused_clearly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
