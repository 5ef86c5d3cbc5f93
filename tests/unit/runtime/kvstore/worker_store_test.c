// SPDX-License-Identifier: Apache-2.0
// The store of several processes in a process that is alone, a worker with its owner inside,
// through MXNet's functions: the way from the engine to the node and back, commands, states in
// files, and the end.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <mxprof/error.h>
#include <nnvm/c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FLOAT32 = 0, FLOAT16 = 2, SIZE = 2000, KEYS = 8, STEPS = 5 };
static const char sgd[] =
    "{\"name\": \"sgd\", \"args\": {\"learning_rate\": 0.5, \"momentum\": 0.5}}";

static void good(int status)
{
    if (status != 0) {
        fail_msg("%s", MXGetLastError());
    }
}

static void assert_error(int status, const char *part)
{
    assert_int_equal(status, -1);
    if (strstr(MXGetLastError(), part) == NULL) {
        fail_msg("'%s' does not contain '%s'", MXGetLastError(), part);
    }
}

static NDArrayHandle make(float value)
{
    static float values[SIZE];
    const int64_t size = SIZE;
    NDArrayHandle array = NULL;
    for (int i = 0; i < SIZE; i++) {
        values[i] = value;
    }
    good(MXNDArrayCreate64(&size, 1, 1, 0, 0, FLOAT32, &array));
    good(MXNDArraySyncCopyFromCPU(array, values, SIZE));
    return array;
}

static float last_of(NDArrayHandle array)
{
    static float values[SIZE];
    good(MXNDArraySyncCopyToCPU(array, values, SIZE));
    return values[SIZE - 1];
}

static KVStoreHandle create(const char *type)
{
    KVStoreHandle store = NULL;
    good(MXKVStoreCreate(type, &store));
    return store;
}

static void pushes_and_pulls_of_a_key_keep_their_order(void **state)
{
    (void)state;
    KVStoreHandle store = create("dist_sync");
    NDArrayHandle values[KEYS], outs[KEYS];
    int keys[KEYS], rank = -1, size = -1;
    for (int i = 0; i < KEYS; i++) {
        keys[i] = 10 * i;
        values[i] = make((float)i);
        outs[i] = make(-1);
    }
    good(MXKVStoreGetRank(store, &rank));
    good(MXKVStoreGetGroupSize(store, &size));
    assert_true(rank == 0 && size == 1);
    good(MXKVStoreInit(store, KEYS, keys, values));
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < KEYS; i++) {
            const float value = (float)(step * i);
            NDArrayHandle pushed = make(value), other = make(1);
            NDArrayHandle both[] = {pushed, other};
            const int twice[] = {keys[i], keys[i]};
            good(MXKVStorePush(store, 2, twice, both, -i));
            good(MXKVStorePull(store, 1, &keys[i], &outs[i], -i));
            good(MXNDArrayFree(pushed));
            good(MXNDArrayFree(other));
        }
        for (int i = 0; i < KEYS; i++) {
            assert_true(last_of(outs[i]) == (float)(step * i + 1));
        }
    }
    good(MXKVStoreBarrier(store));
    good(MXKVStorePushPull(store, KEYS, keys, KEYS, keys, values, outs, 0));
    for (int i = 0; i < KEYS; i++) {
        assert_true(last_of(outs[i]) == (float)i);
        good(MXNDArrayFree(values[i]));
        good(MXNDArrayFree(outs[i]));
    }
    good(MXKVStoreFree(store));
}

static float pushed(KVStoreHandle store, NDArrayHandle gradient, NDArrayHandle out)
{
    const char *key = "w";
    good(MXKVStorePushPullEx(store, 1, &key, 1, &key, &gradient, &out, 0));
    return last_of(out);
}

