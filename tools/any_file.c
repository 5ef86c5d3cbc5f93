// SPDX-License-Identifier: Apache-2.0
// See any_file.h. The first bytes tell what a file is.
#include "any_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/os/temporary_file.h"
#include "compression/packed_file.h"
#include "image/recorder_image.h"
#include "process_files.h"

bool mxp__is_standard_input(const char *path)
{
    return strcmp(path, "-") == 0;
}

bool mxp__is_process(const char *path, long *pid)
{
    struct stat status;
    char *end;
    errno = 0;
    *pid = strtol(path, &end, 10);
    bool is_number = end != path && *end == '\0' && *pid > 0 && *pid <= INT_MAX && errno == 0;
    return is_number && path[0] >= '0' && path[0] <= '9' && stat(path, &status) != 0;
}

// The first bytes of a file, which stay there for the next reader: those of a pipe are doubled into
// another one first. 0: it is neither, or has none.
static size_t peek(int fd, const struct stat *status, void *to, size_t size_bytes)
{
    int copy[2];
    ssize_t got = -1;
    if (S_ISREG(status->st_mode)) {
        got = pread(fd, to, size_bytes, 0);
    } else if (S_ISFIFO(status->st_mode) && pipe2(copy, O_CLOEXEC) == 0) {
        got = tee(fd, copy[1], size_bytes, 0);
        got = got > 0 ? read(copy[0], to, size_bytes) : got;
        close(copy[0]);
        close(copy[1]);
    }
    return got > 0 ? (size_t)got : 0;
}

// Native, compressed or not.
static bool is_own(const char *first, size_t count)
{
    const size_t magic_bytes = strlen(MXP_FILE_MAGIC);
    return memcmp(first, MXP_FILE_MAGIC, count < magic_bytes ? count : magic_bytes) == 0;
}

// ---- a file by its name ------------------------------------------------------------------------
// The error of a file that the user calls by another name.
static int fail_by_name(int error, const char *path, const char *shown)
{
    const char *text = mxp_last_error();
    const char *at = strstr(text, path);
    if (path == shown || at == NULL) {
        return error;
    }
    return mxp__fail(error, "%.*s%s%s", (int)(at - text), text,
                     mxp__is_standard_input(shown) ? "standard input" : shown, at + strlen(path));
}

static int open_named(const char *path, const char *shown, const mxp_import_options *options,
                      mxp_any_file *file)
{
    struct stat status;
    char first[64];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    bool is_open = fd >= 0 && fstat(fd, &status) == 0;
    size_t count = is_open ? peek(fd, &status, first, sizeof first) : 0;
    int error;
    file->size_bytes = is_open && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    if (count > 0 && mxp__import_is_json(first, count)) {
        error = mxp__import_open(fd, shown, options, &file->source, &file->damage, &file->notes);
        file->is_imported = true;
    } else if (mxp__core_is_one(first, count)) {
        error = mxp__core_open(fd, shown, &file->source, &file->damage);
    } else if (count > 0 && !is_own(first, count)) {
        error = mxp__fail(MXP_EFORMAT,
                          "cannot read '%s': no mxprof native trace (these end in .mxp and are "
                          "written at dump), and no trace as JSON",
                          shown);
    } else {
        error = mxp__packed_open(path, &file->source, &file->damage);
    }
    if (fd >= 0) {
        close(fd);
    }
    return error == MXP_OK ? MXP_OK : fail_by_name(error, path, shown);
}

// ---- standard input ----------------------------------------------------------------------------
static int copy_all(int to, const char *path)
{
    char buffer[1 << 16];
    ssize_t got;
    while ((got = read(STDIN_FILENO, buffer, sizeof buffer)) != 0) {
        ssize_t done = 0, put = 0;
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return mxp__fail(MXP_EIO, "cannot read standard input: %s", strerror(errno));
        }
        while (done < got && put >= 0) {
            put = write(to, buffer + done, (size_t)(got - done));
            done += put > 0 ? put : 0;
            put = put < 0 && errno == EINTR ? 0 : put;
        }
        if (put < 0) {
            return mxp__fail(MXP_EIO, "cannot copy standard input into '%s': %s", path,
                             strerror(errno));
        }
    }
    return MXP_OK;
}

static int open_spooled(const mxp_import_options *options, mxp_any_file *file)
{
    mxp_strbuf name = {0};
    int fd = mxp__temporary_file_make(&name);
    if (fd < 0) {
        int failed = mxp__fail(MXP_EIO, "cannot create '%s' for standard input: %s",
                               mxp__strbuf_text(&name), strerror(errno));
        mxp__strbuf_fini(&name);
        return failed;
    }
    int error = copy_all(fd, mxp__strbuf_text(&name));
    if (error == MXP_OK) {
        error = open_named(mxp__strbuf_text(&name), "-", options, file);
    }
    close(fd);
    unlink(mxp__strbuf_text(&name));
    mxp__strbuf_fini(&name);
    return error;
}

// A regular file is read where it is; whatever has been read of it before is read again.
static int open_standard_input(const mxp_import_options *options, mxp_any_file *file)
{
    struct stat status;
    if (fstat(STDIN_FILENO, &status) != 0) {
        return mxp__fail(MXP_EIO, "cannot read standard input: %s", strerror(errno));
    }
    if (isatty(STDIN_FILENO) || S_ISDIR(status.st_mode)) {
        return mxp__fail(MXP_EIO, "standard input is a %s and no trace",
                         S_ISDIR(status.st_mode) ? "directory" : "terminal");
    }
    return S_ISREG(status.st_mode) ? open_named("/proc/self/fd/0", "-", options, file)
                                   : open_spooled(options, file);
}

// ---- a process ---------------------------------------------------------------------------------
// What it records into a file is read there; what it has in memory is read in its memory.
static int open_process(long pid, const mxp_import_options *options, mxp_any_file *file)
{
    mxp_strbuf path = {0};
    int error = mxp__process_recording_file(pid, &path);
    if (error == MXP_OK) {
        error = path.length > 0
                    ? open_named(mxp__strbuf_text(&path), mxp__strbuf_text(&path), options, file)
                    : mxp__process_open(pid, &file->source, &file->damage);
    }
    mxp__strbuf_fini(&path);
    return error;
}

int mxp__any_file_open(const char *path, const mxp_import_options *options, mxp_any_file *file)
{
    long pid;
    *file = (mxp_any_file){.source = NULL};
    if (mxp__is_standard_input(path)) {
        return open_standard_input(options, file);
    }
    return mxp__is_process(path, &pid) ? open_process(pid, options, file)
                                       : open_named(path, path, options, file);
}
