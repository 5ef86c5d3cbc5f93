// SPDX-License-Identifier: Apache-2.0
// Arrays, operators, gradients and pushes as a C program uses them: values, handles that are wrong,
// the names that are recorded.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <mxnet/invoke.h>
#include <nnvm/c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/capi/package_call.h"

enum { CPU = 1, FLOAT32 = 0, FLOAT64 = 1 };

static NDArrayHandle make(int64_t rows, int64_t columns, float first)
{
    const int64_t shape[] = {rows, columns};
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayCreate64(shape, 2, CPU, 0, 0, FLOAT32, &array), 0);
    float values[64];
    for (int i = 0; i < rows * columns; i++) {
        values[i] = first + (float)i;
    }
    assert_int_equal(MXNDArraySyncCopyFromCPU(array, values, (size_t)(rows * columns)), 0);
    return array;
}

static float value_at(NDArrayHandle array, size_t size, size_t index)
{
    float values[64];
    assert_int_equal(MXNDArraySyncCopyToCPU(array, values, size), 0);
    return values[index];
}

static OpHandle find(const char *name)
{
    OpHandle found = NULL;
    assert_int_equal(NNGetOpHandle(name, &found), 0);
    return found;
}

static void assert_error(int status, const char *part)
{
    assert_int_equal(status, -1);
    if (strstr(MXGetLastError(), part) == NULL) {
        fail_msg("'%s' does not contain '%s'", MXGetLastError(), part);
    }
}

// ---- arrays -----------------------------------------------------------------------------------
static void views_share_memory(void **state)
{
    (void)state;
    NDArrayHandle array = make(3, 4, 0), slice = NULL, row = NULL, flat = NULL;
    assert_int_equal(MXNDArraySlice(array, 1, 3, &slice), 0);
    assert_int_equal(MXNDArrayAt(array, 2, &row), 0);
    int dims[] = {-1};
    assert_int_equal(MXNDArrayReshape(array, 1, dims, &flat), 0);
    assert_true(value_at(slice, 8, 0) == 4);
    assert_true(value_at(row, 4, 3) == 11);
    const float other[] = {100, 101, 102, 103};
    assert_int_equal(MXNDArraySyncCopyFromCPU(row, other, 4), 0);
    assert_true(value_at(flat, 12, 9) == 101);
    int rank = 0;
    const int *shape = NULL;
    assert_int_equal(MXNDArrayGetShape(slice, &rank, &shape), 0);
    assert_int_equal(rank, 2);
    assert_int_equal(shape[0], 2);
    assert_error(MXNDArraySlice(array, 2, 9, &slice), "9");
    assert_error(MXNDArraySyncCopyFromCPU(array, other, 4), "Memory size do not match");
    MXNDArrayFree(array);
    MXNDArrayFree(slice);
    MXNDArrayFree(row);
    MXNDArrayFree(flat);
}

static void wrong_handles_are_told(void **state)
{
    (void)state;
    int type = 0;
    NDArrayHandle array = make(1, 1, 0), none = NULL;
    assert_error(MXNDArrayGetDType(NULL, &type), "handle");
    assert_error(MXNDArrayGetDType(array, NULL), "out_dtype");
    assert_int_equal(MXNDArrayFree(array), 0);
    assert_error(MXNDArrayFree(array), "handle");
    assert_error(MXNDArrayWaitToRead(array), "handle");
    assert_error(MXImperativeInvoke(&type, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL), "operator");
    const int64_t shape[] = {1};
    assert_error(MXNDArrayCreate64(shape, 1, 2, 0, 0, FLOAT32, &none), "gpu(0)");
    assert_error(MXNDArrayCreate64(shape, 1, CPU, 0, 0, 99, &none), "99");
    assert_null(none);
}

