// SPDX-License-Identifier: Apache-2.0
// Every function of key-value stores and data iterators, with good and with bad arguments.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "walk.h"

enum { ROWS = 3, BATCH = 2, UNKNOWN = 77 };

static KVStoreHandle numbered, named, freed_store;
static DataIterHandle iter, freed_iter;
static NDArrayHandle array, into, freed;
static const char file[] = "walk_kvstore.csv";

static NDArrayHandle make(float first)
{
    const uint32_t shape[] = {2};
    const float values[] = {first, first};
    NDArrayHandle made = NULL;
    assert_int_equal(MXNDArrayCreate(shape, 1, 1, 0, 0, 0, &made), 0);
    assert_int_equal(MXNDArraySyncCopyFromCPU(made, values, 2), 0);
    return made;
}

static int set_up(void **state)
{
    (void)state;
    FILE *made = fopen(file, "w");
    for (int i = 0; i < ROWS; i++) {
        fprintf(made, "%d,%d\n", i + 5, i);
    }
    fclose(made);
    array = make(4);
    into = make(0);
    freed = make(0);
    assert_int_equal(MXKVStoreCreate("local", &numbered), 0);
    assert_int_equal(MXKVStoreCreate("local", &named), 0);
    assert_int_equal(MXKVStoreCreate("local", &freed_store), 0);
    return MXNDArrayFree(freed) | MXKVStoreFree(freed_store);
}

static int tear_down(void **state)
{
    (void)state;
    return MXNDArrayFree(array) | MXNDArrayFree(into) | MXKVStoreFree(numbered) |
           MXKVStoreFree(named) | unlink(file);
}

static float first_of(NDArrayHandle of)
{
    float values[2 * BATCH] = {0};
    const int64_t *shape = NULL;
    int rank = 0;
    size_t count = 1;
    assert_int_equal(MXNDArrayGetShape64(of, &rank, &shape), 0);
    for (int i = 0; i < rank; i++) {
        count *= (size_t)shape[i];
    }
    assert_true(count <= 2 * BATCH);
    assert_int_equal(MXNDArraySyncCopyToCPU(of, values, count), 0);
    return values[0];
}

static float taken(NDArrayHandle of)
{
    const float first = first_of(of);
    assert_int_equal(MXNDArrayFree(of), 0);
    return first;
}

// ---- stores -----------------------------------------------------------------------------------
#define ASK(function, wanted)                                    \
    do {                                                         \
        int answer = -1;                                         \
        GOOD(function, (numbered, &answer), answer == (wanted)); \
        BAD_HANDLES(function, freed_store, (bad, &answer));      \
        BAD(function, (numbered, NULL));                         \
    } while (0)

static void stores(void **state)
{
    (void)state;
    KVStoreHandle made = NULL;
    const char *type = NULL, *key = "type", *value = "2bit";
    GOOD(MXKVStoreCreate, ("device", &made), made != NULL);
    BAD(MXKVStoreCreate, (NULL, &made));
    BAD(MXKVStoreCreate, ("nothing", &made));
    BAD(MXKVStoreCreate, ("nccl", &made));
    BAD(MXKVStoreCreate, ("local", NULL));
    GOOD(MXKVStoreFree, (made), true);
    BAD_HANDLES(MXKVStoreFree, made, (bad));
    GOOD(MXKVStoreGetType, (numbered, &type), strcmp(type, "local") == 0);
    BAD_HANDLES(MXKVStoreGetType, freed_store, (bad, &type));
    BAD(MXKVStoreGetType, (numbered, NULL));
    ASK(MXKVStoreGetRank, 0);
    ASK(MXKVStoreGetGroupSize, 1);
    GOOD(MXKVStoreBarrier, (numbered), true);
    BAD_HANDLES(MXKVStoreBarrier, freed_store, (bad));
    GOOD(MXKVStoreSetBarrierBeforeExit, (numbered, 1), true);
    BAD_HANDLES(MXKVStoreSetBarrierBeforeExit, freed_store, (bad, 1));
    ONLY_BAD(MXKVStoreSetGradientCompression, (numbered, 1, &key, &value));
    BAD_HANDLES(MXKVStoreSetGradientCompression, freed_store, (bad, 1, &key, &value));
}

static void control(int head, const char *body, void *handle)
{
    (void)head, (void)body, (void)handle;
}

static void servers(void **state)
{
    (void)state;
    const char *key = "DMLC_ROLE", *value = "worker", *none = NULL;
    int number = -1;
    GOOD(MXKVStoreSendCommmandToServers, (numbered, 0, "walk"), true);
    BAD_HANDLES(MXKVStoreSendCommmandToServers, freed_store, (bad, 0, "walk"));
    BAD(MXKVStoreSendCommmandToServers, (numbered, 0, NULL));
    GOOD(MXKVStoreRunServer, (numbered, control, NULL), true);
    BAD_HANDLES(MXKVStoreRunServer, freed_store, (bad, control, NULL));
    GOOD(MXKVStoreGetNumDeadNode, (numbered, 0, &number, 60), number == 0);
    BAD_HANDLES(MXKVStoreGetNumDeadNode, freed_store, (bad, 0, &number, 60));
    BAD(MXKVStoreGetNumDeadNode, (numbered, 0, NULL, 60));
    GOOD(MXInitPSEnv, (1, &key, &value), true);
    BAD(MXInitPSEnv, (1, NULL, &value));
    BAD(MXInitPSEnv, (1, &key, NULL));
    BAD(MXInitPSEnv, (1, &none, &value));
}

