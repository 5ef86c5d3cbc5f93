// SPDX-License-Identifier: Apache-2.0
// The two functions themselves: the usual case, without a call but for the clock. Depths, short
// calls and names that are new take the way through stack.c.
#include <mxprof/error.h>
#include <stdio.h>

#include "base/setting.h"
#include "profiler/collect/functions/functions.h"
#include "profiler/collect/functions/modules.h"
#include "profiler/collect/marks.h"

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

function_settings mxp__functions = {.depth = UINT32_MAX};
mxp_atomic_u32 mxp__functions_generation;

// A variable of the library's own; one pointer of static storage, found without a call.
static __thread function_thread *mine __attribute__((tls_model("initial-exec")));

static function_thread *first_call(void)
{
    if (!mxp__functions.off) {
        mine = mxp__functions_thread();
    }
    return mine;
}

void mxp__functions_forget_thread(void)
{
    mine = NULL;
}

static inline mxp_name name_of(function_thread *self, const void *function)
{
    const uintptr_t place = ((uintptr_t)function >> 4 ^ (uintptr_t)function >> 16);
    function_name *one = &self->names[place % MXP__FUNCTIONS_CACHE];
    if (__builtin_expect(one->function == function, 1)) {
        return one->name;
    }
    function_name *other = &self->names[(place ^ 1) % MXP__FUNCTIONS_CACHE];
    if (other->function != function) {
        other = one->function == NULL ? one : other;
        other->name = mxp__address_name(function);
        other->function = function;
    }
    return other->name;
}

void __cyg_profile_func_enter(void *function, void *site)
{
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    (void)site;
    function_thread *self = mine;
    if (__builtin_expect(self == NULL, 0) && (self = first_call()) == NULL) {
        return;
    }
    if (__builtin_expect(frame < self->inside, 0)) {
        self->skipped++;
        return;
    }
    self->inside = frame;
    if (__builtin_expect(self->top->frame < frame || self->top >= self->last ||
                             self->generation != mxp_atomic_load(&mxp__functions_generation),
                         0) &&
        !mxp__functions_enter_slow(self, frame)) {
        self->inside = 0;
        return;
    }
    const uint32_t gate = mxp_atomic_load(&mxp_control.gate);
    function_entry *entry = self->top + 1;
    entry->frame = frame;
    entry->function = function;
    entry->token = 0;
    if (__builtin_expect(mxp__functions.min_ticks != 0, 0)) {
        entry->has_calls = 0;
        entry->short_calls = entry->short_ticks = 0;
    }
    self->top = entry;
    if ((gate & MXP_CLASS_USER) != 0 && entry <= self->deepest) {
        entry->name = name_of(self, function);
        entry->token = mxp_inline_begin(gate, entry->name);
    }
    self->inside = 0;
}

// The frame is gone where the hook is called by a jump: then it returns to where the function does.
void __cyg_profile_func_exit(void *function, void *site)
{
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    function_thread *self = mine;
    if (__builtin_expect(self == NULL || frame < self->inside, 0)) {
        return;
    }
    self->inside = frame;
    const bool is_last = site == __builtin_return_address(0);
    const function_entry *top = self->top;
    if (__builtin_expect(top->function != function ||
                             (frame > top->frame && (!is_last || frame > top[-1].frame)) ||
                             self->generation != mxp_atomic_load(&mxp__functions_generation),
                         0)) {
        mxp__functions_exit_slow(self, function, frame, is_last);
    } else {
        mxp__functions_end(self);
    }
    self->inside = 0;
}

// What is no number is told, and counts as nothing.
static uint64_t number_of(const char *variable, uint64_t fallback, uint64_t most)
{
    uint64_t value;
    if (mxp__setting_read(variable, fallback, 1, most, &value) != 0) {
        fprintf(stderr, "mxprof: %s\n", mxp_last_error());
    }
    return value;
}

__attribute__((constructor)) static void read_settings(void)
{
    mxp__functions.off = !mxp__collect_takes("functions");
    mxp__functions.depth =
        (uint32_t)number_of("MXPROF_FUNCTIONS_DEPTH", UINT32_MAX, MXP__FUNCTIONS_OPEN_MAX);
    const uint64_t min_us = number_of("MXPROF_FUNCTIONS_MIN_US", 0, 1000000000);
    if (min_us != 0) {
        mxp__short_calls_init(min_us);
    }
}
