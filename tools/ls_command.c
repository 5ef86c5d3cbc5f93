// SPDX-License-Identifier: Apache-2.0
// mxprof ls: the processes of this machine that record now.
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "command.h"
#include "image/recorder_image.h"
#include "process_files.h"
#include "text/figure.h"
#include "text/json_writer.h"
#include "text/label.h"
#include "text/text_table.h"

static const char help[] =
    "mxprof ls lists the processes that record now: into which file, or that they do in memory.\n"
    "\n"
    "usage: mxprof ls [--json] [PID ...]\n"
    "\n"
    "  --json   as JSON\n"
    "\n"
    "Without a PID all processes are looked at that you may look into. Nothing is sent to them, "
    "and\n"
    "none is stopped. A process that records into a file has it mapped; one that records into\n"
    "memory is known by the library that it has loaded, and by what that has in its memory, which\n"
    "the system must let you read (kernel.yama.ptrace_scope). So a program that has the library\n"
    "linked in and records into memory is found only by its PID. All other commands take the PID "
    "in\n"
    "the place of a file.\n"
    "\n"
    "example\n"
    "  mxprof ls && mxprof report 4711\n"
    "\n"
    "exit code: 0 fine, 1 /proc cannot be read, 2 wrong call, 3 no process records\n";

typedef enum recording_state {
    STATE_FILE,  // into a file
    STATE_ON,  // into memory
    STATE_PAUSED,
    STATE_STOPPED,
    STATE_HIDDEN,  // has the library; the system does not let us look
} recording_state;

static const char *const state_words[] = {[STATE_FILE] = "file",
                                          [STATE_ON] = "memory",
                                          [STATE_PAUSED] = "paused",
                                          [STATE_STOPPED] = "stopped",
                                          [STATE_HIDDEN] = "cannot tell"};

typedef struct found_process {
    long pid;
    recording_state state;
    uint64_t bytes;  // of the file; of memory the limit
    char name[64];
    char *path;  // of the file, or null
} found_process;

typedef struct found_processes {
    found_process *all;
    size_t count, capacity;
} found_processes;

// ---- one process -------------------------------------------------------------------------------
static void read_name(long pid, char *name, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    FILE *file = fopen(path, "re");
    name[0] = '\0';
    if (file != NULL) {
        if (fgets(name, (int)size, file) == NULL) {
            name[0] = '\0';
        }
        fclose(file);
    }
    name[strcspn(name, "\n")] = '\0';
}

static int keep_file(found_process *process, const mxp_strbuf *path)
{
    struct stat status;
    process->state = STATE_FILE;
    process->path = mxp__strdup(mxp__strbuf_text(path));
    // Space that is reserved ahead counts nothing.
    process->bytes =
        stat(mxp__strbuf_text(path), &status) == 0 ? (uint64_t)status.st_blocks * 512 : 0;
    return process->path != NULL ? 1 : mxp__fail_memory("a file name");
}

static int look_into_memory(found_process *process)
{
    mxp_memory_image image;
    mxp_image_anchor anchor;
    uint32_t state = 0;
    int found = 0;
    if (mxp__image_open_process(&image, process->pid) != MXP_OK) {
        process->state = STATE_HIDDEN;
        found = 1;
    } else if (mxp__image_find_anchor(&image, &anchor) == MXP_OK &&
               mxp__image_read(&image, anchor.state, &state, sizeof state)) {
        process->state = state == 1 ? STATE_ON : state == 2 ? STATE_PAUSED : STATE_STOPPED;
        process->bytes = anchor.memory_limit_bytes;
        found = 1;
    }
    mxp__image_close(&image);
    return found;
}

// 1: it records, or may. 0: it has no recorder that was ever on. MXP_ENOMEM; MXP_EIO: it cannot be
// looked into.
static int look_at(long pid, bool was_named, found_process *process)
{
    mxp_strbuf path = {0};
    *process = (found_process){.pid = pid};
    int found = mxp__process_recording_file(pid, &path);
    read_name(pid, process->name, sizeof process->name);
    if (found == MXP_OK && path.length > 0) {
        found = keep_file(process, &path);
    } else if (found == MXP_OK && (was_named || mxp__process_has_library(pid))) {
        found = look_into_memory(process);
    }
    mxp__strbuf_fini(&path);
    return found;
}

static int add(found_processes *list, const found_process *process)
{
    if (mxp__grow(&list->all, &list->capacity, list->count + 1, sizeof *list->all) != MXP_OK) {
        mxp__strfree(process->path);
        return mxp__fail_memory("the list of processes");
    }
    list->all[list->count++] = *process;
    return MXP_OK;
}

