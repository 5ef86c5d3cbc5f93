// SPDX-License-Identifier: Apache-2.0
// See memory.h. Control groups nest, and each level limits those below it; a container may see its
// own group as the root, under a path that the file system does not have.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/os/memory.h"

enum { PATH_BYTES = 4096 + 256 };

static bool read_text(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, size - 1) : -1;
    if (file >= 0) {
        close(file);
    }
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

// "max" and what is no number are none.
static uint64_t read_limit(const char *folder, const char *file)
{
    char path[PATH_BYTES + 64], text[64];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    bool is_number = read_text(path, text, sizeof text) && text[0] >= '0' && text[0] <= '9';
    return is_number ? strtoull(text, NULL, 10) : UINT64_MAX;
}

// The smallest limit of a group and of all groups around it, up to `mount`.
static uint64_t smallest(const char *mount, const char *group, const char *file)
{
    char folder[PATH_BYTES];
    uint64_t limit_bytes = UINT64_MAX;
    snprintf(folder, sizeof folder, "%s%s", mount, group);
    for (;;) {
        uint64_t own_bytes = read_limit(folder, file);
        limit_bytes = own_bytes < limit_bytes ? own_bytes : limit_bytes;
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= strlen(mount) || slash == NULL) {
            return limit_bytes;
        }
        *slash = '\0';
    }
}

// A line NUMBER:CONTROLLERS:GROUP; version 2 has number 0 and no controllers.
static uint64_t limit_of_line(const char *root, char *line)
{
    char mount[512];
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL) {
        return UINT64_MAX;
    }
    *controllers++ = '\0';
    *group++ = '\0';
    if (strcmp(line, "0") == 0 && controllers[0] == '\0') {
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
        return smallest(mount, group, "memory.max");
    }
    for (char *rest = controllers, *word; (word = strsep(&rest, ",")) != NULL;) {
        if (strcmp(word, "memory") == 0) {
            snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/memory", root);
            return smallest(mount, group, "memory.limit_in_bytes");
        }
    }
    return UINT64_MAX;
}

uint64_t mxp__os_memory_limit(const char *root)
{
    struct rlimit space;
    uint64_t limit_bytes = UINT64_MAX;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
        limit_bytes = space.rlim_cur;
    }
    char path[512], groups[4096];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    read_text(path, groups, sizeof groups);
    for (char *rest = groups, *line; (line = strsep(&rest, "\n")) != NULL;) {
        uint64_t own_bytes = limit_of_line(root, line);
        limit_bytes = own_bytes < limit_bytes ? own_bytes : limit_bytes;
    }
    return limit_bytes;
}
