// SPDX-License-Identifier: Apache-2.0
// Every function of arrays, and those for the Python package, with good and with bad arguments.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/capi/package_call.h"
#include "walk.h"

enum { CPU = 1, GPU = 2, FLOAT32 = 0, NO_TYPE = 77, MANY = 33, SIZE = 6 };

static NDArrayHandle array, freed;  // (2, 3), of 0 to 5
static const uint32_t shape[] = {2, 3};
static const int64_t wide_shape[] = {2, 3}, negative_shape[] = {-4};
static const char file[] = "walk_ndarray.params";

static NDArrayHandle make(void)
{
    static const float values[SIZE] = {0, 1, 2, 3, 4, 5};
    NDArrayHandle made = NULL;
    assert_int_equal(MXNDArrayCreate(shape, 2, CPU, 0, 0, FLOAT32, &made), 0);
    assert_int_equal(MXNDArraySyncCopyFromCPU(made, values, SIZE), 0);
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
    unlink(file);
    return MXNDArrayFree(array);
}

// First value and rank of an array, which is freed; -1 where there is none.
static double first_of(NDArrayHandle of, int wanted_rank)
{
    float values[SIZE] = {0};
    const int64_t *sizes = NULL;
    int rank = 0;
    size_t count = 1;
    assert_int_equal(MXNDArrayGetShape64(of, &rank, &sizes), 0);
    for (int i = 0; i < rank; i++) {
        count *= (size_t)sizes[i];
    }
    assert_true(count <= SIZE);
    assert_int_equal(MXNDArraySyncCopyToCPU(of, values, count), 0);
    assert_int_equal(MXNDArrayFree(of), 0);
    return rank == wanted_rank ? (double)values[0] : -1;
}

// ---- making -----------------------------------------------------------------------------------
// The ways to make one differ in the type of the shape alone.
#define CREATE(function, shape)                                                          \
    do {                                                                                 \
        NDArrayHandle made = NULL;                                                       \
        GOOD(function, (shape, 2, CPU, 0, 0, FLOAT32, &made), first_of(made, 2) != -1);  \
        GOOD(function, (shape, 2, CPU, 0, 1, FLOAT32, &made), MXNDArrayFree(made) == 0); \
        made = NULL;                                                                     \
        BAD(function, (shape, 2, CPU, 0, 0, FLOAT32, NULL));                             \
        BAD(function, (NULL, 2, CPU, 0, 0, FLOAT32, &made));                             \
        BAD(function, (shape, MANY, CPU, 0, 0, FLOAT32, &made));                         \
        BAD(function, (shape, 2, GPU, 0, 0, FLOAT32, &made));                            \
        BAD(function, (shape, 2, -1, 0, 0, FLOAT32, &made));                             \
        BAD(function, (shape, 2, CPU, -1, 0, FLOAT32, &made));                           \
        BAD(function, (shape, 2, CPU, 0, 0, NO_TYPE, &made));                            \
        BAD(function, (shape, 2, CPU, 0, 0, -1, &made));                                 \
        assert_null(made);                                                               \
    } while (0)

static void making(void **state)
{
    (void)state;
    NDArrayHandle out = NULL;
    CREATE(MXNDArrayCreate, shape);
    CREATE(MXNDArrayCreateEx, shape);
    CREATE(MXNDArrayCreate64, wide_shape);
    CREATE(MXNDArrayCreateEx64, wide_shape);
    BAD(MXNDArrayCreate64, (wide_shape, -2, CPU, 0, 0, FLOAT32, &out));
    BAD(MXNDArrayCreateEx64, (negative_shape, 1, CPU, 0, 0, FLOAT32, &out));
    GOOD(MXNDArrayCreateNone, (&out), out != NULL);
    GOOD(MXNDArrayFree, (out), true);
    BAD(MXNDArrayCreateNone, (NULL));
    BAD_HANDLES(MXNDArrayFree, freed, (bad));
    GOOD(MXShallowCopyNDArray, (array, &out), first_of(out, 2) == 0);
    BAD_HANDLES(MXShallowCopyNDArray, freed, (bad, &out));
    BAD(MXShallowCopyNDArray, (array, NULL));
    GOOD(MXNDArrayDetach, (array, &out), first_of(out, 2) == 0);
    BAD_HANDLES(MXNDArrayDetach, freed, (bad, &out));
    BAD(MXNDArrayDetach, (array, NULL));
}