static void arrays_without_a_shape(void **state)
{
    (void)state;
    NDArrayHandle none = NULL;
    int rank = 7, before = 0, type = 5, id = 5;
    const int64_t *dims = NULL;
    assert_int_equal(MXNDArrayCreateNone(&none), 0);
    assert_int_equal(MXNDArrayGetShape64(none, &rank, &dims), 0);
    assert_int_equal(rank, 0);
    assert_int_equal(MXSetIsNumpyShape(1, &before), 0);
    assert_int_equal(before, 0);
    assert_int_equal(MXNDArrayGetShape64(none, &rank, &dims), 0);
    assert_int_equal(rank, -1);
    assert_int_equal(MXSetIsNumpyShape(0, &before), 0);
    assert_int_equal(before, 1);
    assert_int_equal(MXNDArrayGetContext(none, &type, &id), 0);
    assert_true(type == 0 && id == 0);
    OpHandle add = find("elemwise_add");
    NDArrayHandle inputs[] = {none, none}, *outputs = NULL;
    int count = 0;
    assert_error(MXImperativeInvoke(add, 2, inputs, &count, &outputs, 0, NULL, NULL, NULL), "lhs");
    MXNDArrayFree(none);
}

static void files_come_back(void **state)
{
    (void)state;
    char path[] = "arrays.XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    NDArrayHandle arrays[] = {make(2, 2, 1), make(1, 3, 10)}, *loaded = NULL;
    const char *keys[] = {"first", "second"}, **names = NULL;
    uint32_t count = 0, name_count = 0;
    assert_int_equal(MXNDArraySave(path, 2, arrays, keys), 0);
    assert_int_equal(MXNDArrayLoad(path, &count, &loaded, &name_count, &names), 0);
    assert_int_equal(count, 2);
    assert_int_equal(name_count, 2);
    assert_string_equal(names[1], "second");
    assert_true(value_at(loaded[1], 3, 2) == 12);
    for (int i = 0; i < 2; i++) {
        MXNDArrayFree(loaded[i]);
        MXNDArrayFree(arrays[i]);
    }
    unlink(path);
    assert_error(MXNDArrayLoad(path, &count, &loaded, &name_count, &names), path);
}

// ---- operators --------------------------------------------------------------------------------
static void operators_are_found_and_documented(void **state)
{
    (void)state;
    AtomicSymbolCreator *creators = NULL;
    const char **names = NULL, *name = NULL, *text = NULL, *key = NULL, *type = NULL;
    const char **argument_names = NULL, **argument_types = NULL, **argument_texts = NULL;
    mx_uint count = 0, all = 0, arguments = 0;
    assert_int_equal(MXSymbolListAtomicSymbolCreators(&count, &creators), 0);
    assert_int_equal(MXListAllOpNames(&all, &names), 0);
    assert_true(count > 100 && all > count);
    for (mx_uint i = 0; i < count; i++) {
        assert_int_equal(MXSymbolGetAtomicSymbolInfo(creators[i], &name, &text, &arguments,
                                                     &argument_names, &argument_types,
                                                     &argument_texts, &key, &type),
                         0);
        assert_ptr_equal(find(name), creators[i]);
    }
    OpHandle found = NULL;
    assert_error(NNGetOpHandle("elemwise_ad", &found), "elemwise_add");
    assert_ptr_equal(find("_plus"), find("elemwise_add"));
}

static void wrong_calls_are_told(void **state)
{
    (void)state;
    NDArrayHandle a = make(2, 2, 0), b = make(2, 3, 0), *outputs = NULL;
    NDArrayHandle both[] = {a, b}, given[] = {a, a, a}, *list = given;
    OpHandle add = find("elemwise_add"), scalar = find("_plus_scalar");
    int count = 0;
    assert_error(MXImperativeInvoke(add, 1, both, &count, &outputs, 0, NULL, NULL, NULL),
                 "Operator elemwise_add expects 2 inputs, but got 1 instead.");
    assert_error(MXImperativeInvoke(add, 2, both, &count, &outputs, 0, NULL, NULL, NULL),
                 "elemwise_add");
    const char *key = "scaler", *value = "1";
    assert_error(MXImperativeInvoke(scalar, 1, &a, &count, &outputs, 1, &key, &value, NULL),
                 "scalar");
    key = "scalar";
    value = "one";
    assert_error(MXImperativeInvoke(scalar, 1, &a, &count, &outputs, 1, &key, &value, NULL), "one");
    value = NULL;
    assert_error(MXImperativeInvoke(scalar, 1, &a, &count, &outputs, 1, &key, &value, NULL),
                 "null");
    count = 3;
    NDArrayHandle same[] = {a, a};
    assert_error(MXImperativeInvoke(add, 2, same, &count, &list, 0, NULL, NULL, NULL),
                 "but got 3 instead");
    count = 0;
    assert_int_equal(MXImperativeInvoke(add, 2, same, &count, &outputs, 0, NULL, NULL, NULL), 0);
    assert_int_equal(count, 1);
    assert_true(value_at(outputs[0], 4, 3) == 6);
    MXNDArrayFree(outputs[0]);
    MXNDArrayFree(a);
    MXNDArrayFree(b);
}

