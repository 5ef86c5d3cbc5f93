// SPDX-License-Identifier: Apache-2.0
// Opening: the head listens, the others connect, show the key and wait for its answer. Times come
// from the environment unless the caller has set them.
#include <assert.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "base/setting.h"
#include "runtime/kvstore/liveness_core.h"
#include "runtime/kvstore/liveness_socket.h"

// The head gives up after the same time, and its answer names who is missing.
static const double ANSWER_S = 5;

static int read_seconds(const char *variable, double fallback, double *seconds)
{
    const char *text = mxp__setting_text(variable);
    char *end;
    if (*seconds > 0) {
        return MXP_OK;  // set by the caller
    }
    *seconds = fallback;
    if (text == NULL) {
        return MXP_OK;
    }
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0 && value <= 1e6)) {
        return mxp__fail(MXP_EVALUE, "%s='%s' is no time: seconds from 0 to 1000000 are valid",
                         variable, text);
    }
    *seconds = value;
    return MXP_OK;
}

int mxn__liveness_read_start(double *seconds)
{
    *seconds = 0;
    return read_seconds("MXNET_KVSTORE_START_TIMEOUT", 60, seconds);
}

static int read_times(mxn_liveness_setup *setup)
{
    int error = read_seconds("MXNET_KVSTORE_SILENCE_S", 10, &setup->silence_s);
    // Who may be silent for a short time only must be heard more often.
    double beat_s = setup->silence_s > 0 && setup->silence_s < 5 ? setup->silence_s / 5 : 1;
    setup->beat_s = setup->beat_s > 0 ? setup->beat_s : beat_s;
    if (error == MXP_OK) {
        error = read_seconds("MXNET_KVSTORE_GRACE", 0.8, &setup->grace_s);
    }
    if (error != MXP_OK || setup->start_s > 0) {
        return error;
    }
    return mxn__liveness_read_start(&setup->start_s);
}

static mxn_liveness *make(const mxn_liveness_setup *setup, uint32_t other_count, bool is_head)
{
    mxn_liveness *made = mxp__alloc(sizeof *made);
    mxn_live_other *others = mxp__alloc(other_count * sizeof *others);
    mxn_live_link *pending = is_head ? mxp__alloc(MXN_LIVE_PENDING * sizeof *pending) : NULL;
    if (made == NULL || others == NULL || (is_head && pending == NULL)) {
        mxp__free(pending, MXN_LIVE_PENDING * sizeof *pending);
        mxp__free(others, other_count * sizeof *others);
        mxp__free(made, sizeof *made);
        mxp__fail_memory("watching other processes");
        return NULL;
    }
    *made = (mxn_liveness){.setup = *setup,
                           .is_head = is_head,
                           .listen_fd = -1,
                           .process_id = mxp__os_process_id(),
                           .others = others,
                           .other_count = other_count,
                           .pending = pending,
                           .opened_ns = mxp__os_monotonic_ns(),
                           .lock = MXP__LOCK_INIT};
    made->turned_ns = made->opened_ns;
    for (uint32_t i = 0; i < other_count; i++) {
        others[i].link.fd = -1;
    }
    for (uint32_t i = 0; is_head && i < MXN_LIVE_PENDING; i++) {
        pending[i].fd = -1;
    }
    made->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    made->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return made;
}

int mxn__liveness_open_head(const mxn_liveness_setup *setup, mxn_live_address *address,
                            mxn_liveness **liveness)
{
    assert(setup->self.rank >= 0 && setup->self.rank < setup->ranks);
    mxn_liveness_setup timed = *setup;
    *liveness = NULL;
    *address = (mxn_live_address){.head = setup->self};
    int error = read_times(&timed);
    mxn_liveness *made = error == MXP_OK ? make(&timed, (uint32_t)timed.ranks, true) : NULL;
    if (made == NULL) {
        return error != MXP_OK ? error : MXP_ENOMEM;
    }
    made->awaited = made->other_count - 1;
    for (uint32_t i = 0; timed.who != NULL && i < made->other_count; i++) {
        made->others[i].who = timed.who(timed.context, (int32_t)i);
    }
    error = mxn__live_make_key(made->key);
    if (error == MXP_OK && made->awaited > 0) {
        error = mxn__live_listen(setup->one_host, address, &made->listen_fd);
    }
    if (error == MXP_OK) {
        memcpy(address->key, made->key, sizeof address->key);
        if (made->awaited == 0) {
            mxn__live_settle(made);
        }
        if (made->listen_fd >= 0 && made->epoll_fd >= 0) {
            mxn__live_watch(made, made->listen_fd, MXN_LIVE_TAG_LISTEN);
        }
        error = mxn__live_start(made);
    }
    if (error != MXP_OK) {
        mxn__live_release(made);
        return error;
    }
    *liveness = made;
    return MXP_OK;
}

