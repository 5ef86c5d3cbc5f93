// SPDX-License-Identifier: Apache-2.0
// Processes and threads of an imported trace, found by what an event calls them: numbers, or any
// text. What has no number of its own gets one.
#ifndef MXP_TOOLS_IMPORT_ROWS_H
#define MXP_TOOLS_IMPORT_ROWS_H

#include "import/import_names.h"
#include "import/json_event.h"

enum {
    MXP__RANK_THREAD_BITS = 16,
    MXP__IMPORT_REASONS = 32,  // of losses, beyond those there are
    MXP__IMPORT_PROCESSES_MAX = 4095,  // further ones stand under the last
    MXP__IMPORT_THREADS_MAX = 65535,  // of one process, likewise
    MXP__IMPORT_ROWS_MAX = 1 << 16  // threads of all processes
};

typedef struct mxp_import_thread {
    uint32_t tid;
    uint32_t rank;  // in the order of the file that is written: process, then thread
    uint64_t key;  // of what the file calls it
    uint64_t records;
    int64_t first_ns, last_ns;  // of its records
    uint32_t text;  // name id of what the file calls it, 0: its number
    size_t open;  // 1 + the innermost span that is open (import_open.h); 0: none
} mxp_import_thread;

typedef struct mxp_import_process {
    uint32_t pid;
    bool has_pid;
    uint64_t key;
    uint32_t text;  // as of threads
    mxp_import_names names;
    mxp_import_thread *threads;
    size_t thread_count, thread_capacity;
    uint64_t lost[MXP__IMPORT_REASONS];  // what the file says was lost, by MXP_LOSS_*
} mxp_import_process;

// A thread of a process.
typedef struct mxp_import_row {
    uint32_t process, thread;
} mxp_import_row;

typedef struct mxp_import_rows {
    mxp_import_process *processes;
    size_t count, capacity;
    size_t threads, names;  // of all processes
    mxp_id_map pids, tids;  // by hashes of what events call them
    mxp_id_map labels;  // names that metadata gives them, by the same hashes
    mxp_strbuf label_texts;
    uint64_t folded;  // events of threads for which there was no room
    bool is_one;  // every event is of one process: what the file calls processes are devices
    uint64_t last_key;  // of the row that was found last
    mxp_import_row last;
    bool last_is_folded;
} mxp_import_rows;

void mxp__import_rows_init(mxp_import_rows *rows);
void mxp__import_rows_fini(mxp_import_rows *rows);
// The row of an event's pid and tid. `attached`: the pid is no process, so that the row is one of
// the first process. MXP_ENOMEM.
int mxp__import_row(mxp_import_rows *rows, const mxp_json_field *pid, const mxp_json_field *tid,
                    bool attached, mxp_import_row *row);
// Metadata names a process (tid null) or thread.
int mxp__import_label(mxp_import_rows *rows, const mxp_json_field *pid, const mxp_json_field *tid,
                      const mxp_json_field *label);
// That name, or what the file calls it, or "".
mxp_name_view mxp__import_process_label(const mxp_import_rows *rows,
                                        const mxp_import_process *process);
mxp_name_view mxp__import_thread_label(const mxp_import_rows *rows,
                                       const mxp_import_process *process,
                                       const mxp_import_thread *thread);
// Gives pids to those that have none, and makes a process where there is none at all. MXP_ENOMEM.
int mxp__import_rows_finish(mxp_import_rows *rows);

static inline mxp_import_process *mxp__import_process(mxp_import_rows *rows, mxp_import_row row)
{
    return &rows->processes[row.process];
}

static inline mxp_import_thread *mxp__import_thread(const mxp_import_rows *rows, mxp_import_row row)
{
    return &rows->processes[row.process].threads[row.thread];
}

#endif
