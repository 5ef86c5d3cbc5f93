// SPDX-License-Identifier: Apache-2.0
// mxprof snapshot: asks a process for its last seconds by SIGUSR2. The signal would end a process
// that does not handle it, so that is looked at first. What its snapshots are called stands in the
// file that it records into, in its environment, or is the default.
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "command.h"

static const char help[] =
    "mxprof snapshot makes a running process write its last seconds into a file.\n"
    "\n"
    "usage: mxprof snapshot [OPTIONS] PID\n"
    "\n"
    "  --name NAME      what the process calls its snapshots (snapshot_filename), if it has set\n"
    "                   that by a call and not by MXPROF_SNAPSHOT_FILENAME\n"
    "  --timeout S      how many seconds to wait for the file (default 10)\n"
    "\n"
    "The process must record with snapshot_signal on (MXPROF_SNAPSHOT_SIGNAL=1) and be yours; it\n"
    "gets SIGUSR2. The name of the new file is printed when it is complete.\n"
    "\n"
    "example\n"
    "  mxprof report $(mxprof snapshot 4711)\n"
    "\n"
    "exit code: 0 fine, 1 there is no such process, it does not take snapshots, or none came,\n"
    "2 wrong call\n";

enum { POLL_MS = 20 };

typedef struct snapshot_place {
    mxp_strbuf folder, stem;  // snapshots are FOLDER/STEM[.PID].N + ending
    mxp_strbuf ending;
} snapshot_place;

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