bool mxn__liveness_is_settled(const mxn_liveness *liveness)
{
    assert(liveness->is_head);
    return mxp_atomic_load_acquire(&liveness->is_settled) != 0;  // pairs with mxn__live_settle
}

int mxn__liveness_wait(mxn_liveness *liveness)
{
    assert(liveness->is_head);
    while (!mxn__liveness_is_settled(liveness)) {
        mxp__os_word_wait(&liveness->is_settled, 0);
    }
    if (mxn__liveness_has_failed(liveness)) {
        return mxp__fail(MXP_ESTATE, "not all processes are there: the line before says who");
    }
    mxn__live_ask(liveness, MXN_LIVE_WELCOME, NULL, 0);
    return MXP_OK;
}

// Waits for the head's answer. 0: the connection has ended, or the time.
static int await_answer(mxn_liveness *liveness, const char **body, uint32_t *body_bytes)
{
    mxn_live_link *link = &liveness->others[0].link;
    double seconds = liveness->setup.start_s + ANSWER_S;
    uint64_t until_ns = mxp__os_monotonic_ns() + (uint64_t)(seconds * 1e9);
    bool is_open = true;
    for (;;) {
        int kind = mxn__live_link_take(link, body, body_bytes);
        if (kind == MXN_LIVE_BEAT) {
            continue;
        }
        if (kind != 0 || !is_open || mxp__os_monotonic_ns() > until_ns) {
            return kind;
        }
        struct pollfd ready = {.fd = link->fd, .events = POLLIN};
        (void)poll(&ready, 1, 100);
        is_open = mxn__live_link_read(link);
    }
}

// Says hello, and waits until everybody has.
static int introduce(mxn_liveness *liveness, const mxn_live_address *address)
{
    mxn_live_hello_body hello = {.who = liveness->setup.self};
    memcpy(hello.key, address->key, sizeof hello.key);
    mxn__live_link_send(&liveness->others[0].link, MXN_LIVE_HELLO, &hello, sizeof hello);
    const char *body = NULL;
    uint32_t body_bytes = 0;
    int kind = await_answer(liveness, &body, &body_bytes);
    if (kind == MXN_LIVE_WELCOME) {
        return MXP_OK;
    }
    if (kind == MXN_LIVE_FAILED) {
        char text[MXN_LIVENESS_LINE_BYTES];
        mxn__live_text(text, sizeof text, body, body_bytes);
        return mxp__fail(MXP_ESTATE, "%s", text);
    }
    return mxp__fail(MXP_EIO, "worker 0 on %s (pid %u) ended the connection that says who lives",
                     address->head.host, address->head.pid);
}

int mxn__liveness_open_peer(const mxn_liveness_setup *setup, const mxn_live_address *address,
                            mxn_liveness **liveness)
{
    mxn_liveness_setup timed = *setup;
    int fd;
    *liveness = NULL;
    int error = read_times(&timed);
    mxn_liveness *made = error == MXP_OK ? make(&timed, 1, false) : NULL;
    if (made == NULL) {
        return error != MXP_OK ? error : MXP_ENOMEM;
    }
    mxn_live_other *head = &made->others[0];
    head->who = address->head;
    error = mxn__live_connect(address, &fd);
    if (error == MXP_OK) {
        mxn__live_link_open(&head->link, fd);
        error = introduce(made, address);
    }
    if (error == MXP_OK) {
        head->is_here = true;
        head->was_here = true;
        if (made->epoll_fd >= 0) {
            mxn__live_watch(made, head->link.fd, MXN_LIVE_TAG_OTHERS);
        }
        error = mxn__live_start(made);
    }
    if (error != MXP_OK) {
        mxn__live_link_close(&head->link);
        mxn__live_release(made);
        return error;
    }
    *liveness = made;
    return MXP_OK;
}
