// SPDX-License-Identifier: Apache-2.0
// What an OpenMP runtime looks for in the process and in the libraries of OMP_TOOL_LIBRARIES:
// ompt_start_tool. Callbacks run on the program's threads; what they get at an end is not read,
// because runtimes hand in nothing there for a worker that was asleep.
#include <mxprof/foreign.h>
#include <mxprof/record.h>
#include <stdio.h>
#include <sys/auxv.h>

#include "base/atomic.h"
#include "profiler/collect/ompt/ompt.h"
#include "profiler/collect/ompt/ompt_abi.h"
#include "profiler/collect/ompt/regions.h"
#include "profiler/collect/ompt/target.h"
#include "profiler/collect/open_stack.h"
#include "profiler/collect/settings.h"
#include "profiler/collect/waits.h"

ompt_start *ompt_start_tool(unsigned version, const char *runtime);

// Owners of spans: ends of one kind end the innermost of that kind.
static const char region_owner[] = "region", work_owner[] = "work", wait_owner[] = "wait",
                  task_owner[] = "task", lock_owner[] = "lock", group_owner[] = "group",
                  masked_owner[] = "masked";
enum {
    NAMES_BARRIER,
    NAMES_TASKWAIT,
    NAMES_TASKGROUP,
    NAMES_TASK,
    NAMES_FLOW,
    NAMES_TEAM,
    NAMES_COUNT_KEY,
    NAMES_ID,
    NAMES_COUNT
};
static mxp_name names[NAMES_COUNT];

static mxp_atomic_bool is_on;

bool mxp__ompt_is_on(void)
{
    return mxp_atomic_load(&is_on);
}

// Of this thread's innermost implicit task; 0: there is none.
static uint64_t current_region(void)
{
    const mxp_collect_thread *own = mxp__collect_own;
    return own != NULL ? own->region : 0;
}

static void set_region(uint64_t region)
{
    mxp_collect_thread *own = mxp__collect_thread();
    if (own != NULL) {
        own->region = region;
    }
}

// ---- threads and regions -----------------------------------------------------------------------
static void on_thread_begin(int type, ompt_data *thread)
{
    static mxp_atomic_u32 workers;
    char text[48];
    (void)thread;
    if (type == OMPT_INITIAL_THREAD) {
        snprintf(text, sizeof text, "OpenMP initial");
    } else {
        snprintf(text, sizeof text, type == OMPT_WORKER ? "OpenMP worker %u" : "OpenMP other %u",
                 (unsigned)mxp_atomic_add(&workers, 1) + 1);
    }
    mxp_thread_name(text);
}

static void on_parallel_begin(ompt_data *task, const void *frame, ompt_data *parallel,
                              unsigned requested, int flags, const void *return_address)
{
    (void)task, (void)frame, (void)requested, (void)flags;
    parallel->value = mxp__ompt_region_begin(return_address);
}

static void on_parallel_end(ompt_data *parallel, ompt_data *task, int flags,
                            const void *return_address)
{
    (void)task, (void)flags, (void)return_address;
    if (parallel != NULL) {
        mxp__ompt_region_end(parallel->value);
    }
}

// The initial task is the whole program: it is no region. Where regions nest, the outer one's
// number stands in the id of the span.
static void on_implicit_task(int endpoint, ompt_data *parallel, ompt_data *task, unsigned threads,
                             unsigned index, int flags)
{
    (void)task, (void)index;
    if ((flags & OMPT_TASK_INITIAL) != 0) {
        return;
    }
    if (endpoint == OMPT_BEGIN) {
        const uint64_t region = parallel != NULL ? parallel->value : 0;
        const mxp_arg arg = mxp_u64(names[NAMES_TEAM], threads);
        set_region(region);
        mxp__collect_begin(region_owner, mxp__ompt_region_name(region), region + 1, &arg, 1);
    } else if (endpoint == OMPT_END) {
        mxp__collect_end_at(region_owner, 0, mxp__ompt_region_end_ticks(current_region()));
        const mxp_collect_span *outer = mxp__collect_innermost(region_owner, 0);
        set_region(outer != NULL ? outer->id - 1 : 0);
    }
}

// ---- work and waits ----------------------------------------------------------------------------
enum { WORKS = 14 };
static mxp_name works[WORKS];

static void make_work_names(void)
{
    static const char *const texts[WORKS] = {
        "work",        "loop",         "sections",    "single",    "single",
        "workshare",   "distribute",   "taskloop",    "scope",     "loop",
        "loop static", "loop dynamic", "loop guided", "loop other"};
    for (int i = 0; i < WORKS; i++) {
        works[i] = mxp_span_name("OpenMP", texts[i]);
    }
}

