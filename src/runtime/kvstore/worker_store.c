// SPDX-License-Identifier: Apache-2.0
// The store of several processes. Values of this process are summed first; then an operation of the
// engine hands the sum to the node. Each key has an array that is never allocated: it keeps shape
// and type, and its variable orders what this worker does with the key. A push writes it and reads
// the gradient; a pull reads it and writes `out`: so pulls see the pushes before them, different
// keys are free, and no gradient is overwritten while it is being sent.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/key_sums.h"
#include "runtime/kvstore/process_node.h"
#include "runtime/kvstore/server_profile.h"
#include "runtime/kvstore/states_file.h"
#include "runtime/kvstore/store_ops.h"
#include "runtime/kvstore/worker_compression.h"
#include "runtime/kvstore/worker_operations.h"

typedef struct worker_store {
    mxn_kvstore head;
    mxn_dist *dist;
    uint16_t number;
} worker_store;

static worker_store *worker_of(mxn_kvstore *store)
{
    return (worker_store *)store;
}

static bool is_worker(const mxn_dist *dist)
{
    return (mxn_dist_roles(dist) & MXN_ROLE_WORKER) != 0;
}

static int check_worker(mxn_kvstore *store)
{
    return is_worker(worker_of(store)->dist)
               ? mxn_dist_check(worker_of(store)->dist)
               : mxp__fail(MXP_ESTATE, "this process is no worker: it has no values of its own");
}

// Operations of its own end before it goes; that one has failed was told when it was waited for.
static void end(mxn_kvstore *store)
{
    for (const mxn_kv_entry *at = store->entries.newest; at != NULL; at = at->next) {
        (void)mxn_var_wait_write(mxn_array_var(at->stored));
    }
}

static int rank(const mxn_kvstore *store)
{
    return (int)mxn_dist_rank(((const worker_store *)store)->dist);
}

static int size(const mxn_kvstore *store)
{
    return (int)mxn_dist_worker_count(((const worker_store *)store)->dist);
}

// ---- init --------------------------------------------------------------------------------------
// Of a key that all workers have inited. The array is never allocated.
static int add_key(mxn_kvstore *store, const mxn_kv_keys *keys, uint32_t index,
                   const mxn_array *value)
{
    mxn_array *stored = NULL;
    int error = mxn_array_new(&value->shape, value->dtype, (mxn_context){MXN_CPU_PINNED, 0}, NULL,
                              true, &stored);
    error = error == MXP_OK ? mxn__kv_add(&store->entries, keys, index, stored) : error;
    if (error != MXP_OK) {
        mxn_array_release(stored);
        return error;
    }
    store->entries.newest->place = (uint32_t)store->entries.count - 1;
    return MXP_OK;
}

static int init(mxn_kvstore *store, const mxn_kv_keys *keys, mxn_array *const *values)
{
    worker_store *of = worker_of(store);
    char buffer[32];
    int error = check_worker(store);
    for (uint32_t i = 0; error == MXP_OK && i < keys->count; i++) {
        const mxn_dist_operation operation = {.kind = MXN_DIST_INIT,
                                              .store = of->number,
                                              .key = (uint32_t)store->entries.count,
                                              .dtype = values[i]->dtype,
                                              .name = mxn__kv_key_text(keys, i, buffer),
                                              .shape = &values[i]->shape};
        error = mxn__worker_wait_for(of->dist, &operation, values[i], NULL);
        error = error == MXP_OK ? add_key(store, keys, i, values[i]) : error;
    }
    return error;
}

// ---- values ------------------------------------------------------------------------------------
static int check_types(const mxn_kv_groups *groups, mxn_array *const *values)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        const mxn_kv_entry *entry = groups->entries[i];
        uint32_t at = groups->first[i];
        for (uint32_t j = 0; j < groups->values[i]; j++) {
            if (values[at]->dtype != entry->stored->dtype) {
                char number[16];
                snprintf(number, sizeof number, "%d", entry->number);
                return mxp__fail(MXP_EINVAL, "key %s is %s, the value is %s",
                                 entry->text != NULL ? entry->text : number,
                                 mxn_dtype_name(entry->stored->dtype),
                                 mxn_dtype_name(values[at]->dtype));
            }
            at = groups->next[at];
        }
    }
    return MXP_OK;
}

static int check_values(mxn_kvstore *store, const mxn_kv_groups *groups, mxn_array *const *values)
{
    int error = check_worker(store);
    return error == MXP_OK ? check_types(groups, values) : error;
}

static mxn_worker_transfer transfer_of(mxn_kvstore *store, const mxn_kv_entry *entry, int kind,
                                       int priority)
{
    return (mxn_worker_transfer){.dist = worker_of(store)->dist,
                                 .operation = {.kind = kind,
                                               .store = worker_of(store)->number,
                                               .key = entry->place,
                                               .priority = priority,
                                               .dtype = entry->stored->dtype},
                                 .order = entry->stored};
}

