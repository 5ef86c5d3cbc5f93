// SPDX-License-Identifier: Apache-2.0
// The background thread of continuous_dump, recording files, rings and snapshots. It sleeps on a
// condition variable, so a change of the period takes effect at once and the end of the process
// does not wait for a period to pass. It sleeps without a deadline while nothing is due.
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/fail.h"
#include "base/os/os.h"
#include "base/os/quiet_thread.h"
#include "profiler/inside.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/recording_file.h"
#include "profiler/session/output/dump.h"
#include "profiler/session/output/record_file.h"
#include "profiler/session/output/snapshot.h"
#include "profiler/session/output/snapshot_mark.h"

static const uint64_t ns_per_s = 1000000000;
static const uint64_t period_min_ns = 1000000;
static const double period_max_s = 1e9;  // beyond it: never

// When the next dump is due, UINT64_MAX if none is.
static uint64_t dump_due_ns(const mxp_session *session)
{
    const mxp_config *config = &session->config;
    bool periodic =
        session->output && config->continuous_dump != 0 && config->full_policy != MXP_FULL_RING;
    if (!periodic || !(config->dump_period_s < period_max_s)) {
        return UINT64_MAX;
    }
    uint64_t period_ns = (uint64_t)(config->dump_period_s * (double)ns_per_s);
    return session->background.last_dump_ns +
           (period_ns < period_min_ns ? period_min_ns : period_ns);
}

// When triggers, a ring and the recording file are to be looked at next; UINT64_MAX: never.
// Triggers are polled 20 times a second, because neither a signal handler nor a recording thread
// may wake this one.
static uint64_t housekeeping_due_ns(const mxp_session *session)
{
    if (!session->running) {
        return UINT64_MAX;
    }
    if (mxp__snapshot_wanted()) {
        return session->background.last_housekeeping_ns + ns_per_s / 20;
    }
    bool ring = session->config.full_policy == MXP_FULL_RING;
    return ring || mxp__store_is_open() ? session->background.last_housekeeping_ns + ns_per_s
                                        : UINT64_MAX;
}

static void keep_house(mxp_session *session, uint64_t now_ns)
{
    mxp__snapshot_serve_locked(session);
    if (now_ns - session->background.last_reclaim_ns >= ns_per_s) {
        session->background.last_reclaim_ns = now_ns;
        if (session->config.full_policy == MXP_FULL_RING) {
            mxp__threads_reclaim();
            mxp__session_warn_of_ring();
        }
        mxp__record_file_look();
        mxp__record_file_sync();
    }
    session->background.last_housekeeping_ns = now_ns;
    mxp__unlock(&session->lock);  // extending the file may wait for the disk
    mxp__store_keep_ahead();
    mxp__lock(&session->lock);
}

static uint64_t due_ns(const mxp_session *session)
{
    uint64_t dump = dump_due_ns(session), look = housekeeping_due_ns(session);
    return dump < look ? dump : look;
}

static void wait_until(mxp_session *session, uint64_t until_ns)
{
    mxp_background *background = &session->background;
    if (until_ns == UINT64_MAX) {
        mxp__lock_wait(&session->lock, &background->wake);
        return;
    }
    struct timespec until = {
        .tv_sec = (time_t)(until_ns / ns_per_s),
        .tv_nsec = (long)(until_ns % ns_per_s),
    };
    mxp__lock_wait_until(&session->lock, &background->wake, &until);
}

static void *write_periodically(void *argument)
{
    MXP__INSIDE();
    mxp_session *session = argument;
    mxp_background *background = &session->background;
    mxp__lock(&session->lock);
    while (!background->quit) {
        mxp__snapshot_show_locked(session);
        uint64_t due = due_ns(session);
        if (mxp__os_monotonic_ns() < due) {
            wait_until(session, due);
            continue;
        }
        if (mxp__os_monotonic_ns() >= housekeeping_due_ns(session)) {
            keep_house(session, mxp__os_monotonic_ns());
        }
        if (mxp__os_monotonic_ns() < dump_due_ns(session)) {
            continue;
        }
        // A failed dump keeps its records. The next dump that the program calls tries again and
        // reports the failure. While another thread is dumping there is nothing to do here.
        if (!session->files_turn.taken) {
            background->failed = mxp__dump_background_locked(session) != MXP_OK;
        }
        background->last_dump_ns = mxp__os_monotonic_ns();
    }
    mxp__snapshot_mark(NULL, 0);
    mxp__unlock(&session->lock);
    return NULL;
}

void mxp__background_init(mxp_session *session)
{
    session->background = (mxp_background){0};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&session->background.wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

// Whether the process needs the thread. A forked child starts it at its first record at the
// earliest, because most children only execute another program. A child that inherited the
// configuration needs it for dumps and snapshots only.
static bool is_wanted(const mxp_session *session, const mxp_config *config)
{
    if (session->plans) {
        return false;
    }
    bool cares = mxp__snapshot_wanted() || config->full_policy == MXP_FULL_RING ||
                 config->store == MXP_STORE_FILE;
    return config->continuous_dump != 0 ||
           (cares && (!session->inherited || mxp__snapshot_wanted()));
}

int mxp__background_ensure_locked(mxp_session *session, const mxp_config *config)
{
    assert(mxp__lock_is_held(&session->lock));
    mxp_background *background = &session->background;
    if (background->started || background->quit || !is_wanted(session, config)) {
        return MXP_OK;
    }
    background->last_dump_ns = mxp__os_monotonic_ns();
    int error = mxp__os_start_thread(&background->thread, write_periodically, session);
    if (error != 0) {
        return mxp__fail(
            MXP_ENOMEM,
            "cannot start the thread that writes in the background: %s; free some threads or set "
            "continuous_dump=False",
            strerror(error));
    }
    background->started = true;
    return MXP_OK;
}

bool mxp__background_start(void)
{
    mxp_session *session = mxp__session_storage();
    if (!mxp__try_lock(&session->lock)) {
        return false;
    }
    mxp__background_ensure_locked(session, &session->config);
    mxp__unlock(&session->lock);
    return true;
}

void mxp__background_wake_locked(mxp_session *session)
{
    if (session->background.started) {
        pthread_cond_signal(&session->background.wake);
    }
}

void mxp__background_end(mxp_session *session)
{
    mxp__lock(&session->lock);
    bool runs = session->background.started && !session->background.quit;
    session->background.quit = true;
    mxp__background_wake_locked(session);
    mxp__unlock(&session->lock);
    if (runs) {
        pthread_join(session->background.thread, NULL);
    }
}
