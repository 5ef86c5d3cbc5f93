// SPDX-License-Identifier: Apache-2.0
// Which runs a side has. A run is a file with one process; of several the one that marks steps.
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "coverage.h"
#include "diff/diff.h"
#include "profiler/analysis/graph/graph.h"

// ---- one run -----------------------------------------------------------------------------------
// The process with most marks of steps; of several the first. Says so where others have some, too.
static int choose_process(const mxp_command *command, const char *path, mxp_source *source,
                          mxp_source **process)
{
    size_t most = 0, with_steps = 0;
    *process = source->process_count > 0 ? source->processes[0] : source;
    for (size_t i = 0; i < source->process_count && source->process_count > 1; i++) {
        mxp_steps steps;
        int error = mxp__steps_find(source->processes[i], &steps);
        if (error != MXP_OK) {
            return error;
        }
        with_steps += steps.count > 0;
        if (steps.count > most) {
            most = steps.count;
            *process = source->processes[i];
        }
        mxp__steps_fini(&steps);
    }
    if (with_steps > 1) {
        fprintf(stderr,
                "mxprof %s: note: %zu processes of '%s' mark steps; process %" PRIu32
                " has most, and counts\n",
                command->name, with_steps, path, (*process)->pid);
    }
    return MXP_OK;
}

// The path as the run keeps it: files of directories are named here.
static const char *keep_path(mxp_diff *diff, const char *path)
{
    char *copy = mxp__strdup(path);
    if (copy == NULL || mxp__grow(&diff->paths, &diff->path_capacity, diff->path_count + 1,
                                  sizeof *diff->paths) != MXP_OK) {
        mxp__strfree(copy);
        mxp__fail_memory("the name of a run");
        return NULL;
    }
    diff->paths[diff->path_count++] = copy;
    return copy;
}

static bool is_same_run(const mxp_compared_run *a, const mxp_compared_run *b)
{
    return a->began_ns != 0 && a->began_ns == b->began_ns && a->total_ns == b->total_ns &&
           a->step_count == b->step_count;
}

// A run that is compared with itself makes every test wrong.
static int check_new(const mxp_diff *diff, const mxp_compared_run *run)
{
    for (int side = 0; side < MXP__SIDES; side++) {
        const mxp_side *runs = &diff->comparison.sides[side];
        for (size_t i = 0; i < runs->count; i++) {
            if (is_same_run(&runs->runs[i], run)) {
                return mxp__fail(MXP_EINVAL, "'%s' and '%s' are the same run", runs->runs[i].path,
                                 run->path);
            }
        }
    }
    return MXP_OK;
}

static int add_process(const mxp_command *command, mxp_diff *diff, int side, mxp_input *input,
                       const char *path)
{
    mxp_side *runs = &diff->comparison.sides[side];
    mxp_source *process = NULL;
    mxp_compared_run *run = mxp__side_next(runs);
    const char *kept = keep_path(diff, path);
    int error = run == NULL || kept == NULL
                    ? MXP_ENOMEM
                    : choose_process(command, path, input->source, &process);
    if (error == MXP_OK) {
        error = mxp__compared_run_read(process, kept, &diff->steps, MXP__GRAPH_BYTES_MAX,
                                       &diff->comparison.rows, run);
    }
    if (error == MXP_OK && run->unread_ranges > 0) {
        mxp__input_cut_short(command, input);
    }
    if (error == MXP_OK) {
        error = check_new(diff, run);
        if (error == MXP_OK) {
            runs->count++;
        } else {
            mxp__compared_run_fini(run);
        }
    }
    return error;
}

// Of a ring only the steps that all threads are there for: of others a thread's work is missing.
static int take_covered(const mxp_command *command, mxp_input *input, const char *path)
{
    mxp_strbuf note = {0};
    const int error = mxp__coverage_take(input, &note);
    if (error == MXP_OK && note.length > 0 && !note.failed) {
        fprintf(stderr, "mxprof %s: note: '%s' is %s", command->name, path, note.data);
    }
    mxp__strbuf_fini(&note);
    return error;
}

