// SPDX-License-Identifier: Apache-2.0
// The thread, what others ask of it, closing. A forked child inherits the connections, and
// a death would not be noticed as long as it lives: it closes its copies at once.
#include "runtime/kvstore/liveness.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/fork_lock.h"
#include "base/os/os.h"
#include "base/os/quiet_thread.h"
#include "runtime/kvstore/liveness_core.h"
#include "runtime/kvstore/liveness_terminated.h"

enum { EVENTS = 64 };
static const uint64_t SUSPICION_NS = 300000000;

static void close_in_child(void);
static mxp_fork_lock open_lock = MXP__FORK_LOCK_INIT(close_in_child);
static mxn_liveness *all_open;  // under open_lock

static void close_descriptor(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

static void close_own_descriptors(mxn_liveness *liveness)
{
    close_descriptor(&liveness->epoll_fd);
    close_descriptor(&liveness->wake_fd);
    close_descriptor(&liveness->listen_fd);
}

static void close_in_child(void)
{
    for (mxn_liveness *one = all_open; one != NULL; one = one->next) {
        for (uint32_t i = 0; i < one->other_count; i++) {
            close_descriptor(&one->others[i].link.fd);
        }
        for (uint32_t i = 0; one->pending != NULL && i < MXN_LIVE_PENDING; i++) {
            close_descriptor(&one->pending[i].fd);
        }
        close_own_descriptors(one);
    }
    all_open = NULL;
}

static void enlist(mxn_liveness *liveness)
{
    mxp__fork_lock(&open_lock);
    liveness->next = all_open;
    all_open = liveness;
    mxp__fork_unlock(&open_lock);
}

static void delist(mxn_liveness *liveness)
{
    mxp__fork_lock(&open_lock);
    for (mxn_liveness **at = &all_open; *at != NULL; at = &(*at)->next) {
        if (*at == liveness) {
            *at = liveness->next;
            break;
        }
    }
    mxp__fork_unlock(&open_lock);
}

// ---- the thread --------------------------------------------------------------------------------
static void say_goodbye(mxn_liveness *liveness)
{
    for (uint32_t i = 0; i < liveness->other_count; i++) {
        mxn_live_other *other = &liveness->others[i];
        mxn__live_link_send(&other->link, MXN_LIVE_BYE, NULL, 0);
        mxn__live_link_close(&other->link);
    }
    for (uint32_t i = 0; liveness->pending != NULL && i < MXN_LIVE_PENDING; i++) {
        mxn__live_link_close(&liveness->pending[i]);
    }
}

// Whether to go on. Requests come newest first, and are obeyed in the order of their calls.
static bool obey_requests(mxn_liveness *liveness)
{
    uint64_t count;
    (void)!read(liveness->wake_fd, &count, sizeof count);
    mxp__lock(&liveness->lock);
    mxn_live_request *newest = liveness->requests, *oldest = NULL;
    bool is_closing = liveness->is_closing;
    liveness->requests = NULL;
    mxp__unlock(&liveness->lock);
    while (newest != NULL) {
        mxn_live_request *next = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = next;
    }
    while (oldest != NULL) {
        mxn_live_request *next = oldest->next;
        mxn__live_obey(liveness, oldest);
        mxp__free(oldest, sizeof *oldest);
        oldest = next;
    }
    return !is_closing;
}

static bool handle(mxn_liveness *liveness, uint64_t tag)
{
    if (tag == MXN_LIVE_TAG_WAKE) {
        return obey_requests(liveness);
    }
    if (tag == MXN_LIVE_TAG_LISTEN && liveness->listen_fd >= 0) {
        mxn__live_accept(liveness);
    } else if (tag >= MXN_LIVE_TAG_OTHERS) {
        mxn__live_hear(liveness, (uint32_t)(tag - MXN_LIVE_TAG_OTHERS));
    } else if (tag >= MXN_LIVE_TAG_PENDING) {
        mxn__live_hear_pending(liveness, (uint32_t)(tag - MXN_LIVE_TAG_PENDING));
    }
    return true;
}

// A guess of the transport counts if nothing better has become known.
static void believe(mxn_liveness *liveness, uint64_t now_ns)
{
    char text[MXN_LIVENESS_LINE_BYTES] = "";
    mxp__lock(&liveness->lock);
    if (liveness->suspected_ns != 0 && now_ns >= liveness->suspected_ns) {
        memcpy(text, liveness->suspicion, sizeof text);
        liveness->suspected_ns = 0;
    }
    mxp__unlock(&liveness->lock);
    if (text[0] != '\0') {
        mxn__live_fail(liveness, text, NULL);
    }
}

static int wait_ms(mxn_liveness *liveness, uint64_t now_ns)
{
    uint64_t until_ns = liveness->beat_ns, silent_ns = mxn__live_silent_ns(liveness);
    until_ns = silent_ns < until_ns ? silent_ns : until_ns;
    mxp__lock(&liveness->lock);
    if (liveness->suspected_ns != 0 && liveness->suspected_ns < until_ns) {
        until_ns = liveness->suspected_ns;
    }
    mxp__unlock(&liveness->lock);
    if (liveness->end_ns != 0 && liveness->end_ns < until_ns) {
        until_ns = liveness->end_ns;
    }
    if (liveness->terminated_ns != 0 && liveness->end_ns == 0 &&
        liveness->terminated_ns < until_ns) {
        until_ns = liveness->terminated_ns;
    }
    return until_ns <= now_ns ? 0 : (int)((until_ns - now_ns) / 1000000 + 1);
}

static void *watch_all(void *argument)
{
    mxn_liveness *liveness = argument;
    bool goes_on = true;
    while (goes_on || liveness->end_ns != 0) {
        struct epoll_event events[EVENTS];
        uint64_t now_ns = mxp__os_monotonic_ns();
        int count = epoll_wait(liveness->epoll_fd, events, EVENTS, wait_ms(liveness, now_ns));
        for (int i = 0; i < count; i++) {
            goes_on = handle(liveness, events[i].data.u64) && goes_on;
        }
        now_ns = mxp__os_monotonic_ns();
        believe(liveness, now_ns);
        mxn__live_terminated_turn(liveness, now_ns);
        if (liveness->end_ns != 0 && now_ns >= liveness->end_ns) {
            mxn__live_end(liveness);
        }
        if (now_ns >= liveness->beat_ns) {
            mxn__live_beat(liveness, now_ns);
            liveness->beat_ns = now_ns + (uint64_t)(liveness->setup.beat_s * 1e9);
        } else if (now_ns >= mxn__live_silent_ns(liveness)) {
            mxn__live_look_for_silent(liveness, now_ns);
        }
        liveness->turned_ns = now_ns;
    }
    say_goodbye(liveness);
    return NULL;
}

// ---- beginning and end
// ----------------------------------------------------------------------------
int mxn__live_start(mxn_liveness *liveness)
{
    if (liveness->epoll_fd < 0 || liveness->wake_fd < 0) {
        return mxp__fail(MXP_EIO, "watching other processes: %s", strerror(errno));
    }
    mxn__live_watch(liveness, liveness->wake_fd, MXN_LIVE_TAG_WAKE);
    enlist(liveness);
    mxn__live_terminated_begin(liveness);
    int error = mxp__os_start_thread(&liveness->thread, watch_all, liveness);
    if (error != 0) {
        mxn__live_terminated_end();
        delist(liveness);
        return mxp__fail(MXP_EIO, "no thread to watch other processes: %s", strerror(error));
    }
    return MXP_OK;
}

void mxn__live_release(mxn_liveness *liveness)
{
    if (liveness == NULL) {
        return;
    }
    close_own_descriptors(liveness);
    mxp__free(liveness->pending, MXN_LIVE_PENDING * sizeof *liveness->pending);
    mxp__free(liveness->others, liveness->other_count * sizeof *liveness->others);
    mxp__free(liveness, sizeof *liveness);
}

// ---- what others ask ---------------------------------------------------------------------------
static void wake(mxn_liveness *liveness)
{
    uint64_t one = 1;
    (void)!write(liveness->wake_fd, &one, sizeof one);
}

void mxn__live_ask(mxn_liveness *liveness, int kind, const void *body, uint32_t body_bytes)
{
    mxn_live_request *request = mxp__alloc(sizeof *request);
    if (request == NULL) {
        return;
    }
    request->kind = kind;
    request->body_bytes = body_bytes < sizeof request->body ? body_bytes : sizeof request->body;
    if (request->body_bytes > 0) {
        memcpy(request->body, body, request->body_bytes);
    }
    mxp__lock(&liveness->lock);
    request->next = liveness->requests;
    liveness->requests = request;
    mxp__unlock(&liveness->lock);
    wake(liveness);
}

void mxn__liveness_stall(mxn_liveness *liveness, const char *what, const int32_t *ranks,
                         uint32_t count)
{
    assert(count > 0);
    mxn_live_stall_body stall = {.total = count};
    stall.count = count < MXN_LIVENESS_STALL_RANKS ? count : MXN_LIVENESS_STALL_RANKS;
    memcpy(stall.ranks, ranks, stall.count * sizeof *ranks);
    snprintf(stall.what, sizeof stall.what, "%s", what);
    mxn__live_ask(liveness, MXN_LIVE_STALL, &stall, sizeof stall);
}

void mxn__liveness_end_job(mxn_liveness *liveness, const char *text)
{
    mxn__live_ask(liveness, MXN_LIVE_FAILED, text, (uint32_t)strlen(text));
}

void mxn__liveness_suspect(mxn_liveness *liveness, const char *text)
{
    mxp__lock(&liveness->lock);
    if (liveness->suspected_ns == 0) {
        snprintf(liveness->suspicion, sizeof liveness->suspicion, "%s", text);
        liveness->suspected_ns = mxp__os_monotonic_ns() + SUSPICION_NS;
    }
    mxp__unlock(&liveness->lock);
    wake(liveness);
}

bool mxn__liveness_has_failed(const mxn_liveness *liveness)
{
    return mxp_atomic_load(&liveness->has_failed);
}

void mxn__liveness_close(mxn_liveness *liveness)
{
    if (liveness == NULL || liveness->process_id != mxp__os_process_id()) {
        return;
    }
    if (mxn__liveness_has_failed(liveness)) {
        return;  // the thread is to end the process
    }
    mxp__lock(&liveness->lock);
    liveness->is_closing = true;
    mxp__unlock(&liveness->lock);
    wake(liveness);
    pthread_join(liveness->thread, NULL);
    mxn__live_terminated_end();
    delist(liveness);
    mxn__live_release(liveness);
}
