// SPDX-License-Identifier: Apache-2.0
// See crashed.h. The lock of the file is held while it is renamed. So a file that another process
// has just begun is not taken for that of a dead one, and of several processes that begin at once
// one renames it. While it is being read it may be kept under two names. Files are read by system
// calls and never mapped, because other processes may truncate them.
#include "profiler/session/output/crashed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mxprof/format.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/strbuf.h"

enum { TIME_LENGTH = 16, REMOVED_MAX = 256, SAME_SECOND_MAX = 256 };
static const char died[] = ".died.";

// ---- what it is ---------------------------------------------------------------------------------
static bool read_at(int fd, void *data, size_t size_bytes, uint64_t offset)
{
    ssize_t length;
    do {
        length = pread(fd, data, size_bytes, (off_t)offset);
    } while (length < 0 && errno == EINTR);
    return length == (ssize_t)size_bytes;
}

// Sections are followed from the first to the last: END may be at the end of a file of which the
// tables were just being written.
static bool is_unfinished(int fd, uint64_t size_bytes)
{
    static const char magic[8] = MXP_FILE_MAGIC;
    mxp_file_header header;
    if (!read_at(fd, &header, sizeof header, 0) || memcmp(header.magic, magic, sizeof magic) != 0 ||
        header.byte_order != MXP_BYTE_ORDER_MARK || (header.flags & MXP_FILE_MAPPED) == 0) {
        return false;
    }
    mxp_section section = {0};
    uint64_t at = header.header_bytes;
    while (at < size_bytes) {
        if (!read_at(fd, &section, sizeof section, at) || section.magic != MXP_SECTION_MAGIC ||
            section.length_bytes < sizeof section || section.length_bytes > size_bytes - at) {
            return true;
        }
        at += section.length_bytes;
    }
    return section.type != MXP_SECTION_END;
}

// ---- names --------------------------------------------------------------------------------------
typedef struct path_parts {
    int folder_length, stem_length;  // of the path; of the file's name without its ending
    const char *file, *ending;
} path_parts;

static path_parts parts_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    const char *ending = dot != NULL ? dot : path + strlen(path);
    return (path_parts){(int)(file - path), (int)(ending - file), file, ending};
}

static void put_numbered(const char *path, const char *when, unsigned number, mxp_strbuf *name)
{
    path_parts parts = parts_of(path);
    mxp__strbuf_clear(name);
    mxp__strbuf_printf(name, "%.*s%s%s", parts.folder_length + parts.stem_length, path, died, when);
    if (number > 1) {
        mxp__strbuf_printf(name, ".%u", number);
    }
    mxp__strbuf_puts(name, parts.ending);
}

// Makes the new name. Several processes may have died in one second; then it gets a number above
// those of the existing files, which are older.
static int put_name(const char *path, time_t when, mxp_strbuf *name)
{
    struct tm utc = {0};
    struct stat ignored;
    char text[32];
    unsigned number = 1;
    gmtime_r(&when, &utc);
    strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
    for (unsigned i = 1; i <= SAME_SECOND_MAX; i++) {
        put_numbered(path, text, i, name);
        if (!name->failed && lstat(name->data, &ignored) == 0) {
            number = i + 1;
        }
    }
    put_numbered(path, text, number, name);
    return name->failed ? mxp__fail_memory("a file name") : MXP_OK;
}

// ---- how many -----------------------------------------------------------------------------------
// A kept file of these parts: its time and its number of that time (0 without one). False: none.
static bool read_name(const path_parts *parts, const char *name, char *when, unsigned long *number)
{
    size_t stem = (size_t)parts->stem_length;
    if (strncmp(name, parts->file, stem) != 0 || strncmp(name + stem, died, sizeof died - 1) != 0) {
        return false;
    }
    const char *text = name + stem + sizeof died - 1;
    int length = 0;
    if (sscanf(text, "%*8[0-9]T%*6[0-9]Z%n", &length) < 0 || length != TIME_LENGTH) {
        return false;
    }
    memcpy(when, text, TIME_LENGTH);
    text += TIME_LENGTH;
    *number = 0;
    if (text[0] == '.' && text[1] >= '1' && text[1] <= '9') {
        char *end;
        *number = strtoul(text + 1, &end, 10);
        text = end;
    }
    return strcmp(text, parts->ending) == 0;
}

