// SPDX-License-Identifier: Apache-2.0
// mxprof run: any program with its children, recorded into a folder of the run. The program's
// processes learn of it by the environment: MXPROF_RUN (profiler/session/run_folder.h), and the
// variables by which libraries find who takes their marks.
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "command.h"
#include "run_environment.h"
#include "run_process.h"
#include "summary.h"

static const char help[] =
    "mxprof run runs a program and records it and its children, unchanged.\n"
    "\n"
    "usage: mxprof run [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "  -o, --output DIR   the folder of the run, which must not exist or be empty; default\n"
    "                     mxprof-PROGRAM-YYYYMMDD-HHMMSS\n"
    "      --force        add to a folder that has files\n"
    "      --ring SIZE    keep only the newest SIZE of each process (64M; K, M, G)\n"
    "      --limit SIZE   most bytes of each process (default 1G)\n"
    "      --marks LIST   of itt,nvtx,ompt,torch; -itt is all but that; none; default all\n"
    "      --no-preload   do not load the collector into every program: of PyTorch no operators\n"
    "                     unless the script sends them\n"
    "  -q, --quiet        nothing on stderr but errors\n"
    "\n"
    "What is recorded: programs with libmxprof or MXNet's API inside, what libraries send as\n"
    "ITT marks (PyTorch, oneDNN, oneTBB and others) or NVTX ranges (CUDA programs and others),\n"
    "and what OpenMP runtimes tell tools (LLVM's, Intel's, AMD's). Each process has a file of its\n"
    "own, whole whatever ends the process; one that records nothing leaves none. Options end at\n"
    "the first word that is none.\n"
    "\n"
    "examples\n"
    "  mxprof run python train.py\n"
    "  mxprof run -o before --limit 200M -- ./server --port 80\n"
    "\n"
    "exit code: the program's; 128+N if signal N ended it (by that signal), 127 it was not found,\n"
    "126 it cannot be executed, 125 the folder cannot be made, 2 wrong call\n";

typedef struct run_options {
    const char *output, *ring, *limit, *marks;
    int force, quiet, no_preload;
} run_options;

enum { EXIT_NO_FOLDER = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

// ---- the folder --------------------------------------------------------------------------------
static void name_folder(const char *program, mxp_strbuf *folder)
{
    const char *slash = strrchr(program, '/');
    time_t now = time(NULL);
    struct tm local;
    char moment[32];
    localtime_r(&now, &local);
    strftime(moment, sizeof moment, "%Y%m%d-%H%M%S", &local);
    mxp__strbuf_printf(folder, "mxprof-%s-%s", slash != NULL ? slash + 1 : program, moment);
}

static bool has_files(const char *folder)
{
    DIR *listing = opendir(folder);
    const struct dirent *entry;
    bool found = false;
    while (listing != NULL && (entry = readdir(listing)) != NULL) {
        found = found || (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0);
    }
    if (listing != NULL) {
        closedir(listing);
    }
    return found;
}

// Makes the folder, or takes one that may be taken; `whole` gets its path from the root.
static int make_folder(const char *folder, bool force, char *whole, bool *made)
{
    *made = mkdir(folder, 0777) == 0;
    if (!*made && errno != EEXIST) {
        return mxp__fail(MXP_EIO, "cannot make the folder '%s': %s", folder, strerror(errno));
    }
    if (!force && has_files(folder)) {
        return mxp__fail(MXP_EIO,
                         "the folder '%s' has files already: name another one by "
                         "--output, or add to it by --force",
                         folder);
    }
    if (realpath(folder, whole) == NULL || access(whole, W_OK | X_OK) != 0) {
        return mxp__fail(MXP_EIO, "cannot write into the folder '%s': %s", folder, strerror(errno));
    }
    return MXP_OK;
}

// ---- the summary -------------------------------------------------------------------------------
static void tell_end(const char *program, int status, double seconds)
{
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "mxprof: %s was ended by signal %d after %.2f s", program, WTERMSIG(status),
                seconds);
    } else {
        fprintf(stderr, "mxprof: %s ended with %d after %.2f s", program, WEXITSTATUS(status),
                seconds);
    }
}

