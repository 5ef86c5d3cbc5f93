// SPDX-License-Identifier: Apache-2.0
// Preloaded by tests: each connection carries MXPROF_TEST_LINK bytes a second in each direction, as
// over a slow network. What is more than that is not taken now (EAGAIN), so the process goes on.
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 1024, BURST_BYTES = 32768, LONG = 4096 };

// Of each connection when the next byte may go; one thread writes to one connection.
static long long free_ns[CONNECTIONS];

static long long now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (long long)time.tv_sec * 1000000000 + time.tv_nsec;
}

static size_t length_of(const struct msghdr *message)
{
    size_t bytes = 0;
    for (size_t i = 0; i < message->msg_iovlen; i++) {
        bytes += message->msg_iov[i].iov_len;
    }
    return bytes;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    static long long bytes_per_s;
    if (bytes_per_s == 0) {
        const char *given = getenv("MXPROF_TEST_LINK");
        bytes_per_s = given != NULL ? atoll(given) : -1;
    }
    if (bytes_per_s <= 0 || fd < 0 || fd >= CONNECTIONS || length_of(message) < LONG) {
        return syscall(SYS_sendmsg, fd, message, flags);
    }
    const long long begin_ns = now_ns();
    const long long burst_ns = BURST_BYTES * 1000000000LL / bytes_per_s;
    if (free_ns[fd] > begin_ns) {
        const struct timespec pause = {0, burst_ns / 4};
        nanosleep(&pause, NULL);  // nobody is asked again at once
        errno = EAGAIN;
        return -1;
    }
    // At most a burst of what comes next.
    struct iovec pieces[16];
    struct msghdr part = *message;
    size_t left = BURST_BYTES;
    part.msg_iov = pieces;
    part.msg_iovlen = 0;
    for (size_t i = 0; i < message->msg_iovlen && i < 16 && left > 0; i++) {
        pieces[i] = message->msg_iov[i];
        pieces[i].iov_len = pieces[i].iov_len < left ? pieces[i].iov_len : left;
        left -= pieces[i].iov_len;
        part.msg_iovlen++;
    }
    const ssize_t sent = syscall(SYS_sendmsg, fd, &part, flags);
    if (sent > 0) {
        // What was not used of the last two bursts is made up for: a sleep is never exact.
        const long long from_ns = free_ns[fd] > begin_ns - 2 * burst_ns ? free_ns[fd] : begin_ns;
        free_ns[fd] = from_ns + (long long)sent * 1000000000LL / bytes_per_s;
    }
    return sent;
}
