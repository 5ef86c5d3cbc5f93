// SPDX-License-Identifier: Apache-2.0
// See snapshot.h. A trigger only sets a request; the background thread writes the snapshot. Two
// triggered snapshots are at least snapshot_ms apart, so that they do not overlap, and a process
// takes at most 100 of them. The signal is exempt from the distance, because a person asked. A slow
// step of a job of several processes is a matter of all of them: a relay asks them.
#include "profiler/session/output/snapshot.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/os/file_signals.h"
#include "base/os/new_file.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "profiler/inside.h"
#include "profiler/recorder/record/trigger.h"
#include "profiler/recorder/recorder.h"
#include "profiler/session/config/config.h"
#include "profiler/session/output/dump.h"
#include "profiler/session/output/output_name.h"
#include "profiler/session/output/snapshot_mark.h"
#include "profiler/trace/file/mapped_file.h"
#include "profiler/trace/file/native.h"
#include "profiler/trace/window.h"

enum { TRIGGERED_MAX = 100 };

static struct {
    MXP_ATOMIC(unsigned) number;  // of the last snapshot that got a numbered name
    unsigned triggered;  // how many triggers have taken
    uint64_t last_ns;  // monotonic: of the last one that a trigger took
    int signal;  // which one is ours; 0: none
    struct sigaction before;  // its action before ours
    mxp_slow_step_relay relay;  // null: there are no other processes
    void *relay_context;
} snapshots;

