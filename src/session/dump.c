// SPDX-License-Identifier: Apache-2.0
// Writing files. A cut of the recorder goes to the trace file and, if asked for, to the native
// file; it is consumed only when both have it, so a failing dump loses nothing and a later one
// repeats nothing.
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/os/file_signals.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "prof/recorder.h"
#include "prof/ring.h"
#include "prof/store.h"
#include "session/children.h"
#include "session/observe.h"
#include "session/record_file.h"
#include "session/session.h"

static const char not_run[] =
    "Check failed: profiler->IsEnableOutput(): Profiler hasn't been run. Config and start profiler "
    "first";

// Under a configuration inherited through fork the name is the parent's: NAME.PID.EXT is ours.
static void output_name(const mxp_session *session, const char *configured, mxp_strbuf *name)
{
    if (!session->inherited) {
        mxp__strbuf_puts(name, configured);
        return;
    }
    const char *file = strrchr(configured, '/');
    const char *dot = strrchr(file != NULL ? file : configured, '.');
    size_t stem = dot != NULL ? (size_t)(dot - configured) : strlen(configured);
    mxp__strbuf_append(name, configured, stem);
    mxp__strbuf_printf(name, ".%u%s", (unsigned)mxp__os_process_id(), configured + stem);
}

// native_filename, or filename with another ending.
void mxp__native_name(const mxp_session *session, mxp_strbuf *name)
{
    if (session->config.native_filename != NULL) {
        output_name(session, session->config.native_filename, name);
        return;
    }
    mxp_strbuf trace = {0};
    output_name(session, session->config.filename, &trace);
    const char *text = mxp__strbuf_text(&trace);
    const char *file = strrchr(text, '/');
    const char *dot = strrchr(file != NULL ? file : text, '.');
    mxp__strbuf_append(name, text, dot != NULL ? (size_t)(dot - text) : trace.length);
    mxp__strbuf_puts(name, ".mxp");
    name->failed = name->failed || trace.failed;
    mxp__strbuf_fini(&trace);
}

int mxp__record_file_begin_locked(mxp_session *session)
{
    mxp_strbuf name = {0};
    mxp__native_name(session, &name);
    int error = name.failed ? mxp__fail_memory("a file name")
                            : mxp__record_file_begin(mxp__strbuf_text(&name),
                                                     session->config.memory_limit_bytes);
    mxp__strbuf_fini(&name);
    return error;
}

static int append_chrome(mxp_session *session, mxp_source *source)
{
    int error = MXP_OK;
    if (session->chrome == NULL) {
        mxp_strbuf name = {0};
        output_name(session, session->config.filename, &name);
        error = name.failed ? mxp__fail_memory("a file name")
                            : mxp__chrome_file_create(mxp__strbuf_text(&name), &session->chrome);
        mxp__strbuf_fini(&name);
    }
    return error == MXP_OK ? mxp__chrome_file_append(session->chrome, source) : error;
}

static int append_native(mxp_session *session, mxp_source *source)
{
    int error = MXP_OK;
    if (session->native == NULL) {
        mxp_strbuf name = {0};
        mxp__native_name(session, &name);
        error = name.failed ? mxp__fail_memory("a file name")
                            : mxp__native_writer_open(mxp__strbuf_text(&name), &session->native);
        mxp__strbuf_fini(&name);
    }
    return error == MXP_OK ? mxp__native_append(session->native, source) : error;
}

// A cut that only one of them has is not consumed: its records are the next files' again.
void mxp__dump_close_files_locked(mxp_session *session)
{
    mxp__source_close(session->cut.source);
    session->cut = (mxp_cut){0};
    mxp__chrome_file_close(session->chrome);
    mxp__native_writer_close(session->native);
    session->chrome = NULL;
    session->native = NULL;
}

// Completes the cut at hand, or takes one.
static int write_cut(mxp_session *session)
{
    mxp_cut *cut = &session->cut;
    int error = MXP_OK;
    if (cut->source == NULL) {
        if (mxp__ring_is_on()) {
            mxp__dump_close_files_locked(session);  // it is all that is held, not what is new
        }
        *cut = (mxp_cut){0};
        error = mxp__live_open(MXP__CONSUMER_FILE, &cut->source);
    }
    if (error == MXP_OK && !cut->in_chrome) {
        error = append_chrome(session, cut->source);
        cut->in_chrome = error == MXP_OK;
    }
    bool native = session->config.native_filename != NULL && !mxp__store_is_open();
    if (error == MXP_OK && native && !cut->in_native) {
        error = append_native(session, cut->source);
        cut->in_native = error == MXP_OK;
    }
    if (error == MXP_OK) {
        mxp__live_consume(MXP__CONSUMER_FILE, cut->source);
    }
    if (error == MXP_OK || !cut->in_chrome) {
        mxp__source_close(cut->source);  // in no file yet: the next dump takes a larger cut
        cut->source = NULL;
    }
    return error;
}

int mxp__dump_write_locked(mxp_session *session)
{
    int error = mxp__aggregate_drain_locked(session);
    bool unfinished = session->cut.source != NULL;
    mxp_file_signals held;
    mxp__file_signals_hold(&held);
    if (error == MXP_OK) {
        error = write_cut(session);
    }
    if (error == MXP_OK && unfinished) {
        error = write_cut(session);
    }
    mxp__file_signals_release(&held);
    mxp__record_file_sync();
    return error;
}

bool mxp__dump_needed_locked(const mxp_session *session)
{
    return session->chrome == NULL || session->cut.source != NULL ||
           mxp__live_pending(MXP__CONSUMER_FILE) != 0;
}

int mxp__dump_locked(mxp_session *session, bool finished)
{
    if (!session->output) {
        return mxp__fail(MXP_ESTATE, "%s", not_run);
    }
    int error = mxp__dump_write_locked(session);
    session->writer.last_dump_ns = mxp__os_monotonic_ns();
    if (error != MXP_OK) {
        return session->writer.failed
                   ? mxp__fail(error, "%s (the background dump failed before)", mxp_last_error())
                   : error;
    }
    session->writer.failed = false;
    if (finished || session->config.continuous_dump == 0) {
        mxp__children_add_locked(session);
        mxp__dump_close_files_locked(session);
        error = mxp__record_file_end();
        mxp__store_settle();
        session->output = false;
        mxp__writer_wake_locked(session);
    }
    return error;
}

int mxp__dump_background_locked(mxp_session *session)
{
    if (session->cut.source == NULL && mxp__live_pending(MXP__CONSUMER_FILE) == 0) {
        return mxp__aggregate_drain_locked(session);
    }
    return mxp__dump_write_locked(session);
}

int mxp_session_dump(mxp_session *session, int finished)
{
    int error = mxp__session_check(session);
    if (error != MXP_OK) {
        return error;
    }
    mxp__lock(&session->lock);
    error = mxp__dump_locked(session, finished != 0);
    mxp__unlock(&session->lock);
    if (error == MXP_OK) {
        mxp__observers_call(session);
    }
    return error;
}
