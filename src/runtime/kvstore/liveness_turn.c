// SPDX-License-Identifier: Apache-2.0
// What comes over the sockets, and what is due each second. Whoever connects is nobody until the
// key has come; a known process that sends anything but frames of ours counts as dead.
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os/os.h"
#include "runtime/kvstore/liveness_core.h"
#include "runtime/kvstore/liveness_words.h"

static const uint64_t HELLO_NS = 2000000000;  // a connection without a key may last so long

void mxn__live_watch(mxn_liveness *liveness, int fd, uint64_t tag)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = tag};
    if (epoll_ctl(liveness->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        epoll_ctl(liveness->epoll_fd, EPOLL_CTL_MOD, fd, &event);
    }
}

// ---- those that nobody knows yet ---------------------------------------------------------------
static void stop_listening(mxn_liveness *liveness)
{
    epoll_ctl(liveness->epoll_fd, EPOLL_CTL_DEL, liveness->listen_fd, NULL);
    liveness->is_deaf = true;
}

void mxn__live_accept(mxn_liveness *liveness)
{
    for (uint32_t i = 0; i < MXN_LIVE_PENDING; i++) {
        if (liveness->pending[i].fd >= 0) {
            continue;
        }
        int fd = accept4(liveness->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)) {
            return;
        }
        if (fd < 0) {
            break;
        }
        mxn__live_link_open(&liveness->pending[i], fd);
        mxn__live_watch(liveness, fd, MXN_LIVE_TAG_PENDING + i);
    }
    stop_listening(liveness);
}

static bool is_key(const uint8_t *given, const uint8_t *key)
{
    uint8_t differs = 0;
    for (int i = 0; i < 16; i++) {
        differs |= (uint8_t)(given[i] ^ key[i]);
    }
    return differs == 0;
}

// The place of the process that says hello in `body`; null: it may not come in.
static mxn_live_other *place_of(mxn_liveness *liveness, const char *body, uint32_t body_bytes)
{
    mxn_live_hello_body hello;
    if (body_bytes != sizeof hello) {
        return NULL;
    }
    memcpy(&hello, body, sizeof hello);
    if (!is_key(hello.key, liveness->key) || hello.who.rank < 0 ||
        (uint32_t)hello.who.rank >= liveness->other_count ||
        hello.who.rank == liveness->setup.self.rank || liveness->others[hello.who.rank].was_here) {
        return NULL;
    }
    mxn_live_other *other = &liveness->others[hello.who.rank];
    other->who = hello.who;
    other->who.role[sizeof other->who.role - 1] = '\0';
    other->who.host[sizeof other->who.host - 1] = '\0';
    return other;
}

static void stop_admitting(mxn_liveness *liveness)
{
    close(liveness->listen_fd);
    liveness->listen_fd = -1;
    for (uint32_t i = 0; i < MXN_LIVE_PENDING; i++) {
        mxn__live_link_close(&liveness->pending[i]);
    }
    mxn__live_settle(liveness);
}

// Everybody goes on at once, when everybody is here and the head's opener too: nobody sends to one
// who does not listen yet.
static void welcome_all(mxn_liveness *liveness)
{
    for (uint32_t i = 0; i < liveness->other_count; i++) {
        liveness->others[i].link.heard_ns = mxp__os_monotonic_ns();
        mxn__live_link_send(&liveness->others[i].link, MXN_LIVE_WELCOME, NULL, 0);
    }
}

static void admit(mxn_liveness *liveness, mxn_live_other *other, mxn_live_link *link)
{
    other->link = *link;
    link->fd = -1;
    other->is_here = true;
    other->was_here = true;
    mxn__live_watch(liveness, other->link.fd,
                    MXN_LIVE_TAG_OTHERS + (uint64_t)(other - liveness->others));
    assert(liveness->awaited > 0);
    if (--liveness->awaited == 0) {
        stop_admitting(liveness);
    }
}

void mxn__live_hear_pending(mxn_liveness *liveness, uint32_t index)
{
    mxn_live_link *link = &liveness->pending[index];
    const char *body = NULL;
    uint32_t body_bytes = 0;
    if (link->fd < 0) {
        return;
    }
    uint64_t opened_ns = link->heard_ns;
    bool is_open = mxn__live_link_read(link);
    link->heard_ns = opened_ns;  // bytes that make no hello win no time
    int kind = mxn__live_link_take(link, &body, &body_bytes);
    mxn_live_other *other = kind == MXN_LIVE_HELLO ? place_of(liveness, body, body_bytes) : NULL;
    if (other != NULL) {
        admit(liveness, other, link);
    } else if (!is_open || kind != 0) {
        mxn__live_link_close(link);
    }
}

