// SPDX-License-Identifier: Apache-2.0
// Fork. The forking thread holds every lock across it, so the child finds whole structures; it
// drops what its parent has recorded, leaves the parent's files alone and starts stopped. Objects
// stay valid, with nothing started.
#include <pthread.h>
#include <unistd.h>

#include "profiler/fork_memory.h"
#include "profiler/inside.h"
#include "profiler/pages.h"
#include "profiler/recorder/recorder.h"
#include "profiler/session/objects/handles.h"
#include "profiler/session/output/dump.h"
#include "profiler/session/output/snapshot.h"
#include "profiler/session/run_folder.h"
#include "profiler/session/session.h"

static void prepare(void)
{
    mxp__inside_enter();
    mxp__lock(&mxp__session_storage()->lock);
    mxp__slots_fork_prepare();
    mxp__recorder_fork_prepare();
    mxp__realloc_fork_prepare();
}

static void in_parent(void)
{
    mxp__realloc_fork_parent();
    mxp__recorder_fork_parent();
    mxp__slots_fork_parent();
    mxp__unlock(&mxp__session_storage()->lock);
    mxp__inside_leave();
}

// With store "file" a child records like its parent, into a file of its own, which is made at its
// first record; then, too, the thread that takes snapshots begins. Files of other kinds and the
// thread that writes them are there when it asks for them.
static void record_on(mxp_session *session)
{
    mxp__session_plan_locked(session);
    mxp__thread_at_first(mxp__snapshot_wanted() ? mxp__background_start : NULL);
}

// Files that a thread of the parent is writing are left as they are; otherwise the child's copies
// are closed. A pending dump is dropped: its chunks are the parent's.
static void forget_files(mxp_session *session)
{
    session->pending = (mxp_pending_dump){0};
    if (session->files_turn.taken) {
        session->chrome = NULL;
        session->native = NULL;
    }
    mxp__turn_init(&session->files_turn);
    mxp__files_close_in_turn(session);
    session->close_files = session->begin_file = false;
    session->snapshots = 0;
}

// In memory a child has nothing to do with its parent's profile, until it is told to run.
static void leave_out(mxp_session *session)
{
    session->left_out = true;
    session->fork_group = (int)getsid(0);
}

static void begin_session_anew(mxp_session *session)
{
    bool recording = session->running && !session->paused;
    session->running = false;
    session->paused = false;
    session->output = false;
    session->inherited = true;
    forget_files(session);
    mxp__background_init(session);
    mxp__aggregate_fork_child(session);
    if (recording && session->config.store == MXP_STORE_FILE && !mxp__run_folder_is_alone()) {
        record_on(session);
    } else if (recording) {
        leave_out(session);
    }
}

bool mxp__fork_left_out(const mxp_session *session)
{
    return session->left_out && getsid(0) != session->fork_group;
}

static void begin_anew(void)
{
    mxp_session *session = mxp__session_storage();
    mxp__thread_at_first(NULL);
    mxp__recorder_fork_child();
    mxp__slots_fork_child();
    if (mxp__session_exists()) {
        begin_session_anew(session);
    }
    mxp__unlock(&session->lock);
}

static void in_child(void)
{
    mxp__realloc_fork_child();
    mxp__fork_memory_begin();
    begin_anew();
    mxp__fork_memory_end();
    mxp__inside_leave();
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
