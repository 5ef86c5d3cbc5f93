// SPDX-License-Identifier: Apache-2.0
// Opening the trace of a subcommand. What can be read of a damaged file is used. The damage is
// always reported on stderr and by the exit code.
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "anonymous.h"
#include "any_file.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/lost_pages.h"
#include "command.h"
#include "import/import.h"
#include "profiler/analysis/clocks/one_clock.h"
#include "profiler/trace/merge.h"
#include "profiler/trace/recovered_source.h"
#include "profiler/trace/same_records.h"

// ---- one file ----------------------------------------------------------------------------------
// Checks the path before the reader looks at its bytes, because the message is clearer then.
static int check_path(const char *path, struct stat *status)
{
    if (stat(path, status) != 0) {
        return mxp__fail(MXP_EIO, "cannot open '%s': %s", path, strerror(errno));
    }
    return MXP_OK;
}

// The sources found so far.
typedef struct found_sources {
    const mxp_command *command;
    mxp_input *input;
    mxp_source **sources;
    const char **paths;  // of each; the caller's
    size_t count, capacity, path_capacity;
} found_sources;

static void warn_damage(found_sources *found, const char *path, const mxp_damage *damage)
{
    found->input->damaged = true;
    fprintf(stderr,
            "mxprof %s: warning: '%s' is damaged at offset %" PRIu64 ": %s\n"
            "What could be read of it follows.\n",
            found->command->name, path, damage->offset, damage->text);
}

// Whether a process of one is a process of the other with other records: those that are the same
// are used once.
static bool shares_process(mxp_source *a, mxp_source *b)
{
    mxp_source *x, *y;
    for (size_t i = 0; (x = mxp__source_process(a, i)) != NULL; i++) {
        for (size_t j = 0; (y = mxp__source_process(b, j)) != NULL; j++) {
            if (mxp__same_process(x, y) && !mxp__same_records(x, y)) {
                return true;
            }
        }
    }
    return false;
}

static void note_same_process(const found_sources *found)
{
    size_t last = found->count - 1;
    for (size_t i = 0; i < last; i++) {
        if (shares_process(found->sources[i], found->sources[last])) {
            fprintf(stderr,
                    "mxprof %s: note: '%s' and '%s' are of one process; what both hold counts "
                    "twice\n",
                    found->command->name, found->paths[i], found->paths[last]);
            return;
        }
    }
}

// Whether one name is the other's with a z after it.
static bool is_copy_name(const char *a, const char *b)
{
    size_t length_a = strlen(a), length_b = strlen(b);
    size_t shorter = length_a < length_b ? length_a : length_b;
    const char *longer = length_a < length_b ? b : a;
    return length_a + length_b == 2 * shorter + 1 && memcmp(a, b, shorter) == 0 &&
           longer[shorter] == 'z';
}

static bool is_alone(const mxp_source *source)
{
    return source->process_count == 0;
}

// Whether the last one is a copy of one before it, compressed or not.
static bool is_copy(const found_sources *found)
{
    size_t last = found->count - 1;
    for (size_t i = 0; i < last; i++) {
        mxp_source *before = found->sources[i], *now = found->sources[last];
        if (mxp__same_process(before, now) &&
            (is_copy_name(found->paths[i], found->paths[last]) ||
             (is_alone(before) && is_alone(now) && mxp__same_records(before, now)))) {
            fprintf(stderr,
                    "mxprof %s: note: '%s' and '%s' are of one process; the first is used\n",
                    found->command->name, found->paths[i], found->paths[last]);
            return true;
        }
    }
    return false;
}

// ---- other profilers' files --------------------------------------------------------------------
static mxp_import_options import_options;

void mxp__input_take_args(void)
{
    import_options.with_args = true;
}

// ---- jobs --------------------------------------------------------------------------------------
static bool refuses_jobs, uses_messages;

void mxp__input_take_jobs(bool force, bool messages)
{
    refuses_jobs = !force;
    uses_messages = messages;
}

static bool is_anonymous;

void mxp__input_take_anonymous(void)
{
    is_anonymous = true;
}

// The processes of a job on one clock.
static int take_job(mxp_input *input)
{
    mxp_source *source = input->source;
    if (source->process_count < 2 || !mxp__one_clock_is_wanted(source)) {
        return MXP_OK;
    }
    if (refuses_jobs && mxp__one_clock_mixes_jobs(source)) {
        return mxp__fail(MXP_EINVAL,
                         "'%s': these files are of different jobs; --force takes them together",
                         input->path);
    }
    input->source = NULL;
    mxp_one_clock *clocks;
    int error = mxp__one_clock_open(source, uses_messages, &clocks);
    if (error == MXP_OK) {
        input->clocks = clocks;
        input->source = &clocks->source;
    }
    return error;
}

