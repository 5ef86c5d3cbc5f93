// SPDX-License-Identifier: Apache-2.0
// mxprof run: any program with its children, recorded into a folder of the run. The program's
// processes learn of it by the environment: MXPROF_RUN (profiler/session/run_folder.h), and the
// variables by which libraries find who takes their marks.
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/os/os.h"
#include "command.h"
#include "run_environment.h"
#include "run_folder.h"
#include "run_job.h"
#include "run_living.h"
#include "run_process.h"
#include "run_record.h"
#include "run_summary.h"

static const char help[] =
    "mxprof run runs a program and records it and its children, unchanged.\n"
    "\n"
    "usage: mxprof run [OPTIONS] [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "  -o, --output DIR   the folder of the run, made with those it lies in; one that exists must\n"
    "                     be empty; default mxprof-PROGRAM-YYYYMMDD-HHMMSS\n"
    "      --force        add to a folder that has files\n"
    "      --ring SIZE    keep only the newest SIZE of each process (64M; K, M, G)\n"
    "      --limit SIZE   most bytes of each process (default 1G)\n"
    "      --marks LIST   of itt,nvtx,ompt,torch,functions; -itt is all but that; none; default "
    "all\n"
    "      --depth N      of functions: those called deeper than that are left out\n"
    "      --min-us X     of functions: calls shorter than X microseconds become a count and a\n"
    "                     time of the call around them\n"
    "      --python       Python's functions, as spans; --python=c: and those written in C\n"
    "      --dnnl         oneDNN's verbose lines as spans below operators, for versions before\n"
    "                     3.12, whose marks have no problem sizes\n"
    "      --sync WHAT    of waits and locks that marks carry: waits (of 1 us and more; default),\n"
    "                     all or none\n"
    "      --memory       what allocators tell by marks\n"
    "      --openmp=libomp  run programs built with GCC on LLVM's OpenMP runtime, which tells its\n"
    "                     regions; GCC's tells nothing\n"
    "      --max-names N  most names of each process (default 1000000)\n"
    "      --label TEXT   a name of the run, which its files carry for comparisons\n"
    "      --commit TEXT  what was run, in the same way\n"
    "      --children X   all (default) or none: only the first process\n"
    "      --no-preload   do not load the collector into every program: of PyTorch no operators\n"
    "                     unless the script sends them\n"
    "      --summary N    rows of the table at the end (10), which takes 2 s at most; none\n"
    "      --json         the summary as JSON on standard output, after the program's end\n"
    "  -q, --quiet        nothing on stderr but errors\n"
    "\n"
    "What is recorded: programs with libmxprof or MXNet's API inside, what libraries send as\n"
    "ITT marks (PyTorch, oneDNN, oneTBB and others) or NVTX ranges (CUDA programs and others),\n"
    "what OpenMP runtimes tell tools (LLVM's, Intel's, AMD's), and the functions of what was\n"
    "compiled with -finstrument-functions. Each process has a file of its own, whole whatever\n"
    "ends the process; one that records nothing leaves none. The table at the end ranks own\n"
    "times, without those of the spans inside. Options end at the first word that is none.\n"
    "\n"
    "Of mpirun, mpiexec, srun and mxnet-launch the processes that they start are recorded, each\n"
    "into ROLERANK.HOST.PID.mxp; the starter hands on what they need. With the command behind the\n"
    "starter (mpirun -n 4 mxprof run ...) it is the same. At the end there is a line a file.\n"
    "\n"
    "Reports know steps that are marked: in C by mxp_step(number), with this project's mxnet by\n"
    "profiler.step(), in other Python, PyTorch's too, by\n"
    "  mxprof = ctypes.CDLL(\"libmxprof.so.0\")\n"
    "  mxprof.mxp_step(ctypes.c_uint64(number))   # at the start of each\n"
    "\n"
    "examples\n"
    "  mxprof run python train.py\n"
    "  mxprof run -o before --limit 200M -- ./server --port 80\n"
    "  mxprof run -o job -- mpirun -n 4 python train.py\n"
    "\n"
    "exit code: the program's; 128+N if signal N ended it (by that signal), 127 it was not found,\n"
    "126 it cannot be executed, 125 the folder cannot be made, 2 wrong call\n";

static const char *const sync_words[] = {"waits", "all", "none", NULL};
static const char *const children_words[] = {"all", "none", NULL};
static const char *const python_words[] = {"", "functions", "c", NULL};
static const char *const openmp_words[] = {"own", "libomp", NULL};

