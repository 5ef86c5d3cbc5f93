// SPDX-License-Identifier: Apache-2.0
// Writing files. A drain of the recorder goes to the trace file and, if configured, to the native
// file. It is consumed only when both files have it, so that a failed dump loses no record and a
// later dump repeats none.
//
// Only the thread that asked for a dump waits for formatting or a disk:
// 1. It waits for the turn of the files (files_turn) and takes it, for a dump, for a configuration
//    that ends a file, or at the end of the process. Files and pending dump belong to the turn.
// 2. The drain is taken under the session's lock.
// 3. It is formatted and written without the lock. Meanwhile other threads run, stop, pause,
//    record, fork, and take snapshots and tables. The drain stays readable (memory/readers.h).
// 4. The written records are consumed and counted under the lock again. The turn is given back.
//
// A thread that wants the files closed without waiting sets a note (close_files, begin_file). The
// thread that has the turn acts on the note when it gives the turn back. A child that is forked
// meanwhile forgets the files, because the thread that writes them does not exist there. The table
// (dumps.c) has its own turn of the same kind.
#include "profiler/session/output/dump.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/os/file_signals.h"
#include "base/os/os.h"
#include "base/os/same_file.h"
#include "base/strbuf.h"
#include "profiler/inside.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/recording_file.h"
#include "profiler/session/observe.h"
#include "profiler/session/output/children.h"
#include "profiler/session/output/crashed.h"
#include "profiler/session/output/output_name.h"
#include "profiler/session/output/record_file.h"
#include "profiler/session/run_folder.h"
#include "profiler/session/session.h"
#include "profiler/trace/idle.h"

static const char not_run[] =
    "Check failed: profiler->IsEnableOutput(): Profiler hasn't been run. Config and start profiler "
    "first";

bool mxp__session_writes_to(const mxp_session *session, const char *path)
{
    mxp_strbuf trace = {0}, native = {0};
    mxp__chrome_name(session, &trace);
    mxp__native_name(session, &native);
    bool wants_native = session->config.native_filename != NULL || mxp__session_has_file();
    bool writes = mxp__os_same_file(path, mxp__strbuf_text(&trace)) ||
                  (wants_native && mxp__os_same_file(path, mxp__strbuf_text(&native)));
    mxp__strbuf_fini(&trace);
    mxp__strbuf_fini(&native);
    return writes;
}

// ---- the turn ----------------------------------------------------------------------------------
void mxp__files_take_locked(mxp_session *session)
{
    assert(mxp__lock_is_held(&session->lock));
    mxp__turn_take_locked(&session->files_turn, &session->lock);
}

void mxp__files_end_in_turn(mxp_session *session)
{
    mxp__chrome_file_close(session->chrome);
    mxp__native_writer_close(session->native);
    session->chrome = NULL;
    session->native = NULL;
}

void mxp__files_close_in_turn(mxp_session *session)
{
    mxp__source_close(session->pending.source);
    session->pending = (mxp_pending_dump){0};
    mxp__files_end_in_turn(session);
}

void mxp__files_close_locked(mxp_session *session)
{
    assert(mxp__lock_is_held(&session->lock));
    if (session->files_turn.taken) {
        session->close_files = true;
    } else {
        mxp__files_close_in_turn(session);
    }
}

static int begin_file(mxp_session *session)
{
    mxp_strbuf name = {0};
    mxp__native_name(session, &name);
    int (*begin)(const char *, uint64_t) =
        session->plans ? mxp__record_file_plan : mxp__record_file_begin;
    const char *path = mxp__strbuf_text(&name);
    int error = name.failed ? mxp__fail_memory("a file name")
                            : mxp__crashed_keep(path, session->config.keep_crashed);
    if (error == MXP_OK) {
        error = begin(path, session->config.memory_limit_bytes);
    } else {
        mxp__fail(error, "%s; recording continues in memory", mxp_last_error());
    }
    mxp__strbuf_fini(&name);
    return error;
}

