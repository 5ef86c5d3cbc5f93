// SPDX-License-Identifier: Apache-2.0
#include "import/import_rows.h"

#include <mxprof/error.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "import/json_number.h"
#include "profiler/trace/checksum.h"

enum {
    OWN_PID_BASE = 1 << 22,  // Linux has none from here on
    LABELS_MAX = 1 << 20
};
#define OWN_TID_BASE 3000000000u

typedef struct row_entry {
    uint64_t key;
    mxp_import_row row;
    bool is_folded;  // there was no room for it
} row_entry;

typedef struct label_entry {
    uint64_t key;
    size_t at;
    uint32_t length;
} label_entry;

static const char memory_for[] = "the threads of an imported trace";

void mxp__import_rows_init(mxp_import_rows *rows)
{
    *rows = (mxp_import_rows){.pids = {.entry_bytes = sizeof(row_entry)},
                              .tids = {.entry_bytes = sizeof(row_entry)},
                              .labels = {.entry_bytes = sizeof(label_entry)}};
}

void mxp__import_rows_fini(mxp_import_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        mxp_import_process *process = &rows->processes[i];
        mxp__import_names_fini(&process->names);
        mxp__free(process->threads, process->thread_capacity * sizeof *process->threads);
    }
    mxp__free(rows->processes, rows->capacity * sizeof *rows->processes);
    mxp__id_map_fini(&rows->pids);
    mxp__id_map_fini(&rows->tids);
    mxp__id_map_fini(&rows->labels);
    mxp__strbuf_fini(&rows->label_texts);
}

// ---- keys --------------------------------------------------------------------------------------
// A number that is text is the number.
static uint64_t key_of(const mxp_json_field *field)
{
    return field->type == MXP__JSON_NONE ? 1 : mxp__checksum(field->text, field->length) | 1;
}

// Of several devices one thread is one thread, where the file has one process.
static uint64_t process_key(const mxp_import_rows *rows, const mxp_json_field *pid)
{
    return rows->is_one ? 1 : key_of(pid);
}

static uint64_t thread_key(const mxp_import_rows *rows, const mxp_json_field *pid,
                           const mxp_json_field *tid)
{
    uint64_t own = key_of(tid->type == MXP__JSON_NONE ? pid : tid);
    return (process_key(rows, pid) * UINT64_C(0x9e3779b97f4a7c15) ^ own) | 1;
}

// ---- making ------------------------------------------------------------------------------------
static bool small_number(const mxp_json_field *field, uint32_t *number)
{
    uint64_t value;
    if (!mxp__json_whole(field->text, field->length, &value) || value > INT32_MAX) {
        return false;
    }
    *number = (uint32_t)value;
    return true;
}

// What the file calls a row, as a name: "" for what may be a number of the system.
static int text_of(mxp_import_names *names, const mxp_json_field *field, uint32_t *id)
{
    uint32_t number;
    *id = 0;
    return field->length == 0 || small_number(field, &number)
               ? MXP_OK
               : mxp__import_name(names, field->text, field->length, 0, MXP_STYLE_NONE,
                                  MXP_UNIT_NONE, id);
}

static int adopt(const mxp_import_rows *rows, mxp_import_process *process,
                 const mxp_json_field *pid, uint64_t key)
{
    process->key = key;
    if (rows->is_one) {
        return MXP_OK;
    }
    process->has_pid = small_number(pid, &process->pid);
    return text_of(&process->names, pid, &process->text);
}

