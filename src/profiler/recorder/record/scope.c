// SPDX-License-Identifier: Apache-2.0
// The scope stack of each thread, and the thread's name. The stack is kept while recording is off;
// records of it are written only while it is on (and once for all when it continues: emit.c).
#include <mxprof/record.h>
#include <string.h>

#include "base/atomic.h"
#include "profiler/recorder/record/emit.h"
#include "profiler/recorder/record/tap.h"
#include "profiler/recorder/state.h"
#include "profiler/recorder/thread/names.h"

// The page of a thread's slab may be exchanged under it (store_threads.c), but not while the
// thread is busy: what it changes there outside of a record, it changes like one. False: it is busy
// already, in a handler.
static bool keep_page(mxp_thread *self)
{
    mxp_emit ignored;
    return !mxp__emit_is_inside(self) && mxp__emit_enter(&ignored, MXP__FORCED, 1);
}

static void release_page(mxp_thread *self, bool kept)
{
    if (kept) {
        mxp__emit_leave(self);
    }
}

uint32_t mxp_scope_push(const char *name)
{
    mxp_thread *self = mxp__thread_self();
    if (self == NULL) {
        return MXP_NAME_NONE;
    }
    const char *text = name != NULL ? name : "";
    uint32_t scope =
        mxp__name_intern(mxp_scope_current(), text, strlen(text), MXP_STYLE_SCOPE, MXP_UNIT_NONE);
    // The record first: what it may have to write again is the stack before it.
    if (mxp_enabled(MXP_CLASS_ALL) && self->scope_depth < MXP__SCOPES_MAX) {
        mxp__meta(MXP_META_SCOPE_PUSH, scope, 0, 0, MXP_CLASS_ALL);
    }
    bool kept = keep_page(self);
    if (self->scope_depth < MXP__SCOPES_MAX) {
        self->scopes[self->scope_depth] = scope;
    }
    self->scope_depth++;
    self->uses_scopes = 1;
    release_page(self, kept);
    return scope;
}

uint32_t mxp_scope_id(const char *name)
{
    const char *text = name != NULL ? name : "";
    return mxp__name_intern(MXP_NAME_NONE, text, strlen(text), MXP_STYLE_SCOPE, MXP_UNIT_NONE);
}

void mxp_scope_pop(void)
{
    mxp_thread *self = (mxp_thread *)mxp_self;
    if (self == NULL || self->scope_depth == 0) {
        return;
    }
    if (mxp_enabled(MXP_CLASS_ALL) && self->scope_depth <= MXP__SCOPES_MAX) {
        mxp__meta(MXP_META_SCOPE_POP, mxp_scope_current(), 0, 0, MXP_CLASS_ALL);
    }
    bool kept = keep_page(self);
    self->scope_depth--;
    release_page(self, kept);
}

// Scopes deeper than the stack keeps count as the deepest one kept.
uint32_t mxp_scope_current(void)
{
    const mxp_thread *self = (const mxp_thread *)mxp_self;
    if (self == NULL || self->scope_depth == 0) {
        return MXP_NAME_NONE;
    }
    uint32_t kept = self->scope_depth < MXP__SCOPES_MAX ? self->scope_depth : MXP__SCOPES_MAX;
    return self->scopes[kept - 1];
}

void mxp_thread_name(const char *name)
{
    mxp_thread *self = mxp__thread_self();
    if (self == NULL) {
        return;
    }
    uint32_t id = mxp_string(name);
    bool kept = keep_page(self);
    mxp_atomic_store(&self->name, id);
    release_page(self, kept);
    if (mxp_enabled(MXP_CLASS_ALL)) {
        mxp__meta(MXP_META_THREAD_NAME, id, 0, 0, MXP_CLASS_ALL);
    }
    if (mxp__tap_is_there()) {
        mxp__tap_call(
            &(mxp_told){.event = {.kind = MXP_KIND_META, .name = id, .phase = MXP__TAP_THREAD}});
    }
}
