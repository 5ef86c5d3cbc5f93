// SPDX-License-Identifier: Apache-2.0
#include "base/os/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/os.h"

// Above the numbers of programs that close all small ones or expect the lowest free one.
enum {
    PUT_AWAY_FROM = 200,
    LOST_TRIES = 100,
    TRUNCATE_TRIES = 1000,
    TRUNCATE_WAIT_US = 1000,
};

static bool look(int fd, mxp_descriptor *seen)
{
    struct stat status;
    int flags = fd >= 0 ? fcntl(fd, F_GETFL) : -1;
    if (flags < 0 || fstat(fd, &status) != 0) {
        return false;
    }
    *seen = (mxp_descriptor){fd, flags & O_ACCMODE, status.st_dev, status.st_ino};
    return true;
}

static bool is_same(const mxp_descriptor *a, const mxp_descriptor *b)
{
    return a->device == b->device && a->inode == b->inode && a->access == b->access;
}

static bool is_at(const mxp_descriptor *descriptor, const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && descriptor->device == status.st_dev &&
           descriptor->inode == status.st_ino;
}

// If the number is now another file's, that file stays open.
bool mxp__descriptor_take(mxp_descriptor *descriptor, int fd, const char *path)
{
    mxp_descriptor seen;
    *descriptor = MXP__DESCRIPTOR_NONE;
    if (!look(fd, &seen)) {
        return false;
    }
    if (!is_at(&seen, path)) {
        errno = EBADF;
        return false;
    }
    *descriptor = seen;
    return true;
}

bool mxp__descriptor_open(mxp_descriptor *descriptor, const char *path, int flags)
{
    *descriptor = MXP__DESCRIPTOR_NONE;
    bool taken = false, lost = true;
    for (int i = 0; i < LOST_TRIES && !taken && lost; i++) {
        int fd = open(path, flags);
        taken = fd >= 0 && mxp__descriptor_take(descriptor, fd, path);
        lost = fd >= 0 && errno == EBADF;
    }
    if (taken) {
        mxp__descriptor_put_away(descriptor);
    }
    return taken;
}

void mxp__descriptor_put_away(mxp_descriptor *descriptor)
{
    int saved = errno;
    mxp_descriptor away = *descriptor;
    away.fd = fcntl(descriptor->fd, F_DUPFD_CLOEXEC, PUT_AWAY_FROM);
    if (away.fd >= 0 && mxp__descriptor_is_ours(&away)) {
        (void)mxp__descriptor_close(descriptor);
        *descriptor = away;
    } else if (away.fd >= 0) {
        close(away.fd);
    }
    errno = saved;
}

bool mxp__descriptor_is_ours(const mxp_descriptor *descriptor)
{
    int saved = errno;
    mxp_descriptor seen;
    bool ours = look(descriptor->fd, &seen) && is_same(descriptor, &seen);
    errno = saved;
    return ours;
}

bool mxp__descriptor_open_again(mxp_descriptor *descriptor, const char *path)
{
    int saved = errno;
    mxp_descriptor again;
    int flags = descriptor->access | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    bool opened = mxp__descriptor_open(&again, path, flags) && is_same(descriptor, &again);
    if (opened) {
        *descriptor = again;
    } else {
        (void)mxp__descriptor_close(&again);
    }
    errno = saved;
    return opened;
}

bool mxp__descriptor_take_stream(mxp_descriptor *descriptor, const char *path)
{
    return mxp__descriptor_open(descriptor, path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

// ---- writing -----------------------------------------------------------------------------------
// Sets errno to EBADF if the number is no longer ours, as if it were closed.
static bool check(const mxp_descriptor *to)
{
    bool ours = mxp__descriptor_is_ours(to);
    errno = ours ? errno : EBADF;
    return ours;
}

size_t mxp__descriptor_write(const mxp_descriptor *to, const void *data, size_t size_bytes)
{
    return check(to) ? mxp__os_write(to->fd, data, size_bytes) : 0;
}

size_t mxp__descriptor_write_at(const mxp_descriptor *to, const void *data, size_t size_bytes,
                                uint64_t offset)
{
    return check(to) ? mxp__os_write_at(to->fd, data, size_bytes, offset) : 0;
}

static bool have_again(mxp_descriptor *to, const char *path, int *tries)
{
    return errno == EBADF && (*tries)++ < LOST_TRIES && mxp__descriptor_open_again(to, path);
}

size_t mxp__descriptor_put(mxp_descriptor *to, const char *path, const void *data,
                           size_t size_bytes)
{
    int tries = 0;
    size_t done = mxp__descriptor_write(to, data, size_bytes);
    while (done < size_bytes && have_again(to, path, &tries)) {
        done += mxp__descriptor_write(to, (const char *)data + done, size_bytes - done);
    }
    return done;
}

size_t mxp__descriptor_put_at(mxp_descriptor *to, const char *path, const void *data,
                              size_t size_bytes, uint64_t offset)
{
    int tries = 0;
    size_t done = mxp__descriptor_write_at(to, data, size_bytes, offset);
    while (done < size_bytes && have_again(to, path, &tries)) {
        done += mxp__descriptor_write_at(to, (const char *)data + done, size_bytes - done,
                                         offset + done);
    }
    return done;
}

// A file system without locks counts as locked: no reader can hold one there.
static bool lock_alone(int fd)
{
    for (int i = 0; i < TRUNCATE_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
            return true;
        }
        mxp__os_sleep_us(TRUNCATE_WAIT_US);
    }
    errno = EWOULDBLOCK;
    return false;
}

bool mxp__descriptor_truncate(const mxp_descriptor *to, uint64_t size_bytes)
{
    return check(to) && lock_alone(to->fd) && check(to) &&
           ftruncate(to->fd, (off_t)size_bytes) == 0;
}

const char *mxp__descriptor_reason(void)
{
    switch (errno) {
    case EBADF:
        return "its descriptor was closed by the program";
    case ENXIO:
        return "nobody reads";
    case EWOULDBLOCK:
        return "somebody reads it and would lose its end";
    case ETIMEDOUT:
        return "its reader reads no more";
    default:
        return strerror(errno);
    }
}

bool mxp__descriptor_close(mxp_descriptor *descriptor)
{
    bool closed =
        !mxp__descriptor_is_ours(descriptor) || close(descriptor->fd) == 0 || errno == EBADF;
    *descriptor = MXP__DESCRIPTOR_NONE;
    return closed;
}
