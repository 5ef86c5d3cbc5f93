// SPDX-License-Identifier: Apache-2.0
// Folder profiler/session: the session: its state, the process's exit and fork.
//
// The session as the files of this folder share it. There is one a process, in static storage; its
// lock serialises configuration, state and output. Recording threads never take it, objects (their
// own locks, handles.h) only for a start of the recorder. Functions ending in _locked need it held.
#ifndef MXP_SESSION_SESSION_H
#define MXP_SESSION_SESSION_H

#include <mxprof/profiler.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "profiler/export/chrome/chrome_file.h"
#include "profiler/export/table/aggregate.h"
#include "profiler/session/turn.h"
#include "profiler/trace/file/native.h"

// What is being written. The source outlives a dump only if one of two files took it and the other
// failed: the next dump then first completes the other.
typedef struct mxp_pending_dump {
    mxp_source *source;
    bool in_chrome, in_native;
    bool ring;  // all that a ring held
} mxp_pending_dump;

typedef struct mxp_background {
    pthread_t thread;
    pthread_cond_t wake;  // with the session's lock, on CLOCK_MONOTONIC
    bool started;  // and joined, once quit is set
    bool quit;  // the process is ending: no thread is started any more
    bool failed;  // since the last dump that worked
    uint64_t last_dump_ns;  // monotonic; the period counts from here
    uint64_t last_housekeeping_ns, last_reclaim_ns;
} mxp_background;

struct mxp_session {
    mxp_lock lock;
    mxp_config config;  // its strings are ours once owns_strings is set
    bool owns_strings;
    bool wants_trace;  // dumps write the Chrome trace
    bool trace_ended;  // until the next run, though recording continues (run_folder.h)
    bool running;  // between run and stop
    uint32_t runs;  // how often it was asked to run
    bool paused;  // only while running
    bool output;  // a dump is possible: set by run, cleared by a finishing dump
    bool exited;  // the process is past its last dump
    bool inherited;  // the configuration is that of the process that forked or started this one
    bool left_out;  // a forked child that does not record although its parent did
    int fork_group;  // the system's session of that child when it began
    bool plans;  // what is begun now is begun at the first record
    mxp_turn files_turn;  // to use these four
    bool limit_told;  // that the trace grows towards its limit
    mxp_chrome_file *chrome;  // null until the first dump of a file
    mxp_native_writer *native;
    mxp_pending_dump pending;
    bool close_files, begin_file;  // when the turn is given
    uint32_t snapshots;  // being written
    mxp_turn table_turn;  // to use what this points to
    mxp_aggregate *aggregate;  // null while aggregates are off
    mxp_background background;
};

// The session's place, whether or not anybody has asked for it yet: for fork and the process's end.
mxp_session *mxp__session_storage(void);
bool mxp__session_exists(void);
// MXP_OK, or MXP_EHANDLE if `session` is not what mxp_session_get returns.
int mxp__session_check(const mxp_session *session);
bool mxp__session_wants_file(const mxp_session *session);  // store "file"
bool mxp__session_has_file(void);  // there is one, or will be at the first record
int mxp__session_run_locked(mxp_session *session);
// The same for a process that may record nothing: the recording file is made by its first record.
int mxp__session_plan_locked(mxp_session *session);
void mxp__session_stop_locked(mxp_session *session);

// configure.c: replaces the strings of *config by copies, those that are names by what `name` makes
// of them, and frees such copies.
int mxp__config_own_strings(mxp_config *config, char *(*name)(const char *configured));
void mxp__config_free_strings(mxp_config *config);
// Hands the parts of the configuration to the recorder.
int mxp__configure_recorder_locked(mxp_session *session);

// dumps.c
int mxp__aggregate_switch_locked(mxp_session *session, bool on);
// Adds what is new to the table, with the lock given up.
int mxp__aggregate_drain_locked(mxp_session *session);
void mxp__aggregate_fork_child(mxp_session *session);  // an empty one, if there was one

// background.c
void mxp__background_init(mxp_session *session);
// Starts the thread if `config`, which is or will be in force, needs it.
int mxp__background_ensure_locked(mxp_session *session, const mxp_config *config);
// The same, at the first record of a child. False: the lock is taken, perhaps by the caller.
bool mxp__background_start(void);
void mxp__background_wake_locked(mxp_session *session);  // output or period changed
void mxp__background_end(mxp_session *session);  // for good; without the lock: ends and joins it

// atfork.c
void mxp__fork_install(void);
// A daemon of a process that recorded in memory: it does not record, and has not been told to. With
// the lock.
bool mxp__fork_left_out(const mxp_session *session);

// autostart.c: refers to it, so that a static link takes the constructor along.
void mxp__autostart_link(void);
// The last dump, when the process ends.
void mxp__session_finish(void);

// The classes that MXPROF_CLASSES or MXNET_PROFILER_MODE asks for; MXP_CLASS_USER included.
uint32_t mxp__autostart_classes(void);

// Says once if there are more threads than a ring has chunks for.
void mxp__session_warn_of_ring(void);

#endif