// In a compressed store words are what is sent. Other types than float32 are left as they are: the
// node refuses them.
static int compress(mxn_kvstore *store, mxn_kv_entry *entry, mxn_worker_transfer *transfer)
{
    const worker_store *of = worker_of(store);
    const float threshold = mxn_dist_threshold(of->dist, of->number);
    mxn_array *words = NULL;
    if (threshold == 0 || entry->stored->dtype != MXN_FLOAT32) {
        return MXP_OK;
    }
    int error = mxn__worker_compress(of->dist, of->number, entry, threshold, transfer->in,
                                     transfer->operation.priority, &words);
    if (error == MXP_OK) {
        mxn_array_release(transfer->in);
        transfer->in = words;
        transfer->is_compressed = true;
    }
    return error;
}

static int push(mxn_kvstore *store, const mxn_kv_groups *groups, mxn_array *const *values,
                int priority)
{
    const mxn_push_options options = {.priority = priority, .flags = MXP_PHASE_COMMUNICATION};
    int error = check_values(store, groups, values);
    for (uint32_t i = 0; error == MXP_OK && i < groups->count; i++) {
        mxn_worker_transfer transfer =
            transfer_of(store, groups->entries[i], MXN_DIST_PUSH, priority);
        error = mxn__kv_merge(groups, i, values, &options, false, &transfer.in);
        error = error == MXP_OK ? compress(store, groups->entries[i], &transfer) : error;
        error = error == MXP_OK ? mxn__worker_transfer(&transfer) : error;
        mxn_array_release(transfer.in);
    }
    return error;
}

// To the arrays of a key after the first, which has it.
static int copy_on(const mxn_kv_groups *groups, uint32_t at, mxn_array *const *outs,
                   const mxn_push_options *options)
{
    const uint32_t first = groups->first[at];
    uint32_t to = first;
    int error = MXP_OK;
    for (uint32_t i = 1; error == MXP_OK && i < groups->values[at]; i++) {
        to = groups->next[to];
        error = mxn_array_copy(outs[first], outs[to], options);
    }
    return error;
}

static int pull(mxn_kvstore *store, const mxn_kv_groups *groups, mxn_array *const *outs,
                int priority)
{
    const mxn_push_options options = {.priority = priority, .flags = MXP_PHASE_COMMUNICATION};
    int error = check_values(store, groups, outs);
    for (uint32_t i = 0; error == MXP_OK && i < groups->count; i++) {
        mxn_worker_transfer transfer =
            transfer_of(store, groups->entries[i], MXN_DIST_PULL, priority);
        transfer.out = outs[groups->first[i]];
        error = mxn__worker_transfer(&transfer);
        error = error == MXP_OK ? copy_on(groups, i, outs, &options) : error;
    }
    return error;
}

static int pushpull(mxn_kvstore *store, const mxn_kv_groups *groups, mxn_array *const *values,
                    const mxn_kv_groups *out_groups, mxn_array *const *outs, int priority)
{
    const mxn_push_options options = {.priority = priority, .flags = MXP_PHASE_COMMUNICATION};
    int error = check_values(store, groups, values);
    error = error == MXP_OK ? check_types(out_groups, outs) : error;
    for (uint32_t i = 0; error == MXP_OK && i < groups->count; i++) {
        mxn_worker_transfer transfer =
            transfer_of(store, groups->entries[i], MXN_DIST_PUSHPULL, priority);
        transfer.out = outs[out_groups->first[i]];
        error = mxn__kv_merge(groups, i, values, &options, false, &transfer.in);
        error = error == MXP_OK ? mxn__worker_transfer(&transfer) : error;
        error = error == MXP_OK ? copy_on(out_groups, i, outs, &options) : error;
        mxn_array_release(transfer.in);
    }
    return error;
}

// ---- the group ---------------------------------------------------------------------------------
// What this worker has pushed has left, and its owners have it.
static int wait_for_own(mxn_kvstore *store)
{
    int error = MXP_OK;
    for (const mxn_kv_entry *at = store->entries.newest; at != NULL; at = at->next) {
        int own = mxn_var_wait_write(mxn_array_var(at->stored));
        error = error == MXP_OK ? own : error;
    }
    return error;
}

static int barrier(mxn_kvstore *store)
{
    const mxn_dist_operation operation = {.kind = MXN_DIST_BARRIER,
                                          .store = worker_of(store)->number};
    int error = check_worker(store);
    error = error == MXP_OK ? wait_for_own(store) : error;
    return error == MXP_OK ? mxn__worker_wait_for(worker_of(store)->dist, &operation, NULL, NULL)
                           : error;
}

static int set_compression(mxn_kvstore *store, float threshold)
{
    const mxn_dist_operation operation = {
        .kind = MXN_DIST_COMPRESSION, .store = worker_of(store)->number, .threshold = threshold};
    int error = check_worker(store);
    return error == MXP_OK ? mxn__worker_wait_for(worker_of(store)->dist, &operation, NULL, NULL)
                           : error;
}

