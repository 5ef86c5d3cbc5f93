// SPDX-License-Identifier: Apache-2.0
// The POSIX way, with what Linux adds. A new file is made under a temporary name, locked, and moved
// to its own: whoever finds it finds it locked by a living writer, or left by a dead one.
#include "base/os/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "base/strbuf.h"

// ---- opening -----------------------------------------------------------------------------------
bool mxp__mapped_file_is_taken(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return false;
    }
    bool taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return taken;
}

static int fail(const char *path)
{
    return mxp__fail(MXP_EIO, "cannot record into '%s': %s", path, strerror(errno));
}

static int check_path(const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return mxp__fail(MXP_EIO, "cannot record into '%s': it is no regular file", path);
    }
    if (mxp__mapped_file_is_taken(path)) {
        return mxp__fail(MXP_EIO,
                         "cannot record into '%s': another recording is being written there; give "
                         "each process a native_filename of its own",
                         path);
    }
    return MXP_OK;
}

// The lock goes with the open file: children that inherit it hold it too, until they close it.
static int create(mxp_mapped_file *file, const char *path)
{
    file->fd = open(file->temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->fd < 0 || flock(file->fd, LOCK_EX | LOCK_NB) != 0) {
        return fail(path);
    }
    void *base = mmap(NULL, file->limit_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                      file->fd, 0);
    if (base == MAP_FAILED) {
        return fail(path);
    }
    file->base = base;
    return MXP_OK;
}

int mxp__mapped_file_open(mxp_mapped_file *file, const char *path, uint64_t limit_bytes)
{
    *file = (mxp_mapped_file){.fd = -1, .limit_bytes = limit_bytes};
    int error = check_path(path);
    if (error != MXP_OK) {
        return error;
    }
    mxp_strbuf name = {0};
    mxp__strbuf_printf(&name, "%s.%ld.part", path, (long)getpid());
    file->temporary = name.failed ? NULL : mxp__strdup(mxp__strbuf_text(&name));
    mxp__strbuf_fini(&name);
    error = file->temporary == NULL ? mxp__fail_memory("a file name") : create(file, path);
    if (error != MXP_OK) {
        mxp__mapped_file_close(file);
    }
    return error;
}

int mxp__mapped_file_publish(mxp_mapped_file *file, const char *path)
{
    if (rename(file->temporary, path) != 0) {
        return fail(path);
    }
    mxp__strfree(file->temporary);
    file->temporary = NULL;
    return MXP_OK;
}

void mxp__mapped_file_close(mxp_mapped_file *file)
{
    if (file->base != NULL) {
        munmap(file->base, file->limit_bytes);
    }
    if (file->fd >= 0) {
        close(file->fd);
    }
    if (file->temporary != NULL) {
        unlink(file->temporary);
        mxp__strfree(file->temporary);
    }
    *file = (mxp_mapped_file){.fd = -1};
}

// ---- room --------------------------------------------------------------------------------------
// Growing beyond the process's limit would raise SIGXFSZ.
static bool within_file_limit(uint64_t size_bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           size_bytes <= limit.rlim_cur;
}

static int write_zeros(int fd, uint64_t from, uint64_t to)
{
    static char zeros[1 << 16];  // not const: it would take as much of the library's file
    while (from < to) {
        size_t size_bytes = to - from < sizeof zeros ? (size_t)(to - from) : sizeof zeros;
        size_t written = mxp__os_write_at(fd, zeros, size_bytes, from);
        if (written < size_bytes) {
            return errno;
        }
        from += written;
    }
    return 0;
}

// File systems that cannot reserve have zeros take the room.
static int reserve(mxp_mapped_file *file, uint64_t to)
{
    uint64_t from = file->reserved_bytes;
    int error;
    do {
        error = posix_fallocate(file->fd, (off_t)from, (off_t)(to - from));
    } while (error == EINTR);
    if (error == EOPNOTSUPP || error == EINVAL || error == ENOSYS) {
        error = write_zeros(file->fd, from, to);
        file->prepared_bytes = error == 0 ? to : file->prepared_bytes;
    }
    return error;
}

bool mxp__mapped_file_reserve(mxp_mapped_file *file, uint64_t size_bytes)
{
    if (size_bytes <= file->reserved_bytes) {
        return true;
    }
    int saved = errno;
    bool reserved = size_bytes <= file->limit_bytes && within_file_limit(size_bytes) &&
                    reserve(file, size_bytes) == 0;
    if (reserved) {
        __atomic_store_n(&file->reserved_bytes, size_bytes, __ATOMIC_RELAXED);
    }
    errno = saved;
    return reserved;
}

void mxp__mapped_file_prepare(mxp_mapped_file *file, uint64_t from, uint64_t to)
{
    int saved = errno;
    from = from > file->prepared_bytes ? from : file->prepared_bytes;
    if (from < to) {
        (void)write_zeros(file->fd, from, to);
        file->prepared_bytes = to;
    }
    errno = saved;
}

// ---- pages at given addresses ------------------------------------------------------------------
// Moved there whole: whoever uses the address finds the old pages or the new ones, never none.
static bool move(void *made, uint64_t size_bytes, void *pages)
{
    if (made == MAP_FAILED) {
        return false;
    }
    bool moved =
        mremap(made, size_bytes, size_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, pages) == pages;
    if (!moved) {
        munmap(made, size_bytes);
    }
    return moved;
}

bool mxp__mapped_file_place(const mxp_mapped_file *file, void *pages, uint64_t offset,
                            uint64_t size_bytes)
{
    int saved = errno;
    bool placed =
        move(mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, (off_t)offset),
             size_bytes, pages);
    errno = saved;
    return placed;
}

bool mxp__anonymous_place(void *pages, uint64_t size_bytes, const void *content)
{
    int saved = errno;
    void *made = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made != MAP_FAILED) {
        memcpy(made, content, size_bytes);
    }
    bool placed = move(made, size_bytes, pages);
    errno = saved;
    return placed;
}
