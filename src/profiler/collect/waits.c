// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/waits.h"

#include <mxprof/foreign.h>
#include <mxprof/record.h>
#include <string.h>

#include "profiler/collect/settings.h"
#include "profiler/collect/thread.h"
#include "profiler/spin.h"

enum { OBJECTS = 4096, LOOKED_AT = 8 };
static const double least_ns = 1000;

// ---- names of objects --------------------------------------------------------------------------
typedef struct named {
    const void *object;  // null: free
    mxp_name type, name;
    bool is_ignored;
} named;

static struct {
    mxp_spin lock;
    named objects[OBJECTS];
} table;

// The place of `object`; else a free one of those where it may be, or null.
static named *place_of(const void *object)
{
    const uint64_t mixed = ((uintptr_t)object >> 3) * UINT64_C(0x9e3779b97f4a7c15);
    named *free_one = NULL;
    for (uint32_t i = 0; i < LOOKED_AT; i++) {
        named *at = &table.objects[((mixed >> 40) + i) % OBJECTS];
        if (at->object == object) {
            return at;
        }
        free_one = free_one == NULL && at->object == NULL ? at : free_one;
    }
    return free_one;
}

void mxp__sync_name(const void *object, const char *type, const char *name)
{
    const mxp_name type_id = type != NULL && type[0] != '\0' ? mxp_string(type) : MXP_NAME_NONE;
    const mxp_name id = name != NULL && name[0] != '\0' ? mxp_string(name) : MXP_NAME_NONE;
    if (object == NULL || !mxp__spin_lock(&table.lock)) {
        return;
    }
    named *place = place_of(object);
    if (place != NULL) {
        const bool is_known = place->object == object;
        *place = (named){.object = object,
                         .type = type_id != MXP_NAME_NONE || !is_known ? type_id : place->type,
                         .name = id};
    }
    mxp__spin_unlock(&table.lock);
}

void mxp__sync_ignore(const void *object)
{
    if (object != NULL && mxp__spin_lock(&table.lock)) {
        named *place = place_of(object);
        if (place != NULL) {
            *place = (named){.object = object, .is_ignored = true};
        }
        mxp__spin_unlock(&table.lock);
    }
}

void mxp__sync_forget(const void *object)
{
    if (object != NULL && mxp__spin_lock(&table.lock)) {
        named *place = place_of(object);
        if (place != NULL && place->object == object) {
            *place = (named){.object = NULL};
        }
        mxp__spin_unlock(&table.lock);
    }
}

static named known(const void *object)
{
    named found = {.object = NULL};
    if (object != NULL && mxp__spin_lock(&table.lock)) {
        const named *place = place_of(object);
        found = place != NULL && place->object == object ? *place : found;
        mxp__spin_unlock(&table.lock);
    }
    return found;
}

// ---- waits and holds ---------------------------------------------------------------------------
static void add(mxp_collect_since *to, uint32_t *count, uint64_t object)
{
    if (*count < MXP__COLLECT_WAITS_MAX) {
        to[(*count)++] = (mxp_collect_since){object, mxp_ticks()};
    } else {
        mxp_lose_foreign(1);
    }
}

// When the newest of `object` began, which is taken out; 0: there is none.
static uint64_t take(mxp_collect_since *from, uint32_t *count, uint64_t object)
{
    uint32_t at = *count;
    while (at > 0 && from[at - 1].object != object) {
        at--;
    }
    if (at == 0) {
        return 0;
    }
    const uint64_t begin = from[at - 1].begin_ticks;
    memmove(&from[at - 1], &from[at], (*count - at) * sizeof *from);
    (*count)--;
    return begin;
}

// Before anything is recorded the clock's rate is not known: then it is kept.
static bool is_kept(uint64_t duration_ticks)
{
    const double rate = mxp__collect_sync() == MXP__SYNC_ALL ? 0 : mxp__collect_ns_per_tick();
    return rate <= 0 || (double)duration_ticks * rate >= least_ns;
}

static void emit(const char *category, const char *name, uint64_t begin_ticks, const void *object)
{
    const uint64_t now = mxp_ticks();
    mxp_arg args[2];
    uint32_t count = 0;
    if (!mxp_enabled(MXP_CLASS_USER) || !is_kept(now - begin_ticks)) {
        return;
    }
    const named about = known(object);
    if (about.name != MXP_NAME_NONE) {
        args[count++] = mxp_name_arg(mxp_string("object"), about.name);
    }
    if (about.type != MXP_NAME_NONE) {
        args[count++] = mxp_name_arg(mxp_string("type"), about.type);
    }
    if (!about.is_ignored) {
        mxp_span_emit(MXP_CLASS_USER, &(mxp_span){.name = mxp_span_name(category, name),
                                                  .begin_ticks = begin_ticks,
                                                  .end_ticks = now,
                                                  .arg_count = count,
                                                  .args = args});
    }
}

void mxp__sync_prepare(const void *object)
{
    mxp_collect_thread *own = mxp_enabled(MXP_CLASS_USER) ? mxp__collect_thread() : NULL;
    if (own != NULL && mxp__collect_sync() != MXP__SYNC_NONE) {
        take(own->waits, &own->wait_count, (uintptr_t)object);  // one that was left by a jump
        add(own->waits, &own->wait_count, (uintptr_t)object);
    }
}

static void end_wait(const void *object, const char *name)
{
    mxp_collect_thread *own = mxp__collect_own;
    const uint64_t begin = own != NULL ? take(own->waits, &own->wait_count, (uintptr_t)object) : 0;
    if (begin != 0) {
        emit("sync", name, begin, object);
    }
}

void mxp__sync_cancel(const void *object)
{
    end_wait(object, "wait cancelled");
}

void mxp__sync_acquired(const void *object)
{
    end_wait(object, "wait");
    mxp__sync_hold((uintptr_t)object);
}

void mxp__sync_releasing(const void *object)
{
    mxp_collect_thread *own = mxp__collect_own;
    const uint64_t begin = own != NULL ? take(own->holds, &own->hold_count, (uintptr_t)object) : 0;
    if (begin != 0) {
        emit("sync", "hold", begin, object);
    }
}

void mxp__sync_hold(uint64_t object)
{
    mxp_collect_thread *own = NULL;
    if (mxp__collect_sync() == MXP__SYNC_ALL && mxp_enabled(MXP_CLASS_USER) &&
        (own = mxp__collect_thread()) != NULL) {
        add(own->holds, &own->hold_count, object);
    }
}

void mxp__sync_release(uint64_t object, const char *category, const char *name)
{
    mxp_collect_thread *own = mxp__collect_own;
    const uint64_t begin = own != NULL ? take(own->holds, &own->hold_count, object) : 0;
    if (begin != 0) {
        emit(category, name, begin, NULL);
    }
}