static void on_work(int type, int endpoint, ompt_data *parallel, ompt_data *task, uint64_t count,
                    const void *return_address)
{
    enum { SINGLE_OTHER = 4 };  // a thread that passes a single by
    (void)parallel, (void)task, (void)return_address;
    if (type == SINGLE_OTHER) {
        return;
    }
    if (endpoint == OMPT_BEGIN) {
        const mxp_arg arg = mxp_u64(names[NAMES_COUNT_KEY], count);
        mxp__collect_begin(work_owner, works[type > 0 && type < WORKS ? type : 0], 0, &arg,
                           count != 0);
    } else if (endpoint == OMPT_END) {
        mxp__collect_end(work_owner, 0);
    }
}

// The wait at a region's end is told late, too.
static void on_sync_wait(int kind, int endpoint, ompt_data *parallel, ompt_data *task,
                         const void *return_address)
{
    (void)parallel, (void)task, (void)return_address;
    const bool is_barrier = kind != OMPT_SYNC_TASKWAIT && kind != OMPT_SYNC_TASKGROUP;
    if (endpoint == OMPT_BEGIN) {
        mxp__collect_begin(wait_owner,
                           names[is_barrier                   ? NAMES_BARRIER
                                 : kind == OMPT_SYNC_TASKWAIT ? NAMES_TASKWAIT
                                                              : NAMES_TASKGROUP],
                           0, NULL, 0);
    } else if (endpoint == OMPT_END) {
        mxp__collect_end_at(wait_owner, 0,
                            is_barrier ? mxp__ompt_region_end_ticks(current_region()) : 0);
    }
}

// A group of tasks is more than the wait at its end.
static void on_sync_region(int kind, int endpoint, ompt_data *parallel, ompt_data *task,
                           const void *return_address)
{
    (void)parallel, (void)task, (void)return_address;
    if (kind == OMPT_SYNC_TASKGROUP && endpoint == OMPT_BEGIN) {
        mxp__collect_begin(group_owner, mxp_span_name("OpenMP", "taskgroup"), 0, NULL, 0);
    } else if (kind == OMPT_SYNC_TASKGROUP && endpoint == OMPT_END) {
        mxp__collect_end(group_owner, 0);
    }
}

static void on_masked(int endpoint, ompt_data *parallel, ompt_data *task,
                      const void *return_address)
{
    (void)parallel, (void)task, (void)return_address;
    if (endpoint == OMPT_BEGIN) {
        mxp__collect_begin(masked_owner, mxp_span_name("OpenMP", "masked"), 0, NULL, 0);
    } else if (endpoint == OMPT_END) {
        mxp__collect_end(masked_owner, 0);
    }
}

// ---- locks -------------------------------------------------------------------------------------
typedef struct lock_names {
    const char *wait, *hold;
} lock_names;

static lock_names names_of(int kind)
{
    switch (kind) {
    case OMPT_MUTEX_CRITICAL:
        return (lock_names){"critical wait", "critical hold"};
    case OMPT_MUTEX_ATOMIC:
        return (lock_names){"atomic wait", "atomic hold"};
    case OMPT_MUTEX_ORDERED:
        return (lock_names){"ordered wait", "ordered hold"};
    default:
        return (lock_names){"lock wait", "lock hold"};
    }
}

static void on_mutex_acquire(int kind, unsigned hint, unsigned implementation, uint64_t wait_id,
                             const void *return_address)
{
    (void)hint, (void)implementation, (void)wait_id, (void)return_address;
    mxp__collect_begin(lock_owner, mxp_span_name("OpenMP", names_of(kind).wait), 0, NULL, 0);
}

static void on_mutex_acquired(int kind, uint64_t wait_id, const void *return_address)
{
    (void)kind, (void)return_address;
    mxp__collect_end(lock_owner, 0);
    mxp__sync_hold(wait_id);
}

static void on_mutex_released(int kind, uint64_t wait_id, const void *return_address)
{
    (void)return_address;
    mxp__sync_release(wait_id, "OpenMP", names_of(kind).hold);
}

// ---- tasks -------------------------------------------------------------------------------------
// The runtime's word of an explicit task: its number, and whether it has run.
enum { TASK_HAS_RUN = 1, TASK_SHIFT = 1 };

static void on_task_create(ompt_data *enclosing, const void *frame, ompt_data *task, int flags,
                           int has_dependences, const void *return_address)
{
    static mxp_atomic_u64 tasks;
    (void)enclosing, (void)frame, (void)has_dependences, (void)return_address;
    if ((flags & OMPT_TASK_EXPLICIT) != 0 && task != NULL) {
        const uint64_t number = mxp_atomic_add(&tasks, 1) + 1;
        task->value = number << TASK_SHIFT;
        mxp_flow(MXP_CLASS_USER, names[NAMES_FLOW], MXP_FLOW_START, number);
    }
}

