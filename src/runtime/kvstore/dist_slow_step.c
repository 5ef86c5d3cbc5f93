// SPDX-License-Identifier: Apache-2.0
// See dist_slow_step.h. A process writes one such snapshot at a time.
#include "runtime/kvstore/dist_slow_step.h"

#include <mxprof/error.h>
#include <mxprof/profiler.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/atomic.h"
#include "base/os/quiet_thread.h"

// The liveness's thread sets all of it. Who takes has_thread back joins the thread: after a death
// the liveness goes on while the store is closed.
static struct {
    pthread_t thread;
    mxp_atomic_bool has_thread, is_writing;
    char path[1024];
    double last_ms;
} slow_step;

// By the profiler, under its lock.
static int relay(void *context, const char *path, double last_ms)
{
    return mxn__liveness_slow_step(context, path, last_ms) ? 0 : -1;
}

void mxn__slow_steps_begin(mxn_liveness *liveness)
{
    (void)mxp_session_relay_slow_steps(mxp_session_get(), relay, liveness);
}

void mxn__slow_steps_end(void)
{
    (void)mxp_session_relay_slow_steps(mxp_session_get(), NULL, NULL);
}

// Whoever comes first on a machine makes the folder. That it cannot be made is what the snapshot
// says.
static void make_folder(const char *path)
{
    char folder[sizeof slow_step.path];
    const char *slash = strrchr(path, '/');
    if (slash != NULL) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        (void)mkdir(folder, 0777);
    }
}

void mxn__snapshot_write(const char *path, double last_ms)
{
    if (mxp_session_snapshot(mxp_session_get(), path, last_ms) != MXP_OK) {
        fprintf(stderr, "mxnet: a snapshot could not be written: %s\n", mxp_last_error());
    }
}

static void *write_snapshot(void *unused)
{
    (void)unused;
    make_folder(slow_step.path);
    mxn__snapshot_write(slow_step.path, slow_step.last_ms);
    mxp_atomic_store_release(&slow_step.is_writing, false);  // pairs with keep
    return NULL;
}

void mxn__slow_steps_wait(void)
{
    if (mxp_atomic_exchange_acquire(&slow_step.has_thread, false)) {
        pthread_join(slow_step.thread, NULL);
    }
}

void mxn__slow_step_keep(const char *path, double last_ms)
{
    if (mxp_session_is_running(mxp_session_get(), NULL, 0) != 1) {
        return;
    }
    if (mxp_atomic_load_acquire(&slow_step.is_writing)) {
        fprintf(stderr, "mxnet: no snapshot '%s': the one before is still being written\n", path);
        return;
    }
    mxn__slow_steps_wait();
    snprintf(slow_step.path, sizeof slow_step.path, "%s", path);
    slow_step.last_ms = last_ms;
    mxp_atomic_store(&slow_step.is_writing, true);
    int error = mxp__os_start_thread(&slow_step.thread, write_snapshot, NULL);
    mxp_atomic_store_release(&slow_step.has_thread, error == 0);  // pairs with the exchange
    if (error != 0) {
        mxp_atomic_store(&slow_step.is_writing, false);
        fprintf(stderr, "mxnet: no snapshot '%s': no thread to write it: %s\n", path,
                strerror(error));
    }
}
