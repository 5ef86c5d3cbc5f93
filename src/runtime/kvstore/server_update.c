// SPDX-License-Identifier: Apache-2.0
// An owner's update: the bytes of stored value and sum as arrays, the updater's operators, and an
// operation behind them that tells the node.
#include "base/alloc.h"
#include "base/fail.h"
#include "base/name_once.h"
#include "runtime/kvstore/server_state.h"

static void nothing(void *data)
{
    (void)data;
}

// Of the part's bytes. A whole key has its own shape, so that updates see what one process sees.
static int array_of(const mxn_dist_part *part, void *data, mxn_array **array)
{
    const mxn_shape run = {.ndim = 1, .dims = {(int64_t)part->elements}};
    const mxn_attachment owner = {.data = data, .release = nothing};
    const bool is_whole = part->elements == part->key_elements;
    return mxn_array_new_foreign(is_whole ? part->shape : &run, part->dtype,
                                 (mxn_context){MXN_CPU, 0}, data, owner, array);
}

static int stored_of(mxn_kv_server *server, const mxn_dist_part *part, void *stored,
                     mxn_array **array)
{
    const uint64_t key = ((uint64_t)part->store << 32 | part->key) + 1;
    mxn_server_part *known = mxp__id_map_add(&server->parts, key);
    if (known == NULL) {
        return mxp__fail_memory("a part of a key");
    }
    int error = known->stored == NULL ? array_of(part, stored, &known->stored) : MXP_OK;
    *array = known->stored;
    return error;
}

// ---- the end -----------------------------------------------------------------------------------
typedef struct ending {
    mxn_dist_request *request;
    mxn_array *stored;
} ending;

static void free_ending(void *argument)
{
    ending *of = argument;
    mxn_array_release(of->stored);
    mxp__free(of, sizeof *of);
}

// Also where the update has failed.
static int tell(const mxn_run *run, void *argument)
{
    (void)run;
    const ending *of = argument;
    int error = mxn_var_error(mxn_array_var(of->stored));
    mxn_dist_updated(of->request, error, error == MXP_OK ? NULL : mxp_last_error());
    return MXP_OK;
}

static int push_end(mxn_array *stored, mxn_dist_request *request)
{
    static mxp_atomic_u32 name;
    ending *of = mxp__alloc(sizeof *of);
    if (of == NULL) {
        return mxp__fail_memory("an update");
    }
    mxn_array_retain(stored);
    *of = (ending){request, stored};
    mxn_var *reads[] = {mxn_array_var(stored)};
    const mxn_work work = {.function.sync = tell,
                           .form = MXN_SYNC,
                           .property = MXN_NO_SKIP,
                           .argument = of,
                           .deleter = free_ending,
                           .reads = reads,
                           .read_count = 1,
                           .flags = MXN_WORK_HIDDEN,
                           .name = mxp__span_name_once(&name, "operator", "KVStoreUpdated")};
    return mxn_push(&work);
}

void mxn__server_end_update(mxn_array *stored, mxn_dist_request *request, int error)
{
    (void)mxn_bulk_flush();
    error = error == MXP_OK ? push_end(stored, request) : error;
    if (error != MXP_OK) {
        mxn_dist_updated(request, error, mxp_last_error());
    }
}

// ---- updates -----------------------------------------------------------------------------------
// The program says that its updater has failed by an error line; what else fails leaves none.
static void run_program(mxn_kv_server *server, mxn_server_task *task)
{
    mxp__lock(&server->lock);
    const mxn_server_store store = server->stores[task->store];
    mxp__unlock(&server->lock);
    (void)mxp_set_last_error(MXP_OK, "");
    store.program(task->name, 0, task->sum, task->stored, store.context);
    const bool has_failed = mxp_last_error()[0] != '\0';
    mxn__server_end_update(task->stored, task->request, has_failed ? MXP_ESTATE : MXP_OK);
}

static int post_program(mxn_kv_server *server, const mxn_dist_part *part, mxn_array *sum,
                        mxn_array *stored, mxn_dist_request *request)
{
    mxn_server_task *task = mxn__server_task_new(request);
    char *name = mxp__strdup(part->name);
    if (task == NULL || name == NULL) {
        mxp__strfree(name);
        mxp__free(task, sizeof *task);
        return mxp__fail_memory("an update");
    }
    mxn_array_retain(sum);
    mxn_array_retain(stored);
    task->run = run_program;
    task->store = part->store;
    task->name = name;
    task->sum = sum;
    task->stored = stored;
    mxn__server_post(server, task);
    return MXP_OK;
}

// In a worker its operators are told from the worker's own by their scope.
static int run_built_in(mxn_kv_updater *updater, const mxn_kv_weight *weight, bool is_alone)
{
    if (!is_alone) {
        mxp_scope_push("owner");
    }
    int error = mxn__kv_updater_update(updater, weight);
    if (!is_alone) {
        mxp_scope_pop();
    }
    return error;
}

static int update(mxn_kv_server *server, const mxn_dist_part *part, mxn_array *sum,
                  mxn_array *stored, mxn_dist_request *request)
{
    const bool is_alone = mxn__server_is_alone(server);
    mxp__lock(&server->lock);
    const mxn_server_store store = server->stores[part->store];
    int error = MXP_OK;
    if (store.updater != NULL) {
        const mxn_kv_weight weight = {
            .key = part->name, .first = part->first, .gradient = sum, .weight = stored};
        error = run_built_in(store.updater, &weight, is_alone);
    }
    mxp__unlock(&server->lock);
    if (store.updater != NULL) {
        mxn__server_end_update(stored, request, error);
        return MXP_OK;
    }
    return store.program != NULL
               ? post_program(server, part, sum, stored, request)
               : mxp__fail(MXP_ESTATE, "key %s: its store has no updater", part->name);
}

void mxn__server_update(void *context, const mxn_dist_part *part, const void *sum, void *stored,
                        mxn_dist_request *request)
{
    mxn_kv_server *server = context;
    mxn_array *sum_array = NULL, *stored_array = NULL;
    union {
        const void *read;
        void *data;
    } of = {.read = sum};  // updaters read it alone
    int error = stored_of(server, part, stored, &stored_array);
    error = error == MXP_OK ? array_of(part, of.data, &sum_array) : error;
    error = error == MXP_OK ? update(server, part, sum_array, stored_array, request) : error;
    if (error != MXP_OK) {
        mxn_dist_updated(request, error, mxp_last_error());
    }
    mxn_array_release(sum_array);
}
