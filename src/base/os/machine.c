// SPDX-License-Identifier: Apache-2.0
// Caches, from sysfs. Where there is none, nothing is known.
#include "base/os/machine.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CACHES_MAX = 8, PATH_BYTES = 512 };

// A file of the cache `index`, as it is; "": there is none.
static void read_fact(const char *root, unsigned index, const char *name, char *text, size_t size)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/cpu0/cache/index%u/%s", root, index,
             name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, size - 1) : -1;
    if (file >= 0) {
        close(file);
    }
    text[length > 0 ? length : 0] = '\0';
}

// "48K", "1024K", "32M".
static uint64_t bytes_of(const char *text)
{
    char *unit;
    uint64_t count = strtoull(text, &unit, 10);
    return *unit == 'K'   ? count << 10
           : *unit == 'M' ? count << 20
           : *unit == 'G' ? count << 30
                          : count;
}

uint64_t mxp__os_cache_bytes(const char *root, unsigned level)
{
    char text[32];
    for (unsigned index = 0; index < CACHES_MAX; index++) {
        read_fact(root, index, "level", text, sizeof text);
        bool is_level = strtoul(text, NULL, 10) == level;
        read_fact(root, index, "type", text, sizeof text);
        if (is_level && text[0] != 'I') {  // of instructions alone
            read_fact(root, index, "size", text, sizeof text);
            return bytes_of(text);
        }
    }
    return 0;
}