// The oldest kept file, and how many there are.
static uint64_t find_oldest(DIR *folder, const path_parts *parts, mxp_strbuf *oldest)
{
    char first[TIME_LENGTH] = {0};
    unsigned long first_number = 0;
    uint64_t count = 0;
    const struct dirent *entry;
    rewinddir(folder);
    while ((entry = readdir(folder)) != NULL) {
        char when[TIME_LENGTH];
        unsigned long number;
        if (!read_name(parts, entry->d_name, when, &number)) {
            continue;
        }
        int order = memcmp(when, first, TIME_LENGTH);
        if (count++ == 0 || order < 0 || (order == 0 && number < first_number)) {
            memcpy(first, when, TIME_LENGTH);
            first_number = number;
            mxp__strbuf_clear(oldest);
            mxp__strbuf_puts(oldest, entry->d_name);
        }
    }
    return count;
}

static void remove_oldest(const char *path, uint64_t most)
{
    path_parts parts = parts_of(path);
    mxp_strbuf name = {0};
    mxp__strbuf_append(&name, path, (size_t)parts.folder_length);
    DIR *folder = opendir(name.length > 0 ? mxp__strbuf_text(&name) : ".");
    for (int i = 0; folder != NULL && i < REMOVED_MAX; i++) {
        if (find_oldest(folder, &parts, &name) <= most || name.failed ||
            unlinkat(dirfd(folder), name.data, 0) != 0) {
            break;
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    mxp__strbuf_fini(&name);
}

// ---- keeping ------------------------------------------------------------------------------------
// Takes the lock, alone or shared with readers. False: the process that writes the file lives.
static bool take_lock(int fd, bool *is_alone)
{
    *is_alone = flock(fd, LOCK_EX | LOCK_NB) == 0;
    return *is_alone || (errno == EWOULDBLOCK && flock(fd, LOCK_SH | LOCK_NB) == 0);
}

static bool is_of(int fd, const char *path)
{
    struct stat opened, named;
    return fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode) && stat(path, &named) == 0 &&
           named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

// With a shared lock the file gets a second name, and the new file replaces the first one. It is
// not renamed, because `path` may be a file that another process has just begun.
static bool give_name(int fd, const char *path, const char *name, bool is_alone)
{
    if (is_alone) {
        return rename(path, name) == 0;
    }
    bool linked = linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    if (linked && !is_of(fd, name)) {
        unlink(name);
    }
    return linked;
}

static int keep(int fd, const char *path)
{
    struct stat opened;
    bool is_alone;
    if (!take_lock(fd, &is_alone) || !is_of(fd, path) || fstat(fd, &opened) != 0 ||
        !is_unfinished(fd, (uint64_t)opened.st_size)) {
        return MXP_OK;
    }
    mxp_strbuf name = {0};
    int error = put_name(path, opened.st_mtime, &name);
    if (error == MXP_OK && !give_name(fd, path, name.data, is_alone)) {
        error = mxp__fail(MXP_EIO, "cannot keep '%s' of a process that died as '%s': %s", path,
                          name.data, strerror(errno));
    }
    if (error == MXP_OK) {
        fprintf(stderr, "mxprof: '%s' of a process that died is kept as '%s'\n", path, name.data);
    }
    mxp__strbuf_fini(&name);
    return error;
}

int mxp__crashed_keep(const char *path, uint64_t most)
{
    struct stat status;  // looked at first: to open a pipe or a device does something to it
    bool is_file = most > 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
    int fd = is_file ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (fd < 0) {
        return MXP_OK;
    }
    int error = keep(fd, path);
    close(fd);
    if (error == MXP_OK) {
        remove_oldest(path, most);
    }
    return error;
}
