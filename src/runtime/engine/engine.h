// SPDX-License-Identifier: Apache-2.0
// Folder runtime/engine: the dependency engine: variables, operations, workers, bulks.
//
// The dependency engine, as the other folders see it. Operations name the variables they read and
// write; each runs once everything pushed before it that touches the same variables in a
// conflicting way has completed: reads run together, a write runs alone. Order is the order of the
// pushes, which is total over all threads.
//
// Everything here may be called from any thread, from worker threads too unless said otherwise. The
// engine starts at the first call and restarts by itself in a forked child. Functions that can fail
// return 0 or a negative MXP_E code with the detail in mxp_last_error().
//
// Workers. MXNET_ENGINE_TYPE=ThreadedEnginePerDevice (default):
//   compute    one thread. It runs the operations of every CPU device id (cpu, cpu_pinned and
//              cpu_shared) in the order of their pushes, and is the only thread that may enter
//              parallel kernels or OpenMP: device ids of one processor compete for the same cores,
//              so a thread each would only make them fight. The records keep the device ids apart.
//   light      MXNET_CPU_WORKER_NTHREADS - 1 threads, none by default. They take what is not marked
//              MXN_WORK_PARALLEL off the compute thread.
//   priority   MXNET_CPU_PRIORITY_NTHREADS (4) threads for MXN_CPU_PRIORITIZED, larger priority
//   first.
// Operations of property MXN_ASYNC and MXN_DELETE_VAR that are ready when pushed run inside the
// push. MXN_WORK_HANDS_OVER needs no worker at all. MXNET_ENGINE_TYPE=NaiveEngine: every operation
// runs inside its push, to its completion.
#ifndef MXN_ENGINE_ENGINE_H
#define MXN_ENGINE_ENGINE_H

#include <mxprof/record.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mxn_var mxn_var;  // a variable
typedef struct mxn_completion mxn_completion;  // an asynchronous operation that has not completed

// ---- work -------------------------------------------------------------------------------------
// MXNet's FnProperty, same numbers. The GPU ones are refused until there is a GPU.
enum {
    MXN_NORMAL = 0,
    MXN_COPY_FROM_GPU = 1,
    MXN_COPY_TO_GPU = 2,
    MXN_CPU_PRIORITIZED = 3,
    MXN_ASYNC = 4,  // must be quick: it may run inside the push
    MXN_DELETE_VAR = 5,  // also runs during shutdown
    MXN_GPU_PRIORITIZED = 6,
    MXN_NO_SKIP = 7  // runs even if something it depends on has failed
};

enum {
    MXN_WORK_PHASE_MASK = MXP_OP_PHASE_MASK,  // MXP_PHASE_*, for the record
    MXN_WORK_SYMBOLIC = MXP_OP_SYMBOLIC,  // part of a prepared graph: class SYMBOLIC
    MXN_WORK_PARALLEL = 1 << 8,  // may enter a parallel kernel
    MXN_WORK_HIDDEN = 1 << 9,  // its record is for analyses alone, whatever its name
    MXN_WORK_FAMILY_SHIFT = 10,  // two bits, MXP_KERNEL_*: who computes it, for the record
    // An ASYNC_FUNCTION that only hands the work to somebody, who completes it. It runs inside the
    // push if it is ready, else inside the completion that releases it, on whoever's thread: so it
    // takes no lock that somebody who completes operations holds, waits for nothing, pushes
    // nothing.
    MXN_WORK_HANDS_OVER = 1 << 12
};

// What a function learns about where it runs. Lives for the call only. Begins like MXNet's
// RunContext, so that a program's own function (VOID) can be given it as it is.
typedef struct mxn_run {
    int32_t device_type;  // 1: cpu
    uint32_t device;
    void *stream, *aux_stream;  // null
    bool is_bulk;  // false
    bool parallel;  // this thread may enter parallel kernels
} mxn_run;