static void an_optimizer_is_a_text_and_its_states_a_file(void **state)
{
    (void)state;
    KVStoreHandle store = create("dist_sync");
    NDArrayHandle weight = make(1), gradient = make(1), out = make(0);
    const char *key = "w";
    good(MXKVStoreSendCommmandToServers(store, 0, sgd));
    good(MXKVStoreInitEx(store, 1, &key, &weight));
    assert_true(pushed(store, gradient, out) == 0.5f);  // momentum -0.5
    good(MXKVStoreSendCommmandToServers(store, 16, "states"));
    assert_true(pushed(store, gradient, out) == -0.25f);  // -0.75
    good(MXKVStoreSendCommmandToServers(store, 17, "states"));
    assert_true(pushed(store, gradient, out) == -1.0f);  // -0.75 again
    good(MXKVStoreSendCommmandToServers(store, 0, "{\"set\": {\"learning_rate\": 0}}"));
    assert_true(pushed(store, gradient, out) == -1.375f);
    assert_error(MXKVStoreSendCommmandToServers(store, 0, "{\"name\": \"own\"}"),
                 "MXNET_KVSTORE_OPTIMIZER_MODULES");
    assert_error(MXKVStoreSendCommmandToServers(store, 0, "{\"pickle\": \"x\"}"), "ALLOW_PICKLE");
    assert_error(MXKVStoreSendCommmandToServers(store, 17, "nowhere"), "nowhere");
    assert_error(MXKVStoreSendCommmandToServers(store, 5, ""), "cannot be read");
    assert_error(MXKVStoreSetUpdater(store, (MXKVStoreUpdater *)0, NULL), "run on its servers");
    assert_int_equal(unlink("states"), 0);
    good(MXNDArrayFree(weight));
    good(MXNDArrayFree(gradient));
    good(MXNDArrayFree(out));
    good(MXKVStoreFree(store));
}

// ---- an updater of the program's ----------------------------------------------------------------
static KVStoreHandle controlled;

static void own_update(int number, NDArrayHandle recv, NDArrayHandle local, void *handle)
{
    (void)number, (void)recv, (void)local, (void)handle;
    abort();  // texts have their own
}

static void own_update_of_text(const char *key, NDArrayHandle recv, NDArrayHandle local,
                               void *handle)
{
    int *calls = handle;
    void *ins[] = {local, recv};
    void *outs[] = {local}, **given = outs;
    void *op = NULL;
    int out_count = 1;
    (*calls)++;
    assert_string_equal(key, "w");
    good(NNGetOpHandle("elemwise_sub", &op));
    good(MXImperativeInvoke(op, 2, ins, &out_count, &given, 0, NULL, NULL, NULL));
    good(MXNDArrayFree(recv));
    good(MXNDArrayFree(local));
    (void)mxp_set_last_error(0, "");
}

static void control(int head, const char *body, void *handle)
{
    (void)head;
    if (strstr(body, "\"own\"") == NULL) {
        (void)mxp_set_last_error(-5, "not mine");
        return;
    }
    good(MXKVStoreSetUpdaterEx(controlled, own_update, own_update_of_text, handle));
    (void)mxp_set_last_error(0, "");
}

static void the_programs_updater_runs_on_a_thread_of_its_own(void **state)
{
    (void)state;
    int calls = 0;
    controlled = create("dist_sync");
    NDArrayHandle weight = make(1), gradient = make(1), out = make(0);
    const char *key = "w";
    good(MXKVStoreRunServer(controlled, control, &calls));
    good(MXKVStoreInitEx(controlled, 1, &key, &weight));
    assert_error(MXKVStoreSendCommmandToServers(controlled, 0, "{\"name\": \"other\"}"),
                 "not mine");
    good(MXKVStoreSendCommmandToServers(controlled, 0, "{\"name\": \"own\"}"));
    assert_true(pushed(controlled, gradient, out) == 0);
    assert_true(pushed(controlled, gradient, out) == -1);
    assert_int_equal(calls, 2);
    good(MXNDArrayFree(weight));
    good(MXNDArrayFree(gradient));
    good(MXNDArrayFree(out));
    good(MXKVStoreFree(controlled));
}

// ---- the end -----------------------------------------------------------------------------------
static void a_store_is_its_processs_and_ends_with_it(void **state)
{
    (void)state;
    KVStoreHandle store = create("dist_sync");
    NDArrayHandle value = make(1);
    const int key = 3;
    int status = -1;
    char whose[64];
    good(MXKVStoreInit(store, 1, &key, &value));
    snprintf(whose, sizeof whose, "this store belongs to process %d", (int)getpid());
    const pid_t child = fork();
    if (child == 0) {
        const int refused = MXKVStorePush(store, 1, &key, &value, 0);
        _exit(refused == -1 && strstr(MXGetLastError(), whose) != NULL ? 7 : 8);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 7);
    good(MXKVStorePush(store, 1, &key, &value, 0));
    good(MXNotifyShutdown());
    assert_error(MXKVStorePush(store, 1, &key, &value, 0), "this store was closed");
    assert_error(MXKVStoreBarrier(store), "this store was closed");
    assert_error(MXKVStoreCreate("dist_sync", &store), "this store was closed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_and_pulls_of_a_key_keep_their_order),
        cmocka_unit_test(an_optimizer_is_a_text_and_its_states_a_file),
        cmocka_unit_test(the_programs_updater_runs_on_a_thread_of_its_own),
        cmocka_unit_test(a_store_is_its_processs_and_ends_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
