// SPDX-License-Identifier: Apache-2.0
// See process_files.h. A recording file is mapped shared and writable by its process, and its
// header names it. It is opened through the process's own root or the link in map_files, never by a
// name alone that may lead to another file here.
#include "process_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "profiler/trace/file/section_check.h"

// A line of /proc/PID/maps.
typedef struct map_line {
    char range[40], rights[8];
    uint64_t inode;
    const char *path;  // up to the end of the line; "" if it is of no file
} map_line;

static bool parse(char *line, map_line *map)
{
    int at = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%39s %7s %*s %*s %" SCNu64 " %n", map->range, map->rights, &map->inode, &at) <
            3 ||
        at == 0) {
        return false;
    }
    map->path = line + at;
    return true;
}

static bool is_recording(int fd)
{
    mxp_file_header header;
    return pread(fd, &header, sizeof header, 0) == sizeof header &&
           mxp__is_file_header(&header, sizeof header) && (header.flags & MXP_FILE_MAPPED) != 0;
}

// Whether the name leads to the very file that is mapped, and into which processes record.
static bool is_that_file(const char *path, const map_line *map)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool is_it = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                 status.st_ino == map->inode && is_recording(fd);
    if (fd >= 0) {
        close(fd);
    }
    return is_it;
}

// Its name here, or within the process's root, or the link to what is mapped if it has no name any
// more.
static bool find_name(long pid, const map_line *map, mxp_strbuf *path)
{
    for (int within_root = 0; within_root < 2; within_root++) {
        mxp__strbuf_clear(path);
        if (within_root) {
            mxp__strbuf_printf(path, "/proc/%ld/root", pid);
        }
        mxp__strbuf_puts(path, map->path);
        if (is_that_file(mxp__strbuf_text(path), map)) {
            return true;
        }
    }
    mxp__strbuf_clear(path);
    mxp__strbuf_printf(path, "/proc/%ld/map_files/%s", pid, map->range);
    if (is_that_file(mxp__strbuf_text(path), map)) {
        return true;
    }
    mxp__strbuf_clear(path);
    return false;
}

static FILE *open_maps(long pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/maps", pid);
    return fopen(path, "re");
}

int mxp__process_recording_file(long pid, mxp_strbuf *path)
{
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *maps = open_maps(pid);
    if (maps == NULL && (errno == ENOMEM || errno == EMFILE || errno == ENFILE)) {
        return mxp__fail(MXP_ENOMEM, "cannot look into process %ld: %s", pid, strerror(errno));
    }
    if (maps == NULL) {
        return mxp__fail(MXP_EIO, "%s %ld%s%s",
                         errno == ENOENT ? "there is neither a file nor a process"
                                         : "cannot look into process",
                         pid, errno == ENOENT ? "" : ": ", errno == ENOENT ? "" : strerror(errno));
    }
    while (!found && getline(&line, &room, maps) > 0) {
        map_line map;
        found = parse(line, &map) && map.path[0] == '/' && strncmp(map.rights, "rw-s", 4) == 0 &&
                find_name(pid, &map, path);
    }
    free(line);
    fclose(maps);
    return MXP_OK;
}

bool mxp__process_has_library(long pid)
{
    static const char *const libraries[] = {"/libmxprof.so", "/libmxnet.so"};
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *maps = open_maps(pid);
    while (maps != NULL && !found && getline(&line, &room, maps) > 0) {
        for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
            found = found || strstr(line, libraries[i]) != NULL;
        }
    }
    free(line);
    if (maps != NULL) {
        fclose(maps);
    }
    return found;
}
