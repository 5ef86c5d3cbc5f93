// SPDX-License-Identifier: Apache-2.0
// Sockets of IPv4: what listens is bound to one address, never to all.
#include "runtime/kvstore/liveness_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"
#include "runtime/kvstore/own_address.h"

enum { CONNECT_MS = 10000, BACKLOG = 1024 };

static void be_prompt(int fd)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

int mxn__live_listen(bool one_host, mxn_live_address *address, int *fd)
{
    int error = mxn__own_address(one_host, &address->ip);
    if (error != MXP_OK) {
        return error;
    }
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = address->ip};
    socklen_t size = sizeof place;
    int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0 || bind(made, (struct sockaddr *)&place, sizeof place) != 0 ||
        listen(made, BACKLOG) != 0 || getsockname(made, (struct sockaddr *)&place, &size) != 0) {
        error = mxp__fail(MXP_EIO, "a socket to watch the processes cannot listen: %s",
                          strerror(errno));
        if (made >= 0) {
            close(made);
        }
        return error;
    }
    address->port = place.sin_port;
    *fd = made;
    return MXP_OK;
}

// 0, or the system's error number.
static int try_connect(int fd, const struct sockaddr_in *place)
{
    if (connect(fd, (const struct sockaddr *)place, sizeof *place) == 0) {
        return 0;
    }
    if (errno != EINPROGRESS) {
        return errno;
    }
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof error;
    int count;
    do {
        count = poll(&ready, 1, CONNECT_MS);
    } while (count < 0 && errno == EINTR);
    if (count <= 0) {
        return count == 0 ? ETIMEDOUT : errno;
    }
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

int mxn__live_connect(const mxn_live_address *address, int *fd)
{
    struct sockaddr_in place = {
        .sin_family = AF_INET, .sin_addr.s_addr = address->ip, .sin_port = address->port};
    int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = made < 0 ? errno : try_connect(made, &place);
    if (error != 0) {
        char ip[INET_ADDRSTRLEN];
        if (made >= 0) {
            close(made);
        }
        return mxp__fail(
            MXP_EIO,
            "worker 0 on %s is not reached at %s:%u: %s (DMLC_INTERFACE on its machine "
            "chooses another address)",
            address->head.host, inet_ntop(AF_INET, &place.sin_addr, ip, sizeof ip),
            ntohs(address->port), strerror(error));
    }
    be_prompt(made);
    *fd = made;
    return MXP_OK;
}

int mxn__live_make_key(uint8_t key[16])
{
    if (getentropy(key, 16) != 0) {
        return mxp__fail(MXP_EIO, "the system gives no random key: %s", strerror(errno));
    }
    return MXP_OK;
}