// ---- values -----------------------------------------------------------------------------------
static void values(void **state)
{
    (void)state;
    float buffer[SIZE] = {7, 1, 2, 3, 4, 5};
    void *data = NULL;
    NDArrayHandle to = make();
    GOOD(MXNDArraySyncCopyFromCPU, (to, buffer, SIZE), true);
    BAD_HANDLES(MXNDArraySyncCopyFromCPU, freed, (bad, buffer, SIZE));
    BAD(MXNDArraySyncCopyFromCPU, (to, NULL, SIZE));
    BAD(MXNDArraySyncCopyFromCPU, (to, buffer, SIZE + 1));
    GOOD(MXNDArraySyncCopyToCPU, (to, buffer, SIZE), buffer[0] == 7);
    BAD_HANDLES(MXNDArraySyncCopyToCPU, freed, (bad, buffer, SIZE));
    BAD(MXNDArraySyncCopyToCPU, (to, NULL, SIZE));
    BAD(MXNDArraySyncCopyToCPU, (to, buffer, 1));
    GOOD(MXNDArraySyncCopyFromNDArray, (to, array, -1), true);
    BAD_HANDLES(MXNDArraySyncCopyFromNDArray, freed, (bad, array, -1));
    BAD_HANDLES(MXNDArraySyncCopyFromNDArray, freed, (to, bad, -1));
    BAD(MXNDArraySyncCopyFromNDArray, (to, array, 0));
    GOOD(MXNDArrayWaitToRead, (to), true);
    BAD_HANDLES(MXNDArrayWaitToRead, freed, (bad));
    GOOD(MXNDArrayWaitToWrite, (to), true);
    BAD_HANDLES(MXNDArrayWaitToWrite, freed, (bad));
    GOOD(MXNDArrayWaitAll, (), true);
    NEVER_FAILS(MXNDArrayWaitAll);  // but with the error of an operation
    GOOD(MXNDArrayGetData, (to, &data), ((float *)data)[1] == 1);
    BAD_HANDLES(MXNDArrayGetData, freed, (bad, &data));
    BAD(MXNDArrayGetData, (to, NULL));
    assert_true(first_of(to, 2) == 0);
}

// ---- views ------------------------------------------------------------------------------------
static void views(void **state)
{
    (void)state;
    NDArrayHandle out = NULL;
    int dims[] = {3, -1}, wrong[] = {4, 4};
    dim_t wide_dims[] = {-1}, wide_wrong[] = {-9};
    GOOD(MXNDArraySlice, (array, 1, 2, &out), first_of(out, 2) == 3);
    BAD_HANDLES(MXNDArraySlice, freed, (bad, 1, 2, &out));
    BAD(MXNDArraySlice, (array, 1, 3, &out));
    BAD(MXNDArraySlice, (array, 2, 1, &out));
    BAD(MXNDArraySlice, (array, 1, 2, NULL));
    GOOD(MXNDArraySlice64, (array, 1, 2, &out), first_of(out, 2) == 3);
    BAD_HANDLES(MXNDArraySlice64, freed, (bad, 1, 2, &out));
    BAD(MXNDArraySlice64, (array, 0, INT64_MAX, &out));
    BAD(MXNDArraySlice64, (array, 1, 2, NULL));
    GOOD(MXNDArrayAt, (array, 1, &out), first_of(out, 1) == 3);
    BAD_HANDLES(MXNDArrayAt, freed, (bad, 1, &out));
    BAD(MXNDArrayAt, (array, 2, &out));
    BAD(MXNDArrayAt, (array, 1, NULL));
    GOOD(MXNDArrayAt64, (array, 1, &out), first_of(out, 1) == 3);
    BAD_HANDLES(MXNDArrayAt64, freed, (bad, 1, &out));
    BAD(MXNDArrayAt64, (array, INT64_MIN, &out));
    BAD(MXNDArrayAt64, (array, 1, NULL));
    GOOD(MXNDArrayReshape, (array, 2, dims, &out), first_of(out, 2) == 0);
    BAD_HANDLES(MXNDArrayReshape, freed, (bad, 2, dims, &out));
    BAD(MXNDArrayReshape, (array, 2, wrong, &out));
    BAD(MXNDArrayReshape, (array, 2, NULL, &out));
    BAD(MXNDArrayReshape, (array, -1, dims, &out));
    BAD(MXNDArrayReshape, (array, 2, dims, NULL));
    GOOD(MXNDArrayReshape64, (array, 1, wide_dims, false, &out), first_of(out, 1) == 0);
    BAD_HANDLES(MXNDArrayReshape64, freed, (bad, 1, wide_dims, false, &out));
    BAD(MXNDArrayReshape64, (array, 1, wide_wrong, false, &out));
    BAD(MXNDArrayReshape64, (array, 1, NULL, true, &out));
    BAD(MXNDArrayReshape64, (array, -1, wide_dims, true, &out));
    BAD(MXNDArrayReshape64, (array, 1, wide_dims, false, NULL));
}

