// SPDX-License-Identifier: Apache-2.0
// See file_state.h.
#include "profiler/trace/file/file_state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os/os.h"
#include "profiler/trace/source.h"

static const uint64_t slack_ns = 1000000000;

// What INFO says of `key`; "" if nothing.
static const char *info_of(const mxp_file_tables *tables, const char *key)
{
    for (size_t i = 0; i < tables->info_count; i++) {
        if (strcmp(tables->info[i].key, key) == 0) {
            return tables->info[i].value;
        }
    }
    return "";
}

static bool is_of_this_machine(const mxp_file_tables *tables)
{
    char host[256];
    mxp__os_host_name(host, sizeof host);
    return host[0] != '\0' && strcmp(info_of(tables, "host"), host) == 0;
}

// When the process that now has this number was started, ns since the machine was. 0: there is
// none.
static uint64_t start_of_process(uint32_t pid)
{
    enum { FIELDS_BETWEEN = 20 };  // from the state, after the name in brackets, to the start
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%lu/stat", (unsigned long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0) {
        close(fd);
    }
    text[length > 0 ? length : 0] = '\0';
    const char *at = strrchr(text, ')');
    for (int i = 0; i < FIELDS_BETWEEN && at != NULL; i++) {
        at = strchr(at + 1, ' ');
    }
    long hertz = sysconf(_SC_CLK_TCK);
    return at != NULL && hertz > 0
               ? (uint64_t)((double)strtoull(at, NULL, 10) * 1e9 / (double)hertz)
               : 0;
}

// This file may be the copy of one into which a process records that lives: a process of that
// number runs that is older than the file's newest clock point.
static bool may_live(const mxp_file_index *index, const mxp_file_tables *tables)
{
    const mxp_timebase *timebase = &tables->timebase;
    const void *header = index->bytes.data + index->begin;
    uint64_t start_ns = start_of_process(((const mxp_file_header *)header)->pid);
    if (start_ns == 0 || timebase->point_count == 0) {
        return start_ns != 0;
    }
    const mxp_clock_point *point = &timebase->points[timebase->point_count - 1];
    uint64_t since_boot = mxp__os_realtime_ns() - mxp__os_boottime_ns();
    uint64_t apart = point->realtime_ns - point->boottime_ns - since_boot;
    return apart + slack_ns <= 2 * slack_ns && start_ns <= point->boottime_ns;
}

int mxp__file_state(const mxp_file_index *index, const mxp_file_tables *tables)
{
    if (!index->open) {
        return MXP__PROCESS_FINISHED;
    }
    if (info_of(tables, "ended_by")[0] != '\0') {
        return MXP__PROCESS_DIED;  // its core file was read
    }
    if (index->bytes.is_recording || strcmp(info_of(tables, "read_from"), "memory") == 0) {
        return MXP__PROCESS_RECORDING;
    }
    return is_of_this_machine(tables) && !may_live(index, tables) ? MXP__PROCESS_DIED
                                                                  : MXP__PROCESS_UNFINISHED;
}

const char *mxp__file_state_text(int state)
{
    return state == MXP__PROCESS_RECORDING ? "the process was still recording"
           : state == MXP__PROCESS_DIED    ? "the process died"
                                           : "the process did not finish the file";
}
