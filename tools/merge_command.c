// SPDX-License-Identifier: Apache-2.0
// mxprof merge: the files of several processes as one, native or Chrome JSON. Nothing is added up:
// each process keeps its names, threads and times, moved to one clock.
#include <mxprof/error.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/os/same_file.h"
#include "clock_lines.h"
#include "command.h"
#include "output_format.h"
#include "profiler/trace/recovered_source.h"

static const char help[] =
    "mxprof merge joins the profiles of several processes, whose times then agree.\n"
    "\n"
    "usage: mxprof merge FILE|DIRECTORY ... -o OUT [--args] [--force]\n"
    "\n"
    "  -o, --output OUT   the file to write: a native trace, or the trace as Chrome JSON if its\n"
    "                     name ends in .json. It appears under its name when it is complete.\n"
    "  --args             spans of other profilers' traces keep their arguments\n"
    "  --force            takes files of different jobs together\n"
    "\n"
    "Of a directory all native traces (*.mxp, *.mxpz) are taken; one that cannot be read is said\n"
    "and left out, and so is the compressed copy (x.mxpz) of one that is there (x.mxp). Each\n"
    "process keeps its own row. Clocks are aligned by CLOCK_MONOTONIC_RAW between processes of "
    "one\n"
    "machine since it was started, else by CLOCK_REALTIME: as well as the machines' clocks agree.\n"
    "\n"
    "Processes of one job, on several machines, have exchanged stamps of their clocks. What these "
    "and\n"
    "their messages prove bounds how the clocks lie to one another; it is printed for each "
    "process,\n"
    "with how far it may be wrong. A message that would still come before it was sent gets two "
    "marks\n"
    "and no arrow.\n"
    "\n"
    "examples\n"
    "  mxprof merge profile.mxp profile.4711.mxp -o all.mxp\n"
    "  mxprof merge traces/ -o all.json\n"
    "\n"
    "exit code: 0 fine, 1 cannot be read or written or is damaged (what could be read is "
    "written),\n"
    "2 wrong call\n";

static bool is_json(const char *path)
{
    return mxp__output_format_of(path) == MXP__EXPORTER_chrome && !mxp__is_gzip_name(path);
}

static int write_json(mxp_source *source, const char *out_path)
{
    mxp_output output;
    int error = mxp__output_open(out_path, &output);
    if (error != MXP_OK) {
        return error;
    }
    error = mxp__export(mxp__exporter_find("chrome"), source, NULL, &output.sink);
    int close_error = mxp__output_close(&output, error == MXP_OK);
    return error != MXP_OK ? error : close_error;
}

// What is known of a job's clocks, on standard output.
static int tell_clocks(const mxp_command *self, mxp_one_clock *clocks)
{
    mxp_strbuf out = {0};
    mxp_screen screen;
    mxp__screen_look(STDOUT_FILENO, &screen);
    mxp__clock_lines_put(clocks, &screen, &out);
    const int code = mxp__output_print(self, &out);
    mxp__strbuf_fini(&out);
    return code;
}

static int merge(const mxp_command *self, char *const *paths, int count, const char *out_path)
{
    mxp_input input;
    if (mxp__input_open_all(self, paths, (size_t)count, &input) != MXP_OK) {
        return MXP_EXIT_ERROR;
    }
    mxp_recovery_loss lost = {0};
    mxp_source *readable = NULL;
    int error = input.clocks != NULL ? mxp__one_clock_check(input.clocks) : MXP_OK;
    if (error == MXP_OK) {
        error = mxp__recovered_open(input.source, &readable, &lost);
    }
    mxp__input_unread(self, &input, &lost);
    if (error == MXP_OK) {
        error = is_json(out_path) ? write_json(readable, out_path)
                                  : mxp__native_write(out_path, readable);
    }
    int code = error == MXP_OK ? mxp__input_exit_code(&input) : mxp__command_failed(self);
    if (error == MXP_OK && input.clocks != NULL) {
        const int told = tell_clocks(self, input.clocks);
        code = code == MXP_EXIT_FINE ? told : code;
    }
    mxp__source_close(readable);
    mxp__input_close(&input);
    return code;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    const char *out_path = NULL;
    int with_args = 0, force = 0;
    const mxp_option options[] = {
        {.name = "--output", .letter = 'o', .text = &out_path},
        {.name = "--args", .number = &with_args},
        {.name = "--force", .number = &force},
        {.name = NULL},
    };
    int files;
    int code = mxp__options_parse_all(self, options, count, arguments, &files);
    if (code >= 0) {
        return code;
    }
    if (out_path == NULL || strcmp(out_path, "-") == 0) {
        return mxp__usage_error(self, "where to? For example: mxprof merge %s -o all.mxp",
                                arguments[0]);
    }
    for (int i = 0; i < files; i++) {
        if (mxp__os_same_file(arguments[i], out_path)) {
            return mxp__usage_error(self, "'%s' is an input; write the result to another file",
                                    out_path);
        }
    }
    code = is_json(out_path) ? -1 : mxp__check_native_name(self, out_path);
    if (code >= 0) {
        return code;
    }
    if (with_args) {
        mxp__input_take_args();
    }
    mxp__input_take_jobs(force != 0, true);
    return merge(self, arguments, files, out_path);
}

const mxp_command mxp__command_merge = {
    .name = "merge",
    .summary = "several processes in one file, their clocks aligned",
    .help = help,
    .wants = "files",
    .example = "profile.mxp profile.4711.mxp -o all.mxp",
    .run = run,
};
