// SPDX-License-Identifier: Apache-2.0
// The system shows the variables that each process was started with, and a child that is forked has
// its parent's. Only read where a program has ended and nothing was recorded.
#include "run_living.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Whether `wanted` is one of the texts, each of which ends with a zero.
static bool has_variable(FILE *environment, const char *wanted)
{
    bool matches = true;
    size_t at = 0;
    int next;
    while ((next = getc(environment)) != EOF) {
        if (next == '\0') {
            if (matches && wanted[at] == '\0') {
                return true;
            }
            matches = true;
            at = 0;
        } else {
            matches = matches && wanted[at] == (char)next;
            at += matches;
        }
    }
    return false;
}

static bool is_of_run(long process, const char *wanted)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/environ", process);
    FILE *environment = fopen(path, "re");
    const bool found = environment != NULL && has_variable(environment, wanted);
    if (environment != NULL) {
        fclose(environment);
    }
    return found;
}

long mxp__run_living(const char *folder)
{
    char wanted[PATH_MAX + 16];
    snprintf(wanted, sizeof wanted, "MXPROF_RUN=%s", folder);
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    long found = 0;
    while (processes != NULL && found == 0 && (entry = readdir(processes)) != NULL) {
        const long process = strtol(entry->d_name, NULL, 10);  // 0: it is no process
        if (process > 0 && process != getpid() && is_of_run(process, wanted)) {
            found = process;
        }
    }
    if (processes != NULL) {
        closedir(processes);
    }
    return found;
}