// How the function is called. SYNC: completes by returning 0, or a negative MXP_E code with the
// detail set (mxp__fail). VOID: completes by returning; cannot fail. ASYNC: completes when any
// thread calls mxn_complete, which may be before it returns.
enum { MXN_SYNC = 0, MXN_VOID = 1, MXN_ASYNC_FUNCTION = 2 };

typedef union mxn_function {
    int (*sync)(const mxn_run *run, void *argument);
    void (*plain)(void *run, void *argument);  // VOID; `run` is a const mxn_run
    void (*async)(const mxn_run *run, void *argument, mxn_completion *completion);
} mxn_function;

// One operation. Everything is copied at the push; zero is a sensible value for all but the
// function.
typedef struct mxn_work {
    mxn_function function;
    int form;  // MXN_SYNC, MXN_VOID, MXN_ASYNC_FUNCTION
    int property;  // MXN_NORMAL ...
    void *argument;
    void (*deleter)(void *argument);  // null, or called once: by who ran the operation, before
                                      // what waits for it is released; by the pusher if that fails
    mxn_var *const *reads, *const *writes;  // no variable twice: see mxn_vars_dedupe
    uint32_t read_count, write_count;
    uint32_t device;  // id of the CPU device, 0..255
    int priority;  // of MXN_CPU_PRIORITIZED; and one that is not 0 is never bulked
    uint32_t flags;  // MXN_WORK_* | MXP_PHASE_*
    mxp_name name;  // category and name; MXP_NAME_NONE: its record is for analyses alone
    uint32_t scope;  // 0: the pushing thread's current one
    uint32_t shape;  // string id of shapes and types, 0 none
    float flops, bytes;  // estimates, 0 unknown
    uint64_t push_ticks;  // 0, or a stamp the caller has read anyway (its API call's begin)
    // Bit i, of the first 64: nothing of what writes[i] held before is taken, or left. So an error
    // of who wrote it before does not reach this operation by it, and ends there.
    uint64_t overwrites;
    // Likewise: writes[i] is right also if this operation is skipped: a state that moves on with
    // each run. So the error by which it is skipped does not go there.
    uint64_t keeps;
} mxn_work;

// Hands an operation over. It is recorded if its class is on now, when it is pushed. On failure
// nothing was queued. MXP_EINVAL: duplicate, deleted or missing variables, more than 65535 of them,
// unknown property or form. MXP_ENOTSUP: a property for GPUs. With NaiveEngine also the error of
// the function itself.
int mxn_push(const mxn_work *work);

// Ends an asynchronous operation, once. `error` is 0 or a negative MXP_E code whose detail is the
// calling thread's mxp_last_error().
void mxn_complete(mxn_completion *completion, int error);

// Makes lists legal: removes repetitions, and from `reads` what is also written. Keeps the order of
// what stays.
void mxn_vars_dedupe(mxn_var **reads, uint32_t *read_count, mxn_var **writes,
                     uint32_t *write_count);

// ---- variables --------------------------------------------------------------------------------
mxn_var *mxn_var_new(void);  // null with the detail set
// Of a resource, which operations use one after the other and of which each leaves nothing to the
// next: errors do not travel by it.
mxn_var *mxn_var_new_resource(void);
uint32_t mxn_var_id(const mxn_var *var);  // what records call it: 31 bits, never 0
uint64_t mxn_var_version(const mxn_var *var);  // writes completed so far
// Writes pushed so far, those in the calling thread's bulk too; counted from anywhere, modulo 2^32.
uint32_t mxn_var_pushed_version(const mxn_var *var);

#ifndef NDEBUG
// For asserts: the operation this thread is inside of uses the variable (`writes`: writes it), or
// nothing pending does in a conflicting way. Outside of operations always true.
bool mxn_var_is_ours(const mxn_var *var, bool writes);
#endif

// Schedules `release(argument)` (may be null) and the end of the variable after everything pushed
// so far, as operation "DeleteVariable". The variable must not be used afterwards. Never fails: if
// there is no memory for the operation it waits until there is, or deletes the variable itself once
// nothing uses it. Null does nothing.
void mxn_var_delete(mxn_var *var, void (*release)(void *argument), void *argument, uint32_t device);