// Failures of the summary are told and change nothing.
static void tell_records(const mxp_command *command, char *folder)
{
    mxp_input input;
    mxp_summary summary;
    if (mxp__input_open(command, folder, &input) != MXP_OK) {
        return;
    }
    if (mxp__summary_make(command, &input, &summary) == MXP_OK) {
        fprintf(stderr, "mxprof: %llu records, %.2f MB; lost %llu\n",
                (unsigned long long)summary.records, (double)input.file_bytes / 1e6,
                (unsigned long long)summary.lost);
        mxp__summary_fini(&summary);
    }
    mxp__input_close(&input);
    fprintf(stderr, "mxprof: next   mxprof report %s   |   mxprof convert %s -o trace.json\n",
            folder, folder);
}

static void tell(const mxp_command *command, const char *program, int status, double seconds,
                 char *folder)
{
    tell_end(program, status, seconds);
    if (has_files(folder)) {
        fputs("\n", stderr);
        tell_records(command, folder);
        return;
    }
    fputs("; nothing was recorded\n"
          "mxprof: it sends no marks that are known here; programs of your own do by "
          "<mxprof/record.h>\n",
          stderr);
}

// ---- all ---------------------------------------------------------------------------------------
// The size in bytes as libmxprof reads it, or a usage error.
static int check_size(const mxp_command *command, const char *option, const char *size)
{
    const size_t digits = size != NULL ? strspn(size, "0123456789") : 1;
    const char *rest = size != NULL ? size + digits : "";
    bool fits =
        digits > 0 && (rest[0] == '\0' || (strchr("KMG", rest[0]) != NULL && rest[1] == '\0'));
    return fits ? -1
                : mxp__usage_error(command, "%s takes a number with K, M or G, as in 64M, not '%s'",
                                   option, size);
}

static int failed_start(const mxp_command *command, const char *program, int error)
{
    fprintf(stderr, "mxprof %s: cannot run '%s': %s\n", command->name, program, strerror(error));
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static int run_program(const mxp_command *command, const run_options *options, unsigned marks,
                       char **arguments)
{
    char folder[PATH_MAX];
    mxp_strbuf name = {0};
    if (options->output != NULL) {
        mxp__strbuf_puts(&name, options->output);
    } else {
        name_folder(arguments[0], &name);
    }
    bool made;
    int error = make_folder(mxp__strbuf_text(&name), options->force != 0, folder, &made);
    mxp__strbuf_fini(&name);
    if (error != MXP_OK) {
        mxp__command_failed(command);
        return EXIT_NO_FOLDER;
    }
    mxp__run_environment(&(mxp_run_settings){
        .folder = folder,
        .ring = options->ring,
        .limit = options->limit,
        .marks = marks,
        .preloads = options->no_preload == 0,
        .quiet = options->quiet != 0,
    });
    int status;
    uint64_t begin_ns = mxp__os_monotonic_ns();
    int start_error = mxp__run_process(arguments, &status);
    double seconds = (double)(mxp__os_monotonic_ns() - begin_ns) * 1e-9;
    if (start_error == 0 && !options->quiet) {
        tell(command, arguments[0], status, seconds, folder);
    }
    if (made) {
        rmdir(folder);  // where nothing was recorded; one with files stays
    }
    if (start_error != 0) {
        return failed_start(command, arguments[0], start_error);
    }
    mxp__end_like(status);
}

static int run(const mxp_command *self, int count, char **arguments)
{
    run_options values = {0};
    const mxp_option options[] = {
        {"--output", 'o', NULL, NULL, &values.output},
        {"--force", 0, NULL, &values.force, NULL},
        {"--ring", 0, NULL, NULL, &values.ring},
        {"--limit", 0, NULL, NULL, &values.limit},
        {"--quiet", 'q', NULL, &values.quiet, NULL},
        {"--marks", 0, NULL, NULL, &values.marks},
        {"--no-preload", 0, NULL, &values.no_preload, NULL},
        {0},
    };
    int first;
    int code = mxp__options_parse_first(self, options, count, arguments, &first);
    if (code < 0) {
        code = check_size(self, "--ring", values.ring);
    }
    if (code < 0) {
        code = check_size(self, "--limit", values.limit);
    }
    unsigned marks = MXP_MARKS_ALL;
    if (code < 0 && values.marks != NULL && !mxp__run_marks(values.marks, &marks)) {
        code = mxp__usage_error(self,
                                "--marks takes words of itt, nvtx, ompt and torch with commas "
                                "between them, -itt for all but that, or none; not '%s'",
                                values.marks);
    }
    return code >= 0 ? code : run_program(self, &values, marks, arguments + first);
}

const mxp_command mxp__command_run = {
    .name = "run",
    .summary = "runs a program and records it and its children, unchanged",
    .help = help,
    .wants = "program",
    .example = "python train.py",
    .run = run,
};
