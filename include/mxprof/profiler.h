// SPDX-License-Identifier: Apache-2.0
// Sessions and user objects: configuration, state, output. Every function may be called from any
// thread, in any order, any number of times. All return 0 or a negative MXP_E code, with the detail
// in mxp_last_error(). Strings passed in are copied.
#ifndef MXPROF_PROFILER_H
#define MXPROF_PROFILER_H

#include <stddef.h>
#include <stdint.h>

#include <mxprof/error.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- session ----------------------------------------------------------------------------------
// There is one session a process; it is created on first use and lives until the process exits.
typedef struct mxp_session mxp_session;
mxp_session *mxp_session_get(void);

// Where records are kept. FILE: in native_filename itself, written through memory: whatever ends
// the process, all records whose call had returned are in it.
enum { MXP_STORE_MEMORY = 0, MXP_STORE_FILE = 1 };
// When there is no more room. RING: the oldest records make room for new ones (a flight recorder);
// a dump then writes all that is held, and there is no table.
enum { MXP_FULL_GROW = 0, MXP_FULL_DROP = 1, MXP_FULL_RING = 2 };

// How much outputs tell of the command line, in which secrets may be. DEFAULT: NAME (of the
// program) with store FILE and for programs with other rights than their caller's, ALL otherwise.
enum { MXP_COMMAND_DEFAULT = 0, MXP_COMMAND_NO = 1, MXP_COMMAND_NAME = 2, MXP_COMMAND_ALL = 3 };

// Other tools that are sent what is recorded, while it happens. AUTO: those that their variables
// name, INTEL_LIBITTNOTIFY64 (VTune) and NVTX_INJECTION64_PATH (Nsight Systems). ITT, NVTX: that
// one alone; a run without it is an error. The first run of a process decides.
enum { MXP_EMIT_AUTO = 0, MXP_EMIT_OFF = 1, MXP_EMIT_ITT = 2, MXP_EMIT_NVTX = 3 };

// The configuration. Fill it with mxp_config_init, change members, pass it on; it is copied.
// Members are added at the end only, and none may be in padding: a library that is older than
// its program refuses a member that it does not know and that is not 0 (MXP_ENOTSUP). Names of
// files may have %p (process), %t (start), %n (program), %h (host), %r (rank in a job), {role} and
// %%, and are made absolute when they are passed on.
typedef struct mxp_config {
    uint32_t size_bytes;  // of the program's mxp_config, set by mxp_config_init
    uint32_t classes;  // MXP_CLASS_*; user objects always belong to it
    const char *filename;  // Chrome trace; "none": none; default "profile.json", or none where
                           // there is a native trace or a ring
    const char *native_filename;  // native trace (*.mxp), written beside it; default none, or with
                                  // store FILE filename with the ending .mxp
    const char *memory_csv_prefix;  // gpu_memory_profile_filename_prefix; default none
    int continuous_dump;  // write every period_s in the background; default 1
    double dump_period_s;  // default 1.0, above 0 if continuous_dump
    int aggregate_stats;  // keep the table; default 0
    int statistics_only;  // keep the table and no trace, for unlimited time; default 0
    int store;  // MXP_STORE_MEMORY or MXP_STORE_FILE
    int full_policy;  // MXP_FULL_*
    uint64_t
        memory_limit_bytes;  // of records, in memory or in the file; default 1 GiB, at least 1 MiB
    const char *snapshot_filename;  // of snapshots nobody named; default "snapshot.mxp", which
                                    // gives snapshot.PID.1.mxp, snapshot.PID.2.mxp ...
    double snapshot_ms;  // how far back those reach; default 10000
    int snapshot_signal;  // take one at a signal that is not in use: 1 SIGUSR2, else its number;
                          // default 0: at none
    double
        snapshot_step_factor;  // take one after a step this many times the median; default 0: never
    const char
        *snapshot_counter;  // take one when a counter rises: "domain:name>value"; default none
    uint64_t keep_crashed;  // recording files of processes that died: how many a begin under their
                            // name keeps, as NAME.died.TIME.EXT; default 5, 0: it replaces them
    uint64_t trace_limit_bytes;  // most bytes of filename; what comes after is left out of it and
                                 // told there; default 1 GiB, 0: no limit
    int info_command;  // MXP_COMMAND_*: how much outputs tell of the command line
    uint32_t names_limit;  // most names; what comes after is recorded as "<names full>" and
                           // counted; default 1,000,000, 0 too
    uint64_t emit;  // MXP_EMIT_*: to which other tool what is recorded is sent as well
    uint64_t step_cpu;  // record CPU time and run delay at each step; default 1
    const char *run_commit, *run_label;  // what outputs call the run; default none
} mxp_config;