// ---- what an array is -------------------------------------------------------------------------
#define ASK_SHAPE(function, type)                                           \
    do {                                                                    \
        int rank = -1;                                                      \
        const type *sizes = NULL;                                           \
        GOOD(function, (array, &rank, &sizes), rank == 2 && sizes[1] == 3); \
        BAD_HANDLES(function, freed, (bad, &rank, &sizes));                 \
        BAD(function, (array, NULL, &sizes));                               \
        BAD(function, (array, &rank, NULL));                                \
    } while (0)

#define ASK(function, wanted)                                 \
    do {                                                      \
        int answer = -1;                                      \
        GOOD(function, (array, &answer), answer == (wanted)); \
        BAD_HANDLES(function, freed, (bad, &answer));         \
        BAD(function, (array, NULL));                         \
    } while (0)

static void questions(void **state)
{
    (void)state;
    int type = 0, id = -1;
    NDArrayHandle gradient = array;
    ASK_SHAPE(MXNDArrayGetShape, int);
    ASK_SHAPE(MXNDArrayGetShapeEx, int);
    ASK_SHAPE(MXNDArrayGetShape64, int64_t);
    ASK_SHAPE(MXNDArrayGetShapeEx64, int64_t);
    ASK(MXNDArrayGetDType, FLOAT32);
    ASK(MXNDArrayGetStorageType, 0);
    GOOD(MXNDArrayGetContext, (array, &type, &id), type == CPU && id == 0);
    BAD_HANDLES(MXNDArrayGetContext, freed, (bad, &type, &id));
    BAD(MXNDArrayGetContext, (array, NULL, &id));
    BAD(MXNDArrayGetContext, (array, &type, NULL));
    GOOD(MXNDArrayGetGrad, (array, &gradient), gradient == NULL);
    BAD_HANDLES(MXNDArrayGetGrad, freed, (bad, &gradient));
    BAD(MXNDArrayGetGrad, (array, NULL));
    NDArrayHandle variable = make(), buffer = make();
    mx_uint write = 1;
    int answer = 0;
    assert_int_equal(MXAutogradMarkVariables(1, &variable, &write, &buffer), 0);
    GOOD(MXNDArraySetGradState, (variable, 1), true);
    BAD_HANDLES(MXNDArraySetGradState, freed, (bad, 1));
    BAD(MXNDArraySetGradState, (array, 1));
    GOOD(MXNDArrayGetGradState, (variable, &answer), answer == 1);
    BAD_HANDLES(MXNDArrayGetGradState, freed, (bad, &answer));
    BAD(MXNDArrayGetGradState, (variable, NULL));
    assert_int_equal(MXNDArrayFree(variable), 0);
    assert_int_equal(MXNDArrayFree(buffer), 0);
}