// ---- writing -----------------------------------------------------------------------------------
static bool is_json(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

static int write_chrome(const char *path, mxp_source *source)
{
    mxp_chrome_file *file = NULL;
    int error = mxp__chrome_file_create(path, &file);
    if (error == MXP_OK) {
        error = mxp__chrome_file_append(file, source);
    }
    mxp__chrome_file_close(file);
    return error;
}

static int64_t begin_of(const mxp_source *source, double last_ms)
{
    if (last_ms == 0) {
        return INT64_MIN;
    }
    int64_t now_ns = mxp__timebase_ns(source->timebase, mxp_ticks());
    return last_ms < 9e12 ? now_ns - (int64_t)(last_ms * 1e6) : INT64_MIN;
}

static int write_file(const char *path, bool json, mxp_source *source)
{
    return json ? write_chrome(path, source) : mxp__native_write(path, source);
}

// Writes to a name that the caller has given; an existing file is replaced.
static int write_to(const char *path, mxp_source *source)
{
    if (mxp__mapped_file_is_taken(path)) {
        return mxp__fail(
            MXP_EIO, "cannot write a snapshot to '%s': a recording is being written there", path);
    }
    return write_file(path, is_json(path), source);
}

// Where a snapshot goes: to `path`, or if that is null to STEM.N + ending. The stem has the process
// id.
typedef struct destination {
    const char *path, *stem, *ending;
} destination;

static void next_name(const destination *to, mxp_strbuf *name)
{
    unsigned number = mxp_atomic_add(&snapshots.number, 1) + 1;
    mxp__strbuf_clear(name);
    mxp__strbuf_printf(name, "%s.%u%s", to->stem, number, to->ending);
}

// Publishes the file under the next free number. A process with the same id in another container
// may use the same folder, so a number is free only if no file has it.
static mxp_published publish(mxp_new_file *made, const destination *to)
{
    enum { TRIES = 100000 };
    mxp_strbuf name = {0};
    mxp_published published = MXP__PUBLISHED_TAKEN;
    errno = EEXIST;
    for (int i = 0; i < TRIES && published == MXP__PUBLISHED_TAKEN; i++) {
        next_name(to, &name);
        published = name.failed
                        ? MXP__PUBLISHED_FAILED
                        : mxp__new_file_publish(made, mxp__strbuf_text(&name), MXP__PUBLISH_KEEP);
    }
    mxp__strbuf_fini(&name);
    return published;
}

// Makes `made` describe the file that the writer has put in its place. False: there is none.
static bool is_written(mxp_new_file *made)
{
    struct stat status;
    bool written = stat(made->temporary, &status) == 0;
    if (written) {
        made->descriptor.device = status.st_dev;
        made->descriptor.inode = status.st_ino;
    }
    return written;
}

static int write_numbered(const destination *to, mxp_source *source)
{
    mxp_new_file made;
    if (!mxp__new_file_open(&made, to->stem, 0666)) {
        return mxp__fail(MXP_EIO, "cannot write a snapshot beside '%s': %s", to->stem,
                         strerror(errno));
    }
    mxp__descriptor_close(&made.descriptor);
    int error = write_file(made.temporary, strcmp(to->ending, ".json") == 0, source);
    if (error == MXP_OK && (!is_written(&made) || publish(&made, to) != MXP__PUBLISHED)) {
        error = mxp__fail(MXP_EIO, "cannot write a snapshot beside '%s': %s", to->stem,
                          strerror(errno));
    }
    mxp__new_file_discard(&made);
    return error;
}

// Writes the source, or the last `last_ms` of it. Runs without the session's lock.
static int write_source(const destination *to, mxp_source **source, double last_ms)
{
    int error = MXP_OK;
    if (last_ms > 0) {
        error = mxp__window_open(*source, begin_of(*source, last_ms), source);
    }
    if (error != MXP_OK) {
        return error;
    }
    return to->path != NULL ? write_to(to->path, *source) : write_numbered(to, *source);
}

static int write_snapshot(mxp_session *session, const destination *to, double last_ms)
{
    mxp_source *source = NULL;
    int error = mxp__live_open(MXP__CONSUMER_FILE, &source);
    if (error != MXP_OK) {
        return error;
    }
    session->snapshots++;
    mxp__lock_give_up(&session->lock);
    mxp_file_signals held;
    mxp__file_signals_hold(&held);
    error = write_source(to, &source, last_ms);
    mxp__file_signals_release(&held);
    mxp__source_close(source);
    mxp__lock_take_back(&session->lock);
    session->snapshots--;
    pthread_cond_broadcast(&session->files_turn.given);
    return error;
}

static int snapshot_locked(mxp_session *session, const char *path, double last_ms)
{
    assert(mxp__lock_is_held(&session->lock));
    if (path != NULL && mxp__session_writes_to(session, path)) {
        return mxp__fail(MXP_EVALUE,
                         "cannot write a snapshot to '%s': the trace itself is written there; give "
                         "it another name",
                         path);
    }
    mxp_strbuf stem = {0};
    char *ending = mxp__snapshot_name(session, &stem);
    const destination to = {path, mxp__strbuf_text(&stem), ending};
    int error = stem.failed || ending == NULL ? mxp__fail_memory("a file name")
                                              : write_snapshot(session, &to, last_ms);
    mxp__strfree(ending);
    mxp__strbuf_fini(&stem);
    return error;
}

int mxp_session_snapshot(mxp_session *session, const char *path, double last_ms)
{
    MXP__INSIDE();
    int error = mxp__session_check(session);
    if (error == MXP_OK && !(last_ms >= 0)) {
        error =
            mxp__fail(MXP_EVALUE, "a snapshot of the last %g ms: give 0 for all, or more", last_ms);
    }
    if (error != MXP_OK) {
        return error;
    }
    mxp__live_prepare();
    mxp__lock(&session->lock);
    error = snapshot_locked(session, path, last_ms);
    mxp__unlock(&session->lock);
    return error;
}

// ---- triggers ----------------------------------------------------------------------------------
static void on_signal(int number)
{
    (void)number;
    mxp__trigger_ask(MXP__TRIGGER_SIGNAL);
}

// SIGUSR2 where no number is given: what that one means elsewhere is for a number to say.
static int signal_of(const mxp_config *config)
{
    return config->snapshot_signal == 1 ? SIGUSR2 : config->snapshot_signal;
}

static int take_signal(int number)
{
    struct sigaction *before = &snapshots.before;
    // On the alternate stack where a thread has one: its own may be small, as those of Go are.
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigemptyset(&ours.sa_mask);
    if (sigaction(number, NULL, before) != 0 || before->sa_handler != SIG_DFL) {
        return mxp__fail(
            MXP_ESTATE, "snapshot_signal: the program handles signal %d itself; RTMIN+1 is another",
            number);
    }
    if (sigaction(number, &ours, NULL) != 0) {
        return mxp__fail(MXP_ESTATE, "snapshot_signal: %s", strerror(errno));
    }
    snapshots.signal = number;
    return MXP_OK;
}

static bool signal_is_ours(void)
{
    struct sigaction now;
    return sigaction(snapshots.signal, NULL, &now) == 0 && now.sa_handler == on_signal;
}

// Gives the signal back. If the program has installed a handler meanwhile, that one stays.
static void leave_signal(void)
{
    if (signal_is_ours()) {
        sigaction(snapshots.signal, &snapshots.before, NULL);
    }
    snapshots.signal = 0;
    mxp__snapshot_mark(NULL, 0);
}

static mxp_name counter_name(const mxp_counter_trigger *trigger)
{
    if (trigger->domain == NULL) {
        return MXP_NAME_NONE;
    }
    uint32_t domain =
        mxp__name_intern(0, trigger->domain, trigger->domain_length, MXP_STYLE_NONE, MXP_UNIT_NONE);
    return mxp__name_intern(domain, trigger->name, trigger->name_length, MXP_STYLE_COUNTER,
                            MXP_UNIT_NONE);
}

int mxp__snapshot_configure_locked(mxp_session *session)
{
    assert(mxp__lock_is_held(&session->lock));
    const mxp_config *config = &session->config;
    mxp_counter_trigger counter = {0};
    int error = mxp__config_counter_trigger(config->snapshot_counter, &counter);
    mxp__triggers_set(&(mxp_triggers){.step_factor = config->snapshot_step_factor,
                                      .counter = counter_name(&counter),
                                      .counter_above = counter.above});
    const int wanted = signal_of(config);
    if (wanted != snapshots.signal && snapshots.signal != 0) {
        leave_signal();
    }
    if (error == MXP_OK && wanted != snapshots.signal) {
        error = take_signal(wanted);
    }
    return error;
}

bool mxp__snapshot_wanted(void)
{
    return mxp__triggers_armed() || snapshots.signal != 0;
}

void mxp__snapshot_show_locked(const mxp_session *session)
{
    assert(mxp__lock_is_held(&session->lock));
    bool is_ours = session->running && snapshots.signal != 0 && signal_is_ours();
    char *name = is_ours ? mxp__output_expanded(session->config.snapshot_filename) : NULL;
    mxp__snapshot_mark(name, snapshots.signal);
    mxp__strfree(name);
}

static bool is_too_soon(const mxp_session *session, uint64_t now_ns)
{
    return snapshots.last_ns != 0 &&
           (double)(now_ns - snapshots.last_ns) < session->config.snapshot_ms * 1e6;
}

// A file in a folder that is numbered as files are. Processes that make it are others too, so a
// name is enough: it is free here, and by its process id nobody else takes it meanwhile.
static void put_shared_name(const mxp_session *session, mxp_strbuf *path)
{
    mxp_strbuf stem = {0};
    char *ending = mxp__snapshot_name(session, &stem);
    const destination folder = {NULL, mxp__strbuf_text(&stem), ""};
    do {
        next_name(&folder, path);
    } while (!path->failed && access(mxp__strbuf_text(path), F_OK) == 0);
    mxp__strbuf_printf(path, "/slow_step%s", ending == NULL ? "" : ending);
    path->failed = path->failed || stem.failed || ending == NULL;
    mxp__strfree(ending);
    mxp__strbuf_fini(&stem);
}

// Whether all processes of the job have been asked.
static bool ask_all_locked(const mxp_session *session)
{
    mxp_strbuf path = {0};
    bool asked = false;
    if (snapshots.relay != NULL) {
        put_shared_name(session, &path);
        asked = !path.failed && snapshots.relay(snapshots.relay_context, mxp__strbuf_text(&path),
                                                session->config.snapshot_ms) == 0;
        mxp__strbuf_fini(&path);
    }
    return asked;
}

int mxp_session_relay_slow_steps(mxp_session *session, mxp_slow_step_relay relay, void *context)
{
    int error = mxp__session_check(session);
    if (error == MXP_OK) {
        mxp__lock(&session->lock);
        snapshots.relay = relay;
        snapshots.relay_context = context;
        mxp__unlock(&session->lock);
    }
    return error;
}

void mxp__snapshot_serve_locked(mxp_session *session)
{
    assert(mxp__lock_is_held(&session->lock));
    int reason = mxp__trigger_take();
    uint64_t now_ns = mxp__os_monotonic_ns();
    bool asked_by_hand = reason == MXP__TRIGGER_SIGNAL;
    if (reason == MXP__TRIGGER_NONE || snapshots.triggered >= TRIGGERED_MAX ||
        (!asked_by_hand && is_too_soon(session, now_ns))) {
        return;
    }
    snapshots.last_ns = now_ns;
    if (++snapshots.triggered == TRIGGERED_MAX) {
        fprintf(stderr, "mxprof: the last of %d snapshots by triggers and signals is taken\n",
                TRIGGERED_MAX);
    }
    if (reason == MXP__TRIGGER_STEP && ask_all_locked(session)) {
        return;
    }
    if (snapshot_locked(session, NULL, session->config.snapshot_ms) != MXP_OK) {
        fprintf(stderr, "mxprof: a snapshot could not be written: %s\n", mxp_last_error());
    }
}