static int make_process(mxp_import_rows *rows)
{
    if (mxp__grow(&rows->processes, &rows->capacity, rows->count + 1, sizeof *rows->processes) !=
        MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    mxp_import_process *process = &rows->processes[rows->count++];
    memset(process, 0, sizeof *process);
    return mxp__import_names_init(&process->names, &rows->names);
}

// The first process takes in who is attached, and the process that comes next if it had only those.
static int new_process(mxp_import_rows *rows, const mxp_json_field *pid, bool attached,
                       uint32_t *number)
{
    bool joins = rows->count > 0 && (attached || rows->processes[0].key == 0);
    *number = joins ? 0 : (uint32_t)rows->count;
    int error = joins ? MXP_OK : make_process(rows);
    mxp_import_process *process = &rows->processes[*number];
    return error == MXP_OK && !attached && process->key == 0
               ? adopt(rows, process, pid, process_key(rows, pid))
               : error;
}

static int find_process(mxp_import_rows *rows, const mxp_json_field *pid, bool attached,
                        uint32_t *number, bool *is_folded)
{
    uint64_t key = process_key(rows, pid);
    const row_entry *found = mxp__id_map_find(&rows->pids, key);
    *number = found != NULL ? found->row.process : MXP__IMPORT_PROCESSES_MAX - 1;
    if (found != NULL || rows->pids.count == MXP__IMPORT_PROCESSES_MAX) {
        *is_folded = found == NULL;
        return MXP_OK;
    }
    row_entry *entry = mxp__id_map_add(&rows->pids, key);
    if (entry == NULL) {
        return mxp__fail_memory(memory_for);
    }
    int error = new_process(rows, pid, attached, number);
    entry->row.process = *number;
    return error;
}

static bool has_space(const mxp_import_rows *rows, uint32_t number)
{
    size_t count = rows->processes[number].thread_count;
    return count == 0 || (count < MXP__IMPORT_THREADS_MAX && rows->threads < MXP__IMPORT_ROWS_MAX);
}

static int make_thread(mxp_import_rows *rows, uint32_t number, const mxp_json_field *tid,
                       uint64_t key, mxp_import_row *row, bool is_folded)
{
    mxp_import_process *process = &rows->processes[number];
    row_entry *entry = mxp__id_map_add(&rows->tids, key);
    *row = (mxp_import_row){number, (uint32_t)process->thread_count};
    if (entry == NULL || mxp__grow(&process->threads, &process->thread_capacity,
                                   process->thread_count + 1, sizeof *process->threads) != MXP_OK) {
        return mxp__fail_memory(memory_for);
    }
    entry->row = *row;
    entry->is_folded = is_folded;
    rows->threads++;
    mxp_import_thread *thread = &process->threads[process->thread_count++];
    *thread = (mxp_import_thread){.rank = number << MXP__RANK_THREAD_BITS | row->thread,
                                  .key = key,
                                  .first_ns = INT64_MAX,
                                  .last_ns = INT64_MIN};
    if (!small_number(tid, &thread->tid) || thread->tid == 0) {
        thread->tid = OWN_TID_BASE + row->thread;
    }
    return text_of(&process->names, tid, &thread->text);
}

static int find_thread(mxp_import_rows *rows, const mxp_json_field *pid, const mxp_json_field *tid,
                       bool attached, uint64_t key)
{
    uint32_t process = 0;
    bool is_folded = false;
    int error = find_process(rows, pid, attached, &process, &is_folded);
    if (error == MXP_OK && has_space(rows, process)) {
        error = make_thread(rows, process, tid, key, &rows->last, is_folded);
    } else if (error == MXP_OK) {
        is_folded = true;
        rows->last = (mxp_import_row){process, (uint32_t)rows->processes[process].thread_count - 1};
    }
    rows->last_is_folded = is_folded;
    return error;
}

int mxp__import_row(mxp_import_rows *rows, const mxp_json_field *pid, const mxp_json_field *tid,
                    bool attached, mxp_import_row *row)
{
    uint64_t key = thread_key(rows, pid, tid);
    int error = MXP_OK;
    if (key != rows->last_key) {
        const row_entry *entry = mxp__id_map_find(&rows->tids, key);
        if (entry != NULL) {
            rows->last = entry->row;
            rows->last_is_folded = entry->is_folded;
        } else {
            error = find_thread(rows, pid, tid, attached, key);
        }
        rows->last_key = error == MXP_OK ? key : 0;
    }
    *row = rows->last;
    rows->folded += rows->last_is_folded;
    return error;
}

int mxp__import_rows_finish(mxp_import_rows *rows)
{
    if (rows->count == 0) {
        int error = make_process(rows);
        if (error != MXP_OK) {
            return error;
        }
    }
    for (size_t i = 0; i < rows->count; i++) {
        if (!rows->processes[i].has_pid) {
            rows->processes[i].pid = rows->is_one ? 1 : OWN_PID_BASE + (uint32_t)i;
        }
    }
    return MXP_OK;
}

// ---- labels ------------------------------------------------------------------------------------
int mxp__import_label(mxp_import_rows *rows, const mxp_json_field *pid, const mxp_json_field *tid,
                      const mxp_json_field *label)
{
    uint64_t key = tid != NULL ? thread_key(rows, pid, tid) : process_key(rows, pid);
    if (label->length == 0 || rows->labels.count >= LABELS_MAX) {
        return MXP_OK;
    }
    label_entry *entry = mxp__id_map_add(&rows->labels, key);
    if (entry == NULL) {
        return mxp__fail_memory(memory_for);
    }
    if (entry->length < label->length) {  // what is said again needs no more room
        entry->at = rows->label_texts.length;
        mxp__strbuf_append(&rows->label_texts, label->text, label->length);
    } else {
        memcpy(rows->label_texts.data + entry->at, label->text, label->length);
    }
    entry->length = label->length;
    return rows->label_texts.failed ? mxp__fail_memory(memory_for) : MXP_OK;
}

static mxp_name_view label_of(const mxp_import_rows *rows, uint64_t key,
                              const mxp_import_process *process, uint32_t text)
{
    const label_entry *entry = mxp__id_map_find(&rows->labels, key);
    return entry != NULL ? (mxp_name_view){.text = rows->label_texts.data + entry->at,
                                           .length = entry->length}
                         : mxp__import_name_view(&process->names, text);
}

mxp_name_view mxp__import_process_label(const mxp_import_rows *rows,
                                        const mxp_import_process *process)
{
    return label_of(rows, process->key | 1, process, process->text);
}

mxp_name_view mxp__import_thread_label(const mxp_import_rows *rows,
                                       const mxp_import_process *process,
                                       const mxp_import_thread *thread)
{
    return label_of(rows, thread->key, process, thread->text);
}
