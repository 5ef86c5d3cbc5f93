// SPDX-License-Identifier: Apache-2.0
// Commands of worker 0. What fails here is the caller's error, before which the node puts whose it
// is.
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/server_profile.h"
#include "runtime/kvstore/server_state.h"

static const char ways[] =
    "an optimizer of your own is made by a server that finds its class: name its module in the "
    "servers' MXNET_KVSTORE_OPTIMIZER_MODULES, and register it with mx.optimizer.register; with "
    "MXNET_KVSTORE_ALLOW_PICKLE=1 servers also run what workers pickle";

void mxn__server_frame(uint16_t store, const void *body, size_t length, mxp_strbuf *framed)
{
    const uint32_t number = store;
    mxp__strbuf_append(framed, (const char *)&number, sizeof number);
    mxp__strbuf_append(framed, body, length);
}

void mxn__server_answer(mxn_dist_request *request, int error)
{
    mxn_dist_answered(request, error, error == MXP_OK ? NULL : mxp_last_error(), NULL, 0);
}

// ---- optimizers --------------------------------------------------------------------------------
// Either of the two updates the store from now on.
static int set_store(mxn_kv_server *server, uint16_t number, mxn_kv_updater *updater,
                     mxn_kv_update program, void *context)
{
    mxn_dist *dist = mxn__server_dist(server);
    mxp__lock(&server->lock);
    mxn_server_store *store = &server->stores[number];
    mxn_kv_updater *old = store->updater;
    store->updater = updater;
    store->program = program;
    store->context = context;
    mxp__unlock(&server->lock);
    mxn__kv_updater_free(old);
    return mxn_dist_updater_set(dist, number, true);
}

int mxn__server_set_program(mxn_kv_server *server, mxn_kv_update update, void *context)
{
    if (server == NULL || server->controlled < 0 || update == NULL) {
        return mxp__fail(MXP_ENOTSUP, "updaters of a store over processes run on its servers: %s",
                         ways);
    }
    return set_store(server, (uint16_t)server->controlled, NULL, update, context);
}

void mxn__server_set_control(mxn_kv_server *server, int store, mxn_kv_control control,
                             void *context)
{
    mxp__lock(&server->lock);
    mxn_kv_control *at = store < 0 ? &server->control : &server->stores[store].control;
    void **of = store < 0 ? &server->control_context : &server->stores[store].control_context;
    *at = control;
    *of = context;
    mxp__unlock(&server->lock);
}

// Null: there is none.
static mxn_kv_control control_of(mxn_kv_server *server, uint16_t number, void **context)
{
    mxp__lock(&server->lock);
    const mxn_server_store *store = &server->stores[number];
    const bool is_own = store->control != NULL;
    mxn_kv_control control = is_own ? store->control : server->control;
    *context = is_own ? store->control_context : server->control_context;
    mxp__unlock(&server->lock);
    return control;
}

// The program's side reads the text; its error line says what went wrong.
static void run_control(mxn_kv_server *server, mxn_server_task *task)
{
    void *context;
    mxn_kv_control control = control_of(server, task->store, &context);
    server->controlled = task->store;
    (void)mxp_set_last_error(MXP_OK, "");
    control(task->store << 16 | MXN_KV_CONTROLLER, mxp__strbuf_text(&task->body), context);
    server->controlled = -1;
    mxn__server_answer(task->request, mxp_last_error()[0] != '\0' ? MXP_ESTATE : MXP_OK);
}

// ---- states ------------------------------------------------------------------------------------
static void run_save(mxn_kv_server *server, mxn_server_task *task)
{
    mxp_strbuf states = {0};
    mxp__lock(&server->lock);
    mxn_kv_updater *updater = server->stores[task->store].updater;
    int error = updater != NULL
                    ? mxn__kv_updater_save(updater, &states)
                    : mxp__fail(MXP_ESTATE, "this store has no optimizer whose states can be read");
    mxp__unlock(&server->lock);
    if (error == MXP_OK) {
        mxn_dist_answered(task->request, MXP_OK, NULL, states.data, states.length);
    } else {
        mxn__server_answer(task->request, error);
    }
    mxp__strbuf_fini(&states);
}

static void run_load(mxn_kv_server *server, mxn_server_task *task)
{
    mxp__lock(&server->lock);
    mxn_kv_updater *updater = server->stores[task->store].updater;
    int error = updater != NULL
                    ? mxn__kv_updater_load(updater, task->body.data, task->body.length)
                    : mxp__fail(MXP_ESTATE, "this store has no optimizer whose states can be set");
    mxp__unlock(&server->lock);
    mxn__server_answer(task->request, error);
}

