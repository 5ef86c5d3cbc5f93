// SPDX-License-Identifier: Apache-2.0
// Folder profiler/collect/functions: the calls that compilers add (-finstrument-functions).
//
// A function is recorded by its address (modules.h); its name is found when the file is read.
//
// A thread keeps what it is in, entry by entry, because ends may be missing: gcc tells the exits of
// functions that an exception leaves, clang does not, and nobody tells those that longjmp leaves.
// An entry therefore keeps where on the stack its call stood. Entries that lie below the frame of a
// call that comes now are over; an exit ends the entry of its own function, not simply the last.
#ifndef MXP_COLLECT_FUNCTIONS_H
#define MXP_COLLECT_FUNCTIONS_H

#include <mxprof/record.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"

enum {
    MXP__FUNCTIONS_OPEN_MAX = 65535,  // deeper calls are counted and not recorded
    MXP__FUNCTIONS_CACHE = 4096
};

typedef struct function_entry {
    uintptr_t frame;  // of the hook that told the begin; stacks grow downwards
    const void *function;
    uint64_t token;  // 0: not recorded
    mxp_name name;
    // Only if short calls are left out:
    uint32_t has_calls;  // that are recorded
    uint64_t short_calls, short_ticks;  // those that were left out below it
} function_entry;

// One function has one of two neighbouring places. Written and read by the thread alone.
typedef struct function_name {
    const void *function;
    mxp_name name;
} function_name;

typedef struct function_thread {
    function_entry *top;  // the innermost one; entries[0]: none
    function_entry *last;
    function_entry *deepest;  // that is recorded (settings)
    uintptr_t inside;  // the frame of the hook that is at work, 0: none is
    uint32_t generation;  // of what this thread knows (mxp__functions_generation)
    uint32_t skipped;  // calls told from inside of a hook, not counted yet
    uint64_t deeper;  // calls that are open and have no entry; valid if top is behind `last`
    function_name names[MXP__FUNCTIONS_CACHE];
    function_entry entries[MXP__FUNCTIONS_OPEN_MAX + 2];  // one stands for all that are deeper
} function_thread;

// Fixed when the library is loaded.
typedef struct function_settings {
    bool off;
    uint32_t depth;  // calls deeper than that are not recorded
    uint64_t min_ticks;  // calls that are shorter and have none below them neither; 0: all are
} function_settings;
extern function_settings mxp__functions __attribute__((visibility("hidden")));

// Changes when what threads know is over: a module is gone, or this is a forked child.
extern mxp_atomic_u32 mxp__functions_generation __attribute__((visibility("hidden")));

// ---- stack.c: what is not the usual case -------------------------------------------------------
// The state of this thread, made at its first call. Null: no memory.
function_thread *mxp__functions_thread(void);
// Before an entry is made: ends entries that are over, learns what has changed. False: no more
// entries fit.
bool mxp__functions_enter_slow(function_thread *self, uintptr_t frame);
// An exit that is not of the last entry. `is_last`: told by a jump, as the last thing the function
// does, so that its frame is gone already.
void mxp__functions_exit_slow(function_thread *self, const void *function, uintptr_t frame,
                              bool is_last);
void mxp__functions_forget_thread(void);  // hooks.c
void mxp__modules_fork_child(void);  // modules.c

// ---- short_calls.c -----------------------------------------------------------------------------
void mxp__short_calls_init(uint64_t min_us);
// Ends the span of the entry, which is the last one, or leaves it out if it is a short one.
void mxp__short_calls_end(function_entry *entry);

// ---- ends --------------------------------------------------------------------------------------
// libmxprof keeps 31 open spans, and one for all that are deeper: it is told which that is now, so
// that its end needs no search.
static inline void mxp__functions_show(const function_entry *entry)
{
    mxp_recorder *recorder = mxp_self;
    if (recorder != NULL && mxp_atomic_own(&recorder->depth) > MXP_OPEN_MAX && entry->token != 0) {
        mxp_open_span *slot = &recorder->open[MXP_OPEN_MAX];
        mxp_atomic_store(&slot->name, entry->name);
        mxp_atomic_store_release(&slot->begin, entry->token);
    }
}

// Ends the last entry.
static inline void mxp__functions_end(function_thread *self)
{
    function_entry *entry = self->top;
    self->top = entry - 1;
    if (entry->token != 0) {
        if (__builtin_expect(mxp__functions.min_ticks != 0, 0)) {
            mxp__short_calls_end(entry);
        } else {
            mxp_inline_end(entry->name, entry->token, mxp_ticks());
        }
        mxp__functions_show(entry - 1);
    }
}

#endif