int mxp__record_file_begin_locked(mxp_session *session)
{
    assert(mxp__lock_is_held(&session->lock));
    session->begin_file = session->files_turn.taken;
    return session->begin_file ? MXP_OK : begin_file(session);
}

// Waits for snapshots of a ring, because its threads go back to pages that a snapshot may be
// reading.
int mxp__record_file_end_in_turn(mxp_session *session)
{
    while (session->snapshots != 0 && mxp__ring_is_on() && mxp__store_is_open()) {
        mxp__lock_wait(&session->lock, &session->files_turn.given);
    }
    return mxp__record_file_end(&session->lock);
}

void mxp__files_give_locked(mxp_session *session)
{
    assert(mxp__lock_is_held(&session->lock));
    if (session->close_files) {
        mxp__files_close_in_turn(session);
        session->close_files = false;
    }
    bool begin = session->begin_file && session->running && mxp__session_wants_file(session) &&
                 !mxp__session_has_file();
    session->begin_file = false;
    if (begin && begin_file(session) != MXP_OK) {
        fprintf(stderr, "mxprof: %s\n", mxp_last_error());
    }
    mxp__turn_give_locked(&session->files_turn);
}

// ---- writing -----------------------------------------------------------------------------------
// The settings of a write, copied because others may change the configuration meanwhile.
typedef struct output {
    mxp_strbuf chrome, native;  // names
    bool wants_chrome, wants_native;
    uint64_t keep_crashed, limit_bytes;  // the latter of the Chrome trace, 0: none
    bool is_idle;  // the drain has nothing worth a file (idle.h)
    bool is_written;  // a file has the drain, or should have it
} output;

static int output_init(const mxp_session *session, output *out)
{
    *out = (output){
        .wants_chrome = session->wants_trace && !session->trace_ended,
        .wants_native = session->config.native_filename != NULL && !mxp__session_has_file(),
        .keep_crashed = session->config.keep_crashed,
        .limit_bytes = session->config.trace_limit_bytes,
    };
    mxp__chrome_name(session, &out->chrome);
    mxp__native_name(session, &out->native);
    return out->chrome.failed || out->native.failed ? mxp__fail_memory("a file name") : MXP_OK;
}

static void output_fini(output *out)
{
    mxp__strbuf_fini(&out->chrome);
    mxp__strbuf_fini(&out->native);
}

// Warns once when the trace has half of its limit, because a program may run for hours.
static void warn_of_limit(mxp_session *session, uint64_t limit_bytes)
{
    const mxp_chrome_file *file = session->chrome;
    uint64_t left_out = mxp__chrome_file_left_out(file);
    if (session->limit_told || limit_bytes == 0 ||
        (left_out == 0 && mxp__chrome_file_bytes(file) < limit_bytes / 2)) {
        return;
    }
    session->limit_told = true;
    fprintf(stderr,
            "mxprof: the Chrome trace has %" PRIu64 " MB, %" PRIu64 " events are left out of it; "
            "trace_limit_bytes is %" PRIu64 ". Record less (skip=, active=), or write "
            "native_filename=, or keep a ring (full_policy=ring)\n",
            mxp__chrome_file_bytes(file) / 1000000, left_out, limit_bytes);
}

