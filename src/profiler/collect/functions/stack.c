// SPDX-License-Identifier: Apache-2.0
// What is not the usual case: threads that begin and end, calls that were left without an exit,
// exits without a call, stacks that are too deep, forked children.
#include <errno.h>
#include <mxprof/foreign.h>
#include <pthread.h>
#include <signal.h>

#include "base/os/os.h"
#include "profiler/collect/functions/functions.h"

// ---- threads -----------------------------------------------------------------------------------
static pthread_key_t end_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_end_key;

static void tell_skipped(function_thread *self)
{
    if (self->skipped != 0) {
        mxp_lose_foreign(self->skipped);
        self->skipped = 0;
    }
}

static void end_thread(void *thread)
{
    tell_skipped(thread);
    mxp__functions_forget_thread();
    mxp__os_unmap_pages(thread, sizeof(function_thread));
}

static mxp_atomic_u32 process;  // whose calls the entries are

static void in_child(void)
{
    mxp__modules_fork_child();
    mxp_atomic_add(&mxp__functions_generation, 1);
}

static void begin_process(void)
{
    mxp_atomic_store(&process, mxp__os_process_id());
    has_end_key = pthread_key_create(&end_key, end_thread) == 0;
    pthread_atfork(NULL, NULL, in_child);
}

function_thread *mxp__functions_thread(void)
{
    const int saved = errno;
    pthread_once(&once, begin_process);
    function_thread *self = mxp__os_map_pages(sizeof *self);  // zeros, touched as it is used
    if (self != NULL) {
        self->top = self->entries;
        self->top->frame = UINTPTR_MAX;
        self->last = self->entries + MXP__FUNCTIONS_OPEN_MAX;
        self->deepest = mxp__functions.depth < MXP__FUNCTIONS_OPEN_MAX
                            ? self->entries + mxp__functions.depth
                            : self->last;
        self->generation = mxp_atomic_load(&mxp__functions_generation);
        if (has_end_key) {
            pthread_setspecific(end_key, self);
        }
    }
    errno = saved;
    return self;
}

// ---- ends --------------------------------------------------------------------------------------
// Ends the last entry, of which no exit was told: its end is no later than now.
static void end_left(function_thread *self)
{
    function_entry *entry = self->top;
    self->top = entry - 1;
    if (entry->token != 0) {
        const mxp_arg arg = mxp_name_arg(mxp_string("left by"), mxp_string("exception or jump"));
        entry[-1].has_calls = 1;
        mxp_end_args(entry->name, entry->token, &arg, 1);
        mxp_lose_foreign(1);
        mxp__functions_show(entry - 1);
    }
}

// ---- what has changed --------------------------------------------------------------------------
// A handler's frames on a stack of its own say nothing about those of the thread's.
static bool is_on_other_stack(void)
{
    stack_t stack;
    return sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0;
}

static void end_those_below(function_thread *self, uintptr_t frame)
{
    if (self->top->frame < frame && !is_on_other_stack()) {
        while (self->top->frame < frame) {
            end_left(self);
        }
    }
}

// In a forked child the calls that the thread is in begin anew; names may be of modules that are
// gone.
static void learn(function_thread *self)
{
    const uint32_t generation = mxp_atomic_load(&mxp__functions_generation);
    if (self->generation == generation) {
        return;
    }
    self->generation = generation;
    for (uint32_t i = 0; i < MXP__FUNCTIONS_CACHE; i++) {
        self->names[i].function = NULL;
    }
    const uint32_t now = mxp__os_process_id();
    if (mxp_atomic_exchange(&process, now) != now) {
        for (function_entry *entry = self->entries + 1; entry <= self->top; entry++) {
            entry->token = entry->token != 0 ? mxp_begin(MXP_CLASS_USER, entry->name) : 0;
        }
    }
}

// The entry behind the last one is of no function, so that every exit asks here.
static void enter_deeper(function_thread *self, uintptr_t frame)
{
    if (self->top == self->last) {
        self->top++;
        *self->top = (function_entry){.frame = frame};
        self->deeper = 0;
    }
    self->deeper++;
    if (mxp_enabled(MXP_CLASS_USER)) {
        mxp_lose_foreign(1);
    }
}

// Whether an exit is that of a call that has no entry.
static bool exit_deeper(function_thread *self, uintptr_t frame, bool is_last)
{
    const bool is_deeper =
        self->top > self->last && frame <= (is_last ? self->last->frame : self->top->frame);
    if (self->top > self->last && (!is_deeper || --self->deeper == 0)) {
        self->top = self->last;
    }
    return is_deeper;
}

bool mxp__functions_enter_slow(function_thread *self, uintptr_t frame)
{
    const int saved = errno;
    learn(self);
    tell_skipped(self);
    end_those_below(self, frame);
    const bool fits = self->top < self->last;
    if (!fits) {
        enter_deeper(self, frame);
    }
    errno = saved;
    return fits;
}

// An exit whose frame is gone: what lies below the frame around it is over, and the outermost of
// its function is its own. False: there is none.
static bool exit_last(function_thread *self, const void *function, uintptr_t frame)
{
    const function_entry *own = NULL;
    if (is_on_other_stack()) {
        return false;
    }
    for (const function_entry *entry = self->top; entry->frame < frame; entry--) {
        own = entry->function == function ? entry : own;
    }
    while (own != NULL && self->top->frame < frame) {
        if (self->top == own) {
            mxp__functions_end(self);
        } else {
            end_left(self);
        }
    }
    return own != NULL;
}

// Any other. At most so many are looked at that exits without a call do not make a program slow.
static bool exit_inner(function_thread *self, const void *function, uintptr_t frame)
{
    enum { LOOKED_AT = 4096 };
    end_those_below(self, frame);
    const function_entry *own = self->top;
    for (int i = 0; own->function != function; i++, own--) {
        if (i == LOOKED_AT || own == self->entries) {
            return false;
        }
    }
    while (self->top != own) {
        end_left(self);
    }
    mxp__functions_end(self);
    return true;
}

void mxp__functions_exit_slow(function_thread *self, const void *function, uintptr_t frame,
                              bool is_last)
{
    const int saved = errno;
    learn(self);
    if (!exit_deeper(self, frame, is_last) && !(is_last && exit_last(self, function, frame)) &&
        !exit_inner(self, function, frame) && mxp_enabled(MXP_CLASS_USER)) {
        mxp_lose_foreign(1);
    }
    errno = saved;
}