// Worker 0's alone. The body of a command says which store it is for.
static int send_command(worker_store *of, int number, const mxp_strbuf *body, mxp_strbuf *answer)
{
    const mxn_dist_operation operation = {.kind = MXN_DIST_COMMAND,
                                          .store = of->number,
                                          .key = (uint32_t)number,
                                          .in = body->data,
                                          .bytes = body->length};
    if (body->failed) {
        return mxp__fail_memory("a command");
    }
    if (mxn_dist_rank(of->dist) != 0) {
        return MXP_OK;
    }
    int error = wait_for_own(&of->head);
    return error == MXP_OK ? mxn__worker_wait_for(of->dist, &operation, NULL, answer) : error;
}

static int command_with(worker_store *of, int number, const char *body, size_t length,
                        mxp_strbuf *answer)
{
    mxp_strbuf framed = {0};
    mxn__server_frame(of->number, body, length, &framed);
    int error = send_command(of, number, &framed, answer);
    mxp__strbuf_fini(&framed);
    return error;
}

static int save_states(worker_store *of, const char *path)
{
    mxp_strbuf answers = {0};
    int error = command_with(of, MXN_KV_SAVE_STATES, "", 0, &answers);
    if (error == MXP_OK && mxn_dist_rank(of->dist) == 0) {
        error = mxn__states_file_save(path, answers.data, answers.length, &of->head.entries);
    }
    mxp__strbuf_fini(&answers);
    return error;
}

static int load_states(worker_store *of, const char *path)
{
    mxp_strbuf states = {0};
    int error = mxn_dist_rank(of->dist) == 0 ? mxn__states_file_load(path, &states) : MXP_OK;
    error = error == MXP_OK ? command_with(of, MXN_KV_LOAD_STATES, states.data, states.length, NULL)
                            : error;
    mxp__strbuf_fini(&states);
    return error;
}

static int command(mxn_kvstore *store, int number, const char *body)
{
    int error = check_worker(store);
    if (error != MXP_OK) {
        return error;
    }
    if (number == MXN_KV_SAVE_STATES) {
        return save_states(worker_of(store), body);
    }
    if (number == MXN_KV_LOAD_STATES) {
        return load_states(worker_of(store), body);
    }
    return command_with(worker_of(store), number, body, strlen(body), NULL);
}

static int profile(mxn_kvstore *store, const mxn_kv_profile *of)
{
    mxp_strbuf body = {0};
    int error = check_worker(store);
    mxn__server_profile_write(of, &body);
    if (error == MXP_OK && body.failed) {
        error = mxp__fail_memory("a command");
    }
    error = error == MXP_OK
                ? command_with(worker_of(store), MXN_KV_PROFILER, body.data, body.length, NULL)
                : error;
    mxp__strbuf_fini(&body);
    return error;
}

static int dead(mxn_kvstore *store, int *count)
{
    *count = mxn_dist_failure(worker_of(store)->dist) != NULL;
    return MXP_OK;
}

static bool has_servers(const mxn_kvstore *store)
{
    return mxn_dist_has_servers(((const worker_store *)store)->dist);
}

// ---- servers -----------------------------------------------------------------------------------
static int set_updater(mxn_kvstore *store, mxn_kv_update update, void *context)
{
    (void)store;
    return mxn__server_set_program(mxn__process_server(), update, context);
}

static int serve(mxn_kvstore *store, mxn_kv_control control, void *context)
{
    mxn_kv_server *server = mxn__process_server();
    if (server == NULL) {
        return mxp__fail(MXP_ESTATE, "this store belongs to another process");
    }
    const bool has_own = is_worker(worker_of(store)->dist);
    mxn__server_set_control(server, has_own ? worker_of(store)->number : -1, control, context);
    return has_own ? MXP_OK : mxn__server_run(server);
}

int mxn__worker_store_new(bool is_async, mxn_kvstore **store)
{
    static const mxn_kvstore_ops ops = {.free = end,
                                        .rank = rank,
                                        .size = size,
                                        .init = init,
                                        .push = push,
                                        .pull = pull,
                                        .pushpull = pushpull,
                                        .set_updater = set_updater,
                                        .barrier = barrier,
                                        .set_compression = set_compression,
                                        .command = command,
                                        .profile = profile,
                                        .serve = serve,
                                        .dead = dead,
                                        .has_servers = has_servers};
    mxn_dist *dist = NULL;
    int error = mxn__process_node(&dist);
    if (error != MXP_OK) {
        return error;
    }
    worker_store *made = mxp__alloc(sizeof *made);
    if (made == NULL) {
        return mxp__fail_memory("a key-value store");
    }
    made->head.ops = &ops;
    made->head.bytes = sizeof *made;
    made->dist = dist;
    error = is_worker(dist) ? mxn_dist_store_open(dist, is_async, &made->number) : MXP_OK;
    if (error != MXP_OK) {
        mxp__free(made, sizeof *made);
        return error;
    }
    *store = &made->head;
    return MXP_OK;
}