// Each line is a note of its own.
static void print_notes(const found_sources *found, const char *path, mxp_strbuf *notes)
{
    char *rest = notes->failed || notes->length == 0 ? NULL : notes->data, *line;
    while ((line = strsep(&rest, "\n")) != NULL && line[0] != '\0') {
        fprintf(stderr, "mxprof %s: note: '%s': %s\n", found->command->name, path, line);
    }
}

static int open_any(found_sources *found, const char *path, mxp_source **source, mxp_damage *damage,
                    uint64_t *size_bytes)
{
    mxp_any_file file;
    int error = mxp__any_file_open(path, &import_options, &file);
    print_notes(found, path, &file.notes);
    mxp__strbuf_fini(&file.notes);
    found->input->is_imported = found->input->is_imported || file.is_imported;
    *source = file.source;
    *damage = file.damage;
    *size_bytes = file.size_bytes;
    return error;
}

// ---- any file ----------------------------------------------------------------------------------
static void tell_unnamed(void *context, const char *path, const char *why)
{
    const found_sources *found = context;
    fprintf(stderr, "mxprof %s: note: functions of '%s' have no names: %s\n", found->command->name,
            path, why);
}

static int open_file(found_sources *found, const char *path)
{
    if (mxp__grow(&found->sources, &found->capacity, found->count + 1, sizeof(mxp_source *)) !=
            MXP_OK ||
        mxp__grow(&found->paths, &found->path_capacity, found->count + 1, sizeof(char *)) !=
            MXP_OK) {
        return mxp__fail_memory("the list of files");
    }
    mxp_damage damage = {0, NULL};
    uint64_t file_bytes;
    int error = open_any(found, path, &found->sources[found->count], &damage, &file_bytes);
    if (error != MXP_OK) {
        return error;
    }
    found->paths[found->count++] = path;
    if (is_copy(found)) {
        mxp__source_close(found->sources[--found->count]);
        return MXP_OK;
    }
    if (damage.text != NULL) {
        warn_damage(found, path, &damage);
    }
    found->input->file_bytes += file_bytes;
    note_same_process(found);
    return mxp__symbols_put(&found->input->symbols, found->sources[found->count - 1], tell_unnamed,
                            found);
}

// ---- directories -------------------------------------------------------------------------------
static int is_native(const struct dirent *entry)
{
    const char *ending = strrchr(entry->d_name, '.');
    return ending != NULL && ending != entry->d_name &&
           (strcmp(ending, ".mxp") == 0 || strcmp(ending, ".mxpz") == 0);
}

// The file's path, kept with the input; null without memory.
static const char *keep_path(mxp_input *input, const char *folder, const char *name)
{
    mxp_strbuf path = {0};
    mxp__strbuf_printf(&path, "%s/%s", folder, name);
    char *kept = path.failed ? NULL : mxp__strdup(mxp__strbuf_text(&path));
    mxp__strbuf_fini(&path);
    if (kept == NULL || mxp__grow(&input->names, &input->name_capacity, input->name_count + 1,
                                  sizeof(char *)) != MXP_OK) {
        mxp__strfree(kept);
        mxp__fail_memory("a file name");
        return NULL;
    }
    input->names[input->name_count++] = kept;
    return kept;
}

// Leaves a file out that cannot be read, with a warning.
static int open_entry(found_sources *found, const char *folder, const char *name)
{
    const char *path = keep_path(found->input, folder, name);
    if (path == NULL) {
        return MXP_ENOMEM;
    }
    struct stat status;
    int error = check_path(path, &status);
    if (error == MXP_OK) {
        error = open_file(found, path);
    }
    if (error != MXP_OK && error != MXP_ENOMEM) {
        mxp__command_failed(found->command);
        found->input->left_out++;
        error = MXP_OK;
    }
    return error;
}

