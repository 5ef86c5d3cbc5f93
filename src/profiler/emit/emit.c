// SPDX-License-Identifier: Apache-2.0
// Which tools there are, and what each thread has sent to them.
//
// A tool's calls nest on each thread, so a thread keeps the spans whose begin it has sent. While it
// is in a tool it sends nothing: neither what the tool itself records nor what a signal handler
// does.
#include "profiler/emit/emit.h"

#include <dlfcn.h>
#include <mxprof/profiler.h>
#include <mxprof/range.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/setting.h"
#include "base/thread_slot.h"
#include "profiler/emit/emit_nvtx.h"
#include "profiler/emit/sender.h"
#include "profiler/spin.h"

enum { OPEN_MAX = 256 };  // spans on a thread; deeper ones are sent, and not repaired

typedef struct sent_span {
    mxp_name name;
    uint32_t depth;  // as the tap told it
} sent_span;

typedef struct sent_thread {
    volatile bool inside;  // of a tool
    uint32_t counts[MXP__SENDERS];
    sent_span open[MXP__SENDERS][OPEN_MAX];
} sent_thread;

static __thread sent_thread *mine __attribute__((tls_model("initial-exec")));

static void thread_free(void *object)
{
    mine = NULL;
    mxp__free(object, sizeof(sent_thread));
}
static mxp_thread_slot mine_slot = MXP__THREAD_SLOT_INIT(thread_free);

static mxp_atomic_bool over;  // the process ends: tools are not called any more

// The calling thread's, entered. Null: nothing is sent now.
static sent_thread *enter(void)
{
    if (__builtin_expect(mine == NULL, 0)) {
        mine = mxp__thread_slot_new(&mine_slot, sizeof *mine);
    }
    if (mine == NULL || mine->inside || mxp_atomic_load(&over)) {
        return NULL;
    }
    mine->inside = true;
    mxp_compiler_barrier();
    return mine;
}

static void leave(sent_thread *self)
{
    mxp_compiler_barrier();
    self->inside = false;
}

// ---- lexical spans -----------------------------------------------------------------------------
static void end_last(sent_thread *self, const mxp_sender *sender)
{
    uint32_t count = --self->counts[sender->place];
    sender->end(self->open[sender->place][count].name, false);
}

// Ends those that are as deep as `depth` or deeper: other threads have ended them.
static void end_deeper(sent_thread *self, const mxp_sender *sender, uint32_t depth)
{
    const sent_span *open = self->open[sender->place];
    for (uint32_t count; (count = self->counts[sender->place]) != 0 && count <= OPEN_MAX &&
                         open[count - 1].depth >= depth;) {
        end_last(self, sender);
    }
}

static void begin_span(sent_thread *self, const mxp_sender *sender, const mxp_tap_event *event)
{
    end_deeper(self, sender, event->depth);
    if (sender->begin(event->name, false)) {
        uint32_t count = self->counts[sender->place]++;
        if (count < OPEN_MAX) {
            self->open[sender->place][count] = (sent_span){event->name, event->depth};
        }
    }
}

// One whose begin was not sent has no end.
static void end_span(sent_thread *self, const mxp_sender *sender, const mxp_tap_event *event)
{
    end_deeper(self, sender, event->depth + 1);
    uint32_t count = self->counts[sender->place];
    if (count > OPEN_MAX) {
        self->counts[sender->place] = count - 1;
        sender->end(event->name, false);
    } else if (count != 0 && self->open[sender->place][count - 1].depth == event->depth) {
        end_last(self, sender);
    }
}

static void tap(void *context, const mxp_tap_event *event)
{
    const mxp_sender *sender = context;
    sent_thread *self = enter();
    if (self == NULL) {
        return;
    }
    switch (event->phase) {
    case MXP_TAP_BEGIN:
        begin_span(self, sender, event);
        break;
    case MXP_TAP_END:
        end_span(self, sender, event);
        break;
    case MXP__TAP_OPERATOR:
        sender->begin(event->name, true);
        break;
    case MXP__TAP_OPERATOR_END:
        sender->end(event->name, true);
        break;
    default:
        sender->tell((mxp_told *)(uintptr_t)event);
        break;
    }
    leave(self);
}

// ---- tools -------------------------------------------------------------------------------------
static const mxp_sender *const senders[MXP__SENDERS] = {&mxp__sender_itt, &mxp__sender_nvtx};

typedef struct tool {
    bool tried, ours;  // under `deciding`
    char fault[160];  // why there is none; "": it is loaded
    mxp_atomic_bool loaded, in_use;  // in use: with a tap
} tool;
static tool tools[MXP__SENDERS];
static mxp_spin deciding;  // refused to the tool that is being loaded, if it calls us

