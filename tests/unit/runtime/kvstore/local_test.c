// SPDX-License-Identifier: Apache-2.0
// Key-value stores through MXNet's functions: sums, updaters, keys, what is refused.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <stdio.h>
#include <string.h>

enum { FLOAT32 = 0, FLOAT64 = 1 };

static void assert_error(int status, const char *part)
{
    assert_int_equal(status, -1);
    if (strstr(MXGetLastError(), part) == NULL) {
        fail_msg("'%s' does not contain '%s'", MXGetLastError(), part);
    }
}

static NDArrayHandle make(int64_t size, float first)
{
    NDArrayHandle array = NULL;
    assert_int_equal(MXNDArrayCreate64(&size, 1, 1, 0, 0, FLOAT32, &array), 0);
    float values[8];
    for (int64_t i = 0; i < size; i++) {
        values[i] = first + (float)i;
    }
    assert_int_equal(MXNDArraySyncCopyFromCPU(array, values, (size_t)size), 0);
    return array;
}

static float second_of(NDArrayHandle array)
{
    float values[2];
    assert_int_equal(MXNDArraySyncCopyToCPU(array, values, 2), 0);
    return values[1];
}

static KVStoreHandle create(void)
{
    KVStoreHandle store = NULL;
    assert_int_equal(MXKVStoreCreate("Local", &store), 0);
    return store;
}

static void values_of_a_key_are_summed_in_any_number(void **state)
{
    (void)state;
    KVStoreHandle store = create();
    NDArrayHandle values[5], out = make(2, 0);
    int keys[5];
    for (int i = 0; i < 5; i++) {
        values[i] = make(2, (float)(10 * i));
        keys[i] = -7;
    }
    assert_int_equal(MXKVStoreInit(store, 1, keys, values), 0);
    for (uint32_t count = 1; count <= 5; count++) {
        assert_int_equal(MXKVStorePush(store, count, keys, values, 0), 0);
        assert_int_equal(MXKVStorePull(store, 1, keys, &out, 0), 0);
        assert_true(second_of(out) == (float)(count + 10 * (count * (count - 1) / 2)));
    }
    for (int i = 0; i < 5; i++) {
        assert_true(second_of(values[i]) == (float)(10 * i + 1));  // nothing was added to them
        assert_int_equal(MXNDArrayFree(values[i]), 0);
    }
    assert_int_equal(MXNDArrayFree(out), 0);
    assert_int_equal(MXKVStoreFree(store), 0);
    assert_int_equal(MXNDArrayWaitAll(), 0);
}

static void many_text_keys_are_kept_apart(void **state)
{
    (void)state;
    KVStoreHandle store = create();
    NDArrayHandle out = make(2, 0);
    char text[32];
    const char *key = text;
    for (int i = 0; i < 300; i++) {
        snprintf(text, sizeof text, "layer%d", i);
        NDArrayHandle value = make(2, (float)i);
        assert_int_equal(MXKVStoreInitEx(store, 1, &key, &value), 0);
        assert_int_equal(MXNDArrayFree(value), 0);
    }
    for (int i = 299; i >= 0; i -= 13) {
        snprintf(text, sizeof text, "layer%d", i);
        assert_int_equal(MXKVStorePullWithSparseEx(store, 1, &key, &out, 0, true), 0);
        assert_true(second_of(out) == (float)(i + 1));
    }
    assert_int_equal(MXNDArrayFree(out), 0);
    assert_int_equal(MXKVStoreFree(store), 0);
}

// ---- updaters ----------------------------------------------------------------------------------
typedef struct seen {
    KVStoreHandle store;
    int key, calls;
    char text[32];
    int push_inside;
} seen;

static void add_to(NDArrayHandle recv, NDArrayHandle local)
{
    float received[2], stored[2];
    assert_int_equal(MXNDArraySyncCopyToCPU(recv, received, 2), 0);
    assert_int_equal(MXNDArraySyncCopyToCPU(local, stored, 2), 0);
    for (int i = 0; i < 2; i++) {
        stored[i] += received[i];
    }
    assert_int_equal(MXNDArraySyncCopyFromCPU(local, stored, 2), 0);
}