// ---- files ------------------------------------------------------------------------------------
static void files(void **state)
{
    (void)state;
    const char *key = "a", *no_key = NULL, **names = NULL;
    char buffer[512];
    uint32_t count = 0, name_count = 0;
    NDArrayHandle *loaded = NULL, missing = NULL;
    GOOD(MXNDArraySave, (file, 1, &array, &key), true);
    BAD(MXNDArraySave, (NULL, 1, &array, &key));
    BAD(MXNDArraySave, (file, 1, NULL, &key));
    BAD(MXNDArraySave, (file, 1, &missing, &key));
    BAD(MXNDArraySave, (file, 1, &freed, NULL));
    BAD(MXNDArraySave, (file, 1, &array, &no_key));
    BAD(MXNDArraySave, ("/nowhere/walk", 1, &array, NULL));
    GOOD(MXNDArrayLoad, (file, &count, &loaded, &name_count, &names),
         count == 1 && name_count == 1 && strcmp(names[0], "a") == 0);
    assert_true(first_of(loaded[0], 2) == 0);
    BAD(MXNDArrayLoad, (NULL, &count, &loaded, &name_count, &names));
    BAD(MXNDArrayLoad, ("/nowhere/walk", &count, &loaded, &name_count, &names));
    BAD(MXNDArrayLoad, (file, NULL, &loaded, &name_count, &names));
    BAD(MXNDArrayLoad, (file, &count, NULL, &name_count, &names));
    BAD(MXNDArrayLoad, (file, &count, &loaded, NULL, &names));
    BAD(MXNDArrayLoad, (file, &count, &loaded, &name_count, NULL));
    FILE *opened = fopen(file, "rb");
    assert_non_null(opened);
    const size_t size = fread(buffer, 1, sizeof buffer, opened);
    fclose(opened);
    GOOD(MXNDArrayLoadFromBuffer, (buffer, size, &count, &loaded, &name_count, &names), count == 1);
    assert_true(first_of(loaded[0], 2) == 0);
    BAD(MXNDArrayLoadFromBuffer, (NULL, size, &count, &loaded, &name_count, &names));
    for (size_t cut = 0; cut < size; cut++) {
        BAD(MXNDArrayLoadFromBuffer, (buffer, cut, &count, &loaded, &name_count, &names));
    }
    BAD(MXNDArrayLoadFromBuffer, (buffer, size, NULL, &loaded, &name_count, &names));
    BAD(MXNDArrayLoadFromBuffer, (buffer, size, &count, &loaded, &name_count, NULL));
}

static void raw_bytes(void **state)
{
    (void)state;
    const char *key = "a", *bytes = NULL;
    NDArrayHandle out = NULL;
    size_t size = 0;
    GOOD(MXNDArrayLegacySave, (file, 1, &array, &key), true);
    BAD(MXNDArrayLegacySave, (NULL, 1, &array, &key));
    BAD_HANDLES(MXNDArrayLegacySave, freed, (file, 1, &bad, NULL));
    GOOD(MXNDArraySaveRawBytes, (array, &size, &bytes), size == 64);
    BAD_HANDLES(MXNDArraySaveRawBytes, freed, (bad, &size, &bytes));
    BAD(MXNDArraySaveRawBytes, (array, NULL, &bytes));
    BAD(MXNDArraySaveRawBytes, (array, &size, NULL));
    GOOD(MXNDArrayLoadFromRawBytes, (bytes, 64, &out), first_of(out, 2) == 0);
    BAD(MXNDArrayLoadFromRawBytes, (NULL, 64, &out));
    BAD(MXNDArrayLoadFromRawBytes, (bytes, 64, NULL));
    for (size_t cut = 0; cut < 64; cut++) {
        BAD(MXNDArrayLoadFromRawBytes, (bytes, cut, &out));
    }
}

// ---- memory of other libraries ----------------------------------------------------------------
#define TENSORS(to, free_tensor, from)                     \
    do {                                                   \
        DLManagedTensorHandle passed = NULL;               \
        GOOD(to, (array, &passed), passed != NULL);        \
        GOOD(free_tensor, (passed), true);                 \
        BAD_HANDLES(to, freed, (bad, &passed));            \
        BAD(to, (array, NULL));                            \
        BAD(free_tensor, (NULL));                          \
        GOOD(to, (array, &passed), passed != NULL);        \
        BAD(from, (passed, NULL));                         \
        GOOD(from, (passed, &out), first_of(out, 2) == 0); \
        BAD(from, (NULL, &out));                           \
    } while (0)