// ---- waiting ----------------------------------------------------------------------------------
// All of them push what this thread has in its bulk first. Inside an operation (MXP_ESTATE) only a
// wait that need not wait is possible.

// WaitForVar: returns when no write is pending. The error of a failed write, once: afterwards the
// variable is usable again. What was pushed before the wait and depends on the failed operation is
// skipped, also if its turn comes after; what is pushed after the wait runs.
int mxn_var_wait(mxn_var *var);
// WaitToWrite: returns when no read is pending either.
int mxn_var_wait_write(mxn_var *var);
// WaitForAll: returns when no operation is pending. The first error since the last one; clears all.
int mxn_wait_all(void);

// From now on waits of the thread with this number (pthread_self) call `wanted` some twenty times a
// second, and end with MXP_ESTATE once it answers true; what was waited for continues. It may run
// code of the program, whose waits do not end early. Null: no wait does. While no other thread
// calls this.
void mxn_interrupt_set(bool (*wanted)(void), uintptr_t thread);

// The error of a write that has failed and is over, as mxn_var_wait gives it, without waiting.
int mxn_var_error(mxn_var *var);

// ---- phases -----------------------------------------------------------------------------------
// What the thread is about: MXP_PHASE_*, of everything it pushes that says no phase itself. Returns
// the phase before.
uint32_t mxn_phase_set(uint32_t phase);
uint32_t mxn_phase(void);

// ---- callbacks --------------------------------------------------------------------------------
// Around a function of the program that this thread runs on behalf of an operation that has not
// ended. What the thread pushes meanwhile is recorded as "PREFIX::name", category "Custom
// Operator". Waiting for everything, or for a variable that the operation holds, stopping and
// forking would wait for that operation: they are refused. Callbacks nest.
typedef struct mxn_callback {
    const char *prefix;  // null: names stay as they are
    const mxn_completion *operation;  // null: holds nothing
    void (*waits)(bool begins);  // told when the thread blocks in a wait and after it; may be null
    const struct mxn_callback *outer;  // private
} mxn_callback;

int mxn_callback_begin(mxn_callback *callback);  // MXP_ENOMEM: nothing has begun
int mxn_callback_end(const mxn_callback *callback);  // pushes what is in the thread's bulk

// ---- bulks ------------------------------------------------------------------------------------
// Up to `size` synchronous operations in a row (property MXN_NORMAL, priority 0, one device) pushed
// by this thread become one, "ImperativeBulk", also if it is a single one;
// each member keeps its own record, error and dependencies on the members before it. Deletions
// cut nothing off: they wait for the bulk if it uses the variable. Returns the previous size; 0
// means off. NaiveEngine never collects and answers 0.
int mxn_bulk_size_set(int size);
int mxn_bulk_flush(void);

// ---- bulk templates ---------------------------------------------------------------------------
// A bulk that is made once and pushed many times, for programs that stay the same: nothing is
// collected, checked for repetitions or united anew. Each push is one "ImperativeBulk", whose
// members run in their order on one thread.
//
// Threads. Each function may be called from any thread, pushes of one template also side by side;
// only mxn_bulk_template_free must come after the last push has returned. Pushes may overlap: the
// next one need not wait for the one before. Order is the order of the pushes, as for everything.
//
// Ownership. Works, their lists of variables and the argument arrays are copied. The template holds
// its variables: one that is deleted meanwhile goes after the template was freed and its pushes
// have completed. A work's deleter is called once, when the template was freed and no push of it is
// under way: by who frees it, or on the worker that ran the last push; at once if making fails.
//
// Values that change from push to push are one argument for each member, and not one context for
// all: so members are the same functions as single pushes, and each push that is under way has
// values of its own.
typedef struct mxn_bulk_template mxn_bulk_template;

// The works are synchronous, of property MXN_NORMAL and priority 0, and all on one device. A
// variable that some read and others write counts as written, once, however often it is named.
// Their `push_ticks` are not used. MXP_EINVAL: what is said of mxn_push, no works, works that no
// bulk takes, more than 65535 variables in all. MXP_ENOMEM.
int mxn_bulk_template_make(const mxn_work *works, uint32_t count, mxn_bulk_template **made);