static void update(int key, NDArrayHandle recv, NDArrayHandle local, void *context)
{
    seen *of = context;
    of->key = key;
    of->calls++;
    add_to(recv, local);
    of->push_inside = MXKVStorePush(of->store, 1, &key, &recv, 0);
    assert_int_equal(MXNDArrayFree(recv), 0);
    assert_int_equal(MXNDArrayFree(local), 0);
}

static void update_text(const char *key, NDArrayHandle recv, NDArrayHandle local, void *context)
{
    seen *of = context;
    snprintf(of->text, sizeof of->text, "%s", key);
    add_to(recv, local);
    assert_int_equal(MXNDArrayFree(recv), 0);
    assert_int_equal(MXNDArrayFree(local), 0);
}

static void an_updater_set_after_sums_gets_two_arrays(void **state)
{
    (void)state;
    KVStoreHandle store = create();
    NDArrayHandle values[] = {make(2, 1), make(2, 2)}, out = make(2, 0);
    const int keys[] = {3, 3};
    seen of = {.store = store};
    assert_int_equal(MXKVStoreInit(store, 1, keys, values), 0);
    assert_int_equal(MXKVStorePush(store, 2, keys, values, 0), 0);  // stored: 3 5
    assert_int_equal(MXKVStoreSetUpdater(store, update, &of), 0);
    assert_int_equal(MXKVStorePush(store, 2, keys, values, 0), 0);
    assert_int_equal(of.key, 3);
    assert_int_equal(of.calls, 1);
    assert_int_equal(of.push_inside, -1);
    assert_int_equal(MXKVStorePull(store, 1, keys, &out, 0), 0);
    assert_true(second_of(out) == 10);
    assert_int_equal(MXKVStoreSetUpdater(store, NULL, NULL), 0);
    assert_int_equal(MXKVStorePush(store, 1, keys, values, 0), 0);
    assert_int_equal(MXKVStorePull(store, 1, keys, &out, 0), 0);
    assert_true(second_of(out) == 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(MXNDArrayFree(values[i]), 0);
    }
    assert_int_equal(MXNDArrayFree(out), 0);
    assert_int_equal(MXKVStoreFree(store), 0);
    assert_int_equal(MXNDArrayWaitAll(), 0);
}

static void texts_go_to_their_updater_or_have_a_number(void **state)
{
    (void)state;
    KVStoreHandle store = create();
    NDArrayHandle value = make(2, 1);
    const char *keys[] = {"first", "second"};
    NDArrayHandle values[] = {value, value};
    seen of = {.store = store, .key = -1};
    assert_int_equal(MXKVStoreInitEx(store, 2, keys, values), 0);
    assert_int_equal(MXKVStoreSetUpdaterEx(store, update, update_text, &of), 0);
    assert_int_equal(MXKVStorePushEx(store, 1, keys + 1, &value, 0), 0);
    assert_string_equal(of.text, "second");
    assert_int_equal(of.calls, 0);
    assert_int_equal(MXKVStoreSetUpdater(store, update, &of), 0);
    assert_int_equal(MXKVStorePushEx(store, 1, keys + 1, &value, 0), 0);
    assert_int_equal(of.key, 1);
    assert_error(MXKVStoreSetUpdaterEx(store, NULL, update_text, &of), "one for integers");
    assert_int_equal(MXNDArrayFree(value), 0);
    assert_int_equal(MXKVStoreFree(store), 0);
}