// Fills the first `size_bytes` bytes with the defaults, those of the environment included, members
// that the library does not know with 0. Null, or fewer bytes than the first two members take:
// nothing happens.
void mxp_config_init_size(mxp_config *config, uint32_t size_bytes);

// The same for the structure that this program was compiled with.
static inline void mxp_config_init(mxp_config *config)
{
    mxp_config_init_size(config, (uint32_t)sizeof *config);
}

// Takes `config` over. Legal at any time, also while running: a changed file name finishes the old
// file if anything was written to it, one whose name stays begins afresh with the next dump (a
// recording file continues). Keeps state and recorded data.
// MXP_EVALUE: a member is out of range; nothing has changed. MXP_EIO while running with store FILE:
// as mxp_session_run.
int mxp_session_configure(mxp_session *session, const mxp_config *config);

// The same from MXNet's string pairs (docs/configuration.md lists them); keys left out return to
// their defaults. MXP_EKEY: unknown key; the detail lists the valid ones and the closest.
int mxp_session_configure_pairs(mxp_session *session, int count, const char *const *keys,
                                const char *const *values);

// Begins to record, or continues. MXP_EIO with store FILE: the file cannot be made; recording has
// begun all the same, in memory.
int mxp_session_run(mxp_session *session);
int mxp_session_stop(mxp_session *session);

// Pauses (non-zero) or resumes. Does not nest; resume undoes a pause only, never a stop.
int mxp_session_pause(mxp_session *session, int paused);

// 1 between run and stop, paused or not, else 0; also where autostart or another library has begun
// it. The trace's configured name goes into `filename`, cut to `size` bytes with its end; null: not
// wanted.
int mxp_session_is_running(mxp_session *session, char *filename, size_t size);

// Writes out what was recorded. `finished` closes the file: the next run begins a new one. Without
// continuous_dump every dump finishes. MXP_ESTATE: the session has not been run since it was last
// finished. MXP_EIO: open, write or rename failed; the records are kept for the next dump.
int mxp_session_dump(mxp_session *session, int finished);

// Writes the last `last_ms` milliseconds of what is held to `path`, as a native trace, or as Chrome
// JSON if it ends in .json; recording continues meanwhile, and nothing is consumed. 0: all that is
// held. Null `path`: the next name of snapshot_filename. MXP_EIO, MXP_ENOMEM. MXP_EVALUE: negative,
// or the session writes its trace there.
int mxp_session_snapshot(mxp_session *session, const char *path, double last_ms);

// For a runtime whose job has several processes: `relay` is called in place of the snapshot that a
// slow step asks for (snapshot_step_factor). It has every process of the job, this one too, take
// one of the last `last_ms`, each to `path` with a name of its own before its last part. The folder
// in it is of that step alone and is not there yet. Non-zero: nobody is asked, and this process
// takes its own. It is called under a lock: it must not wait, and must call nothing that is
// declared here. Null ends it; from the return on it is not called any more. A forked child has it
// as well. MXP_EHANDLE.
typedef int (*mxp_slow_step_relay)(void *context, const char *path, double last_ms);
int mxp_session_relay_slow_steps(mxp_session *session, mxp_slow_step_relay relay, void *context);

// Has `observer` called after every mxp_session_dump that worked (not at the process's end, not in
// the background), on the dumping thread and outside of all locks of ours, perhaps by several
// threads at once: a library writes files of its own then. `config` is the session's, valid during
// the call. Observers stay until the process exits and are called in the order of registration;
// a pair of observer and context that is there already is not added again. MXP_EINVAL: null.
// MXP_ESTATE: there are 8 already.
typedef void (*mxp_observer)(void *context, const mxp_config *config);
int mxp_session_observe(mxp_session *session, mxp_observer observer, void *context);