// One push. `arguments`: of the members, one for each, or null for those of the works. `deleter`
// (may be null) is called once with `context`: after the last member, before what waits for the
// push is released, or by the pusher if the push fails. What the thread has in its bulk is pushed
// first. Scope and phase of works that have none are the pushing thread's, as for single pushes.
//
// Errors. MXP_EINVAL: a variable was deleted. MXP_ENOMEM. Then nothing was queued. A member that
// fails leaves its error with the variables that it writes: members and operations that use one are
// skipped, the other members run. After a shutdown members complete without running.
// NaiveEngine: each member runs inside the push and completes before the next one begins, none is
// part of a bulk; the first error ends the push, which fails with it. A forked child may push and
// free what its parent made.
int mxn_bulk_template_push(mxn_bulk_template *bulk, void *const *arguments, void *context,
                           void (*deleter)(void *context));

// What records call its pushes from now on, instead of "ImperativeBulk". Before the first push.
void mxn_bulk_template_name(mxn_bulk_template *bulk, mxp_name name);

// Lets go of it; what was pushed runs. Null does nothing.
void mxn_bulk_template_free(mxn_bulk_template *bulk);

// ---- life -------------------------------------------------------------------------------------
// Starts what is not started. MXP_EVALUE: an environment variable is ill-formed (names it and the
// valid values); every push fails with the same until it is corrected.
int mxn_engine_start(void);
// Waits for everything and ends the workers; errors stay for the next wait. The next call starts
// again and reads the environment anew; a change of the kind of engine must not meet pushes of
// other threads. MXP_ESTATE on a worker thread.
int mxn_engine_stop(void);
// WaitForAll; from then on operations complete without running, deletions excepted.
int mxn_engine_shutdown(void);
// The latter at once, also for what was pushed and has not begun.
void mxn_engine_drop_pending(void);
bool mxn_engine_is_naive(void);
// From now on whoever waits sleeps at once. For a process that shares its cores with threads that
// look for messages of others: to look for the end of a wait would take the core from those who
// bring it.
void mxn_engine_share_cores(void);

// Whether this thread is executing an operation right now, and the id that records give it. 0: it
// executes none, or one without a record, because it was pushed while its class was off.
bool mxn_inside_operation(void);
uint32_t mxn_running_id(void);
// Inside an operation, on its thread: who computes it, MXP_KERNEL_*, for its record. The last word
// counts, over that of MXN_WORK_FAMILY_SHIFT too.
void mxn_running_family(uint32_t family);

// An operator whose work the running operation does together with that of others.
typedef struct mxn_part {
    mxp_name name;
    uint32_t scope;  // 0: none
    uint32_t shape;  // as in mxn_work
    float flops, bytes;
} mxn_part;

// Inside an operation, on its thread: a record of each part if the operation has one. They have no
// time of their own, which is told (MXP_OP_SHARED): the time is their parent's, the operation's.
void mxn_record_parts(const mxn_part *parts, uint32_t count);

// Kept by the engine itself, whether or not anything is recorded. All since the process began, in a
// forked child since the fork. A bulk's members count as operations, the bulk does not.
typedef struct mxn_engine_counts {
    uint64_t pushed;  // operations handed over, the engine's own waits and deletions included
    uint64_t completed;  // of them over: executed + skipped
    uint64_t executed;  // their function ran
    uint64_t skipped;  // it did not: a dependency had failed, or shutdown
    uint64_t failed;  // ended in an error, taken over ones included
    // completed with a name that may be shown, and their parts: what a profile of it all holds
    uint64_t visible;
    uint64_t bulks;  // ImperativeBulk operations completed
    uint64_t deletions;  // DeleteVariable operations completed
    uint64_t waits;  // WaitForVar operations completed
} mxn_engine_counts;

void mxn_engine_counts_get(mxn_engine_counts *counts);

#endif