// ---- those that are known ----------------------------------------------------------------------
static void tell_stall(mxn_liveness *liveness, const char *body, uint32_t body_bytes)
{
    mxn_live_stall_body stall = {0};
    if (body_bytes != sizeof stall) {
        return;
    }
    memcpy(&stall, body, sizeof stall);
    stall.what[sizeof stall.what - 1] = '\0';
    mxn_live_late late[MXN_LIVENESS_STALL_RANKS];
    char own[MXN_LIVENESS_TEXT_BYTES], line[MXN_LIVENESS_LINE_BYTES];
    uint64_t now_ns = mxp__os_monotonic_ns();
    mxn__live_doing(liveness, own);
    uint32_t count = 0;
    for (uint32_t i = 0; i < stall.count && i < MXN_LIVENESS_STALL_RANKS; i++) {
        int32_t rank = stall.ranks[i];
        if (rank == liveness->setup.self.rank) {
            late[count++] =
                (mxn_live_late){liveness->setup.self.role, liveness->setup.self.role_rank, -1, own};
        } else if (rank >= 0 && (uint32_t)rank < liveness->other_count) {
            const mxn_live_other *other = &liveness->others[rank];
            late[count++] =
                (mxn_live_late){other->who.role, other->who.role_rank,
                                (double)(now_ns - other->link.heard_ns) * 1e-9, other->did};
        }
    }
    if (count > 0 && stall.total >= count) {
        mxn__live_stall_line(stall.what, late, count, stall.total, line);
        mxn__live_say(line);
    }
}

static void send_all(mxn_liveness *liveness, int kind, const void *body, uint32_t body_bytes)
{
    for (uint32_t i = 0; i < liveness->other_count; i++) {
        if (liveness->others[i].is_here) {
            mxn__live_link_send(&liveness->others[i].link, kind, body, body_bytes);
        }
    }
}

static void obey(mxn_liveness *liveness, const mxn_live_other *from, int kind, const char *body,
                 uint32_t body_bytes)
{
    bool goes_on = from == NULL || liveness->is_head;  // what we asked for, or the head was asked
    char text[MXN_LIVENESS_LINE_BYTES];
    switch (kind) {
    case MXN_LIVE_FAILED:
        mxn__live_text(text, sizeof text, body, body_bytes);
        mxn__live_fail(liveness, text, from);
        break;
    case MXN_LIVE_WELCOME:
        if (from == NULL) {
            welcome_all(liveness);
        }
        break;
    case MXN_LIVE_STALL:
        if (liveness->is_head) {
            tell_stall(liveness, body, body_bytes);
        } else if (goes_on) {
            send_all(liveness, kind, body, body_bytes);
        }
        break;
    case MXN_LIVE_SNAPSHOT:
    case MXN_LIVE_SLOW_STEP:
        if (kind == MXN_LIVE_SLOW_STEP && liveness->is_head &&
            !mxn__live_lets_through(liveness, body, body_bytes)) {
            break;
        }
        if (goes_on) {
            send_all(liveness, kind, body, body_bytes);
        }
        if (liveness->is_head || !goes_on) {
            mxn__live_take_snapshot(liveness, kind, body, body_bytes);
        }
        break;
    default:
        break;
    }
}

void mxn__live_obey(mxn_liveness *liveness, const mxn_live_request *request)
{
    obey(liveness, NULL, request->kind, request->body, request->body_bytes);
}

static void lose(mxn_liveness *liveness, mxn_live_other *other, const char *how)
{
    char name[MXN_LIVE_NAME_BYTES], text[MXN_LIVENESS_LINE_BYTES];
    other->is_here = false;
    const bool all_came = liveness->awaited == 0;
    if (liveness->is_terminated && (other->is_terminated || !all_came)) {
        return;  // the whole job ends
    }
    liveness->head_is_gone = liveness->head_is_gone || !liveness->is_head;
    mxn__live_name(&other->who, name);
    snprintf(text, sizeof text, "%s %s", name, how);
    if (!all_came && liveness->setup.head_ends_all) {
        // Who waits to come in tells nobody that it was told to end: perhaps it is our turn next.
        mxn__liveness_suspect(liveness, text);
    } else {
        mxn__live_fail(liveness, text, NULL);
    }
}

