// SPDX-License-Identifier: Apache-2.0
// What the collectors keep of a thread. Its pages come from the system at the thread's first mark,
// and one pointer to them is all that is thread-local: a library that is loaded late has little
// room for more, and room that the loader would ask malloc for may not be asked for inside of
// malloc, where allocators send marks.
#ifndef MXP_COLLECT_THREAD_H
#define MXP_COLLECT_THREAD_H

#include <mxprof/args.h>
#include <mxprof/gate.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    MXP__COLLECT_OPEN_MAX = 4096,  // spans of marks; deeper ones are counted and not recorded
    MXP__COLLECT_LATE_MAX = 64,  // of these those that are written at their end
    MXP__COLLECT_LATE_ARGS = 6,
    MXP__COLLECT_WAITS_MAX = 64,
    MXP__COLLECT_EVENTS_MAX = 16
};

typedef struct mxp_collect_span {
    const void *owner;
    uint64_t id;  // by which marks refer to it; 0: none
    uint64_t token;  // 0: nothing was recording; of a late one its begin
    mxp_name name;
    uint16_t late;  // its place among the late ones + 1; 0: the recorder has it open
    bool has_args;  // of one that the recorder has open
} mxp_collect_span;

// A span of a lane, or of a time that was handed in.
typedef struct mxp_collect_late {
    uint32_t lane, arg_count;
    bool is_used;
    mxp_arg args[MXP__COLLECT_LATE_ARGS];
} mxp_collect_late;

// An object that is waited for, or held, since a time; an event that has begun.
typedef struct mxp_collect_since {
    uint64_t object, begin_ticks;
} mxp_collect_since;

typedef struct mxp_collect_thread {
    uint32_t depth;  // of the stack of spans; may exceed the maximum, and does after a fork
    uint32_t lane;  // where its tasks go; 0: its own row
    uint64_t region;  // of OpenMP: that of the innermost implicit task
    uint32_t wait_count, hold_count, event_count;
    bool is_inside;  // of what may call the program's allocator
    mxp_collect_since waits[MXP__COLLECT_WAITS_MAX], holds[MXP__COLLECT_WAITS_MAX];
    mxp_collect_since events[MXP__COLLECT_EVENTS_MAX];
    mxp_collect_late late[MXP__COLLECT_LATE_MAX];
    mxp_collect_span spans[MXP__COLLECT_OPEN_MAX];
} mxp_collect_thread;

// In `depth` of the one thread of a forked child, until it looks at its stack: its spans are open
// here too, and begin anew.
#define MXP__COLLECT_FORKED (UINT32_C(1) << 31)

extern __thread mxp_collect_thread *mxp__collect_own __attribute__((tls_model("initial-exec")));

mxp_collect_thread *mxp__collect_thread_make(void);

// The calling thread's; null only without memory.
static inline mxp_collect_thread *mxp__collect_thread(void)
{
    mxp_collect_thread *own = mxp__collect_own;
    return __builtin_expect(own != NULL, 1) ? own : mxp__collect_thread_make();
}

// An argument that outlives the call: a text, up to 256 bytes of it, as a name.
mxp_arg mxp__collect_kept(const mxp_arg *arg);

// Has `flush` called for each thread that ends, and for the one that ends the process.
void mxp__collect_at_end(void (*flush)(mxp_collect_thread *thread));

#endif