// A task that is switched away from and continued has several parts, of one id.
static void on_task_schedule(ompt_data *prior, int status, ompt_data *next)
{
    (void)status;
    if (prior != NULL && prior->value != 0) {
        mxp__collect_end(task_owner, prior->value >> TASK_SHIFT);
    }
    if (next != NULL && next->value != 0) {
        const uint64_t number = next->value >> TASK_SHIFT;
        const mxp_arg arg = mxp_u64(names[NAMES_ID], number);
        mxp__collect_begin(task_owner, names[NAMES_TASK], number, &arg, 1);
        if ((next->value & TASK_HAS_RUN) == 0) {
            mxp_flow(MXP_CLASS_USER, names[NAMES_FLOW], MXP_FLOW_END, number);
            next->value |= TASK_HAS_RUN;
        }
    }
}

// ---- start -------------------------------------------------------------------------------------
typedef struct event_callback {
    int event;
    ompt_function callback;
} event_callback;

static const event_callback callbacks[] = {
    {OMPT_THREAD_BEGIN, (ompt_function)on_thread_begin},
    {OMPT_PARALLEL_BEGIN, (ompt_function)on_parallel_begin},
    {OMPT_PARALLEL_END, (ompt_function)on_parallel_end},
    {OMPT_IMPLICIT_TASK, (ompt_function)on_implicit_task},
    {OMPT_WORK, (ompt_function)on_work},
    {OMPT_SYNC_REGION_WAIT, (ompt_function)on_sync_wait},
    {OMPT_SYNC_REGION, (ompt_function)on_sync_region},
    {OMPT_MASKED, (ompt_function)on_masked},
    {OMPT_TASK_CREATE, (ompt_function)on_task_create},
    {OMPT_TASK_SCHEDULE, (ompt_function)on_task_schedule},
    {OMPT_TARGET, (ompt_function)mxp__ompt_target},
    {OMPT_TARGET_DATA, (ompt_function)mxp__ompt_target_data},
    {OMPT_TARGET_SUBMIT, (ompt_function)mxp__ompt_target_submit},
};
// A runtime does less where nobody asks.
static const event_callback lock_callbacks[] = {
    {OMPT_MUTEX_ACQUIRE, (ompt_function)on_mutex_acquire},
    {OMPT_MUTEX_ACQUIRED, (ompt_function)on_mutex_acquired},
    {OMPT_MUTEX_RELEASED, (ompt_function)on_mutex_released},
};

static int initialize(ompt_lookup lookup, int device, ompt_data *tool)
{
    enum { WAITS = 2 };  // of the callbacks for locks those that waits need
    const int sync_wanted = mxp__collect_sync();
    const size_t locks = sync_wanted == MXP__SYNC_ALL    ? WAITS + 1
                         : sync_wanted == MXP__SYNC_NONE ? 0
                                                         : WAITS;
    (void)device, (void)tool;
    int (*set)(int, ompt_function) = (int (*)(int, ompt_function))lookup("ompt_set_callback");
    if (set == NULL) {
        return 0;
    }
    names[NAMES_BARRIER] = mxp_span_name("OpenMP", "barrier wait");
    names[NAMES_TASKWAIT] = mxp_span_name("OpenMP", "taskwait");
    names[NAMES_TASKGROUP] = mxp_span_name("OpenMP", "taskgroup wait");
    names[NAMES_TASK] = mxp_span_name("OpenMP", "task");
    make_work_names();
    names[NAMES_COUNT_KEY] = mxp_string("count");
    names[NAMES_ID] = mxp_string("id");
    names[NAMES_TEAM] = mxp_string("team size");
    names[NAMES_FLOW] = mxp_intern("OpenMP", "task created", MXP_STYLE_FLOW, MXP_UNIT_NONE);
    for (size_t i = 0; i < sizeof callbacks / sizeof callbacks[0]; i++) {
        set(callbacks[i].event, callbacks[i].callback);
    }
    for (size_t i = 0; i < locks; i++) {
        set(lock_callbacks[i].event, lock_callbacks[i].callback);
    }
    mxp_atomic_store(&is_on, true);
    return 1;
}

// Threads may call in after this: what they tell is recorded as long as the session runs.
static void finalize(ompt_data *tool)
{
    (void)tool;
}

ompt_start *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start start = {initialize, finalize, {0}};
    (void)version, (void)runtime;
    return getauxval(AT_SECURE) == 0 ? &start : NULL;
}
