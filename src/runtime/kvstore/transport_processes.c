// SPDX-License-Identifier: Apache-2.0
// Processes of one machine: from the meeting to a socket for every two.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "base/setting.h"
#include "runtime/kvstore/rendezvous.h"
#include "runtime/kvstore/transport_sockets.h"

#define SECOND_NS UINT64_C(1000000000)

typedef struct joining {
    mxn_meeting meeting;
    uint32_t size;
    mxn_arriving self;
    mxn_arriving *arrivals;
    mxn_meeting_answer answer;
    int *fds;  // by peer
    int door;  // where others connect
    char folder[MXN_MEETING_PATH];  // of the door
} joining;

// ---- the root address --------------------------------------------------------------------------
// A socket that is bound to the root address, at `port` or, for 0, anywhere: which only an address
// of this machine can be. -1: errno says why.
static int bind_root(const struct addrinfo *at, uint16_t port)
{
    struct sockaddr_storage address;
    memcpy(&address, at->ai_addr, at->ai_addrlen);
    if (at->ai_family == AF_INET) {
        ((struct sockaddr_in *)&address)->sin_port = htons(port);
    } else {
        ((struct sockaddr_in6 *)&address)->sin6_port = htons(port);
    }
    const int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (const struct sockaddr *)&address, at->ai_addrlen) != 0) {
        const int reason = errno;
        close(fd);
        errno = reason;
        return -1;
    }
    return fd;
}

static int find_root(const mxn_meeting *meeting, struct addrinfo **at)
{
    char port[8];
    snprintf(port, sizeof port, "%u", meeting->port);
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const int fault = getaddrinfo(meeting->host, port, &hints, at);
    if (fault != 0) {
        return mxp__fail(MXP_EVALUE, "DMLC_PS_ROOT_URI='%s': %s", meeting->host,
                         gai_strerror(fault));
    }
    const int fd = bind_root(*at, 0);
    if (fd < 0) {
        const int reason = errno;
        freeaddrinfo(*at);
        return reason == EADDRNOTAVAIL
                   ? mxp__fail(MXP_ENOTSUP,
                               "DMLC_PS_ROOT_URI='%s' is an address of another machine: start "
                               "these with mxnet-launch or mpirun",
                               meeting->host)
                   : mxp__fail(MXP_EIO, "%s: %s", meeting->host, strerror(reason));
    }
    close(fd);
    return MXP_OK;
}

static int hold(joining *j, const struct addrinfo *root)
{
    const int listener = bind_root(root, j->meeting.port);
    if (listener < 0 || listen(listener, 128) != 0) {
        const int reason = errno;
        if (listener >= 0) {
            close(listener);
        }
        return mxp__fail(MXP_EIO, "the scheduler cannot listen at %s:%u: %s", j->meeting.host,
                         j->meeting.port, strerror(reason));
    }
    int error = mxn__meeting_hold(&j->meeting, listener, &j->self, j->arrivals, &j->answer);
    close(listener);
    return error;
}

static int attend(joining *j, const struct addrinfo *root)
{
    const uint64_t until_ns = mxp__os_monotonic_ns() + j->meeting.timeout_s * SECOND_NS;
    for (;;) {
        const int fd = socket(root->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, root->ai_addr, root->ai_addrlen) == 0) {
            int error = mxn__meeting_attend(&j->meeting, fd, &j->self, j->arrivals, &j->answer);
            close(fd);
            return error;
        }
        if (fd >= 0) {
            close(fd);
        }
        if (mxp__os_monotonic_ns() >= until_ns) {
            return mxp__fail(MXP_ESTATE, "waited %llu s for the scheduler at %s:%u",
                             (unsigned long long)j->meeting.timeout_s, j->meeting.host,
                             j->meeting.port);
        }
        mxp__os_sleep_us(20000);
    }
}

// ---- doors -------------------------------------------------------------------------------------
static int fill_address(struct sockaddr_un *address, const char *path)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address->sun_path) {
        return mxp__fail(MXP_EIO, "'%s' is too long for a socket", path);
    }
    strcpy(address->sun_path, path);
    return MXP_OK;
}

// In a folder that is this user's alone.
static int open_door(joining *j)
{
    const char *where = mxp__setting_text("TMPDIR");
    struct sockaddr_un address;
    char folder[MXN_MEETING_PATH];
    int length = snprintf(folder, sizeof folder, "%s/mxnet-XXXXXX", where == NULL ? "/tmp" : where);
    if (length < 0 || (size_t)length + 8 >= sizeof folder || mkdtemp(folder) == NULL) {
        return mxp__fail(MXP_EIO, "no folder for a socket in %s: %s",
                         where == NULL ? "/tmp" : where, strerror(errno));
    }
    strcpy(j->folder, folder);
    memcpy(j->self.path, folder, (size_t)length);
    strcpy(j->self.path + length, "/door");
    int error = fill_address(&address, j->self.path);
    j->door = error == MXP_OK ? socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    if (error == MXP_OK &&
        (j->door < 0 || bind(j->door, (struct sockaddr *)&address, sizeof address) != 0 ||
         listen(j->door, MXN_MEETING_PEERS_MAX) != 0)) {
        error = mxp__fail(MXP_EIO, "%s: %s", j->self.path, strerror(errno));
    }
    return error;
}

static void close_door(joining *j)
{
    if (j->door >= 0) {
        close(j->door);
        unlink(j->self.path);
    }
    if (j->folder[0] != '\0') {
        rmdir(j->folder);
    }
}

// ---- every two ---------------------------------------------------------------------------------
typedef struct greeting {
    unsigned char key[16];
    uint32_t index;
} greeting;