typedef struct run_options {
    const char *output, *ring, *limit, *marks, *summary, *max_names, *depth, *min_us;
    const char *label, *commit;
    int force, quiet, no_preload, json, memory, dnnl;
    int sync, children, openmp, python;  // places in their words
    unsigned marks_bits, rows, names;  // of marks, summary, max_names
    char openmp_path[PATH_MAX];
} run_options;

enum { ROWS_DEFAULT = 10, ROWS_MAX = 1000, NAMES_MAX = 100000000 };
enum { DEPTH_MAX = 65535, MIN_US_MAX = 1000000000 };
enum { EXIT_NO_FOLDER = 125, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

// ---- before the start --------------------------------------------------------------------------
// What cannot work in this program is said before it writes anything.
static void tell_doors(const char *program, const mxp_program_facts *facts)
{
    const char *why =
        facts->has_more_rights ? "has more rights than who starts it (set-user-id or the like), so "
                                 "nothing of it is recorded"
        : facts->is_foreign ? "is for another processor or word size, so nothing of it is recorded"
        : facts->has_other_loader
            ? "is for another C library than mxprof, so nothing is loaded into it: what it records "
              "itself is recorded"
        : facts->is_static ? "is linked statically, so nothing can be loaded into it: what it "
                             "records itself is recorded"
                           : NULL;
    if (why != NULL) {
        fprintf(stderr, "mxprof: '%s' %s\n", program, why);
    }
}

// ---- all ---------------------------------------------------------------------------------------
// -1, or a usage error where libmxprof would not take the size: each process would say so, and go
// on without a limit.
static int check_size(const mxp_command *command, const char *option, const char *size)
{
    static const char units[] = "KMG";
    enum { LEAST_BITS = 20, MOST_BITS = 50, BITS_A_UNIT = 10 };
    if (size == NULL) {
        return -1;
    }
    char *rest;
    errno = 0;
    const unsigned long long number = strtoull(size, &rest, 10);
    const char *unit = *rest != '\0' ? strchr(units, *rest) : NULL;
    const bool is_size =
        isdigit((unsigned char)size[0]) && (*rest == '\0' || (unit != NULL && rest[1] == '\0'));
    if (!is_size) {
        return mxp__usage_error(command, "%s takes a number with K, M or G, as in 64M, not '%s'",
                                option, size);
    }
    const int bits = unit != NULL ? (int)(unit - units + 1) * BITS_A_UNIT : 0;
    const bool fits =
        errno == 0 && number <= 1ull << (MOST_BITS - bits) && number << bits >= 1ull << LEAST_BITS;
    return fits ? -1
                : mxp__usage_error(command, "%s takes 1M up to 1048576G, not '%s'", option, size);
}

// A number up to `most`, or none for 0, or a usage error. Null: `otherwise`.
static int read_number(const mxp_command *command, const char *option, const char *text,
                       unsigned otherwise, unsigned most, unsigned *number)
{
    char *end = NULL;
    const bool is_none = text != NULL && strcmp(text, "none") == 0;
    const unsigned long value = text == NULL                      ? otherwise
                                : isdigit((unsigned char)text[0]) ? strtoul(text, &end, 10)
                                                                  : 0;
    *number = (unsigned)value;
    const bool fits = text == NULL || is_none || (end != NULL && *end == '\0' && value <= most);
    return fits ? -1
                : mxp__usage_error(command, "%s takes a number up to %u, or none; not '%s'", option,
                                   most, text);
}

// The same of a number from 1 on that a process reads itself; none becomes null.
static int read_bound(const mxp_command *command, const char *option, const char **text,
                      unsigned most)
{
    unsigned number;
    int code = read_number(command, option, *text, 1, most, &number);
    if (code < 0 && *text != NULL && number == 0 && strcmp(*text, "none") != 0) {
        return mxp__usage_error(command, "%s takes a number from 1, or none; not '%s'", option,
                                *text);
    }
    *text = number == 0 ? NULL : *text;
    return code;
}

// What was meant where a file of this folder is named as a shell would not find it.
static const char *meant_start(const char *program, int error)
{
    const char *ending = strrchr(program, '.');
    if (ending != NULL && strcmp(ending, ".py") == 0 && access(program, R_OK) == 0) {
        return "; python goes before it";
    }
    if (error == ENOEXEC) {
        return "; a script needs a first line like #!/bin/sh, or its shell before it";
    }
    if (error == ENOENT && strchr(program, '/') != NULL && access(program, F_OK) == 0) {
        return "; it is there, but not the interpreter of its first line, or its loader";
    }
    bool is_here = error == ENOENT && strchr(program, '/') == NULL && access(program, X_OK) == 0;
    return is_here ? "; a program of this folder has ./ before its name" : "";
}

static int failed_start(const mxp_command *command, const char *program, int error)
{
    fprintf(stderr, "mxprof %s: cannot run '%s': %s%s\n", command->name, program, strerror(error),
            meant_start(program, error));
    return error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static void set_environment(const run_options *options, const char *folder,
                            const mxp_program_facts *facts)
{
    // A library of another C library would keep the program from its start.
    const bool loads = !facts->has_other_loader;
    mxp__run_environment(&(mxp_run_settings){
        .folder = folder,
        .ring = options->ring,
        .limit = options->limit,
        .depth = options->depth,
        .min_us = options->min_us,
        .marks = facts->is_foreign || !loads ? 0 : options->marks_bits,
        .names = options->max_names,
        .label = options->label,
        .commit = options->commit,
        .sync = options->sync != 0 ? sync_words[options->sync] : NULL,
        .openmp = options->openmp != 0 && loads ? options->openmp_path : NULL,
        .python = options->python != 0 && loads ? python_words[options->python] : NULL,
        .has_dnnl = options->dnnl != 0 && loads,
        .has_memory = options->memory != 0,
        .preloads = options->no_preload == 0,
        .quiet = options->quiet != 0,
    });
}

// Of the processes of a job that a starter has started with this command each, the first one
// speaks.
static void finish(const mxp_run_result *result, uint64_t begin_ns)
{
    if (result->traces->count > 0 && (!mxp__job_join() || mxp__job_is_first())) {
        mxp__run_record(result, begin_ns);
    }
    mxp__run_summary(result);
}

// Starts the program and waits for it; a starter, with options that hand on the run's variables.
static int start(char **arguments, mxp_starter starter, const mxp_variables *before, bool is_alone,
                 int *status)
{
    mxp_starter_line line;
    if (starter == MXP_STARTER_NONE) {
        return mxp__run_process(arguments, is_alone, status);
    }
    const int error = mxp__starter_line(starter, arguments, before, &line);
    const int start_error =
        error == MXP_OK ? mxp__run_process(line.arguments, is_alone, status) : ENOMEM;
    mxp__starter_line_free(&line);
    return start_error;
}

static int run_program(const mxp_command *command, const run_options *options, char **arguments)
{
    mxp_run_folder folder;
    mxp_program_facts facts;
    int status;
    if (mxp__run_folder_make(&folder, options->output, arguments[0], options->force != 0) !=
        MXP_OK) {
        mxp__command_failed(command);
        return EXIT_NO_FOLDER;
    }
    mxp__program_facts(arguments[0], &facts);
    if (!options->quiet) {
        tell_doors(arguments[0], &facts);
    }
    // Files that others of a job have begun by now are the run's, too.
    mxp_run_traces earlier = {0}, traces = {0};
    if (!mxp__job_join()) {
        (void)mxp__run_traces_find(folder.name, NULL, &earlier);
    }
    const mxp_starter starter = mxp__starter_of(arguments[0]);
    mxp_variables before = {0};
    if (starter != MXP_STARTER_NONE) {
        (void)mxp__variables_keep(&before);  // without memory all variables are handed on
        mxp__job_begin(starter);
    }
    set_environment(options, folder.whole, &facts);
    const uint64_t begin_ns = mxp__os_monotonic_ns(), begin_realtime_ns = mxp__os_realtime_ns();
    const int start_error = start(arguments, starter, &before, options->children != 0, &status);
    mxp__variables_free(&before);
    (void)mxp__run_traces_find(folder.name, &earlier, &traces);
    const long living = start_error == 0 && traces.count == 0 ? mxp__run_living(folder.whole) : 0;
    if (start_error == 0) {
        const mxp_run_result result = {
            .command = command,
            .arguments = arguments,
            .folder = folder.name,
            .facts = &facts,
            .status = status,
            .seconds = (double)(mxp__os_monotonic_ns() - begin_ns) * 1e-9,
            .rows = options->rows,
            .is_quiet = options->quiet != 0,
            .as_json = options->json != 0,
            .is_python_traced = options->python != 0,
            .is_job = starter != MXP_STARTER_NONE,
            .traces = &traces,
            .is_beside_others = earlier.count > 0,
            .living = living,
        };
        finish(&result, begin_realtime_ns);
    }
    mxp__run_traces_fini(&earlier);
    mxp__run_traces_fini(&traces);
    if (living == 0) {
        mxp__run_folder_tidy(&folder);  // where nothing was recorded
    }
    if (start_error != 0) {
        return failed_start(command, arguments[0], start_error);
    }
    mxp__end_like(status);
}

// What the words of options mean. -1, or the exit code of a usage error.
static int read_options(const mxp_command *self, run_options *values)
{
    int code = check_size(self, "--ring", values->ring);
    if (code < 0) {
        code = check_size(self, "--limit", values->limit);
    }
    values->marks_bits = MXP_MARKS_ALL;
    if (code < 0 && values->marks != NULL && !mxp__run_marks(values->marks, &values->marks_bits)) {
        code = mxp__usage_error(self,
                                "--marks takes words of itt, nvtx, ompt, torch and functions with "
                                "commas between them, -itt for all but that, or none; not '%s'",
                                values->marks);
    }
    if (code < 0 && values->ring != NULL && values->limit != NULL) {
        code = mxp__usage_error(self, "--ring and --limit both say how much is kept; give one");
    }
    if (code < 0) {
        code = read_bound(self, "--depth", &values->depth, DEPTH_MAX);
    }
    if (code < 0) {
        code = read_bound(self, "--min-us", &values->min_us, MIN_US_MAX);
    }
    if (code < 0) {
        code =
            read_number(self, "--summary", values->summary, ROWS_DEFAULT, ROWS_MAX, &values->rows);
    }
    if (code < 0) {
        code = read_number(self, "--max-names", values->max_names, 0, NAMES_MAX, &values->names);
    }
    if (code < 0 && values->max_names != NULL && values->names == 0) {
        code = mxp__usage_error(self, "--max-names takes a number from 1, not '%s'",
                                values->max_names);
    }
    if (code < 0 && values->python != 0 && values->no_preload != 0) {
        code = mxp__usage_error(self, "--python needs the collector in every program, which "
                                      "--no-preload leaves out");
    }
    if (code < 0 && values->openmp != 0 &&
        !mxp__run_find_openmp(values->openmp_path, sizeof values->openmp_path)) {
        code = mxp__usage_error(self,
                                "--openmp=libomp needs LLVM's OpenMP runtime, libomp.so.5, which "
                                "is not on this machine (Debian: libomp5)");
    }
    return code;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    run_options values = {0};
    const mxp_option options[] = {
        {"--output", 'o', NULL, NULL, &values.output, NULL},
        {"--force", 0, NULL, &values.force, NULL, NULL},
        {"--ring", 0, NULL, NULL, &values.ring, NULL},
        {"--limit", 0, NULL, NULL, &values.limit, NULL},
        {"--quiet", 'q', NULL, &values.quiet, NULL, NULL},
        {"--marks", 0, NULL, NULL, &values.marks, NULL},
        {"--depth", 0, NULL, NULL, &values.depth, NULL},
        {"--min-us", 0, NULL, NULL, &values.min_us, NULL},
        {"--no-preload", 0, NULL, &values.no_preload, NULL, NULL},
        {"--sync", 0, sync_words, &values.sync, NULL, NULL},
        {"--dnnl", 0, NULL, &values.dnnl, NULL, NULL},
        {"--memory", 0, NULL, &values.memory, NULL, NULL},
        {"--max-names", 0, NULL, NULL, &values.max_names, NULL},
        {"--label", 0, NULL, NULL, &values.label, NULL},
        {"--commit", 0, NULL, NULL, &values.commit, NULL},
        {"--children", 0, children_words, &values.children, NULL, NULL},
        {"--openmp", 0, openmp_words, &values.openmp, NULL, NULL},
        {"--python", 0, python_words, &values.python, NULL, NULL},
        {"--summary", 0, NULL, NULL, &values.summary, NULL},
        {"--json", 0, NULL, &values.json, NULL, NULL},
        {0},
    };
    int first;
    int code = mxp__options_parse_first(self, options, count, arguments, &first);
    if (code < 0) {
        code = read_options(self, &values);
    }
    if (code < 0 && mxp__job_join()) {  // one of many that share the folder
        values.force = 1;
        values.quiet = values.quiet || !mxp__job_is_first();
    }
    return code >= 0 ? code : run_program(self, &values, arguments + first);
}

const mxp_command mxp__command_run = {
    .name = "run",
    .summary = "runs a program and records it and its children, unchanged",
    .help = help,
    .wants = "program",
    .example = "python train.py",
    .run = run,
};
