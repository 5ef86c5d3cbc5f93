// SPDX-License-Identifier: Apache-2.0
// Getting at the bytes of a file. A regular file is mapped, so that a trace larger than memory can
// be read; a pipe is read to its end into a growing block. A mapped file must not be shortened
// while it is open: the system then answers reads with SIGBUS. Our own writer never shortens what
// was complete.
#include "trace/file_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <mxprof/error.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { READ_BYTES = 1 << 16, ALIGN_BYTES = 16 };

// How much of a mapping is read before its memory is given back. Up to twice as much is resident:
// the system maps whole neighbourhoods of the pages that are read.
static const uint64_t resident_bytes = (uint64_t)32 << 20;

static int fail_read(const char *path, int number)
{
    return mxp__fail(MXP_EIO, "cannot read '%s': %s", path, strerror(number));
}

// Reads to the end, or until `accept` says no. `*block` is the caller's in every case.
static int read_all(int fd, const char *path, size_t least_bytes,
                    int (*accept)(const void *data, size_t size_bytes), char **block,
                    size_t *capacity, size_t *size_bytes)
{
    bool accepted = false;
    for (;;) {
        if (mxp__grow(block, capacity, *size_bytes + READ_BYTES, 1) != MXP_OK) {
            return mxp__fail_memory("reading a native trace");
        }
        ssize_t got = read(fd, *block + *size_bytes, READ_BYTES);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return fail_read(path, errno);
        }
        *size_bytes += (size_t)got;
        if (!accepted && (got == 0 || *size_bytes >= least_bytes)) {
            int error = accept(*block, *size_bytes);
            if (error != MXP_OK) {
                return error;
            }
            accepted = true;
        }
        if (got == 0) {
            return MXP_OK;
        }
    }
}

static int read_stream(int fd, const char *path, size_t least_bytes,
                       int (*accept)(const void *data, size_t size_bytes), mxp_file_bytes *bytes)
{
    char *block = NULL;
    size_t capacity = 0, size_bytes = 0;
    int error = read_all(fd, path, least_bytes, accept, &block, &capacity, &size_bytes);
    if (error != MXP_OK) {
        mxp__free(block, capacity);
        return error;
    }
    *bytes = (mxp_file_bytes){(const uint8_t *)block, size_bytes, capacity, false, 0};
    return MXP_OK;
}

static int open_descriptor(int fd, const char *path, size_t least_bytes,
                           int (*accept)(const void *data, size_t size_bytes),
                           mxp_file_bytes *bytes)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        return fail_read(path, errno);
    }
    if (S_ISDIR(status.st_mode)) {
        return mxp__fail(MXP_EIO, "cannot read '%s': it is a directory; name a file in it", path);
    }
    if (S_ISREG(status.st_mode) && status.st_size > 0) {
        void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data != MAP_FAILED) {
            *bytes = (mxp_file_bytes){data, (size_t)status.st_size, 0, true, 0};
            return MXP_OK;
        }
    }
    return read_stream(fd, path, least_bytes, accept, bytes);
}

int mxp__file_bytes_open(const char *path, size_t least_bytes,
                         int (*accept)(const void *data, size_t size_bytes), mxp_file_bytes *bytes)
{
    *bytes = (mxp_file_bytes){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return fail_read(path, errno);
    }
    int error = open_descriptor(fd, path, least_bytes, accept, bytes);
    close(fd);
    return error;
}

int mxp__file_bytes_given(const void *data, size_t size_bytes, mxp_file_bytes *bytes)
{
    *bytes = (mxp_file_bytes){data, size_bytes, 0, false, 0};
    if ((uintptr_t)data % ALIGN_BYTES == 0 || size_bytes == 0) {
        return MXP_OK;
    }
    void *copy = mxp__alloc(size_bytes);
    if (copy == NULL) {
        return mxp__fail_memory("reading a native trace");
    }
    memcpy(copy, data, size_bytes);
    bytes->data = copy;
    bytes->owned_bytes = size_bytes;
    return MXP_OK;
}

void mxp__file_bytes_touch(mxp_file_bytes *bytes, uint64_t size_bytes)
{
    if (!bytes->mapped || bytes->size_bytes <= resident_bytes) {
        return;
    }
    uint64_t sum = __atomic_add_fetch(&bytes->touched_bytes, size_bytes, __ATOMIC_RELAXED);
    if (sum >= resident_bytes && __atomic_compare_exchange_n(&bytes->touched_bytes, &sum, 0, false,
                                                             __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        madvise((void *)(uintptr_t)bytes->data, bytes->size_bytes, MADV_DONTNEED);
    }
}

void mxp__file_bytes_close(mxp_file_bytes *bytes)
{
    if (bytes->mapped) {
        munmap((void *)(uintptr_t)bytes->data, bytes->size_bytes);
    } else if (bytes->owned_bytes != 0) {
        mxp__free((void *)(uintptr_t)bytes->data, bytes->owned_bytes);
    }
    *bytes = (mxp_file_bytes){0};
}