static int connect_to(joining *j, uint32_t peer, uint64_t until_ns)
{
    struct sockaddr_un address;
    greeting hello = {.index = j->answer.index};
    memcpy(hello.key, j->answer.key, sizeof hello.key);
    int error = fill_address(&address, j->arrivals[peer].path);
    if (error != MXP_OK) {
        return error;
    }
    j->fds[peer] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (j->fds[peer] < 0 ||
        connect(j->fds[peer], (struct sockaddr *)&address, sizeof address) != 0 ||
        !mxn__meeting_write(j->fds[peer], &hello, sizeof hello, until_ns)) {
        return mxp__fail(MXP_ESTATE, "process %u of this training ended before all were connected",
                         j->arrivals[peer].pid);
    }
    return MXP_OK;
}

// Whoever does not know the job's key is none of ours. False: the time is over.
static bool accept_one(joining *j, uint64_t until_ns, uint32_t *missing)
{
    greeting hello;
    const int fd = accept(j->door, NULL, NULL);
    if (fd < 0) {
        mxp__os_sleep_us(1000);
        return mxp__os_monotonic_ns() < until_ns;
    }
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    const uint64_t soon_ns = mxp__os_monotonic_ns() + SECOND_NS;
    if (!mxn__meeting_read_bytes(fd, &hello, sizeof hello, soon_ns) ||
        memcmp(hello.key, j->answer.key, sizeof hello.key) != 0 || hello.index >= j->size ||
        hello.index <= j->answer.index || j->fds[hello.index] >= 0) {
        close(fd);
        return true;
    }
    j->fds[hello.index] = fd;
    --*missing;
    return true;
}

static int connect_all(joining *j)
{
    const uint64_t until_ns = mxp__os_monotonic_ns() + j->meeting.timeout_s * SECOND_NS;
    uint32_t missing = j->size - 1 - j->answer.index;
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < j->answer.index; i++) {
        error = connect_to(j, i, until_ns);
    }
    fcntl(j->door, F_SETFL, O_NONBLOCK);
    while (error == MXP_OK && missing > 0) {
        if (!accept_one(j, until_ns, &missing)) {
            error = mxp__fail(MXP_ESTATE, "waited %llu s for %u processes to connect",
                              (unsigned long long)j->meeting.timeout_s, missing);
        }
    }
    return error;
}

static int open_transport(joining *j, mxn_transport **transport)
{
    mxn_peer *peers = mxp__alloc(j->size * sizeof *peers);
    if (peers == NULL) {
        return mxp__fail_memory("a transport");
    }
    for (uint32_t i = 0; i < j->size; i++) {
        const mxn_arriving *of = &j->arrivals[i];
        const bool has_owner = j->meeting.servers == 0 && of->roles == MXN_ROLE_WORKER;
        peers[i] =
            (mxn_peer){.roles = of->roles | (has_owner ? MXN_ROLE_OWNER : 0), .pid = of->pid};
        memcpy(peers[i].host, of->host, sizeof of->host);
        memcpy(peers[i].boot_id, of->boot_id, sizeof of->boot_id);
    }
    mxn__peers_rank(peers, j->size);
    int error = mxn__sockets_open(j->answer.index, j->size, peers, j->fds, transport);
    for (uint32_t i = 0; i < j->size; i++) {
        j->fds[i] = -1;  // the transport's, or closed
    }
    mxp__free(peers, j->size * sizeof *peers);
    return error;
}

static int join(joining *j, mxn_transport **transport)
{
    struct addrinfo *root = NULL;
    int error = find_root(&j->meeting, &root);
    if (error == MXP_OK) {
        error = open_door(j);
        if (error == MXP_OK) {
            error = j->meeting.role == MXN_ROLE_SCHEDULER ? hold(j, root) : attend(j, root);
        }
        freeaddrinfo(root);
    }
    if (error == MXP_OK) {
        error = connect_all(j);
    }
    return error == MXP_OK ? open_transport(j, transport) : error;
}

static int prepare(joining *j)
{
    mxn_peer self;
    mxn__peer_self(&self);
    j->size = j->meeting.workers + j->meeting.servers + 1;
    j->door = -1;
    j->arrivals = mxp__alloc(j->size * sizeof *j->arrivals);
    j->fds = mxp__alloc(j->size * sizeof *j->fds);
    if (j->arrivals == NULL || j->fds == NULL) {
        return mxp__fail_memory("a transport");
    }
    for (uint32_t i = 0; i < j->size; i++) {
        j->fds[i] = -1;
    }
    j->self = (mxn_arriving){.magic = MXN_MEETING_MAGIC,
                             .roles = j->meeting.role,
                             .pid = self.pid,
                             .workers = j->meeting.workers,
                             .servers = j->meeting.servers};
    memcpy(j->self.host, self.host, sizeof self.host);
    memcpy(j->self.boot_id, self.boot_id, sizeof self.boot_id);
    return MXP_OK;
}

int mxn__transport_open_processes(mxn_transport **transport)
{
    joining *j = mxp__alloc(sizeof *j);
    if (j == NULL) {
        return mxp__fail_memory("a transport");
    }
    int error = mxn__meeting_read(&j->meeting);
    if (error == MXP_OK) {
        error = prepare(j);
        if (error == MXP_OK) {
            error = join(j, transport);
        }
        close_door(j);
    }
    for (uint32_t i = 0; j->fds != NULL && i < j->size; i++) {
        if (j->fds[i] >= 0) {
            close(j->fds[i]);
        }
    }
    mxp__free(j->fds, j->size * sizeof *j->fds);
    mxp__free(j->arrivals, j->size * sizeof *j->arrivals);
    mxp__free(j, sizeof *j);
    return error;
}
