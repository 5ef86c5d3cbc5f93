// SPDX-License-Identifier: Apache-2.0
// The meeting itself: who arrives, and what all are told.
#include "runtime/kvstore/rendezvous.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "base/setting.h"
#include "base/strbuf.h"

#define SECOND_NS UINT64_C(1000000000)
enum { STRANGERS_MAX = 64 };

// ---- variables ---------------------------------------------------------------------------------
static int read_role(uint32_t *role)
{
    const char *text = mxp__setting_text("DMLC_ROLE");
    *role = text == NULL                     ? 0
            : strcmp(text, "worker") == 0    ? MXN_ROLE_WORKER
            : strcmp(text, "server") == 0    ? MXN_ROLE_OWNER
            : strcmp(text, "scheduler") == 0 ? MXN_ROLE_SCHEDULER
                                             : 0;
    return *role != 0
               ? MXP_OK
               : mxp__fail(MXP_EVALUE, "DMLC_ROLE='%.40s': set it to worker, server or scheduler",
                           text == NULL ? "" : text);
}

static int read_count(const char *variable, uint64_t least, uint64_t most, uint64_t *value)
{
    if (mxp__setting_text(variable) == NULL) {
        return mxp__fail(MXP_EVALUE,
                         "%s is not set: a process with DMLC_ROLE needs a number from %" PRIu64
                         " to %" PRIu64 " there",
                         variable, least, most);
    }
    return mxp__setting_read(variable, least, least, most, value);
}

int mxn__meeting_read(mxn_meeting *meeting)
{
    uint64_t port = 0, workers = 0, servers = 0;
    *meeting = (mxn_meeting){0};
    const char *host = mxp__setting_text("DMLC_PS_ROOT_URI");
    int error = read_role(&meeting->role);
    if (error == MXP_OK && (host == NULL || strlen(host) >= sizeof meeting->host)) {
        error = mxp__fail(MXP_EVALUE,
                          "DMLC_PS_ROOT_URI='%.40s': set it to the address at which "
                          "the scheduler listens",
                          host == NULL ? "" : host);
    }
    if (error == MXP_OK) {
        strcpy(meeting->host, host);
        error = read_count("DMLC_PS_ROOT_PORT", 1, 65535, &port);
    }
    if (error == MXP_OK) {
        error = read_count("DMLC_NUM_WORKER", 1, MXN_MEETING_PEERS_MAX, &workers);
    }
    if (error == MXP_OK) {
        error = read_count("DMLC_NUM_SERVER", 0, MXN_MEETING_PEERS_MAX, &servers);
    }
    if (error == MXP_OK) {
        error =
            mxp__setting_read("MXNET_KVSTORE_START_TIMEOUT", 60, 1, 1000000, &meeting->timeout_s);
    }
    meeting->port = (uint16_t)port;
    meeting->workers = (uint32_t)workers;
    meeting->servers = (uint32_t)servers;
    return error;
}

// ---- bytes -------------------------------------------------------------------------------------
static bool wait_for(int fd, short what, uint64_t until_ns)
{
    for (;;) {
        const uint64_t now_ns = mxp__os_monotonic_ns();
        if (now_ns >= until_ns) {
            errno = ETIMEDOUT;
            return false;
        }
        struct pollfd of = {.fd = fd, .events = what};
        const int got = poll(&of, 1, (int)((until_ns - now_ns) / 1000000 + 1));
        if (got > 0) {
            return true;
        }
        if (got < 0 && errno != EINTR) {
            return false;
        }
    }
}

bool mxn__meeting_write(int fd, const void *bytes, size_t count, uint64_t until_ns)
{
    for (size_t at = 0; at < count;) {
        const ssize_t put =
            send(fd, (const char *)bytes + at, count - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put > 0) {
            at += (size_t)put;
        } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
            return false;
        } else if (!wait_for(fd, POLLOUT, until_ns)) {
            return false;
        }
    }
    return true;
}

