// SPDX-License-Identifier: Apache-2.0
// Life of the server, and its tasks.
#include "runtime/kvstore/server.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/quiet_thread.h"
#include "runtime/kvstore/server_state.h"

int mxn__server_new(mxn_kv_server **server)
{
    mxn_kv_server *made = mxp__alloc(sizeof *made);
    mxn_server_store *stores = mxp__alloc(MXN_DIST_STORES_MAX * sizeof *stores);
    if (made == NULL || stores == NULL) {
        mxp__free(made, sizeof *made);
        mxp__free(stores, MXN_DIST_STORES_MAX * sizeof *stores);
        return mxp__fail_memory("a server");
    }
    *made = (mxn_kv_server){.lock = MXP__LOCK_INIT,
                            .changed = PTHREAD_COND_INITIALIZER,
                            .stores = stores,
                            .parts = {.entry_bytes = sizeof(mxn_server_part)},
                            .controlled = -1};
    *server = made;
    return MXP_OK;
}

void mxn__server_attach(mxn_kv_server *server, mxn_dist *dist)
{
    mxp__lock(&server->lock);
    server->dist = dist;
    pthread_cond_broadcast(&server->changed);
    mxp__unlock(&server->lock);
}

mxn_dist *mxn__server_dist(mxn_kv_server *server)
{
    mxp__lock(&server->lock);
    while (server->dist == NULL) {
        mxp__lock_wait(&server->lock, &server->changed);
    }
    mxn_dist *dist = server->dist;
    mxp__unlock(&server->lock);
    return dist;
}

uint32_t mxn__server_rank(mxn_kv_server *server)
{
    const mxn_transport *transport = mxn_dist_transport(mxn__server_dist(server));
    return transport->peers[transport->rank].owner;
}

bool mxn__server_is_alone(mxn_kv_server *server)
{
    return (mxn_dist_roles(mxn__server_dist(server)) & MXN_ROLE_WORKER) == 0;
}

// ---- tasks -------------------------------------------------------------------------------------
mxn_server_task *mxn__server_task_new(mxn_dist_request *request)
{
    mxn_server_task *task = mxp__alloc(sizeof *task);
    if (task != NULL) {
        task->request = request;
    }
    return task;
}

static void free_task(mxn_server_task *task)
{
    mxp__strfree(task->name);
    mxn_array_release(task->sum);
    mxn_array_release(task->stored);
    mxp__strbuf_fini(&task->body);
    mxp__free(task, sizeof *task);
}

// The next task, waiting for one. Null: there will be none.
static mxn_server_task *take(mxn_kv_server *server)
{
    mxp__lock(&server->lock);
    while (server->first == NULL && !server->is_served && !server->is_stopping) {
        mxp__lock_wait(&server->lock, &server->changed);
    }
    mxn_server_task *task = server->first;
    if (task != NULL) {
        server->first = task->next;
    }
    mxp__unlock(&server->lock);
    return task;
}

static void do_tasks(mxn_kv_server *server)
{
    for (mxn_server_task *task = take(server); task != NULL; task = take(server)) {
        task->run(server, task);
        free_task(task);
    }
}

static void *task_thread(void *argument)
{
    do_tasks(argument);
    return NULL;
}

static void put_locked(mxn_kv_server *server, mxn_server_task *task)
{
    if (server->first == NULL) {
        server->first = task;
    } else {
        server->last->next = task;
    }
    server->last = task;
    pthread_cond_broadcast(&server->changed);
}

void mxn__server_post(mxn_kv_server *server, mxn_server_task *task)
{
    const bool is_alone = mxn__server_is_alone(server);
    int failed = 0;
    mxp__lock(&server->lock);
    if (!is_alone && !server->has_thread) {
        failed = mxp__os_start_thread(&server->thread, task_thread, server);
        server->has_thread = failed == 0;
    }
    if (failed == 0) {
        put_locked(server, task);
    }
    mxp__unlock(&server->lock);
    if (failed != 0) {
        mxp__fail(MXP_ENOMEM, "no thread for the server of this process: %s", strerror(failed));
        mxn_dist_answered(task->request, MXP_ENOMEM, mxp_last_error(), NULL, 0);
        free_task(task);
    }
}

void mxn__server_stop(mxn_kv_server *server)
{
    mxp__lock(&server->lock);
    const bool has_thread = server->has_thread;
    server->has_thread = false;
    server->is_stopping = true;
    pthread_cond_broadcast(&server->changed);
    mxp__unlock(&server->lock);
    if (has_thread) {
        pthread_join(server->thread, NULL);
    }
}

static void *serve_thread(void *argument)
{
    mxn_kv_server *server = argument;
    int result = mxn_dist_serve(mxn__server_dist(server));
    const char *text = mxn_dist_failure(mxn__server_dist(server));
    mxp__lock(&server->lock);
    server->result = result == MXP_OK && text != NULL ? MXP_EIO : result;
    server->is_served = true;
    pthread_cond_broadcast(&server->changed);
    mxp__unlock(&server->lock);
    return NULL;
}

int mxn__server_run(mxn_kv_server *server)
{
    pthread_t thread;
    int failed = mxp__os_start_thread(&thread, serve_thread, server);
    if (failed != 0) {
        return mxp__fail(MXP_ENOMEM, "no thread for the server of this process: %s",
                         strerror(failed));
    }
    do_tasks(server);
    pthread_join(thread, NULL);
    const char *text = mxn_dist_failure(mxn__server_dist(server));
    return server->result == MXP_OK
               ? MXP_OK
               : mxp__fail(server->result, "%s", text == NULL ? "the job has failed" : text);
}