static int once(DLManagedTensorHandle tensor, NDArrayHandle *out)
{
    return MXNDArrayFromDLPack(tensor, false, out);
}

static void tensors(void **state)
{
    (void)state;
    NDArrayHandle out = NULL;
    DLManagedTensorHandle tensor = NULL;
    TENSORS(MXNDArrayToDLPack, MXNDArrayCallDLPackDeleter, once);
    TENSORS(MXNDArrayToDLPackVersioned, MXNDArrayCallDLPackDeleterVersioned,
            MXNDArrayFromDLPackVersioned);
    GOOD(MXNDArrayToDLPack, (array, &tensor), true);
    GOOD(MXNDArrayFromDLPack, (tensor, false, &out), first_of(out, 2) == 0);
    BAD(MXNDArrayFromDLPack, (NULL, false, &out));
    GOOD(MXNDArrayToDLPack, (array, &tensor), true);
    BAD(MXNDArrayFromDLPackEx, (tensor, false, NULL));
    GOOD(MXNDArrayFromDLPackEx, (tensor, false, &out), first_of(out, 2) == 0);
}

// ---- for the Python package -------------------------------------------------------------------
static int nobody(void)
{
    return 0;
}

static void package(void **state)
{
    (void)state;
    NDArrayHandle late = NULL, weight = make();
    assert_int_equal(MXNDArrayCreate(shape, 2, CPU, 0, 1, FLOAT32, &late), 0);
    GOOD(MXNDArrayNameMemory, (late, "weight"), true);
    BAD_HANDLES(MXNDArrayNameMemory, freed, (bad, "weight"));
    BAD(MXNDArrayNameMemory, (late, NULL));
    BAD(MXNDArrayNameMemory, (array, "late"));
    GOOD(MXAutogradAttachGradient, (weight, 1, array), true);
    BAD_HANDLES(MXAutogradAttachGradient, freed, (bad, 1, array));
    BAD(MXAutogradAttachGradient, (weight, 1, freed));
    BAD(MXAutogradAttachGradient, (weight, 99, array));
    GOOD(MXEngineSetInterrupt, (nobody, (uintptr_t)pthread_self()), true);
    GOOD(MXEngineSetInterrupt, (NULL, 0), MXNDArrayWaitAll() == 0);
    NEVER_FAILS(MXEngineSetInterrupt);
    assert_int_equal(MXNDArrayFree(late), 0);
    assert_int_equal(MXNDArrayFree(weight), 0);
}

// Nothing runs afterwards.
static void dropping(void **state)
{
    (void)state;
    GOOD(MXEngineDropPending, (), true);
    NEVER_FAILS(MXEngineDropPending);
    GOOD(MXKVStoreAbandon, ("a reason"), true);
    BAD(MXKVStoreAbandon, (NULL));
    ONLY_BAD(MXKVStoreSnapshotAll, (NULL, 0));
    BAD(MXKVStoreSnapshotAll, (NULL, -1));
    KVStoreHandle store = NULL;
    int has = -1;
    assert_int_equal(MXKVStoreCreate("local", &store), 0);
    GOOD(MXKVStoreHasServers, (store, &has), has == 0);
    BAD(MXKVStoreHasServers, (store, NULL));
    assert_int_equal(MXKVStoreFree(store), 0);
    BAD_HANDLES(MXKVStoreHasServers, store, (bad, &has));
}

static void all_were_called(void **state)
{
    (void)state;
    walk_complete("mxnet/c_api_ndarray.h");
    walk_complete("runtime/capi/package_call.h");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(making),          cmocka_unit_test(values),  cmocka_unit_test(views),
        cmocka_unit_test(questions),       cmocka_unit_test(files),   cmocka_unit_test(raw_bytes),
        cmocka_unit_test(tensors),         cmocka_unit_test(package), cmocka_unit_test(dropping),
        cmocka_unit_test(all_were_called),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