static int check_handles_signal(long pid)
{
    mxp_strbuf status = {0};
    int error = read_proc(pid, "status", &status);
    const char *line = error == MXP_OK ? strstr(mxp__strbuf_text(&status), "\nSigCgt:") : NULL;
    uint64_t caught = line == NULL ? 0 : strtoull(line + strlen("\nSigCgt:"), NULL, 16);
    mxp__strbuf_fini(&status);
    if (error == MXP_OK && (caught >> (SIGUSR2 - 1) & 1) == 0) {
        error = mxp__fail(MXP_EIO,
                          "process %ld does not handle SIGUSR2, which would end it; it must record "
                          "with snapshot_signal on (MXPROF_SNAPSHOT_SIGNAL=1)",
                          pid);
    }
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

// ---- where they come ---------------------------------------------------------------------------
static int find_place(long pid, const char *name, snapshot_place *place)
{
    mxp_strbuf pattern = {0};
    mxp__strbuf_puts(&pattern, name != NULL ? name : "snapshot.mxp");
    if (name == NULL) {
        read_variable(pid, "MXPROF_SNAPSHOT_FILENAME", &pattern);
    }
    const char *text = mxp__strbuf_text(&pattern);
    const char *slash = strrchr(text, '/');
    const char *file = slash != NULL ? slash + 1 : text;
    const char *dot = strrchr(file, '.');
    size_t stem = dot != NULL ? (size_t)(dot - file) : strlen(file);
    mxp__strbuf_append(&place->stem, file, stem);
    mxp__strbuf_puts(&place->ending, file + stem);
    if (text[0] != '/') {
        mxp__strbuf_printf(&place->folder, "/proc/%ld/cwd/", pid);
    }
    mxp__strbuf_append(&place->folder, text, slash != NULL ? (size_t)(slash - text) : 0);
    mxp__strbuf_putc(&place->folder, '/');
    char *real = realpath(mxp__strbuf_text(&place->folder), NULL);
    if (real != NULL) {
        mxp__strbuf_clear(&place->folder);
        mxp__strbuf_puts(&place->folder, real);
    }
    mxp__strbuf_fini(&pattern);
    bool failed = place->folder.failed || place->stem.failed || place->ending.failed;
    int error = failed ? mxp__fail_memory("a file name") : MXP_OK;
    if (real == NULL && !failed) {
        error = mxp__fail(MXP_EIO, "cannot open the directory of process %ld's snapshots, '%s': %s",
                          pid, mxp__strbuf_text(&place->folder), strerror(errno));
    }
    free(real);
    return error;
}

static void free_place(snapshot_place *place)
{
    mxp__strbuf_fini(&place->folder);
    mxp__strbuf_fini(&place->stem);
    mxp__strbuf_fini(&place->ending);
}

// The number of a snapshot of this process: STEM.N or STEM.PID.N and the ending; 0: another file.
static unsigned long number_of(const snapshot_place *place, long pid, const char *name)
{
    char inherited[32];
    size_t pid_length = (size_t)snprintf(inherited, sizeof inherited, ".%ld", pid);
    if (strncmp(name, mxp__strbuf_text(&place->stem), place->stem.length) != 0) {
        return 0;
    }
    name += place->stem.length;
    if (strncmp(name, inherited, pid_length) == 0 && name[pid_length] == '.') {
        name += pid_length;
    }
    if (name[0] != '.' || !isdigit((unsigned char)name[1])) {
        return 0;
    }
    char *end;
    unsigned long number = strtoul(name + 1, &end, 10);
    return strcmp(end, mxp__strbuf_text(&place->ending)) == 0 ? number : 0;
}

// The newest snapshot in the folder: *name is its name, empty if there is none.
static struct timespec newest(const snapshot_place *place, long pid, mxp_strbuf *name)
{
    struct timespec latest = {0, 0};
    mxp__strbuf_clear(name);
    DIR *folder = opendir(mxp__strbuf_text(&place->folder));
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        struct stat status;
        if (number_of(place, pid, entry->d_name) == 0 ||
            fstatat(dirfd(folder), entry->d_name, &status, 0) != 0) {
            continue;
        }
        const struct timespec *at = &status.st_mtim;
        if (at->tv_sec > latest.tv_sec ||
            (at->tv_sec == latest.tv_sec && at->tv_nsec > latest.tv_nsec)) {
            latest = *at;
            mxp__strbuf_clear(name);
            mxp__strbuf_puts(name, entry->d_name);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return latest;
}

// A snapshot appears under its name only when it is complete.
static int wait_for(const snapshot_place *place, long pid, const struct timespec *before,
                    double timeout_s, mxp_strbuf *name)
{
    for (double waited_s = 0; waited_s < timeout_s; waited_s += POLL_MS / 1e3) {
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
        struct timespec now = newest(place, pid, name);
        if (name->length > 0 && (now.tv_sec != before->tv_sec || now.tv_nsec != before->tv_nsec)) {
            return MXP_OK;
        }
        if (kill((pid_t)pid, 0) != 0) {
            return mxp__fail(MXP_EIO, "process %ld has ended", pid);
        }
    }
    return mxp__fail(MXP_EIO,
                     "process %ld wrote no snapshot into '%s' within %g s: is it recording, with "
                     "snapshot_signal on? If it names its snapshots by a call, add --name",
                     pid, mxp__strbuf_text(&place->folder), timeout_s);
}

static int take_snapshot(long pid, const char *name, double timeout_s, mxp_strbuf *out)
{
    snapshot_place place = {0};
    mxp_strbuf file = {0};
    int error = check_handles_signal(pid);
    error = error == MXP_OK ? find_place(pid, name, &place) : error;
    if (error == MXP_OK) {
        struct timespec before = newest(&place, pid, &file);
        if (kill((pid_t)pid, SIGUSR2) != 0) {
            error = mxp__fail(MXP_EIO, "cannot signal process %ld: %s", pid, strerror(errno));
        } else {
            error = wait_for(&place, pid, &before, timeout_s, &file);
        }
    }
    if (error == MXP_OK) {
        mxp__strbuf_printf(out, "%s/%s\n", mxp__strbuf_text(&place.folder),
                           mxp__strbuf_text(&file));
    }
    mxp__strbuf_fini(&file);
    free_place(&place);
    return error;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    const char *name = NULL, *timeout = "10", *text;
    const mxp_option options[] = {
        {.name = "--name", .text = &name},
        {.name = "--timeout", .text = &timeout},
        {.name = NULL},
    };
    int code = mxp__options_parse(self, options, count, arguments, &text);
    if (code >= 0) {
        return code;
    }
    char *end, *timeout_end;
    long pid = strtol(text, &end, 10);
    double timeout_s = strtod(timeout, &timeout_end);
    if (*end != '\0' || pid <= 0 || pid > INT32_MAX) {
        return mxp__usage_error(self, "'%s' is no process number", text);
    }
    if (*timeout_end != '\0' || !(timeout_s > 0 && timeout_s <= 3600)) {
        return mxp__usage_error(self, "--timeout is a number of seconds, not '%s'", timeout);
    }
    mxp_strbuf out = {0};
    code = take_snapshot(pid, name, timeout_s, &out) == MXP_OK ? mxp__output_print(self, &out)
                                                               : mxp__command_failed(self);
    mxp__strbuf_fini(&out);
    return code;
}

const mxp_command mxp__command_snapshot = {
    .name = "snapshot",
    .summary = "make a running process write its last seconds",
    .help = help,
    .run = run,
};
