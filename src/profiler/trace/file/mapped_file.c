// SPDX-License-Identifier: Apache-2.0
// The POSIX way, with what Linux adds. A new file is made under a temporary name, locked, and moved
// to its own: whoever finds it finds it locked by a living writer, or left by a dead one.
#include "profiler/trace/file/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/os/file_signals.h"
#include "base/strbuf.h"

// ---- opening -----------------------------------------------------------------------------------
// A shared lock is enough to ask: two that ask at once do not take each other for a writer.
bool mxp__mapped_file_is_taken(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        return false;
    }
    bool taken = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return taken;
}

static int fail(const char *path)
{
    return mxp__fail(MXP_EIO, "cannot record into '%s': %s", path, strerror(errno));
}

static bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static int check_path(const char *path)
{
    if (is_special(path)) {
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
static bool map(mxp_mapped_file *file)
{
    int fd = file->made.descriptor.fd;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        return false;
    }
    void *base =
        mmap(NULL, file->limit_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    file->base = base != MAP_FAILED ? base : NULL;
    return file->base != NULL;
}

static int create(mxp_mapped_file *file, const char *path)
{
    return mxp__new_file_open(&file->made, path, 0666) && map(file) ? MXP_OK : fail(path);
}

// The program may change its working directory.
static char *absolute_path(const char *path)
{
    char *folder = path[0] == '/' ? NULL : getcwd(NULL, 0);
    mxp_strbuf name = {0};
    mxp__strbuf_printf(&name, "%s%s%s", folder != NULL ? folder : "", folder != NULL ? "/" : "",
                       path);
    char *copy = name.failed ? NULL : mxp__strdup(mxp__strbuf_text(&name));
    mxp__strbuf_fini(&name);
    free(folder);
    return copy;
}

int mxp__mapped_file_open(mxp_mapped_file *file, const char *path, uint64_t limit_bytes)
{
    *file = (mxp_mapped_file){.made = MXP__NEW_FILE_NONE, .limit_bytes = limit_bytes};
    int error = check_path(path);
    if (error != MXP_OK) {
        return error;
    }
    file->path = absolute_path(path);
    error = file->path == NULL ? mxp__fail_memory("a file name") : create(file, path);
    if (error != MXP_OK) {
        mxp__mapped_file_close(file);
    }
    return error;
}

int mxp__mapped_file_plan(mxp_mapped_file *file, const char *path, uint64_t limit_bytes)
{
    *file = (mxp_mapped_file){.made = MXP__NEW_FILE_NONE, .limit_bytes = limit_bytes};
    int error = check_path(path);
    if (error != MXP_OK) {
        return error;
    }
    file->path = absolute_path(path);
    return file->path != NULL && mxp__new_file_plan(&file->made, file->path)
               ? MXP_OK
               : mxp__fail_memory("the recording file");
}

// Another process may have begun to record there since the plan.
bool mxp__mapped_file_make(mxp_mapped_file *file)
{
    return !is_special(file->path) && !mxp__mapped_file_is_taken(file->path) &&
           mxp__new_file_make(&file->made, 0666) && map(file);
}

bool mxp__mapped_file_publish_made(mxp_mapped_file *file)
{
    return mxp__new_file_rename(&file->made, file->path);
}

int mxp__mapped_file_publish(mxp_mapped_file *file)
{
    return mxp__new_file_publish(&file->made, file->path, MXP__PUBLISH_REPLACE) == MXP__PUBLISHED
               ? MXP_OK
               : fail(file->path);
}

void mxp__mapped_file_close(mxp_mapped_file *file)
{
    if (file->base != NULL) {
        munmap(file->base, file->limit_bytes);
    }
    mxp__new_file_discard(&file->made);
    mxp__strfree(file->path);
    *file = (mxp_mapped_file){.made = MXP__NEW_FILE_NONE};
}

// A mapping keeps the open file that it was made from, and with it the lock, which nobody could
// take back any more: so all is mapped from the new one. Until blocks of threads have left their
// pages, or a reader its shared lock, the lock is not to be had; it is tried again at each use.
static bool open_again(mxp_mapped_file *file)
{
    if (!mxp__descriptor_open_again(&file->made.descriptor, file->path)) {
        return false;
    }
    (void)mmap(file->base, file->limit_bytes, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file->made.descriptor.fd, 0);
    file->unlocked = true;
    return true;
}

bool mxp__mapped_file_has_descriptor(mxp_mapped_file *file)
{
    int saved = errno;
    const mxp_descriptor *descriptor = &file->made.descriptor;
    bool has = file->path != NULL && (mxp__descriptor_is_ours(descriptor) || open_again(file));
    if (has && file->unlocked) {
        file->unlocked = flock(descriptor->fd, LOCK_EX | LOCK_NB) != 0;
    }
    errno = saved;
    return has;
}

mxp_descriptor mxp__mapped_file_give_descriptor(mxp_mapped_file *file)
{
    mxp_descriptor given =
        mxp__mapped_file_has_descriptor(file) ? file->made.descriptor : MXP__DESCRIPTOR_NONE;
    file->made.descriptor = MXP__DESCRIPTOR_NONE;
    return given;
}

void mxp__mapped_file_unlock(mxp_descriptor *given)
{
    if (mxp__descriptor_is_ours(given)) {
        flock(given->fd, LOCK_UN);
    }
    (void)mxp__descriptor_close(given);
}

// ---- space -------------------------------------------------------------------------------------
// Growing beyond the process's limit would raise SIGXFSZ.
static bool within_file_limit(uint64_t size_bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           size_bytes <= limit.rlim_cur;
}

// To write to it, or to make it longer. A file that another program has shortened stays as it is:
// growing it again would bring its pages back as zeros, without an error.
static bool may_write(mxp_mapped_file *file)
{
    struct stat status;
    return mxp__mapped_file_has_descriptor(file) && fstat(file->made.descriptor.fd, &status) == 0 &&
           (uint64_t)status.st_size >= mxp_atomic_own(&file->reserved_bytes);
}

static int write_zeros(mxp_mapped_file *file, uint64_t from, uint64_t to)
{
    static char zeros[1 << 16];  // not const: it would take as much of the library's file
    while (from < to) {
        size_t size_bytes = to - from < sizeof zeros ? (size_t)(to - from) : sizeof zeros;
        errno = EBADF;
        if (!may_write(file) || mxp__descriptor_write_at(&file->made.descriptor, zeros, size_bytes,
                                                         from) < size_bytes) {
            return errno;
        }
        from += size_bytes;
    }
    return 0;
}

// File systems that cannot reserve have zeros take the space.
static int reserve(mxp_mapped_file *file, uint64_t to)
{
    uint64_t from = mxp_atomic_own(&file->reserved_bytes);
    int error;
    do {
        if (!may_write(file)) {
            return EBADF;
        }
        error = posix_fallocate(file->made.descriptor.fd, (off_t)from, (off_t)(to - from));
    } while (error == EINTR);
    if (error == EOPNOTSUPP || error == EINVAL || error == ENOSYS) {
        error = write_zeros(file, from, to);
        if (error == 0) {
            mxp_atomic_store_release(&file->prepared_bytes, to);
        }
    }
    return error;
}

bool mxp__mapped_file_reserve(mxp_mapped_file *file, uint64_t size_bytes)
{
    if (size_bytes <= mxp_atomic_own(&file->reserved_bytes)) {
        return true;
    }
    int saved = errno, error = 0;
    const bool is_within = size_bytes <= file->limit_bytes;
    mxp_file_signals held;
    mxp__file_signals_hold(&held);
    if (is_within) {
        error = within_file_limit(size_bytes) ? reserve(file, size_bytes) : EFBIG;
    }
    mxp__file_signals_release(&held);
    mxp_atomic_store(&file->refusal, (uint32_t)error);
    const bool reserved = is_within && error == 0;
    if (reserved) {
        mxp_atomic_store_release(&file->reserved_bytes, size_bytes);
    }
    errno = saved;
    return reserved;
}

void mxp__mapped_file_prepare(mxp_mapped_file *file, uint64_t from, uint64_t to)
{
    int saved = errno;
    from =
        from > mxp_atomic_own(&file->prepared_bytes) ? from : mxp_atomic_own(&file->prepared_bytes);
    if (from < to) {
        mxp_file_signals held;
        mxp__file_signals_hold(&held);  // the limit may have been lowered since
        (void)write_zeros(file, from, to);
        mxp__file_signals_release(&held);
        mxp_atomic_store_release(&file->prepared_bytes, to);
    }
    errno = saved;
}

// ---- pages at given addresses ------------------------------------------------------------------
bool mxp__pages_move(void *made, uint64_t size_bytes, void *to)
{
    if (made == MAP_FAILED) {
        return false;
    }
    bool moved = mremap(made, size_bytes, size_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to;
    if (!moved) {
        munmap(made, size_bytes);
    }
    return moved;
}

// Linux maps pages of a mapping a second time without a descriptor, if their old length is said to
// be none. Checkers that run programs on a CPU of their own may not.
static bool map_again(const mxp_mapped_file *file, void *pages, uint64_t offset,
                      uint64_t size_bytes)
{
    const int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    return mremap(file->base + offset, 0, size_bytes, flags, pages) == pages;
}

bool mxp__mapped_file_place(const mxp_mapped_file *file, void *pages, uint64_t offset,
                            uint64_t size_bytes)
{
    int saved = errno;
    const mxp_descriptor *descriptor = &file->made.descriptor;
    bool placed = map_again(file, pages, offset, size_bytes) ||
                  (mxp__descriptor_is_ours(descriptor) &&
                   mxp__pages_move(mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                        descriptor->fd, (off_t)offset),
                                   size_bytes, pages));
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
    bool placed = mxp__pages_move(made, size_bytes, pages);
    errno = saved;
    return placed;
}
