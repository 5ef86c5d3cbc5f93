// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/process_node.h"

#include <mxprof/error.h>
#include <mxprof/foreign.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/lock.h"
#include "runtime/engine/engine.h"
#include "runtime/kvstore/dist_watch.h"
#include "runtime/kvstore/kvstore.h"

static mxp_lock lock = MXP__LOCK_INIT;  // while it is opened
static MXP_ATOMIC(mxn_dist *) node;
static mxn_kv_server *server;
static pid_t opened_by;

static mxn_dist *look(void)
{
    return mxp_atomic_load_acquire(&node);  // pairs with open_locked
}

// What the program has pushed is sent first. The engine still runs: other workers may need this
// process's owner until they have closed, too.
void mxn_kvstore_close_all(void)
{
    mxn_dist *dist = mxn__process_node_now();
    if (dist != NULL) {
        (void)mxn_wait_all();
        (void)mxn__watch_close(dist);
        mxn__server_stop(server);
    }
}

void mxn_kvstore_abandon_all(const char *why)
{
    mxn_dist *dist = mxn__process_node_now();
    if (dist != NULL) {
        mxn_dist_fail(dist, why);
    }
}

int mxn_kvstore_snapshot_all(const char *path, double last_ms)
{
    if (!(last_ms >= 0)) {
        return mxp__fail(MXP_EVALUE, "last_ms is %g: milliseconds from 0 are valid", last_ms);
    }
    return mxn__watch_snapshot_all(path, last_ms);
}

// For whoever reads the profile: sums of two levels have other bits.
static void note_levels(const mxn_dist *dist)
{
    char text[40] = "1";
    if (mxn_dist_host_sums(dist) > 0) {
        snprintf(text, sizeof text, "2, of %u hosts", mxn_dist_host_sums(dist));
    }
    (void)mxp_info("kvstore.levels", text);
}

static int open_locked(void)
{
    mxn_dist_config config;
    mxn_dist *dist = NULL;
    int error = mxn_dist_config_read(&config);
    if (error == MXP_OK && server == NULL) {
        error = mxn__server_new(&server);
    }
    if (error != MXP_OK) {
        return error;
    }
    config.hooks.context = server;
    config.hooks.update = mxn__server_update;
    config.hooks.command = mxn__server_command;
    error = mxn__watch_open(&config, NULL, NULL, &dist);
    if (error == MXP_OK) {
        note_levels(dist);
        if (mxn__peers_crowd(mxn_dist_transport(dist))) {
            mxn_engine_share_cores();
        }
        mxn__server_attach(server, dist);
        opened_by = getpid();
        mxp_atomic_store_release(&node, dist);
        atexit(mxn_kvstore_close_all);
    }
    return error;
}

int mxn__process_node(mxn_dist **dist)
{
    int error = MXP_OK;
    if (look() == NULL) {
        mxp__lock(&lock);
        error = look() == NULL ? open_locked() : MXP_OK;
        mxp__unlock(&lock);
    }
    *dist = look();
    return error;
}

mxn_dist *mxn__process_node_now(void)
{
    return look() != NULL && opened_by == getpid() ? look() : NULL;
}

mxn_kv_server *mxn__process_server(void)
{
    return mxn__process_node_now() != NULL ? server : NULL;
}
