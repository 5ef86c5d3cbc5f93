// SPDX-License-Identifier: Apache-2.0
// The one session: its creation and its state machine (run, stop, pause, resume, end of process).
// Invariant: the recorder is on exactly while running and not paused; every change of that is made
// here, with the session's lock held.
#include "profiler/session/session.h"

#include <assert.h>
#include <stdio.h>

#include "base/atomic.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "profiler/emit/emit.h"
#include "profiler/inside.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/recording_file.h"
#include "profiler/session/config/config.h"
#include "profiler/session/objects/durations.h"
#include "profiler/session/output/dump.h"
#include "profiler/session/output/output_name.h"
#include "profiler/session/root.h"
#include "profiler/session/run_folder.h"

static mxp_session the_session = {.lock = MXP__LOCK_INIT};
static pthread_once_t create_once = PTHREAD_ONCE_INIT;
static mxp_atomic_bool created;

static void create(void)
{
    mxp__fork_install();
    mxp__autostart_link();
    mxp__output_names_init();
    mxp__root_init();
    the_session.inherited = mxp__root_is_other();
    mxp_config_init(&the_session.config);
    the_session.config.classes = mxp__autostart_classes();
    mxp__run_folder_init(&the_session.config);
    the_session.wants_trace = mxp__config_take_trace(&the_session.config);
    if (mxp__clock_warning() != NULL) {
        fprintf(stderr, "mxprof: %s\n", mxp__clock_warning());
    }
    mxp__turn_init(&the_session.files_turn);
    mxp__turn_init(&the_session.table_turn);
    mxp__background_init(&the_session);
    mxp_atomic_store_release(&created, true);  // pairs with mxp__session_exists
}

mxp_session *mxp_session_get(void)
{
    pthread_once(&create_once, create);
    return &the_session;
}

mxp_session *mxp__session_storage(void)
{
    return &the_session;
}

bool mxp__session_exists(void)
{
    return mxp_atomic_load_acquire(&created);
}

int mxp__session_check(const mxp_session *session)
{
    if (session != &the_session) {
        return mxp__fail(MXP_EHANDLE, "not a session: pass what mxp_session_get() returns");
    }
    return MXP_OK;
}

bool mxp__session_wants_file(const mxp_session *session)
{
    return session->config.store == MXP_STORE_FILE && session->config.statistics_only == 0;
}

bool mxp__session_has_file(void)
{
    return mxp__store_is_due() || mxp__store_is_open();
}

static void start_recorder(mxp_session *session, bool resumed)
{
    uint64_t on_ticks = mxp__recorder_start(session->config.classes | MXP_CLASS_USER, resumed);
    mxp__durations_resumed(on_ticks);
}

// Copies the names of a session that was never configured. Creating the session must not allocate,
// because a program may set the allocator only before the first allocation.
static int own_names_locked(mxp_session *session)
{
    if (session->owns_strings) {
        return MXP_OK;
    }
    int error = mxp__config_own_strings(&session->config, mxp__output_absolute);
    session->owns_strings = error == MXP_OK;
    return error;
}

int mxp__session_run_locked(mxp_session *session)
{
    assert(mxp__lock_is_held(&session->lock));
    int error = own_names_locked(session);
    if (error == MXP_OK && !session->running) {
        error = mxp__configure_recorder_locked(session);
    }
    if (error != MXP_OK) {
        return error;
    }
    if (!session->output && !session->running) {
        mxp__recorder_begin_profile();
    }
    int store_error = MXP_OK;
    if (mxp__session_wants_file(session) && !mxp__session_has_file()) {
        store_error = mxp__record_file_begin_locked(session);
    }
    error = mxp__background_ensure_locked(session, &session->config);
    if (error != MXP_OK) {
        return error;
    }
    if (!session->output) {
        session->background.last_dump_ns = mxp__os_monotonic_ns();
        session->output = true;
    }
    if (!session->running || session->paused) {
        start_recorder(session, session->running);
    }
    session->running = true;
    session->paused = false;
    session->runs++;
    session->left_out = false;
    session->trace_ended = false;
    mxp__background_wake_locked(session);
    return store_error;
}

int mxp__session_plan_locked(mxp_session *session)
{
    int continuous = session->config.continuous_dump;
    session->config.continuous_dump = 0;
    session->plans = true;
    int error = mxp__session_run_locked(session);
    session->plans = false;
    session->config.continuous_dump = continuous;
    return error;
}

void mxp__session_stop_locked(mxp_session *session)
{
    assert(mxp__lock_is_held(&session->lock));
    if (!session->running) {
        return;
    }
    mxp__recorder_stop(1);
    mxp__durations_close(mxp__recorder_off_ticks());
    session->running = false;
    session->paused = false;
}

int mxp_session_run(mxp_session *session)
{
    MXP__INSIDE();
    int error = mxp__session_check(session);
    if (error != MXP_OK) {
        return error;
    }
    mxp__lock(&session->lock);
    int emit = (int)session->config.emit;
    mxp__unlock(&session->lock);
    error = mxp__send_decide(emit);  // without the lock: a tool may call us
    if (error != MXP_OK) {
        return error;
    }
    mxp__lock(&session->lock);
    error = mxp__session_run_locked(session);
    mxp__unlock(&session->lock);
    if (error == MXP_OK) {
        mxp__send_recording(true);
    }
    return error;
}

int mxp_session_stop(mxp_session *session)
{
    MXP__INSIDE();
    int error = mxp__session_check(session);
    if (error != MXP_OK) {
        return error;
    }
    mxp__lock(&session->lock);
    const bool stops = session->running && !mxp__run_folder_is_set();
    if (stops) {
        mxp__session_stop_locked(session);
    }
    mxp__unlock(&session->lock);
    if (stops) {
        mxp__send_recording(false);
    }
    return MXP_OK;
}

int mxp_session_pause(mxp_session *session, int paused)
{
    MXP__INSIDE();
    int error = mxp__session_check(session);
    if (error != MXP_OK) {
        return error;
    }
    mxp__lock(&session->lock);
    const bool changes = session->running && session->paused != (paused != 0);
    if (changes) {
        if (paused != 0) {
            mxp__recorder_stop(0);
        } else {
            start_recorder(session, true);
        }
        session->paused = paused != 0;
    }
    mxp__unlock(&session->lock);
    if (changes) {
        mxp__send_recording(paused == 0);
    }
    return MXP_OK;
}

void mxp__session_finish(void)
{
    mxp_session *session = &the_session;
    if (!mxp__session_exists()) {
        return;
    }
    if (mxp__is_inside()) {
        fprintf(stderr, "mxprof: exit() in the middle of a call: the files are as after a crash\n");
        return;
    }
    MXP__INSIDE();
    mxp__background_end(session);
    mxp__lock(&session->lock);
    int error = mxp__dump_last_locked(session);
    const bool is_left_out = mxp__fork_left_out(session);
    mxp__unlock(&session->lock);
    if (error != MXP_OK) {
        fprintf(stderr, "mxprof: the profile could not be written at exit: %s\n", mxp_last_error());
    }
    if (is_left_out) {
        fprintf(stderr, "mxprof: this daemon recorded nothing: its parent did, in memory; "
                        "MXPROF_STORE=file records both\n");
    }
}
