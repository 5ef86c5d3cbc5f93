// SPDX-License-Identifier: Apache-2.0
// mxprof snapshot: asks a process for its last seconds by a signal, SIGUSR2 unless it says another
// one. The signal would end a process that does not handle it and may mean anything to another
// program, so the command sends it only to a process with the mark of
// profiler/session/output/snapshot_mark.h. The mark also gives the name of its snapshots; else the
// process's environment does, or the default holds.
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

#include "base/fail.h"
#include "command.h"
#include "profiler/trace/file/section_check.h"
#include "snapshot_process.h"

static const char help[] =
    "mxprof snapshot makes a running process write its last seconds into a file.\n"
    "\n"
    "usage: mxprof snapshot [OPTIONS] PID\n"
    "\n"
    "  --name NAME      what the process calls its snapshots (snapshot_filename); as a rule it "
    "says\n"
    "                   so itself\n"
    "  --timeout S      how many seconds to wait for the file (default 10)\n"
    "\n"
    "The process must record with snapshot_signal on (MXPROF_SNAPSHOT_SIGNAL=1) and be yours; it\n"
    "gets SIGUSR2, or the signal that it names (RTMIN+1); a process that would take that for\n"
    "something else gets none. The name of the new file is printed when it is complete.\n"
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
    uint32_t own_pid;
} snapshot_place;

// ---- where they come ---------------------------------------------------------------------------
// The folder as it is called here, if it can be: the process may have another root.
static void name_folder(mxp_strbuf *folder)
{
    struct stat by_name, by_process;
    char *real = realpath(mxp__strbuf_text(folder), NULL);
    if (real != NULL && stat(real, &by_name) == 0 &&
        stat(mxp__strbuf_text(folder), &by_process) == 0 && by_name.st_dev == by_process.st_dev &&
        by_name.st_ino == by_process.st_ino) {
        mxp__strbuf_clear(folder);
        mxp__strbuf_puts(folder, real);
    }
    free(real);
}

static int find_place(long pid, const mxp_snapshot_process *of, snapshot_place *place)
{
    struct stat status;
    const char *text = mxp__strbuf_text(&of->pattern);
    const char *slash = strrchr(text, '/');
    const char *file = slash != NULL ? slash + 1 : text;
    const char *dot = strrchr(file, '.');
    size_t stem = dot != NULL ? (size_t)(dot - file) : strlen(file);
    place->own_pid = of->own_pid;
    mxp__strbuf_append(&place->stem, file, stem);
    mxp__strbuf_puts(&place->ending, file + stem);
    mxp__strbuf_printf(&place->folder, "/proc/%ld/%s/", pid, text[0] == '/' ? "root" : "cwd");
    mxp__strbuf_append(&place->folder, text, slash != NULL ? (size_t)(slash - text) : 0);
    if (place->folder.failed || place->stem.failed || place->ending.failed) {
        return mxp__fail_memory("a file name");
    }
    if (stat(mxp__strbuf_text(&place->folder), &status) != 0) {
        return mxp__fail(MXP_EIO, "cannot open the directory of process %ld's snapshots, '%s': %s",
                         pid, mxp__strbuf_text(&place->folder), strerror(errno));
    }
    name_folder(&place->folder);
    return MXP_OK;
}

static void free_place(snapshot_place *place)
{
    mxp__strbuf_fini(&place->folder);
    mxp__strbuf_fini(&place->stem);
    mxp__strbuf_fini(&place->ending);
}

// Whether this is the name of one of its snapshots: STEM.PID.N, or STEM.N, and the ending.
static bool is_its_name(const snapshot_place *place, const char *name)
{
    char pid[32];
    size_t pid_length = (size_t)snprintf(pid, sizeof pid, ".%" PRIu32, place->own_pid);
    if (strncmp(name, mxp__strbuf_text(&place->stem), place->stem.length) != 0) {
        return false;
    }
    name += place->stem.length;
    if (strncmp(name, pid, pid_length) == 0 && name[pid_length] == '.') {
        name += pid_length;
    }
    if (name[0] != '.' || !isdigit((unsigned char)name[1])) {
        return false;
    }
    char *end;
    unsigned long number = strtoul(name + 1, &end, 10);
    return number > 0 && strcmp(end, mxp__strbuf_text(&place->ending)) == 0;
}

// A file that names its process must name this one.
static bool is_its_file(const snapshot_place *place, int folder, const char *name)
{
    mxp_file_header header;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_native = fd >= 0 && pread(fd, &header, sizeof header, 0) == sizeof header &&
                     mxp__is_file_header(&header, sizeof header);
    if (fd >= 0) {
        close(fd);
    }
    return !is_native || header.pid == place->own_pid;
}

// The newest snapshot in the folder: *name is its name, empty if there is none.
static struct timespec newest(const snapshot_place *place, mxp_strbuf *name)
{
    struct timespec latest = {0, 0};
    mxp__strbuf_clear(name);
    DIR *folder = opendir(mxp__strbuf_text(&place->folder));
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        struct stat status;
        if (!is_its_name(place, entry->d_name) ||
            fstatat(dirfd(folder), entry->d_name, &status, 0) != 0 ||
            !is_its_file(place, dirfd(folder), entry->d_name)) {
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
        struct timespec now = newest(place, name);
        if (name->length > 0 && (now.tv_sec != before->tv_sec || now.tv_nsec != before->tv_nsec)) {
            return MXP_OK;
        }
        if (kill((pid_t)pid, 0) != 0) {
            return mxp__fail(MXP_EIO, "process %ld has ended", pid);
        }
    }
    return mxp__fail(MXP_EIO,
                     "process %ld wrote no snapshot into '%s' within %g s; its stderr says if one "
                     "could not be written",
                     pid, mxp__strbuf_text(&place->folder), timeout_s);
}

static int ask(long pid, const mxp_snapshot_process *of, const snapshot_place *place,
               double timeout_s, mxp_strbuf *file)
{
    struct timespec before = newest(place, file);
    if (kill((pid_t)pid, of->signal) != 0) {
        return mxp__fail(MXP_EIO, "cannot signal process %ld: %s", pid, strerror(errno));
    }
    if (of->is_stopped) {
        return mxp__fail(MXP_EIO,
                         "process %ld is stopped; it will write a snapshot into '%s' when it goes "
                         "on (kill -CONT %ld)",
                         pid, mxp__strbuf_text(&place->folder), pid);
    }
    return wait_for(place, pid, &before, timeout_s, file);
}

static int take_snapshot(long pid, const char *name, double timeout_s, mxp_strbuf *out)
{
    mxp_snapshot_process of = {0};
    snapshot_place place = {0};
    mxp_strbuf file = {0};
    int error = mxp__snapshot_process_check(pid, &of);
    if (error == MXP_OK) {
        mxp__snapshot_process_pattern(pid, name, &of);
        error = find_place(pid, &of, &place);
        if (error == MXP_OK) {
            error = ask(pid, &of, &place, timeout_s, &file);
        }
    }
    if (error == MXP_OK) {
        mxp__strbuf_printf(out, "%s/%s\n", mxp__strbuf_text(&place.folder),
                           mxp__strbuf_text(&file));
    }
    mxp__strbuf_fini(&of.pattern);
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
    .wants = "process",
    .example = "4711",
    .run = run,
};