static void prepared_calls_run_again_and_again(void **state)
{
    (void)state;
    NDArrayHandle a = make(1, 2, 0), list[] = {a}, *outputs = list;
    MXPreparedHandle prepared = NULL;
    const char *key = "scalar", *value = "2.5";
    int count = 1;
    assert_int_equal(MXPreparedCreate(find("_plus_scalar"), 1, 1, &key, &value, &prepared), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(MXPreparedInvoke(prepared, &a, &count, &outputs), 0);
    }
    assert_true(value_at(a, 2, 1) == 11);
    assert_int_equal(MXPreparedFree(prepared), 0);
    assert_error(MXPreparedInvoke(NULL, &a, &count, &outputs), "prepared");
    assert_error(MXPreparedCreate(find("_plus_scalar"), 2, 1, &key, &value, &prepared),
                 "expects 1 inputs, but got 2");
    MXNDArrayFree(a);
}

// ---- gradients --------------------------------------------------------------------------------
static void gradients_reach_their_arrays(void **state)
{
    (void)state;
    NDArrayHandle x = make(1, 3, 1), gradient = make(1, 3, 0), *outputs = NULL, found = NULL;
    mx_uint request = 1;
    int count = 0, before = 5, fresh = 5;
    bool recording = true;
    assert_int_equal(MXAutogradMarkVariables(1, &x, &request, &gradient), 0);
    assert_int_equal(MXAutogradSetIsRecording(1, &before), 0);
    assert_int_equal(before, 0);
    assert_int_equal(
        MXImperativeInvoke(find("square"), 1, &x, &count, &outputs, 0, NULL, NULL, NULL), 0);
    NDArrayHandle y = outputs[0];
    assert_int_equal(MXAutogradSetIsRecording(0, &before), 0);
    assert_int_equal(before, 1);
    assert_int_equal(MXAutogradIsRecording(&recording), 0);
    assert_false(recording);
    assert_int_equal(MXAutogradBackward(1, &y, NULL, 0), 0);
    assert_true(value_at(gradient, 3, 2) == 6);
    assert_int_equal(MXNDArrayGetGradState(x, &fresh), 0);
    assert_int_equal(fresh, 1);
    assert_int_equal(MXNDArraySetGradState(x, 0), 0);
    assert_int_equal(MXNDArrayGetGrad(x, &found), 0);
    assert_true(value_at(found, 3, 0) == 2);
    assert_int_equal(MXNDArrayFree(found), 0);
    assert_int_equal(MXNDArrayGetGrad(y, &found), 0);
    assert_null(found);
    assert_error(MXAutogradBackward(1, &y, NULL, 0), "Cannot differentiate node");
    MXNDArrayFree(x);
    MXNDArrayFree(y);
    MXNDArrayFree(gradient);
}