// ---- what is refused ---------------------------------------------------------------------------
static void a_failing_call_changes_nothing(void **state)
{
    (void)state;
    KVStoreHandle store = create();
    NDArrayHandle value = make(2, 1), other = make(3, 5), out = make(2, 0);
    const int keys[] = {1, 2, 9};
    NDArrayHandle values[] = {value, value, value}, mixed[] = {other, value, value};
    assert_int_equal(MXKVStoreInit(store, 2, keys, values), 0);
    assert_error(MXKVStoreInit(store, 2, keys + 1, values), "duplicate init of key 2");
    assert_error(MXKVStorePull(store, 1, keys + 2, values, 0), "key 9 has not been inited");
    const int twice[] = {9, 9};
    assert_error(MXKVStoreInit(store, 2, twice, values), "duplicate init of key 9");
    NDArrayHandle bad[] = {out, other};
    assert_error(MXKVStorePush(store, 2, keys, bad, 0),
                 "key 2: operands shape mismatch from.shape = [3] to.shape=[2]");
    assert_error(MXKVStorePush(store, 3, keys, values, 0), "key 9 has not been inited");
    assert_error(MXKVStorePushPull(store, 1, keys, 1, keys, mixed, &out, 0), "[3]");
    assert_int_equal(MXKVStorePull(store, 1, keys, &out, 0), 0);
    assert_true(second_of(out) == 2);
    const char *text = "w";
    assert_error(MXKVStoreInitEx(store, 1, &text, values), "Mixed key types are not allowed");
    assert_int_equal(MXNDArrayFree(value), 0);
    assert_int_equal(MXNDArrayFree(other), 0);
    assert_int_equal(MXNDArrayFree(out), 0);
    assert_int_equal(MXKVStoreFree(store), 0);
}

static void every_function_refuses_bad_arguments(void **state)
{
    (void)state;
    KVStoreHandle store = create(), none = NULL;
    NDArrayHandle value = make(2, 1);
    const int key = 1;
    const char *text = "w", *type = NULL;
    int number = -1;
    assert_error(MXKVStoreCreate("nobody", &none), "there are 'local', 'device', 'dist_sync'");
    assert_error(MXKVStoreCreate("nccl", &none), "USE_NCCL");
    assert_error(MXKVStoreCreate(NULL, &none), "type");
    assert_error(MXKVStoreCreate("local", NULL), "out");
    assert_error(MXKVStoreGetType(store, NULL), "out");
    assert_error(MXKVStoreGetRank(NULL, &number), "handle");
    assert_error(MXKVStoreGetGroupSize(value, &number), "handle");
    assert_error(MXKVStoreInit(store, 1, NULL, &value), "keys");
    assert_error(MXKVStoreInit(store, 1, &key, NULL), "vals");
    assert_error(MXKVStoreInitEx(NULL, 1, &text, &value), "handle");
    assert_int_equal(MXKVStoreBroadcast(store, 1, &key, 1, &key, &value, &value, 0), 0);
    assert_error(MXKVStoreBroadcastEx(store, 1, &text, 1, &text, &value, &value, 0), "Mixed");
    assert_error(MXKVStorePushPullEx(store, 1, &text, 1, &text, &value, NULL, 0), "outs");
    assert_error(MXKVStorePullRowSparse(store, 1, &key, &value, &value, 0), "row_sparse");
    assert_error(MXKVStorePullRowSparseEx(store, 1, &text, &value, &value, 0), "row_sparse");
    assert_error(MXKVStorePullWithSparse(store, 1, &key, &none, 0, true), "vals");
    assert_error(MXKVStorePullEx(store, 1, &text, &value, 0), "Mixed");
    assert_error(MXKVStoreSetGradientCompression(store, 0, NULL, NULL),
                 "Gradient compression is not supported for this type of kvstore");
    assert_int_equal(MXKVStoreBarrier(store), 0);
    assert_int_equal(MXKVStoreSetBarrierBeforeExit(store, 1), 0);
    assert_int_equal(MXKVStoreGetType(store, &type), 0);
    assert_string_equal(type, "local");
    assert_int_equal(MXKVStoreGetRank(store, &number), 0);
    assert_int_equal(number, 0);
    assert_int_equal(MXKVStoreGetGroupSize(store, &number), 0);
    assert_int_equal(number, 1);
    assert_int_equal(MXKVStoreFree(store), 0);
    assert_error(MXKVStoreFree(store), "handle");
    assert_error(MXKVStoreBarrier(store), "handle");
    assert_int_equal(MXNDArrayFree(value), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_a_key_are_summed_in_any_number),
        cmocka_unit_test(many_text_keys_are_kept_apart),
        cmocka_unit_test(an_updater_set_after_sums_gets_two_arrays),
        cmocka_unit_test(texts_go_to_their_updater_or_have_a_number),
        cmocka_unit_test(a_failing_call_changes_nothing),
        cmocka_unit_test(every_function_refuses_bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
