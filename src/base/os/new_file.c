// SPDX-License-Identifier: Apache-2.0
#include "base/os/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/os/os.h"
#include "base/strbuf.h"

#if defined(__linux__)
#include <sys/syscall.h>
#endif

enum { TRIES = 64 };

// ---- a new name --------------------------------------------------------------------------------
// The name is short, so that it fits wherever the file's own name fits.
static char *temporary_name(const char *path)
{
    uint64_t number = 0;
    if (getentropy(&number, sizeof number) != 0) {  // early in the boot, or forbidden
        static mxp_atomic_u64 turn;
        number = mxp__os_realtime_ns() ^ (uint64_t)mxp__os_process_id() << 40 ^
                 mxp_atomic_add(&turn, 1) << 20 ^ (uintptr_t)&number;
    }
    const char *slash = strrchr(path, '/');
    mxp_strbuf name = {0};
    mxp__strbuf_append(&name, path, slash == NULL ? 0 : (size_t)(slash + 1 - path));
    mxp__strbuf_printf(&name, ".mxprof-%016" PRIx64 ".tmp", number);
    char *copy = name.failed ? NULL : mxp__strdup(mxp__strbuf_text(&name));
    mxp__strbuf_fini(&name);
    return copy;
}

bool mxp__new_file_plan(mxp_new_file *file, const char *path)
{
    *file = MXP__NEW_FILE_NONE;
    file->temporary = temporary_name(path);
    return file->temporary != NULL;
}

bool mxp__new_file_make(mxp_new_file *file, unsigned mode)
{
    int fd = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                  (mode_t)mode);
    if (fd >= 0 && mxp__descriptor_take(&file->descriptor, fd, file->temporary)) {
        mxp__descriptor_put_away(&file->descriptor);
        return true;
    }
    int reason = errno;
    if (fd >= 0) {
        unlink(file->temporary);
    }
    errno = reason;
    return false;
}

bool mxp__new_file_rename(const mxp_new_file *file, const char *path)
{
    return rename(file->temporary, path) == 0;
}

static bool make(mxp_new_file *file, const char *path, unsigned mode)
{
    if (!mxp__new_file_plan(file, path)) {
        errno = ENOMEM;
        return false;
    }
    if (mxp__new_file_make(file, mode)) {
        return true;
    }
    int reason = errno;
    mxp__strfree(file->temporary);
    *file = MXP__NEW_FILE_NONE;
    errno = reason;
    return false;
}

bool mxp__new_file_open(mxp_new_file *file, const char *path, unsigned mode)
{
    *file = MXP__NEW_FILE_NONE;
    for (int i = 0; i < TRIES; i++) {
        if (make(file, path, mode)) {
            return true;
        }
        if (errno != EEXIST && errno != EBADF) {  // EBADF: the program has just closed it
            return false;
        }
    }
    return false;
}

// ---- publishing --------------------------------------------------------------------------------
static int rename_to_free_name(const char *from, const char *to)
{
#if defined(__linux__) && defined(SYS_renameat2)
    enum { NO_REPLACE = 1 };  // RENAME_NOREPLACE, which not all C libraries name
    int renamed = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, NO_REPLACE);
    if (renamed == 0 || (errno != ENOSYS && errno != EINVAL)) {
        return renamed;
    }
#endif
    int linked = link(from, to);
    if (linked == 0) {
        unlink(from);
    }
    return linked;
}

// Whether the temporary name is still that of the file which was made.
static bool is_there(const mxp_new_file *file)
{
    struct stat status;
    return lstat(file->temporary, &status) == 0 && status.st_dev == file->descriptor.device &&
           status.st_ino == file->descriptor.inode;
}

mxp_published mxp__new_file_publish(mxp_new_file *file, const char *path, mxp_publish how)
{
    if (!is_there(file)) {
        errno = ENOENT;  // another process removed or replaced it
        return MXP__PUBLISHED_FAILED;
    }
    int renamed = how == MXP__PUBLISH_KEEP ? rename_to_free_name(file->temporary, path)
                                           : rename(file->temporary, path);
    if (renamed != 0) {
        bool taken = how == MXP__PUBLISH_KEEP && errno == EEXIST;
        return taken ? MXP__PUBLISHED_TAKEN : MXP__PUBLISHED_FAILED;
    }
    mxp__strfree(file->temporary);
    file->temporary = NULL;
    return MXP__PUBLISHED;
}

static bool close_descriptor(mxp_new_file *file)
{
    mxp_descriptor identity = file->descriptor;
    bool closed = mxp__descriptor_close(&file->descriptor);
    identity.fd = -1;
    file->descriptor = identity;  // rename still checks by it that the name is our file
    return closed;
}

mxp_published mxp__new_file_finish(mxp_new_file *file, const char *path, mxp_publish how)
{
    return close_descriptor(file) ? mxp__new_file_publish(file, path, how) : MXP__PUBLISHED_FAILED;
}

void mxp__new_file_discard(mxp_new_file *file)
{
    int saved = errno;
    (void)close_descriptor(file);
    if (file->temporary != NULL && is_there(file)) {
        unlink(file->temporary);
    }
    mxp__strfree(file->temporary);
    *file = MXP__NEW_FILE_NONE;
    errno = saved;
}