static int open_folder(found_sources *found, const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_native, alphasort);
    if (count < 0) {
        return mxp__fail(MXP_EIO, "cannot open '%s': %s", path, strerror(errno));
    }
    size_t before = found->count;
    int error = MXP_OK;
    for (int i = 0; i < count; i++) {
        if (error == MXP_OK) {
            error = open_entry(found, path, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    if (error == MXP_OK && found->count == before) {
        return mxp__fail(MXP_EIO, "the directory '%s' has no native trace (*.mxp, *.mxpz) %s", path,
                         count > 0 ? "that can be read" : "in it");
    }
    return error;
}

// ---- all ---------------------------------------------------------------------------------------
static int open_path(found_sources *found, const char *path)
{
    struct stat status = {0};
    long pid;
    bool is_named = !mxp__is_standard_input(path) && !mxp__is_process(path, &pid);
    int error = is_named ? check_path(path, &status) : MXP_OK;
    if (error != MXP_OK) {
        return error;
    }
    return S_ISDIR(status.st_mode) ? open_folder(found, path) : open_file(found, path);
}

// One source of what was found, or none after an error.
static int take_sources(found_sources *found, int error)
{
    mxp_input *input = found->input;
    if (error == MXP_OK && found->count == 1) {
        input->source = found->sources[0];
    } else if (error == MXP_OK) {
        error = mxp__merge_open(found->sources, found->count, &input->source);
    } else {
        for (size_t i = 0; i < found->count; i++) {
            mxp__source_close(found->sources[i]);
        }
    }
    mxp__free(found->sources, found->capacity * sizeof(mxp_source *));
    mxp__free(found->paths, found->path_capacity * sizeof(char *));
    return error == MXP_OK ? take_job(input) : error;
}

// Whose times are laid beside others' though nobody knows how they lie to one another.
static void note_undated(const found_sources *found)
{
    const mxp_source *source = found->input->source;
    if (found->count > 1 && source->undated > 0) {
        fprintf(stderr,
                "mxprof %s: note: when %zu of %zu processes were recorded is not told: their times "
                "are taken as of one clock%s\n",
                found->command->name, source->undated, source->process_count,
                source->undated < source->process_count ? ", and begin where the others' do" : "");
    }
}

static int end_open(found_sources *found, int so_far)
{
    const mxp_command *command = found->command;
    mxp_input *input = found->input;
    int error = take_sources(found, so_far);
    if (error == MXP_OK) {
        note_undated(found);
    }
    if (error == MXP_OK && is_anonymous) {
        error = mxp__input_anonymize(input);
    }
    if (error == MXP_OK && input->source->repeated > 0) {
        fprintf(stderr,
                "mxprof %s: note: '%s' holds %zu %s twice, with the same records; each is used "
                "once\n",
                command->name, input->path, input->source->repeated,
                input->source->repeated == 1 ? "process" : "processes");
    }
    if (error != MXP_OK) {
        mxp__command_failed(command);
        mxp__input_close(input);
    }
    return error;
}

int mxp__input_open_all(const mxp_command *command, char *const *paths, size_t count,
                        mxp_input *input)
{
    *input = (mxp_input){.path = paths[0]};
    found_sources found = {.command = command, .input = input};
    int error = MXP_OK;
    for (size_t i = 0; i < count && error == MXP_OK; i++) {
        error = open_path(&found, paths[i]);
    }
    return end_open(&found, error);
}

int mxp__input_open_entries(const mxp_command *command, const char *folder, char *const *names,
                            size_t count, mxp_input *input)
{
    *input = (mxp_input){.path = folder};
    found_sources found = {.command = command, .input = input};
    int error = MXP_OK;
    for (size_t i = 0; i < count && error == MXP_OK; i++) {
        error = open_entry(&found, folder, names[i]);
    }
    if (error == MXP_OK && found.count == 0) {
        error = mxp__fail(MXP_EIO, "no file of '%s' can be read", folder);
    }
    return end_open(&found, error);
}

int mxp__input_open(const mxp_command *command, const char *path, mxp_input *input)
{
    char *paths[1] = {(char *)(uintptr_t)path};
    return mxp__input_open_all(command, paths, 1, input);
}

void mxp__input_unread(const mxp_command *command, mxp_input *input, const mxp_recovery_loss *lost)
{
    if (lost->chunks > 0 && !input->told_unread) {
        fprintf(stderr,
                "mxprof %s: warning: '%s' is damaged: %s\n"
                "%" PRIu64 " bytes of records in %" PRIu64 " %s cannot be read. What could be read "
                "of it follows.\n",
                command->name, input->path, lost->text, lost->bytes, lost->chunks,
                lost->chunks == 1 ? "chunk" : "chunks");
        input->told_unread = true;
    }
    input->damaged = input->damaged || lost->chunks > 0;
}

void mxp__input_cut_short(const mxp_command *command, mxp_input *input)
{
    mxp_recovery_loss lost = {0};
    mxp_source *readable = NULL;
    if (!input->told_unread && mxp__recovered_open(input->source, &readable, &lost) == MXP_OK) {
        mxp__input_unread(command, input, &lost);
        mxp__source_close(readable);
    }
    input->damaged = true;
}

void mxp__input_close(mxp_input *input)
{
    mxp__source_close(input->source);
    mxp__input_forget_infos(input);
    input->source = NULL;
    input->clocks = NULL;
    mxp__symbols_fini(&input->symbols);
    while (input->name_count > 0) {
        mxp__strfree(input->names[--input->name_count]);
    }
    mxp__free(input->names, input->name_capacity * sizeof(char *));
    input->names = NULL;
    input->name_capacity = 0;
}

int mxp__input_exit_code(const mxp_input *input)
{
    bool is_whole = !input->damaged && input->left_out == 0 && !mxp__lost_pages_any();
    return is_whole ? MXP_EXIT_FINE : MXP_EXIT_ERROR;
}

int mxp__input_end(const mxp_input *input, int code)
{
    bool may_be_there = code == MXP_EXIT_FINE || code == MXP_EXIT_UNKNOWN;
    return may_be_there && mxp__input_exit_code(input) != MXP_EXIT_FINE ? MXP_EXIT_ERROR : code;
}