static void gradients_go_through_views(void **state)
{
    (void)state;
    NDArrayHandle x = make(2, 3, 1), gradient = make(2, 3, 50), row = NULL, flat = NULL;
    NDArrayHandle part = NULL, *outputs = NULL;
    mx_uint request = 1;
    int count = 0, dims[] = {3, 1};
    assert_int_equal(MXAutogradMarkVariables(1, &x, &request, &gradient), 0);
    assert_int_equal(MXAutogradSetIsRecording(1, NULL), 0);
    assert_int_equal(MXNDArrayAt(x, 1, &row), 0);
    assert_int_equal(MXNDArrayReshape(row, 2, dims, &flat), 0);
    assert_int_equal(MXNDArraySlice(flat, 1, 3, &part), 0);
    assert_int_equal(
        MXImperativeInvoke(find("square"), 1, &part, &count, &outputs, 0, NULL, NULL, NULL), 0);
    NDArrayHandle y = outputs[0];
    assert_int_equal(MXAutogradSetIsRecording(0, NULL), 0);
    assert_int_equal(MXAutogradBackward(1, &y, NULL, 0), 0);
    const float wanted[] = {0, 0, 0, 0, 10, 12};
    for (size_t i = 0; i < 6; i++) {
        assert_true(value_at(gradient, 6, i) == wanted[i]);
    }
    NDArrayHandle all[] = {x, gradient, row, flat, part, y};
    for (size_t i = 0; i < 6; i++) {
        MXNDArrayFree(all[i]);
    }
}

// ---- pushes -----------------------------------------------------------------------------------
static void add_one(void *context, void *param)
{
    (void)context;
    *(float *)param += 1;
}

static void add_two(void *context, void *on_start, void *on_complete, void *param)
{
    (void)context;
    (void)on_start;
    *(float *)param += 2;
    const struct MXEngineCallback *done = on_complete;
    done->callback(done->engine, done->param, NULL);
}

static int deleted;

static void count_deletion(void *param)
{
    (void)param;
    __atomic_add_fetch(&deleted, 1, __ATOMIC_RELAXED);
}

static void pushed_functions_run_in_order(void **state)
{
    (void)state;
    NDArrayHandle array = make(1, 1, 0);
    float number = 0;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(MXEnginePushSyncND(add_one, &number, count_deletion, NULL, NULL, 0, &array,
                                            1, NULL, 0, "one"),
                         0);
        assert_int_equal(MXEnginePushAsyncND(add_two, &number, count_deletion, NULL, NULL, 0,
                                             &array, 1, NULL, 0, "two", false),
                         0);
    }
    assert_int_equal(MXNDArrayWaitToWrite(array), 0);
    assert_true(number == 300);
    assert_int_equal(MXNDArrayWaitAll(), 0);
    assert_int_equal(deleted, 200);
    assert_error(MXEnginePushSyncND(add_one, &number, NULL, NULL, NULL, -1, &array, 1, NULL, 0, ""),
                 "Non-negative number of const vars expected.");
    NDArrayHandle twice[] = {array, array};
    assert_error(
        MXEnginePushSyncND(add_one, &number, NULL, NULL, NULL, 0, twice, 2, NULL, 0, "twice"),
        "duplicate");
    assert_error(MXEnginePushSync(NULL, NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, 0, NULL),
                 "function");
    MXNDArrayFree(array);
}

static void note_context(void *context, void *param)
{
    *(struct MXContext *)param = *(const struct MXContext *)context;
}

static void pushed_functions_learn_where_they_run(void **state)
{
    (void)state;
    NDArrayHandle array = make(1, 1, 0);
    const struct MXContext given[] = {{1, 0}, {1, 3}, {3, 0}, {5, 2}};
    for (int i = 0; i < 4; i++) {
        struct MXContext seen = {0, -1};
        assert_int_equal(MXEnginePushSyncND(note_context, &seen, NULL, &given[i], NULL, 0, &array,
                                            1, NULL, 0, "note"),
                         0);
        assert_int_equal(MXNDArrayWaitToWrite(array), 0);
        assert_int_equal(seen.dev_type, given[i].dev_type);
        assert_int_equal(seen.dev_id, given[i].dev_id);
    }
    MXNDArrayFree(array);
}