void mxn__live_hear(mxn_liveness *liveness, uint32_t index)
{
    mxn_live_other *other = &liveness->others[index];
    const char *body = NULL;
    uint32_t body_bytes = 0;
    if (other->link.fd < 0) {
        return;
    }
    bool is_open = mxn__live_link_read(&other->link);
    int kind;
    while ((kind = mxn__live_link_take(&other->link, &body, &body_bytes)) > 0) {
        if (kind == MXN_LIVE_BEAT) {
            mxn__live_text(other->did, sizeof other->did, body, body_bytes);
        } else if (kind == MXN_LIVE_BYE) {
            other->is_here = false;
        } else if (kind == MXN_LIVE_TERMINATED) {
            other->is_terminated = true;
        } else {
            obey(liveness, other, kind, body, body_bytes);
        }
    }
    if (is_open && kind == 0) {
        return;
    }
    mxn__live_link_close(&other->link);
    if (other->is_here) {
        lose(liveness, other, kind < 0 ? "sent what is no message of this library" : "died");
    }
}

// ---- what is due -------------------------------------------------------------------------------
static void expire_pending(mxn_liveness *liveness, uint64_t now_ns)
{
    for (uint32_t i = 0; i < MXN_LIVE_PENDING; i++) {
        mxn_live_link *link = &liveness->pending[i];
        if (link->fd >= 0 && now_ns - link->heard_ns > HELLO_NS) {
            mxn__live_link_close(link);
        }
    }
    if (liveness->is_deaf) {
        liveness->is_deaf = false;
        mxn__live_watch(liveness, liveness->listen_fd, MXN_LIVE_TAG_LISTEN);
    }
}

void mxn__live_missing(const mxn_liveness *liveness, const char *waited,
                       char text[MXN_LIVENESS_LINE_BYTES])
{
    const mxn_liveness_setup *setup = &liveness->setup;
    char name[MXN_LIVE_NAME_BYTES];
    uint32_t rank = 0;
    assert(liveness->is_head && liveness->awaited > 0);
    while (liveness->others[rank].was_here || (int32_t)rank == setup->self.rank) {
        rank++;
    }
    snprintf(name, sizeof name, "the process of rank %u", rank);
    if (setup->who != NULL) {
        mxn__live_name(&liveness->others[rank].who, name);
    }
    int length = snprintf(text, MXN_LIVENESS_LINE_BYTES, "%s %s", waited, name);
    if (liveness->awaited > 1) {
        snprintf(text + length, (size_t)(MXN_LIVENESS_LINE_BYTES - length), ", and %u more",
                 liveness->awaited - 1);
    }
}

static void look_for_missing(mxn_liveness *liveness, uint64_t now_ns)
{
    char waited[64], text[MXN_LIVENESS_LINE_BYTES];
    if (liveness->awaited > 0 &&
        (double)(now_ns - liveness->opened_ns) >= liveness->setup.start_s * 1e9) {
        snprintf(waited, sizeof waited, "waited %.0f s for", liveness->setup.start_s);
        mxn__live_missing(liveness, waited, text);
        mxn__live_fail(liveness, text, NULL);
    }
}

// A thread that itself did not run for a while (a stopped process, a machine asleep) blames nobody.
void mxn__live_look_for_silent(mxn_liveness *liveness, uint64_t now_ns)
{
    uint64_t silence_ns = (uint64_t)(liveness->setup.silence_s * 1e9);
    uint64_t beat_ns = (uint64_t)(liveness->setup.beat_s * 1e9);
    bool overslept = now_ns - liveness->turned_ns > beat_ns + silence_ns / 2;
    if (silence_ns == 0 || liveness->awaited > 0) {
        return;
    }
    for (uint32_t i = 0; i < liveness->other_count; i++) {
        mxn_live_other *other = &liveness->others[i];
        if (!other->is_here) {
            continue;
        }
        if (overslept) {
            other->link.heard_ns = now_ns;
        } else if (now_ns > other->link.heard_ns + silence_ns) {
            char how[64];
            snprintf(how, sizeof how, "has been silent for %.0f s", liveness->setup.silence_s);
            lose(liveness, other, how);
            return;
        }
    }
}

// All have heard the head's last beat at the same time, and must not wait for their own next one:
// the first to end would be taken for the dead by those who have not noticed yet.
uint64_t mxn__live_silent_ns(const mxn_liveness *liveness)
{
    const mxn_live_other *head = &liveness->others[0];
    if (liveness->is_head || !head->is_here || liveness->setup.silence_s <= 0 ||
        liveness->end_ns != 0) {
        return UINT64_MAX;
    }
    return head->link.heard_ns + (uint64_t)(liveness->setup.silence_s * 1e9) + 1;
}

void mxn__live_beat(mxn_liveness *liveness, uint64_t now_ns)
{
    char doing[MXN_LIVENESS_TEXT_BYTES];
    mxn__live_doing(liveness, doing);
    send_all(liveness, MXN_LIVE_BEAT, doing, (uint32_t)strlen(doing));
    if (liveness->listen_fd >= 0) {
        expire_pending(liveness, now_ns);
        look_for_missing(liveness, now_ns);
    }
    mxn__live_look_for_silent(liveness, now_ns);
}