static void run_profile(mxn_kv_server *server, mxn_server_task *task)
{
    int error = mxn__server_profile_run(task->body.data, task->body.length,
                                        mxn__server_rank(server), mxn__server_is_alone(server));
    mxn__server_answer(task->request, error);
}

// ---- dispatch ----------------------------------------------------------------------------------
static int post(mxn_kv_server *server, uint16_t store, const char *body, size_t length,
                void (*run)(mxn_kv_server *server, mxn_server_task *task),
                mxn_dist_request *request)
{
    mxn_server_task *task = mxn__server_task_new(request);
    if (task != NULL) {
        mxp__strbuf_append(&task->body, body, length);
    }
    if (task == NULL || task->body.failed) {
        if (task != NULL) {
            mxp__strbuf_fini(&task->body);
        }
        mxp__free(task, sizeof *task);
        return mxp__fail_memory("a command");
    }
    task->run = run;
    task->store = store;
    mxn__server_post(server, task);
    return MXP_OK;
}

// Which texts are not built in, or not for C at all, decides the program's side.
static int set_optimizer(mxn_kv_server *server, uint16_t store, const char *text, size_t length,
                         mxn_dist_request *request)
{
    mxn_kv_optimizer *optimizer = NULL;
    mxn_kv_updater *updater = NULL;
    const int kind = mxn__kv_text_kind(text, length);
    int error = MXP_ENOTSUP;
    mxp__lock(&server->lock);
    const mxn_server_store now = server->stores[store];
    if (kind == MXN_KV_TEXT_CHANGE && now.updater != NULL) {
        error = mxn__kv_updater_set(now.updater, text, length);
    } else if (kind == MXN_KV_TEXT_CHANGE && now.program == NULL) {
        error = mxp__fail(MXP_ESTATE, "there is no optimizer to change");
    }
    mxp__unlock(&server->lock);
    if (kind == MXN_KV_TEXT_OPTIMIZER) {
        error = mxn__kv_optimizer_read(text, length, &optimizer);
        error = error == MXP_OK ? mxn__kv_updater_new(optimizer, &updater) : error;
        if (error == MXP_OK) {
            error = set_store(server, store, updater, NULL, NULL);
        }
    }
    if (error != MXP_ENOTSUP) {
        mxn__server_answer(request, error);
        return MXP_OK;
    }
    void *context;
    if (control_of(server, store, &context) == NULL) {
        mxp_strbuf why = {0};
        mxp__strbuf_puts(&why, kind == MXN_KV_TEXT_OPTIMIZER ? mxp_last_error()
                                                             : "a pickle is not read here");
        error = mxp__fail(MXP_ENOTSUP, "%s; %s", mxp__strbuf_text(&why), ways);
        mxp__strbuf_fini(&why);
        return error;
    }
    return post(server, store, text, length, run_control, request);
}

static int handle(mxn_kv_server *server, uint32_t number, uint16_t store, const char *body,
                  size_t length, mxn_dist_request *request)
{
    switch (number) {
    case MXN_KV_CONTROLLER:
        return set_optimizer(server, store, body, length, request);
    case MXN_KV_PROFILER:
        return post(server, store, body, length, run_profile, request);
    case MXN_KV_SAVE_STATES:
        return post(server, store, body, length, run_save, request);
    case MXN_KV_LOAD_STATES:
        return post(server, store, body, length, run_load, request);
    default:  // what the original's workers send and ours do another way
        mxn__server_answer(request, MXP_OK);
        return MXP_OK;
    }
}

void mxn__server_command(void *context, uint32_t number, const void *body, uint64_t bytes,
                         mxn_dist_request *request)
{
    mxn_kv_server *server = context;
    uint32_t store = MXN_DIST_STORES_MAX;
    if (bytes >= sizeof store) {
        memcpy(&store, body, sizeof store);
    }
    int error = store < MXN_DIST_STORES_MAX
                    ? handle(server, number, (uint16_t)store, (const char *)body + sizeof store,
                             bytes - sizeof store, request)
                    : mxp__fail(MXP_EFORMAT, "a command of %llu bytes names no store",
                                (unsigned long long)bytes);
    if (error != MXP_OK) {
        mxn__server_answer(request, error);
    }
}