enum { MXP_FORMAT_TABLE = 0, MXP_FORMAT_JSON = 1, MXP_FORMAT_CSV = 2 };
enum {
    MXP_SORT_TOTAL = 0,
    MXP_SORT_AVG = 1,
    MXP_SORT_MIN = 2,
    MXP_SORT_MAX = 3,
    MXP_SORT_COUNT = 4
};

// The aggregate statistics as text, in MXNet's layout; "" if aggregate_stats is off. Never touches
// the trace file. `reset` empties the statistics afterwards. *text belongs to the library and lives
// until this thread's next call that returns a string, or the thread's end.
int mxp_session_dumps(mxp_session *session, int format, int sort_by, int ascending, int reset,
                      const char **text);

// What the session knows about itself.
typedef struct mxp_report {
    uint32_t size_bytes;  // sizeof(mxp_report), set by the caller; members are added at the end
    uint32_t clock_source;  // MXP_CLOCK_SOURCE_*
    double ns_per_tick;
    double clock_residual_ns;  // largest distance of a calibration point from the line
    double record_cost_ns;  // measured cost of one span on this machine
    uint64_t records, bytes, lost;  // since the session began
    uint64_t names, names_bytes;
    uint64_t threads;
    uint64_t memory_bytes;  // held by the recorder now
    double estimated_overhead_ns;  // records * record_cost_ns
    uint64_t unanswered;  // how often a stop or a dump has waited in vain for a thread in a record
    uint64_t has_file;  // 1: records go into a recording file, which outlives the process; else 0
} mxp_report;

// Members that the library does not know are 0 afterwards. MXP_EINVAL: size_bytes is not set.
int mxp_session_report(mxp_session *session, mxp_report *report);

// ---- objects ----------------------------------------------------------------------------------
// Handles are checked: null, destroyed and wrong-type ones give MXP_EHANDLE. They record only while
// the session runs and is not paused.
typedef struct mxp_object *mxp_handle;

// Domains live until the process exits. Empty or null name: MXP_EINVAL.
int mxp_domain_create(const char *name, mxp_handle *domain);
int mxp_task_create(mxp_handle domain, const char *name, mxp_handle *task);
int mxp_frame_create(mxp_handle domain, const char *name, mxp_handle *frame);
int mxp_event_create(const char *name, mxp_handle *event);
// As an event, of any category, and ended only by the thread that began it: for bindings whose
// calls are dear, which keep no token of mxp_begin. Category or name null: MXP_EINVAL.
int mxp_span_create(const char *category, const char *name, mxp_handle *span);
int mxp_counter_create(mxp_handle domain, const char *name, mxp_handle *counter);

// Destroys a task, frame, event, span or counter; records made stay. A domain: nothing happens.
int mxp_object_destroy(mxp_handle object);

// Task, frame, event or span. One object may be started several times before it is stopped. A stop
// ends the newest start of its own thread; if that has none, the newest of all threads (of a span:
// none). So starts that overlap, each stopped wherever its work ends, are not told apart: their sum
// is right, their single durations are not. For those there are tokens. A stop without a start is
// MXP_ESTATE and records nothing. MXP_ESTATE also: 4096 starts without a stop.
int mxp_duration_start(mxp_handle object);
int mxp_duration_stop(mxp_handle object);

// Task, frame or event: a start with an identity of its own. Only the stop with its token ends it,
// on any thread; *token is never 0, but after a failure. A token that is not open on this object is
// MXP_ESTATE and records nothing. Null `token`: MXP_EINVAL.
int mxp_duration_start_token(mxp_handle object, uint64_t *token);
int mxp_duration_stop_token(mxp_handle object, uint64_t token);

// Values are 64-bit unsigned; below zero the counter stays at 0, above the maximum at the maximum,
// with MXP_EVALUE. The value changes also while nothing is recorded.
int mxp_counter_set(mxp_handle counter, uint64_t value);
int mxp_counter_adjust(mxp_handle counter, int64_t delta);

// `scope`: "global", "process", "thread", "task" or "marker".
int mxp_marker_set(mxp_handle domain, const char *name, const char *scope);

#ifdef __cplusplus
}
#endif
#endif