// An idle drain (idle.h) begins no file where a file with records may be. The trace of a recording
// file is begun even so, because children may have records for it.
static bool keeps_old(const output *out, mxp_strbuf *name)
{
    struct stat status;
    return out->is_idle && stat(mxp__strbuf_text(name), &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_size > 0;
}

static int append_chrome(mxp_session *session, output *out)
{
    bool started = session->chrome != NULL && mxp__chrome_file_started(session->chrome);
    if (!started && keeps_old(out, &out->chrome)) {
        return MXP_OK;
    }
    out->is_written = true;

    int error = MXP_OK;
    if (session->chrome == NULL) {
        error = mxp__chrome_file_create(mxp__strbuf_text(&out->chrome), &session->chrome);
        if (error == MXP_OK && out->limit_bytes > 0) {
            mxp__chrome_file_limit(session->chrome, out->limit_bytes);
        }
    }
    if (error == MXP_OK) {
        error = mxp__chrome_file_append(session->chrome, session->pending.source);
    }
    if (error == MXP_OK) {
        warn_of_limit(session, out->limit_bytes);
    }
    return error;
}

static int append_native(mxp_session *session, output *out)
{
    if (session->native == NULL && keeps_old(out, &out->native)) {
        return MXP_OK;
    }
    out->is_written = true;
    const char *path = mxp__strbuf_text(&out->native);
    int error = session->native == NULL ? mxp__crashed_keep(path, out->keep_crashed) : MXP_OK;
    if (session->native == NULL && error == MXP_OK) {
        error = mxp__native_writer_open(path, &session->native);
    }
    return error == MXP_OK ? mxp__native_append(session->native, session->pending.source) : error;
}

// The slow part: formats and writes. Without the lock, in turn.
static int write_files(mxp_session *session, output *out)
{
    mxp_pending_dump *pending = &session->pending;
    int error = MXP_OK;
    out->is_idle = !mxp__session_has_file() && mxp__source_is_idle(pending->source);
    out->is_written = pending->in_chrome || (!out->wants_chrome && !out->wants_native);
    if (out->wants_chrome && !pending->in_chrome) {
        error = append_chrome(session, out);
        pending->in_chrome = error == MXP_OK;
    }
    if (error == MXP_OK && out->wants_native && !pending->in_native) {
        error = append_native(session, out);
        pending->in_native = error == MXP_OK;
    }
    return error;
}

static int write_given_up(mxp_session *session, output *out)
{
    mxp_file_signals held;
    mxp__lock_give_up(&session->lock);
    mxp__file_signals_hold(&held);
    int error = write_files(session, out);
    if (error == MXP_OK && out->is_written) {
        mxp__live_consume(MXP__CONSUMER_FILE, session->pending.source);
    }
    // A drain that is in no file is dropped: its records are part of the next, larger drain. The
    // drain of a ring is always dropped, because keeping it would keep the ring pinned.
    if (error == MXP_OK || !session->pending.in_chrome || session->pending.ring) {
        mxp__source_close(session->pending.source);
        session->pending.source = NULL;
    }
    mxp__file_signals_release(&held);
    mxp__lock_take_back(&session->lock);
    return error;
}

// Writes the pending dump, or a new drain if there is none.
static int write_drain(mxp_session *session)
{
    mxp_pending_dump *pending = &session->pending;
    output out;
    int error = output_init(session, &out);
    if (error == MXP_OK && pending->source == NULL) {
        if (mxp__ring_is_on()) {
            mxp__files_close_in_turn(session);  // a ring's drain is all that it holds
        }
        *pending = (mxp_pending_dump){.ring = mxp__ring_is_on()};
        error = mxp__live_open(MXP__CONSUMER_FILE, &pending->source);
    }
    if (error == MXP_OK) {
        error = write_given_up(session, &out);
    }
    output_fini(&out);
    return error;
}

int mxp__dump_write_in_turn(mxp_session *session)
{
    mxp__lock_give_up(&session->lock);
    mxp__live_prepare();
    mxp__lock_take_back(&session->lock);
    int error = mxp__aggregate_drain_locked(session);
    bool unfinished = session->pending.source != NULL;
    if (error == MXP_OK) {
        error = write_drain(session);
    }
    if (error == MXP_OK && unfinished) {
        error = write_drain(session);
    }
    mxp__record_file_sync();
    return error;
}

// ---- dumps -------------------------------------------------------------------------------------
static bool is_needed(const mxp_session *session)
{
    if (session->trace_ended) {
        return false;
    }
    bool begun = session->wants_trace ? session->chrome != NULL : session->native != NULL;
    return !begun || session->pending.source != NULL || mxp__live_pending(MXP__CONSUMER_FILE) != 0;
}

// A run that began after the drain gets a dump of its own.
static int finish_in_turn(mxp_session *session, uint32_t runs)
{
    mxp__children_add_in_turn(session);
    mxp__files_close_in_turn(session);
    session->trace_ended = mxp__run_folder_is_set() && session->runs == runs;
    if (mxp__run_folder_is_set()) {
        return MXP_OK;  // the recording file ends with the process
    }
    int error = mxp__record_file_end_in_turn(session);
    mxp__ring_restart();
    session->output = session->runs != runs;
    mxp__background_wake_locked(session);
    return error;
}

static int dump_in_turn(mxp_session *session, bool finished)
{
    if (!session->output || session->trace_ended) {
        return mxp__fail(MXP_ESTATE, "%s", not_run);
    }
    uint32_t runs = session->runs;
    int error = mxp__dump_write_in_turn(session);
    session->background.last_dump_ns = mxp__os_monotonic_ns();
    mxp__session_warn_of_ring();
    if (error != MXP_OK) {
        return session->background.failed
                   ? mxp__fail(error, "%s (the background dump failed before)", mxp_last_error())
                   : error;
    }
    session->background.failed = false;
    return finished || session->config.continuous_dump == 0 ? finish_in_turn(session, runs)
                                                            : MXP_OK;
}

static int dump_locked(mxp_session *session, bool finished)
{
    assert(mxp__lock_is_held(&session->lock));
    mxp__files_take_locked(session);
    int error = dump_in_turn(session, finished);
    mxp__files_give_locked(session);
    return error;
}

int mxp__dump_background_locked(mxp_session *session)
{
    assert(mxp__lock_is_held(&session->lock));
    mxp__files_take_locked(session);
    bool news = session->pending.source != NULL || mxp__live_pending(MXP__CONSUMER_FILE) != 0;
    int error = news ? mxp__dump_write_in_turn(session) : mxp__aggregate_drain_locked(session);
    mxp__files_give_locked(session);
    return error;
}

// A file that waited for a first record has no place where it could tell losses.
static int fail_unbegun(void)
{
    const uint64_t lost = mxp__recorder_unregistered();
    return lost == 0 ? MXP_OK
                     : mxp__fail(MXP_ENOMEM,
                                 "%" PRIu64
                                 " records are lost: there was no memory for the first one of a "
                                 "thread",
                                 lost);
}

int mxp__dump_last_locked(mxp_session *session)
{
    assert(mxp__lock_is_held(&session->lock));
    int error = MXP_OK;
    mxp__files_take_locked(session);
    const bool is_unbegun = mxp__store_is_due() && !mxp__store_is_open();
    if (!session->exited && session->output) {
        // A forked child only completes the file into which it has recorded.
        bool only_file = session->inherited && mxp__session_has_file();
        mxp__session_stop_locked(session);
        if (!only_file && is_needed(session)) {
            error = dump_in_turn(session, true);
        } else {
            mxp__children_add_in_turn(session);
        }
    }
    mxp__files_close_in_turn(session);
    int store_error = mxp__record_file_end_in_turn(session);
    if (store_error == MXP_OK && is_unbegun) {
        store_error = fail_unbegun();
    }
    session->exited = true;
    mxp__files_give_locked(session);
    return error == MXP_OK ? store_error : error;
}

static int dump(mxp_session *session, bool finished)
{
    MXP__INSIDE();
    mxp__lock(&session->lock);
    int error = dump_locked(session, finished);
    mxp__unlock(&session->lock);
    return error;
}

int mxp_session_dump(mxp_session *session, int finished)
{
    int error = mxp__session_check(session);
    if (error == MXP_OK) {
        error = dump(session, finished != 0);
    }
    if (error == MXP_OK) {
        mxp__observers_call(session);
    }
    return error;
}
