// SPDX-License-Identifier: Apache-2.0
#include "base/os/same_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 16 };

// The folder and name under which a file would be made for a path that leads to none.
typedef struct place {
    struct stat folder;
    char path[PATH_MAX];
    const char *name;  // in `path`
} place;

// Follows a link whose end is missing by one step. False: it is none.
static bool follow(char *path)
{
    char target[PATH_MAX], joined[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0) {
        return false;
    }
    target[length] = '\0';
    const char *slash = strrchr(path, '/');
    int folder = slash == NULL || target[0] == '/' ? 0 : (int)(slash + 1 - path);
    int needed = snprintf(joined, sizeof joined, "%.*s%s", folder, path, target);
    if (needed < 0 || (size_t)needed >= sizeof joined) {
        return false;
    }
    memcpy(path, joined, (size_t)needed + 1);
    return true;
}

static bool find_place(const char *path, place *found)
{
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof found->path) {
        return false;
    }
    memcpy(found->path, path, length + 1);
    for (int i = 0; i < LINKS_MAX && follow(found->path); i++) {
    }
    char *slash = strrchr(found->path, '/');
    found->name = slash == NULL ? found->path : slash + 1;
    if (slash == NULL) {
        return stat(".", &found->folder) == 0;
    }
    char after = slash[1];
    slash[1] = '\0';
    bool is_there = stat(found->path, &found->folder) == 0;
    slash[1] = after;
    return is_there;
}

static bool is_one_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool mxp__os_same_file(const char *a, const char *b)
{
    if (a == NULL || b == NULL) {
        return false;
    }
    int saved = errno;
    struct stat first, second;
    bool has_first = stat(a, &first) == 0, has_second = stat(b, &second) == 0;
    place one, other;
    bool same = false;
    if (has_first && has_second) {
        same = S_ISREG(first.st_mode) && is_one_inode(&first, &second);
    } else if (!has_first && !has_second) {
        same = strcmp(a, b) == 0 ||
               (find_place(a, &one) && find_place(b, &other) &&
                is_one_inode(&one.folder, &other.folder) && strcmp(one.name, other.name) == 0);
    }
    errno = saved;
    return same;
}