// ---- values -----------------------------------------------------------------------------------
#define NOTHING
#define PRIORITY , 0
#define IGNORE_SPARSE , 0, true

// One list of keys and of arrays; what follows them differs.
#define MOVE(function, store, known, unknown, last, values)               \
    do {                                                                  \
        GOOD(function, (store, 1, known, values last), true);             \
        BAD_HANDLES(function, freed_store, (bad, 1, known, values last)); \
        BAD_HANDLES(function, freed, (store, 1, known, &bad last));       \
        BAD(function, (store, 1, unknown, values last));                  \
        BAD(function, (store, 1, NULL, values last));                     \
        BAD(function, (store, 1, known, NULL last));                      \
    } while (0)

// Two of them.
#define MOVE_BOTH(function, store, first, second)                                           \
    do {                                                                                    \
        GOOD(function, (store, 1, first, 1, first, &array, &into, 0), first_of(into) == 4); \
        BAD_HANDLES(function, freed_store, (bad, 1, first, 1, first, &array, &into, 0));    \
        BAD_HANDLES(function, freed, (store, 1, second, 1, second, &bad, &into, 0));        \
        BAD_HANDLES(function, freed, (store, 1, second, 1, second, &array, &bad, 0));       \
        BAD(function, (store, 1, NULL, 1, second, &array, &into, 0));                       \
        BAD(function, (store, 1, second, 1, NULL, &array, &into, 0));                       \
        BAD(function, (store, 1, second, 1, second, NULL, &into, 0));                       \
        BAD(function, (store, 1, second, 1, second, &array, NULL, 0));                      \
    } while (0)

static void values_by_number(void **state)
{
    (void)state;
    const int key[] = {1}, other[] = {2}, unknown[] = {UNKNOWN};
    MOVE(MXKVStoreInit, numbered, key, key, NOTHING, &array);  // the key is there by then
    MOVE(MXKVStorePush, numbered, key, unknown, PRIORITY, &array);
    MOVE(MXKVStorePull, numbered, key, unknown, PRIORITY, &into);
    MOVE(MXKVStorePullWithSparse, numbered, key, unknown, IGNORE_SPARSE, &into);
    ONLY_BAD(MXKVStorePullRowSparse, (numbered, 1, key, &into, &array, 0));
    BAD_HANDLES(MXKVStorePullRowSparse, freed_store, (bad, 1, key, &into, &array, 0));
    MOVE_BOTH(MXKVStorePushPull, numbered, key, unknown);
    MOVE_BOTH(MXKVStoreBroadcast, numbered, other, unknown);
}

static void values_by_name(void **state)
{
    (void)state;
    const char *key[] = {"1"}, *other[] = {"2"}, *unknown[] = {"77"}, *none[] = {NULL};
    MOVE(MXKVStoreInitEx, named, key, key, NOTHING, &array);
    MOVE(MXKVStorePushEx, named, key, unknown, PRIORITY, &array);
    MOVE(MXKVStorePullEx, named, key, unknown, PRIORITY, &into);
    MOVE(MXKVStorePullWithSparseEx, named, key, none, IGNORE_SPARSE, &into);
    ONLY_BAD(MXKVStorePullRowSparseEx, (named, 1, key, &into, &array, 0));
    BAD_HANDLES(MXKVStorePullRowSparseEx, freed_store, (bad, 1, key, &into, &array, 0));
    MOVE_BOTH(MXKVStorePushPullEx, named, key, unknown);
    MOVE_BOTH(MXKVStoreBroadcastEx, named, other, unknown);
    const int number[] = {1};
    BAD(MXKVStorePush, (named, 1, number, &array, 0));  // a store has keys of one kind
    BAD(MXKVStorePushEx, (numbered, 1, key, &array, 0));
}

static void update(int key, NDArrayHandle received, NDArrayHandle stored, void *handle)
{
    (void)key;
    ++*(int *)handle;
    MXNDArrayFree(received);
    MXNDArrayFree(stored);
}

static void update_named(const char *key, NDArrayHandle received, NDArrayHandle stored,
                         void *handle)
{
    update(key[0], received, stored, handle);
}

static void updaters(void **state)
{
    (void)state;
    int calls = 0;
    const int key[] = {1};
    const char *name[] = {"1"};
    GOOD(MXKVStoreSetUpdater, (numbered, update, &calls),
         MXKVStorePush(numbered, 1, key, &array, 0) == 0 && calls == 1);
    BAD_HANDLES(MXKVStoreSetUpdater, freed_store, (bad, update, &calls));
    GOOD(MXKVStoreSetUpdaterEx, (named, update, update_named, &calls),
         MXKVStorePushEx(named, 1, name, &array, 0) == 0 && calls == 2);
    BAD_HANDLES(MXKVStoreSetUpdaterEx, freed_store, (bad, update, update_named, &calls));
}