bool mxn__meeting_read_bytes(int fd, void *bytes, size_t count, uint64_t until_ns)
{
    for (size_t at = 0; at < count;) {
        const ssize_t got = recv(fd, (char *)bytes + at, count - at, MSG_DONTWAIT);
        if (got > 0) {
            at += (size_t)got;
        } else if (got == 0) {
            errno = ECONNRESET;
            return false;
        } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
            return false;
        } else if (!wait_for(fd, POLLIN, until_ns)) {
            return false;
        }
    }
    return true;
}

void mxn__meeting_end_texts(mxn_arriving *arrival)
{
    arrival->host[sizeof arrival->host - 1] = '\0';
    arrival->boot_id[sizeof arrival->boot_id - 1] = '\0';
    arrival->path[sizeof arrival->path - 1] = '\0';
}

// ---- the scheduler -----------------------------------------------------------------------------
// Who is connected, and how much of what it says has come.
typedef struct guest {
    int fd;
    size_t got;
    mxn_arriving says;
} guest;

typedef struct meeting {
    const mxn_meeting *of;
    mxn_arriving *arrivals;  // [0]: the scheduler itself
    int *fds;  // of those who have arrived, by place
    uint32_t count;
    guest strangers[STRANGERS_MAX];  // who have not said who they are
    uint32_t stranger_count;
    mxp_strbuf fault;
} meeting;

static uint32_t count_role(const meeting *m, uint32_t role)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        count += m->arrivals[i].roles == role;
    }
    return count;
}

static const char *role_name(uint32_t role)
{
    return role == MXN_ROLE_WORKER ? "worker" : role == MXN_ROLE_OWNER ? "server" : "scheduler";
}

// `waited 60 s for 1 of 2 servers; have: worker 0 (host, pid) ...`
static void say_missing(meeting *m)
{
    const uint32_t workers = count_role(m, MXN_ROLE_WORKER),
                   servers = count_role(m, MXN_ROLE_OWNER);
    const char *also = "";
    mxp__strbuf_printf(&m->fault, "waited %" PRIu64 " s for ", m->of->timeout_s);
    if (workers < m->of->workers) {
        mxp__strbuf_printf(&m->fault, "%" PRIu32 " of %" PRIu32 " workers",
                           m->of->workers - workers, m->of->workers);
        also = " and ";
    }
    if (servers < m->of->servers) {
        mxp__strbuf_printf(&m->fault, "%s%" PRIu32 " of %" PRIu32 " servers", also,
                           m->of->servers - servers, m->of->servers);
    }
    mxp__strbuf_puts(&m->fault, "; have:");
    uint32_t ranks[2] = {0, 0};
    for (uint32_t i = 1; i < m->count; i++) {
        const mxn_arriving *at = &m->arrivals[i];
        mxp__strbuf_printf(&m->fault, "%s %s %" PRIu32 " (%s, %" PRIu32 ")", i == 1 ? "" : ",",
                           role_name(at->roles), ranks[at->roles == MXN_ROLE_OWNER]++, at->host,
                           at->pid);
    }
    mxp__strbuf_puts(&m->fault, m->count == 1 ? " nobody" : "");
}

static void refuse(int fd, const char *text)
{
    mxn_meeting_answer answer = {.magic = MXN_MEETING_MAGIC};
    strncpy(answer.text, text, sizeof answer.text - 1);
    mxn__meeting_write(fd, &answer, sizeof answer, mxp__os_monotonic_ns() + SECOND_NS);
    close(fd);
}