// ---- records ----------------------------------------------------------------------------------
// The count in the row of this name.
static void memory_is_named_before_there_is_any(void **state)
{
    (void)state;
    uint32_t shape[] = {10};
    NDArrayHandle array = NULL, none = NULL;
    assert_int_equal(MXNDArrayCreate(shape, 1, 1, 0, 1, 0, &array), 0);
    assert_error(MXNDArrayNameMemory(array, NULL), "name");
    assert_int_equal(MXNDArrayNameMemory(array, "in_arg:weight"), 0);
    float values[10] = {0};
    assert_int_equal(MXNDArraySyncCopyFromCPU(array, values, 10), 0);
    assert_error(MXNDArrayNameMemory(array, "late"), "make it with delay_alloc");
    assert_int_equal(MXNDArrayCreateNone(&none), 0);
    assert_error(MXNDArrayNameMemory(none, "early"), "has a shape");
    assert_error(MXNDArrayNameMemory(NULL, "nothing"), "handle");
    MXNDArrayFree(none);
    MXNDArrayFree(array);
}

static int row_count(const char *table, const char *name)
{
    char start[128];
    snprintf(start, sizeof(start), "\n%s ", name);
    const char *row = strstr(table, start);
    return row == NULL ? 0 : atoi(row + strlen(start));
}

static void calls_are_recorded_by_name(void **state)
{
    (void)state;
    const char *const keys[] = {"profile_all", "aggregate_stats", "filename"};
    const char *const values[] = {"True", "True", "/dev/null"};
    assert_int_equal(MXSetProfilerConfig(3, keys, values), 0);
    assert_int_equal(MXSetProfilerState(1), 0);
    NDArrayHandle a = make(1, 2, 0), list[] = {a}, *outputs = list;
    const char *key = "scalar", *value = "1";
    MXPreparedHandle prepared = NULL;
    int count = 1, type = 0;
    assert_int_equal(MXPreparedCreate(find("_plus_scalar"), 1, 1, &key, &value, &prepared), 0);
    assert_int_equal(MXPreparedInvoke(prepared, &a, &count, &outputs), 0);
    assert_int_equal(MXPreparedFree(prepared), 0);
    assert_int_equal(
        MXImperativeInvokeEx(find("_PlusScalar"), 1, &a, &count, &outputs, 1, &key, &value, NULL),
        0);
    assert_int_equal(MXNDArrayGetDType(NULL, &type), -1);  // a failing call is one too
    assert_int_equal(MXAutogradBackward(1, &a, NULL, 0), -1);
    assert_int_equal(MXNDArrayWaitAll(), 0);
    assert_int_equal(MXSetProfilerState(0), 0);
    const char *table = NULL;
    assert_int_equal(MXAggregateProfileStatsPrint(&table, 1, 0, 0, 0), 0);
    assert_int_equal(row_count(table, "MXNDArrayCreate64"), 1);
    assert_int_equal(row_count(table, "MXImperativeInvoke"), 1);
    assert_int_equal(row_count(table, "MXImperativeInvokeEx"), 1);
    assert_int_equal(row_count(table, "MXNDArrayGetDType"), 1);
    assert_int_equal(row_count(table, "MXAutogradBackwardEx"), 1);
    assert_int_equal(row_count(table, "MXAutogradBackward"), 0);
    assert_int_equal(row_count(table, "NNGetOpHandle"), 0);
    assert_int_equal(row_count(table, "MXPreparedCreate"), 0);  // no call of MXNet's
    assert_int_equal(row_count(table, "MXPreparedFree"), 0);
    assert_int_equal(row_count(table, "_plus_scalar"), 2);  // whichever alias was called
    MXNDArrayFree(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_share_memory),
        cmocka_unit_test(wrong_handles_are_told),
        cmocka_unit_test(arrays_without_a_shape),
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(operators_are_found_and_documented),
        cmocka_unit_test(wrong_calls_are_told),
        cmocka_unit_test(prepared_calls_run_again_and_again),
        cmocka_unit_test(gradients_reach_their_arrays),
        cmocka_unit_test(gradients_go_through_views),
        cmocka_unit_test(pushed_functions_run_in_order),
        cmocka_unit_test(pushed_functions_learn_where_they_run),
        cmocka_unit_test(memory_is_named_before_there_is_any),
        cmocka_unit_test(calls_are_recorded_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
