// SPDX-License-Identifier: Apache-2.0
// Getting at the bytes of a file. A regular file is copied, a file into which a living process
// records as it was at one time. A large file is mapped where it may be, so that a trace larger
// than memory can be read. A pipe is read to its end into a growing block.
//
// Reading a mapped file that was truncated raises SIGBUS. Our own writers therefore truncate a file
// only while no other process holds its lock (flock). A mapping holds the lock as long as it lasts,
// like an open file.
#include "profiler/trace/file/file_bytes.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <mxprof/error.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "profiler/trace/file/live_copy.h"
#include "profiler/trace/file/private_pages.h"
#include "profiler/trace/file/section_check.h"

enum { READ_BYTES = 1 << 16, ALIGN_BYTES = 16 };

// How much of a mapping is read before its memory is given back. Several times as much is resident:
// the system maps whole neighbourhoods of the pages that are read.
uint64_t mxp__file_bytes_resident = (uint64_t)16 << 20;

// Up to this size a file is always copied. Of larger ones that takes as long as a quarter of
// converting them.
static const size_t copied_bytes = (size_t)1 << 20;

bool mxp__file_bytes_may_map;

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
    *bytes = (mxp_file_bytes){
        .data = (const uint8_t *)block, .size_bytes = size_bytes, .owned_bytes = capacity};
    return MXP_OK;
}

// ---- regular files -----------------------------------------------------------------------------
size_t mxp__file_read_at(int fd, void *to, size_t size_bytes, uint64_t offset)
{
    size_t done = 0;
    while (done < size_bytes) {
        ssize_t got = pread(fd, (char *)to + done, size_bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        done += (size_t)got;
    }
    return done;
}

static bool is_written_through_memory(int fd)
{
    mxp_file_header header;
    return mxp__file_read_at(fd, &header, sizeof header, 0) == sizeof header &&
           mxp__is_file_header(&header, sizeof header) && (header.flags & MXP_FILE_MAPPED) != 0;
}

static bool map_file(int fd, size_t size_bytes, mxp_file_bytes *bytes)
{
    void *data = mmap(NULL, size_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        return false;
    }
    madvise(data, size_bytes, MADV_DONTFORK);  // a child would hold the lock
    *bytes = (mxp_file_bytes){
        .data = data, .size_bytes = size_bytes, .page_bytes = size_bytes, .in_file = true};
    return true;
}

static int copy_file(int fd, size_t size_bytes, mxp_file_bytes *bytes)
{
    bool in_file;
    void *data = mxp__private_pages(size_bytes, &in_file);
    if (data == NULL) {
        return mxp__fail_memory("reading a native trace");
    }
    *bytes = (mxp_file_bytes){.data = data,
                              .size_bytes = mxp__private_fill(data, size_bytes, in_file, fd),
                              .page_bytes = size_bytes,
                              .in_file = in_file};
    return MXP_OK;
}

// A process that records into a file holds its lock. Without file locks the answer is no.
static int open_regular(int fd, size_t size_bytes, mxp_file_bytes *bytes)
{
    bool locked = flock(fd, LOCK_SH | LOCK_NB) == 0;
    bool is_refused = !locked && errno == EWOULDBLOCK;
    if (!locked && is_written_through_memory(fd)) {
        int error = mxp__live_copy(fd, bytes);
        bytes->is_recording = bytes->is_recording && is_refused;
        return error;
    }
    bool maps = locked && mxp__file_bytes_may_map && size_bytes > copied_bytes;
    return maps && map_file(fd, size_bytes, bytes) ? MXP_OK : copy_file(fd, size_bytes, bytes);
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
    return S_ISREG(status.st_mode) && status.st_size > 0
               ? open_regular(fd, (size_t)status.st_size, bytes)
               : read_stream(fd, path, least_bytes, accept, bytes);
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
    if (error != MXP_OK) {
        mxp__file_bytes_close(bytes);
    }
    close(fd);
    assert((uintptr_t)bytes->data % ALIGN_BYTES == 0);
    return error;
}

int mxp__file_bytes_given(const void *data, size_t size_bytes, mxp_file_bytes *bytes)
{
    *bytes = (mxp_file_bytes){.data = data, .size_bytes = size_bytes};
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

void mxp__file_bytes_give_back(const mxp_file_bytes *bytes)
{
    if (bytes->in_file) {
        madvise((void *)(uintptr_t)bytes->data, bytes->page_bytes, MADV_DONTNEED);
    }
}

void mxp__file_bytes_touch(mxp_file_bytes *bytes, uint64_t size_bytes)
{
    bytes = bytes->lender != NULL ? bytes->lender : bytes;
    if (!bytes->in_file || bytes->size_bytes <= mxp__file_bytes_resident) {
        return;
    }
    uint64_t sum = mxp_atomic_add(&bytes->touched_bytes, size_bytes) + size_bytes;
    if (sum >= mxp__file_bytes_resident && mxp_atomic_cas(&bytes->touched_bytes, &sum, 0)) {
        mxp__file_bytes_give_back(bytes);
    }
}

void mxp__file_bytes_close(mxp_file_bytes *bytes)
{
    assert((bytes->page_bytes == 0 || bytes->owned_bytes == 0) && "bytes have two owners");
    assert(bytes->page_bytes == 0 || bytes->size_bytes <= bytes->page_bytes);
    if (bytes->page_bytes != 0) {
        munmap((void *)(uintptr_t)bytes->data, bytes->page_bytes);
    } else if (bytes->owned_bytes != 0) {
        mxp__free((void *)(uintptr_t)bytes->data, bytes->owned_bytes);
    }
    *bytes = (mxp_file_bytes){0};
}