static int add_run(const mxp_command *command, mxp_diff *diff, int side, const char *path)
{
    mxp_input input;
    int error = mxp__input_open(command, path, &input);
    if (error != MXP_OK) {
        return error;
    }
    error = take_covered(command, &input, path);
    if (error == MXP_OK) {
        error = add_process(command, diff, side, &input, input.path);
    }
    if (error != MXP_OK) {
        mxp__command_failed(command);
    }
    mxp__input_close(&input);
    return error;
}

// ---- directories -------------------------------------------------------------------------------
static bool has_ending(const char *name, const char *ending)
{
    const size_t length = strlen(name), of_ending = strlen(ending);
    return length > of_ending && strcmp(name + length - of_ending, ending) == 0;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

// run.json says that a folder is one run.
static bool is_folder_of_a_run(const char *path)
{
    mxp_strbuf name = {0};
    struct stat status;
    mxp__strbuf_printf(&name, "%s/run.json", path);
    const bool is_run = !name.failed && stat(mxp__strbuf_text(&name), &status) == 0;
    mxp__strbuf_fini(&name);
    return is_folder(path) && is_run;
}

// Of x.mxp and its compressed copy x.mxpz the first counts.
static bool is_copy(struct dirent **entries, int count, const char *name)
{
    const size_t length = strlen(name);
    for (int i = 0; i < count; i++) {
        const char *other = entries[i]->d_name;
        if (has_ending(name, ".mxpz") && strlen(other) == length - 1 &&
            strncmp(other, name, length - 1) == 0) {
            return true;
        }
    }
    return false;
}

static int add_entry(const mxp_command *command, mxp_diff *diff, int side, const char *folder,
                     const char *name, bool is_trace)
{
    mxp_strbuf path = {0};
    mxp__strbuf_printf(&path, "%s/%s", folder, name);
    int error = MXP_OK;
    if (path.failed) {
        mxp__fail_memory("the name of a run");
        mxp__command_failed(command);
        error = MXP_ENOMEM;
    } else if (is_trace || is_folder_of_a_run(mxp__strbuf_text(&path))) {
        error = add_run(command, diff, side, mxp__strbuf_text(&path));
    }
    mxp__strbuf_fini(&path);
    return error;
}

static int add_folder(const mxp_command *command, mxp_diff *diff, int side, const char *path)
{
    struct dirent **entries;
    const size_t before = diff->comparison.sides[side].count;
    const int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        mxp__fail(MXP_EIO, "cannot open '%s': %s", path, strerror(errno));
        mxp__command_failed(command);
        return MXP_EIO;
    }
    int error = MXP_OK;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        const bool is_trace = has_ending(name, ".mxp") || has_ending(name, ".mxpz");
        if (error == MXP_OK && name[0] != '.' && !is_copy(entries, count, name)) {
            error = add_entry(command, diff, side, path, name, is_trace);
        }
    }
    for (int i = 0; i < count; i++) {
        free(entries[i]);
    }
    free(entries);
    if (error == MXP_OK && diff->comparison.sides[side].count == before) {
        error = mxp__fail(MXP_EIO, "the directory '%s' has no run in it (*.mxp, *.mxpz)", path);
        mxp__command_failed(command);
    }
    return error;
}

int mxp__diff_read_side(const mxp_command *command, mxp_diff *diff, int side, char *const *paths,
                        size_t count)
{
    int error = MXP_OK;
    for (size_t i = 0; i < count && error == MXP_OK; i++) {
        const bool is_several = is_folder(paths[i]) && !is_folder_of_a_run(paths[i]);
        error = is_several ? add_folder(command, diff, side, paths[i])
                           : add_run(command, diff, side, paths[i]);
    }
    return error;
}

void mxp__diff_fini(mxp_diff *diff)
{
    mxp__contributions_fini(&diff->contributions);
    mxp__differences_fini(&diff->differences);
    mxp__comparison_fini(&diff->comparison);
    while (diff->path_count > 0) {
        mxp__strfree(diff->paths[--diff->path_count]);
    }
    mxp__free(diff->paths, diff->path_capacity * sizeof *diff->paths);
    *diff = (mxp_diff){0};
}
