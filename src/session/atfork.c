// SPDX-License-Identifier: Apache-2.0
// Fork. The forking thread holds every lock across it, so the child finds whole structures; it
// drops what its parent has recorded, leaves the parent's files alone and starts stopped. Objects
// stay valid, with nothing started.
#include <pthread.h>

#include "prof/recorder.h"
#include "session/handles.h"
#include "session/session.h"

static void prepare(void)
{
    mxp__lock(&mxp__session_storage()->lock);
    mxp__slots_fork_prepare();
    mxp__recorder_fork_prepare();
}

static void in_parent(void)
{
    mxp__recorder_fork_parent();
    mxp__slots_fork_parent();
    mxp__unlock(&mxp__session_storage()->lock);
}

static void in_child(void)
{
    mxp_session *session = mxp__session_storage();
    mxp__recorder_fork_child();
    mxp__slots_fork_child();
    mxp__unlock(&session->lock);
    if (!mxp__session_exists()) {
        return;
    }
    session->running = false;
    session->paused = false;
    session->output = false;
    session->inherited = true;
    session->cut = (mxp_cut){0};
    mxp__dump_close_files_locked(session);
    mxp__writer_init(session);
    bool statistics = session->aggregate != NULL;
    mxp__aggregate_switch_locked(session, false);
    mxp__aggregate_switch_locked(session, statistics);
}

static void install(void)
{
    pthread_atfork(prepare, in_parent, in_child);
}

void mxp__fork_install(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}