static void admit(meeting *m, const guest *of)
{
    const mxn_arriving *says = &of->says;
    const bool is_worker = says->roles == MXN_ROLE_WORKER;
    const uint32_t most = is_worker ? m->of->workers : m->of->servers;
    mxp_strbuf text = {0};
    if (says->workers != m->of->workers || says->servers != m->of->servers) {
        mxp__strbuf_printf(&m->fault,
                           "a %s (%s, %" PRIu32 ") has DMLC_NUM_WORKER=%" PRIu32
                           " and DMLC_NUM_SERVER=%" PRIu32 ", the scheduler %" PRIu32
                           " and %" PRIu32,
                           role_name(says->roles), says->host, says->pid, says->workers,
                           says->servers, m->of->workers, m->of->servers);
    } else if (says->roles != MXN_ROLE_WORKER && says->roles != MXN_ROLE_OWNER) {
        refuse(of->fd, "there is a scheduler at this address");
        return;
    } else if (count_role(m, says->roles) == most) {
        mxp__strbuf_printf(&text, "there are %" PRIu32 " of %" PRIu32 " %ss", most, most,
                           role_name(says->roles));
        refuse(of->fd, mxp__strbuf_text(&text));
        mxp__strbuf_fini(&text);
        return;
    }
    m->arrivals[m->count] = *says;
    m->fds[m->count++] = of->fd;
}

static void drop_stranger(meeting *m, uint32_t at)
{
    m->strangers[at] = m->strangers[--m->stranger_count];
}

// Somebody who is none of ours is left alone.
static void hear(meeting *m, uint32_t at)
{
    guest *of = &m->strangers[at];
    const ssize_t got =
        recv(of->fd, (char *)&of->says + of->got, sizeof of->says - of->got, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        return;
    }
    of->got += got > 0 ? (size_t)got : 0;
    const size_t seen = of->got < 8 ? of->got : 8;
    if (got <= 0 || memcmp(of->says.magic, MXN_MEETING_MAGIC, seen) != 0) {
        close(of->fd);
        drop_stranger(m, at);
    } else if (of->got == sizeof of->says) {
        mxn__meeting_end_texts(&of->says);
        const guest kept = *of;
        drop_stranger(m, at);
        admit(m, &kept);
    }
}