// By a symbol of the library's, and not by its name.
static bool is_ours(void *library)
{
    return dlsym(library, "mxp_collect_owner") != NULL;
}

// Before destructors of the tool, which was loaded before this was registered.
static void end_process(void)
{
    mxp__send_recording(false);
    mxp_atomic_store(&over, true);
}

// What is wrong with the tool; null: it is ready.
static const char *open_tool(const mxp_sender *sender, const char *path, bool *ours)
{
    void *library = dlopen(path, RTLD_LAZY);
    if (library == NULL) {
        return dlerror();
    }
    void *entry = dlsym(library, sender->entry);
    *ours = is_ours(library);
    if (*ours || entry == NULL) {
        dlclose(library);
        return *ours ? "it is mxprof's own collector" : "it is no such tool";
    }
    bool takes = sender->start(library, entry);
    atexit(end_process);
    return takes ? NULL : "the tool there wants to be told nothing";
}

// Under `deciding`. The library is loaded at most once, and stays.
static bool load(int place)
{
    tool *self = &tools[place];
    if (!self->tried) {
        const char *path = mxp__setting_text(senders[place]->variable);
        const char *fault =
            path == NULL ? "it is not set" : open_tool(senders[place], path, &self->ours);
        snprintf(self->fault, sizeof self->fault, "%s", fault != NULL ? fault : "");
        self->tried = true;
        mxp_atomic_store_release(&self->loaded, fault == NULL);
    }
    return mxp_atomic_load(&self->loaded);
}

static int fail_without(int place, const char *fault)
{
    return mxp__fail(MXP_ENOTSUP, "%s names the tool to send to, and %s", senders[place]->variable,
                     fault);
}

static int begin(int place, bool by_name)
{
    if (load(place)) {
        mxp_atomic_store(&tools[place].in_use, true);
        return mxp__tap_add(tap, (void *)(uintptr_t)senders[place], MXP__TAP_SENDER);
    }
    if (by_name) {
        return fail_without(place, tools[place].fault);
    }
    if (mxp__setting_text(senders[place]->variable) != NULL && !tools[place].ours) {
        fprintf(stderr, "mxprof: nothing is sent to another tool: %s: %s\n",
                senders[place]->variable, tools[place].fault);
    }
    return MXP_OK;
}

static int decide(int wanted)
{
    int error = MXP_OK;
    for (int i = 0; i < MXP__SENDERS && error == MXP_OK; i++) {
        bool by_name = wanted == senders[i]->wanted;
        if (by_name || wanted == MXP_EMIT_AUTO) {
            error = begin(i, by_name);
        }
    }
    return error;
}

// Once it is decided, a tool that was left out is none.
static int check(int wanted)
{
    for (int i = 0; i < MXP__SENDERS; i++) {
        if (wanted == senders[i]->wanted && !mxp_atomic_load(&tools[i].in_use)) {
            return fail_without(i, "the first run has decided without it");
        }
    }
    return MXP_OK;
}

int mxp__send_decide(int wanted)
{
    static bool decided;
    if (!mxp__spin_lock(&deciding)) {
        return MXP_OK;
    }
    int error = decided ? check(wanted) : decide(wanted);
    decided = decided || error == MXP_OK;
    mxp__spin_unlock(&deciding);
    return error;
}

void mxp__send_recording(bool on)
{
    static mxp_atomic_bool was_on;
    if (mxp_atomic_exchange_acq_rel(&was_on, on) == on) {
        return;
    }
    for (int i = 0; i < MXP__SENDERS; i++) {
        sent_thread *self = mxp_atomic_load(&tools[i].in_use) ? enter() : NULL;
        if (self != NULL) {
            senders[i]->recording(on);
            leave(self);
        }
    }
}

// ---- ranges of the program's -------------------------------------------------------------------
enum { NVTX = 1 };

static int find_nvtx(void)
{
    if (!mxp_atomic_load_acquire(&tools[NVTX].loaded) && mxp__spin_lock(&deciding)) {
        load(NVTX);
        mxp__spin_unlock(&deciding);
    }
    return mxp_atomic_load_acquire(&tools[NVTX].loaded) ? MXP_OK
                                                        : fail_without(NVTX, tools[NVTX].fault);
}

// Null ends the newest one.
static int range(const char *text, uint32_t argb)
{
    int error = find_nvtx();
    sent_thread *self = error == MXP_OK ? enter() : NULL;
    if (self != NULL) {
        if (text != NULL) {
            mxp__nvtx_push(text, argb);
        } else {
            mxp__nvtx_pop();
        }
        leave(self);
    }
    return error;
}

int mxp_range_push(const char *text, uint32_t argb)
{
    return range(text != NULL ? text : "", argb);
}

int mxp_range_pop(void)
{
    return range(NULL, 0);
}
