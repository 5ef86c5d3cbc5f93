// SPDX-License-Identifier: Apache-2.0
// See snapshot_process.h. All of it is in /proc.
#include "snapshot_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"

enum { POLL_MS = 20, MARK_TRIES = 100 };

// ---- /proc -------------------------------------------------------------------------------------
static int read_proc(long pid, const char *what, mxp_strbuf *text)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", pid, what);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT
                   ? mxp__fail(MXP_EIO, "there is no process %ld", pid)
                   : mxp__fail(MXP_EIO, "process %ld is not yours: %s", pid, strerror(errno));
    }
    char part[4096];
    ssize_t got;
    while ((got = read(fd, part, sizeof part)) > 0) {
        mxp__strbuf_append(text, part, (size_t)got);
    }
    close(fd);
    return got < 0 ? mxp__fail(MXP_EIO, "process %ld is not yours: %s", pid, strerror(errno))
                   : MXP_OK;
}

// ---- what it says of itself --------------------------------------------------------------------
// A field of /proc/PID/status: what comes after `name`, on its line. Null: there is none.
static const char *field_of(const mxp_strbuf *status, const char *name)
{
    const char *line = strstr(mxp__strbuf_text(status), name);
    return line != NULL ? line + strlen(name) : NULL;
}

// The id of the process in its own PID namespace, after which its files are named.
static uint32_t own_number(const mxp_strbuf *status, long pid)
{
    const char *at = field_of(status, "\nNSpid:");
    char *end = NULL;
    unsigned long number = (unsigned long)pid;
    while (at != NULL && *at != '\n' && *at != '\0') {
        unsigned long next = strtoul(at, &end, 10);
        if (end == at) {
            break;
        }
        number = next;
        at = end;
    }
    return (uint32_t)number;
}

static int read_status(long pid, mxp_snapshot_process *of)
{
    mxp_strbuf status = {0};
    int error = read_proc(pid, "status", &status);
    const char *caught = field_of(&status, "\nSigCgt:");
    const char *state = field_of(&status, "\nState:\t");
    of->handles_signal =
        caught != NULL && (strtoull(caught, NULL, 16) >> (of->signal - 1) & 1) != 0;
    of->is_stopped = state != NULL && (*state == 'T' || *state == 't');
    of->own_pid = own_number(&status, pid);
    mxp__strbuf_fini(&status);
    return error;
}

// Reads whether the process has the mark that it takes snapshots, the signal and the name in it.
static int read_maps(long pid, mxp_snapshot_process *of)
{
    static const char sign[] = "/memfd:mxprof-snapshot", behind[] = " (deleted)";
    mxp_strbuf maps = {0};
    int error = read_proc(pid, "maps", &maps);
    const char *text = mxp__strbuf_text(&maps);
    const char *at = strstr(text, sign);
    of->has_library = strstr(text, "/libmxprof.so") != NULL || strstr(text, "/libmxnet.so") != NULL;
    of->takes_snapshots = at != NULL;
    of->signal = SIGUSR2;
    mxp__strbuf_clear(&of->pattern);
    at = at != NULL ? at + strlen(sign) : "";
    if (at[0] == '.') {
        char *end;
        unsigned long number = strtoul(at + 1, &end, 10);
        of->signal = number > 0 && number <= (unsigned long)SIGRTMAX ? (int)number : SIGUSR2;
        at = end;
    }
    if (at[0] == ':') {
        at++;
        size_t length = strcspn(at, "\n");
        size_t rest = strlen(behind);
        bool is_deleted = length > rest && strncmp(at + length - rest, behind, rest) == 0;
        mxp__strbuf_append(&of->pattern, at, is_deleted ? length - rest : length);
    }
    mxp__strbuf_fini(&maps);
    return error;
}

// The value of a variable in the environment the process was started with, copied; else *value is
// left as it is.
static void read_variable(long pid, const char *name, mxp_strbuf *value)
{
    mxp_strbuf block = {0};
    size_t length = strlen(name);
    if (read_proc(pid, "environ", &block) == MXP_OK) {
        const char *at = mxp__strbuf_text(&block), *end = at + block.length;
        for (; at < end; at += strlen(at) + 1) {
            if (strncmp(at, name, length) == 0 && at[length] == '=') {
                mxp__strbuf_clear(value);
                mxp__strbuf_puts(value, at + length + 1);
            }
        }
    }
    mxp__strbuf_fini(&block);
}

// Whether it was started to take snapshots by a signal.
static bool is_asked_to(long pid)
{
    mxp_strbuf value = {0};
    read_variable(pid, "MXPROF_SNAPSHOT_SIGNAL", &value);
    bool asked = value.length > 0 && strcmp(mxp__strbuf_text(&value), "0") != 0 &&
                 strcasecmp(mxp__strbuf_text(&value), "false") != 0;
    mxp__strbuf_fini(&value);
    return asked;
}

static int read_process(long pid, mxp_snapshot_process *of)
{
    int error = read_maps(pid, of);
    return error == MXP_OK ? read_status(pid, of) : error;
}

static int refuse(long pid, const mxp_snapshot_process *of)
{
    if (is_asked_to(pid)) {
        return mxp__fail(MXP_EIO,
                         "process %ld takes no snapshots, although MXPROF_SNAPSHOT_SIGNAL asks for "
                         "them; it does not record, or has taken the signal for itself: RTMIN+1 "
                         "names another one",
                         pid);
    }
    if (of->has_library) {
        return mxp__fail(MXP_EIO,
                         "process %ld does not take snapshots by a signal; it must record, with "
                         "snapshot_signal on (MXPROF_SNAPSHOT_SIGNAL=1)",
                         pid);
    }
    return mxp__fail(MXP_EIO,
                     "process %ld does not record with mxprof and snapshot_signal on "
                     "(MXPROF_SNAPSHOT_SIGNAL=1); no signal was sent to it",
                     pid);
}

// Waits a while for the mark, because a process that has just begun to record may not have it yet.
int mxp__snapshot_process_check(long pid, mxp_snapshot_process *of)
{
    int error = read_process(pid, of);
    bool may_come = of->has_library && (of->handles_signal || is_asked_to(pid));
    for (int i = 0;
         i < MARK_TRIES && error == MXP_OK && may_come && !of->takes_snapshots && !of->is_stopped;
         i++) {
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
        error = read_process(pid, of);
    }
    return error != MXP_OK || (of->takes_snapshots && of->handles_signal) ? error : refuse(pid, of);
}

void mxp__snapshot_process_pattern(long pid, const char *name, mxp_snapshot_process *of)
{
    if (name != NULL || of->pattern.length == 0) {
        mxp__strbuf_clear(&of->pattern);
        mxp__strbuf_puts(&of->pattern, name != NULL ? name : "snapshot.mxp");
        if (name == NULL) {
            read_variable(pid, "MXPROF_SNAPSHOT_FILENAME", &of->pattern);
        }
    }
}