static void accept_one(meeting *m, int listener)
{
    const int fd = accept(listener, NULL, NULL);
    if (fd < 0) {
        return;
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (m->stranger_count == STRANGERS_MAX) {
        close(m->strangers[0].fd);  // who has been silent for longest
        drop_stranger(m, 0);
    }
    m->strangers[m->stranger_count++] = (guest){.fd = fd};
}

// Who has arrived says nothing more: what comes is its end.
static void see_end(meeting *m, uint32_t at)
{
    mxp__strbuf_printf(&m->fault, "a %s (%s, %" PRIu32 ") ended while others were waited for",
                       role_name(m->arrivals[at].roles), m->arrivals[at].host, m->arrivals[at].pid);
}

static void look(meeting *m, int listener, struct pollfd *polls, int timeout_ms)
{
    const uint32_t strangers = m->stranger_count, arrived = m->count;
    uint32_t count = 0;
    polls[count++] = (struct pollfd){.fd = listener, .events = POLLIN};
    for (uint32_t i = 0; i < strangers; i++) {
        polls[count++] = (struct pollfd){.fd = m->strangers[i].fd, .events = POLLIN};
    }
    for (uint32_t i = 1; i < arrived; i++) {
        polls[count++] = (struct pollfd){.fd = m->fds[i], .events = POLLIN};
    }
    if (poll(polls, count, timeout_ms) <= 0) {
        return;
    }
    for (uint32_t i = 1; i < arrived && m->fault.length == 0; i++) {
        if (polls[strangers + i].revents != 0) {
            see_end(m, i);
        }
    }
    for (uint32_t i = strangers; i > 0; i--) {  // from the last: one that goes is replaced by it
        if (polls[i].revents != 0) {
            hear(m, i - 1);
        }
    }
    if (polls[0].revents != 0) {
        accept_one(m, listener);
    }
}

static void tell_all(meeting *m, mxn_meeting_answer *answer)
{
    const uint64_t until_ns = mxp__os_monotonic_ns() + 5 * SECOND_NS;
    strncpy(answer->text, mxp__strbuf_text(&m->fault), sizeof answer->text - 1);
    answer->count = m->fault.length == 0 ? m->count : 0;
    for (uint32_t i = 1; i < m->count; i++) {
        answer->index = i;
        if (mxn__meeting_write(m->fds[i], answer, sizeof *answer, until_ns) && answer->count > 0) {
            mxn__meeting_write(m->fds[i], m->arrivals, answer->count * sizeof *m->arrivals,
                               until_ns);
        }
        close(m->fds[i]);
    }
    for (uint32_t i = 0; i < m->stranger_count; i++) {
        close(m->strangers[i].fd);
    }
    answer->index = 0;
}

int mxn__meeting_hold(const mxn_meeting *of, int listener, const mxn_arriving *self,
                      mxn_arriving *arrivals, mxn_meeting_answer *answer)
{
    const uint32_t all = of->workers + of->servers + 1, polls_max = all + STRANGERS_MAX + 1;
    const uint64_t until_ns = mxp__os_monotonic_ns() + of->timeout_s * SECOND_NS;
    meeting m = {.of = of, .arrivals = arrivals, .count = 1};
    struct pollfd *polls = mxp__alloc(polls_max * sizeof *polls);
    m.fds = mxp__alloc((all + 1) * sizeof *m.fds);
    *answer = (mxn_meeting_answer){.magic = MXN_MEETING_MAGIC};
    int error = m.fds == NULL || polls == NULL ? mxp__fail_memory("a meeting") : MXP_OK;
    if (error == MXP_OK) {
        arrivals[0] = *self;
        while (m.count < all && m.fault.length == 0) {
            const uint64_t now_ns = mxp__os_monotonic_ns();
            if (now_ns >= until_ns) {
                say_missing(&m);
                break;
            }
            look(&m, listener, polls, (int)((until_ns - now_ns) / 1000000 + 1));
        }
        if (getrandom(answer->key, sizeof answer->key, 0) != (ssize_t)sizeof answer->key) {
            mxp__strbuf_puts(&m.fault, "the scheduler has no random numbers");
        }
        tell_all(&m, answer);
        error = m.fault.length == 0 ? MXP_OK : mxp__fail(MXP_ESTATE, "%s", answer->text);
    }
    mxp__strbuf_fini(&m.fault);
    mxp__free(m.fds, (all + 1) * sizeof *m.fds);
    mxp__free(polls, polls_max * sizeof *polls);
    return error;
}

// ---- the others --------------------------------------------------------------------------------
static int check_answer(const mxn_meeting *of, mxn_meeting_answer *answer)
{
    answer->text[sizeof answer->text - 1] = '\0';
    if (memcmp(answer->magic, MXN_MEETING_MAGIC, 8) != 0) {
        return mxp__fail(MXP_ESTATE, "%s:%u is no scheduler", of->host, of->port);
    }
    if (answer->text[0] != '\0') {
        return mxp__fail(MXP_ESTATE, "%s", answer->text);
    }
    if (answer->count != of->workers + of->servers + 1 || answer->index == 0 ||
        answer->index >= answer->count) {
        return mxp__fail(MXP_ESTATE, "%s:%u is no scheduler", of->host, of->port);
    }
    return MXP_OK;
}

int mxn__meeting_attend(const mxn_meeting *of, int fd, const mxn_arriving *self,
                        mxn_arriving *arrivals, mxn_meeting_answer *answer)
{
    // The scheduler knows who is missing, so it is left the first word.
    const uint64_t until_ns = mxp__os_monotonic_ns() + (of->timeout_s + 5) * SECOND_NS;
    if (!mxn__meeting_write(fd, self, sizeof *self, until_ns) ||
        !mxn__meeting_read_bytes(fd, answer, sizeof *answer, until_ns)) {
        return mxp__fail(MXP_ESTATE, "the scheduler at %s:%u %s", of->host, of->port,
                         errno == ETIMEDOUT ? "does not answer" : "ended before all were there");
    }
    int error = check_answer(of, answer);
    if (error == MXP_OK &&
        !mxn__meeting_read_bytes(fd, arrivals, answer->count * sizeof *arrivals, until_ns)) {
        error = mxp__fail(MXP_ESTATE, "the scheduler at %s:%u ended before all were told", of->host,
                          of->port);
    }
    for (uint32_t i = 0; error == MXP_OK && i < answer->count; i++) {
        mxn__meeting_end_texts(&arrivals[i]);
    }
    return error;
}