// ---- iterators --------------------------------------------------------------------------------
#define INFO (csv, &name, &about, &parameters, &names, &types, &texts)

static void kinds_of_iterators(void **state)
{
    (void)state;
    uint32_t count = 0, parameters = 0;
    DataIterCreator *creators = NULL, csv = NULL;
    const char *name = "", *about, **names, **types, **texts;
    const char *keys[] = {"data_csv", "data_shape", "batch_size"};
    const char *values[] = {file, "(2,)", "2"}, *wrong[] = {"/nowhere/walk", "(2,)", "2"};
    GOOD(MXListDataIters, (&count, &creators), count >= 2);
    BAD(MXListDataIters, (NULL, &creators));
    BAD(MXListDataIters, (&count, NULL));
    for (uint32_t i = 0; i < count && strcmp(name, "CSVIter") != 0; i++) {
        csv = creators[i];
        GOOD(MXDataIterGetIterInfo, INFO, parameters > 3);
    }
    BAD_HANDLES(MXDataIterGetIterInfo, freed,
                (bad, &name, &about, &parameters, &names, &types, &texts));
    BAD(MXDataIterGetIterInfo, (csv, NULL, &about, &parameters, &names, &types, &texts));
    BAD(MXDataIterGetIterInfo, (csv, &name, &about, NULL, &names, &types, &texts));
    BAD(MXDataIterGetIterInfo, (csv, &name, &about, &parameters, &names, &types, NULL));
    GOOD(MXDataIterCreateIter, (csv, 3, keys, values, &iter), iter != NULL);
    BAD_HANDLES(MXDataIterCreateIter, freed, (bad, 3, keys, values, &freed_iter));
    BAD(MXDataIterCreateIter, (csv, 3, keys, wrong, &freed_iter));
    BAD(MXDataIterCreateIter, (csv, 1, keys, values, &freed_iter));
    BAD(MXDataIterCreateIter, (csv, 3, NULL, values, &freed_iter));
    BAD(MXDataIterCreateIter, (csv, 3, keys, NULL, &freed_iter));
    BAD(MXDataIterCreateIter, (csv, 3, keys, values, NULL));
    assert_int_equal(MXDataIterCreateIter(csv, 3, keys, values, &freed_iter), 0);
    GOOD(MXDataIterFree, (freed_iter), true);
    BAD_HANDLES(MXDataIterFree, freed_iter, (bad));
}

#define BATCH_PART(function, type, condition)              \
    do {                                                   \
        type answer = 0;                                   \
        GOOD(function, (iter, &answer), condition);        \
        BAD_HANDLES(function, freed_iter, (bad, &answer)); \
        BAD(function, (iter, NULL));                       \
    } while (0)

static void batches(void **state)
{
    (void)state;
    int count = 0;
    NDArrayHandle *items = NULL, data = NULL;
    uint64_t *index = NULL, size = 0;
    BATCH_PART(MXDataIterGetLenHint, int64_t, answer == 2);
    BAD(MXDataIterGetData, (iter, &data));  // no batch yet
    BATCH_PART(MXDataIterNext, int, answer == 1);
    assert_int_equal(MXDataIterBeforeFirst(iter), 0);
    assert_int_equal(MXDataIterNext(iter, &count), 0);
    BATCH_PART(MXDataIterGetData, NDArrayHandle, taken(answer) == 5);
    BATCH_PART(MXDataIterGetLabel, NDArrayHandle, taken(answer) == 0);
    BATCH_PART(MXDataIterGetPadNum, int, answer == 0);
    GOOD(MXDataIterGetItems, (iter, &count, &items), count == 2 && taken(items[0]) == 5);
    assert_int_equal(MXNDArrayFree(items[1]), 0);
    BAD_HANDLES(MXDataIterGetItems, freed_iter, (bad, &count, &items));
    BAD(MXDataIterGetItems, (iter, NULL, &items));
    BAD(MXDataIterGetItems, (iter, &count, NULL));
    GOOD(MXDataIterGetIndex, (iter, &index, &size), size == BATCH && index[1] == 1);
    BAD_HANDLES(MXDataIterGetIndex, freed_iter, (bad, &index, &size));
    BAD(MXDataIterGetIndex, (iter, NULL, &size));
    BAD(MXDataIterGetIndex, (iter, &index, NULL));
    GOOD(MXDataIterBeforeFirst, (iter), true);
    BAD_HANDLES(MXDataIterBeforeFirst, freed_iter, (bad));
    assert_int_equal(MXDataIterFree(iter), 0);
}

static void all_were_called(void **state)
{
    (void)state;
    walk_complete("mxnet/c_api_kvstore.h");
    walk_complete("mxnet/c_api_data_iter.h");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores),           cmocka_unit_test(servers),
        cmocka_unit_test(values_by_number), cmocka_unit_test(values_by_name),
        cmocka_unit_test(updaters),         cmocka_unit_test(kinds_of_iterators),
        cmocka_unit_test(batches),          cmocka_unit_test(all_were_called),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
