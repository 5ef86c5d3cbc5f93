// SPDX-License-Identifier: Apache-2.0
// /proc is Linux's; where there is none, nothing is known.
#include "base/os/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void mxp__os_program_name(char *buffer, size_t size)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    char *deleted = strstr(path, " (deleted)");
    if (deleted != NULL && deleted[strlen(" (deleted)")] == '\0') {
        *deleted = '\0';
    }
    const char *slash = strrchr(path, '/');
    snprintf(buffer, size, "%s", slash != NULL ? slash + 1 : path);
}

// The text after the name, which is in brackets and may hold anything, begins with field 3.
static const char *field(const char *text, int number)
{
    text = strrchr(text, ')');
    for (int i = 2; i < number && text != NULL; i++) {
        text = strchr(text, ' ');
        text = text != NULL ? text + 1 : NULL;
    }
    return text;
}

uint64_t mxp__os_process_start_ns(void)
{
    char text[1024];
    int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0) {
        close(file);
    }
    text[length > 0 ? length : 0] = '\0';
    const char *start = field(text, 22);
    long per_second = sysconf(_SC_CLK_TCK);
    if (start == NULL || per_second <= 0) {
        return 0;
    }
    return strtoull(start, NULL, 10) * (UINT64_C(1000000000) / (uint64_t)per_second);
}