// ---- all ---------------------------------------------------------------------------------------
static int ascending(const void *a, const void *b)
{
    const found_process *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

// Processes that end meanwhile, and those of others, are passed over.
static int look_at_all(found_processes *list)
{
    DIR *folder = opendir("/proc");
    if (folder == NULL) {
        return mxp__fail(MXP_EIO, "cannot read /proc: %s", strerror(errno));
    }
    const struct dirent *entry;
    int error = MXP_OK;
    while (error == MXP_OK && (entry = readdir(folder)) != NULL) {
        found_process process;
        long pid = isdigit((unsigned char)entry->d_name[0]) ? strtol(entry->d_name, NULL, 10) : 0;
        int found = pid > 0 && pid != getpid() ? look_at(pid, false, &process) : 0;
        bool counts = found == 1 && process.state != STATE_STOPPED;
        error = counts ? add(list, &process) : found == MXP_ENOMEM ? found : MXP_OK;
    }
    closedir(folder);
    if (list->count > 1) {
        qsort(list->all, list->count, sizeof *list->all, ascending);
    }
    return error;
}

// -1, or the exit code after an error line.
static int look_at_some(const mxp_command *self, int count, char **words, found_processes *list)
{
    for (int i = 0; i < count; i++) {
        found_process process;
        char *end;
        long pid = strtol(words[i], &end, 10);
        if (*end != '\0' || pid <= 0 || pid > INT32_MAX) {
            return mxp__usage_error(self, "'%s' is no process number", words[i]);
        }
        int found = look_at(pid, true, &process);
        if (found == 1) {
            found = add(list, &process);
        }
        if (found < 0) {
            return mxp__command_failed(self);
        }
    }
    return -1;
}

// ---- printing ----------------------------------------------------------------------------------
static void put_text(const found_processes *list, mxp_strbuf *out)
{
    static const mxp_text_column columns[] = {{"process", MXP_COLUMN_RIGHT, 0},
                                              {"program", MXP_COLUMN_LEFT, 0},
                                              {"records to", MXP_COLUMN_LEFT, 0},
                                              {"size", MXP_COLUMN_RIGHT, 1},
                                              {"file", MXP_COLUMN_NAME, 0}};
    mxp_screen screen;
    mxp_text_table table;
    mxp__screen_look(STDOUT_FILENO, &screen);
    mxp__text_table_init(&table, &screen, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < list->count; i++) {
        const found_process *at = &list->all[i];
        mxp__strbuf_printf(mxp__text_cell(&table), "%ld", at->pid);
        mxp__put_label(&screen, at->name, strlen(at->name), mxp__text_cell(&table));
        mxp__strbuf_puts(mxp__text_cell(&table), state_words[at->state]);
        mxp_strbuf *cell = mxp__text_cell(&table);
        if (at->state == STATE_FILE) {
            mxp__put_bytes((double)at->bytes, cell);
        }
        cell = mxp__text_cell(&table);
        if (at->path != NULL) {
            mxp__put_label(&screen, at->path, strlen(at->path), cell);
        }
        mxp__text_row(&table, MXP_LOOK_PLAIN);
    }
    mxp__text_table_put(&table, out);
    mxp__text_table_fini(&table);
}

static void put_json(const found_processes *list, mxp_strbuf *out)
{
    mxp_json json = {.out = out};
    mxp__json_array(&json, NULL);
    for (size_t i = 0; i < list->count; i++) {
        const found_process *at = &list->all[i];
        mxp__json_row(&json, NULL);
        mxp__json_i64(&json, "process", at->pid);
        mxp__json_text(&json, "program", at->name);
        mxp__json_text(&json, "records_to", state_words[at->state]);
        if (at->path != NULL) {
            mxp__json_text(&json, "file", at->path);
            mxp__json_u64(&json, "file_bytes", at->bytes);
        } else if (at->state != STATE_HIDDEN) {
            mxp__json_u64(&json, "memory_limit_bytes", at->bytes);
        }
        mxp__json_end(&json);
    }
    mxp__json_end(&json);
}

static int print(const mxp_command *self, const found_processes *list, bool as_json)
{
    mxp_strbuf out = {0};
    if (list->count == 0) {
        fprintf(stderr, "mxprof %s: no process records that you may look into\n", self->name);
        return MXP_EXIT_UNKNOWN;
    }
    (as_json ? put_json : put_text)(list, &out);
    int code = mxp__output_print(self, &out);
    mxp__strbuf_fini(&out);
    return code;
}

static int run(const mxp_command *self, int count, char **arguments)
{
    int json = 0, pids = 0;
    const mxp_option options[] = {{.name = "--json", .number = &json}, {.name = NULL}};
    int code = mxp__options_parse_any(self, options, count, arguments, &pids);
    if (code >= 0) {
        return code;
    }
    found_processes list = {0};
    if (pids > 0) {
        code = look_at_some(self, pids, arguments, &list);
    } else {
        code = look_at_all(&list) == MXP_OK ? -1 : mxp__command_failed(self);
    }
    code = code < 0 ? print(self, &list, json) : code;
    for (size_t i = 0; i < list.count; i++) {
        mxp__strfree(list.all[i].path);
    }
    mxp__free(list.all, list.capacity * sizeof *list.all);
    return code;
}

const mxp_command mxp__command_ls = {
    .name = "ls",
    .summary = "the processes that record now",
    .help = help,
    .run = run,
};
