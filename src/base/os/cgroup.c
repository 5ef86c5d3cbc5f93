// SPDX-License-Identifier: Apache-2.0
// The limits of control groups, see memory.h and machine.h. They nest, and each level limits those
// below it; a container may see its own group as the root, under a path that the file system does
// not have.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/os/machine.h"
#include "base/os/memory.h"

enum { PATH_BYTES = 4096 + 256 };

// What is limited, and how to read its limit in a group's folder.
typedef struct limited {
    const char *controller;
    uint64_t (*read)(const char *folder, bool is_unified);
} limited;

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

static uint64_t read_memory(const char *folder, bool is_unified)
{
    return read_limit(folder, is_unified ? "memory.max" : "memory.limit_in_bytes");
}

// A quota of time in a period, both in us: "max 100000" is none, and so is -1 of version 1.
static uint64_t read_cpu(const char *folder, bool is_unified)
{
    char path[PATH_BYTES + 64], text[64], *rest = text;
    uint64_t period_us = UINT64_MAX, quota_us;
    if (is_unified) {
        snprintf(path, sizeof path, "%s/cpu.max", folder);
        bool is_number = read_text(path, text, sizeof text) && text[0] >= '0' && text[0] <= '9';
        quota_us = is_number ? strtoull(text, &rest, 10) : UINT64_MAX;
        period_us = strtoull(rest, NULL, 10);
    } else {
        quota_us = read_limit(folder, "cpu.cfs_quota_us");
        period_us = read_limit(folder, "cpu.cfs_period_us");
    }
    bool known = quota_us <= UINT64_MAX / 1000 && period_us != 0;
    return known ? quota_us * 1000 / period_us : UINT64_MAX;
}

// The smallest limit of a group and of all groups around it, up to `mount`.
static uint64_t smallest(const char *mount, const char *group, const limited *what, bool is_unified)
{
    char folder[PATH_BYTES];
    uint64_t limit = UINT64_MAX;
    snprintf(folder, sizeof folder, "%s%s", mount, group);
    for (;;) {
        uint64_t own = what->read(folder, is_unified);
        limit = own < limit ? own : limit;
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= strlen(mount) || slash == NULL) {
            return limit;
        }
        *slash = '\0';
    }
}

// A line NUMBER:CONTROLLERS:GROUP; version 2 has number 0 and no controllers.
static uint64_t limit_of_line(const char *root, char *line, const limited *what)
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
        return smallest(mount, group, what, true);
    }
    for (char *rest = controllers, *word; (word = strsep(&rest, ",")) != NULL;) {
        if (strcmp(word, what->controller) == 0) {
            snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/%s", root, what->controller);
            return smallest(mount, group, what, false);
        }
    }
    return UINT64_MAX;
}

static uint64_t limit_of(const char *root, const limited *what)
{
    uint64_t limit = UINT64_MAX;
    char path[512], groups[4096];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    read_text(path, groups, sizeof groups);
    for (char *rest = groups, *line; (line = strsep(&rest, "\n")) != NULL;) {
        uint64_t own = limit_of_line(root, line, what);
        limit = own < limit ? own : limit;
    }
    return limit;
}

uint64_t mxp__os_cpu_limit(const char *root)
{
    return limit_of(root, &(limited){"cpu", read_cpu});
}

uint64_t mxp__os_memory_limit(const char *root)
{
    static const int spaces[] = {RLIMIT_AS, RLIMIT_DATA};
    struct rlimit space;
    uint64_t limit_bytes = limit_of(root, &(limited){"memory", read_memory});
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        if (getrlimit(spaces[i], &space) == 0 && space.rlim_cur < limit_bytes) {
            limit_bytes = space.rlim_cur;
        }
    }
    return limit_bytes;
}
