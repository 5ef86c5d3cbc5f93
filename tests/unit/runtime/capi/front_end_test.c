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
    FunctionHandle *functions = NULL;
    size = 7;
    assert_int_equal(MXListFunctions(&size, &functions), 0);
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
    FunctionHandle function = NULL;
    assert_int_equal(
        MXDatasetGetDatasetInfo(&somewhere, &name, &text, &count, &names, &types, &texts), -1);
    assert_int_equal(
        MXBatchifyFunctionGetFunctionInfo(NULL, &name, &text, &count, &names, &types, &texts), -1);
    assert_int_equal(MXFuncGetInfo(NULL, &name, &text, &count, &names, &types, &texts, NULL), -1);
    assert_int_equal(MXFuncDescribe(NULL, &count, &count, &count, NULL), -1);
    assert_int_equal(MXGetFunction("_onehot_encode", &function), -1);
    assert_non_null(strstr(MXGetLastError(), "_onehot_encode"));
    assert_int_equal(MXNetFuncGetGlobal("_npi.add", &packed), 0);
    assert_null(packed);
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
        cmocka_unit_test(operators_have_info_by_both_names),
        cmocka_unit_test(roles_follow_the_environment),
        cmocka_unit_test(symbols_are_refused_clearly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
