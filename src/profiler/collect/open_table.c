// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/open_table.h"

#include <mxprof/async.h>
#include <mxprof/foreign.h>
#include <mxprof/record.h>
#include <stdbool.h>

#include "profiler/collect/thread.h"
#include "profiler/spin.h"

enum { OPEN_MAX = 4096, BUCKETS = 1024 };

typedef struct open_span {
    const void *owner;
    uint64_t id;
    mxp_async span;
    mxp_arg args[MXP__COLLECT_ARGS_MAX];
    uint32_t arg_count;
    bool is_late;  // written at its end; the recorder knows nothing of it
    uint32_t next;  // place + 1 of the next of its bucket, or of the next free one
} open_span;

static struct {
    mxp_spin lock;
    uint32_t used;  // places that were ever taken
    uint32_t free;
    uint32_t buckets[BUCKETS];
    open_span spans[OPEN_MAX];
} table;

static uint32_t *bucket_of(const void *owner, uint64_t id)
{
    uint64_t mixed = ((uintptr_t)owner >> 4 ^ id) * UINT64_C(0x9e3779b97f4a7c15);
    return &table.buckets[mixed >> 32 & (BUCKETS - 1)];
}

// A free place + 1, 0: there is none.
static uint32_t take_place(void)
{
    uint32_t place = table.free;
    if (place != 0) {
        table.free = table.spans[place - 1].next;
        return place;
    }
    return table.used < OPEN_MAX ? ++table.used : 0;
}

// What does not fit is left out.
static void put(open_span *to, const mxp_arg *args, uint32_t count)
{
    for (uint32_t i = 0; i < count && to->arg_count < MXP__COLLECT_ARGS_MAX; i++) {
        to->args[to->arg_count++] = mxp__collect_kept(&args[i]);
    }
}

static void keep(const void *owner, uint64_t id, mxp_async span, const mxp_arg *args,
                 uint32_t count, bool is_late)
{
    if (span.begin_ticks == 0 || !mxp__spin_lock(&table.lock)) {
        return;
    }
    uint32_t place = take_place();
    if (place != 0) {
        uint32_t *bucket = bucket_of(owner, id);
        open_span *made = &table.spans[place - 1];
        *made = (open_span){
            .owner = owner, .id = id, .span = span, .is_late = is_late, .next = *bucket};
        put(made, args, count);
        *bucket = place;
    }
    mxp__spin_unlock(&table.lock);
    if (place == 0) {
        if (!is_late) {
            mxp_async_end(&span, NULL, 0);  // of no length, so that it is not open for ever
        }
        mxp_lose_foreign(1);
    }
}

void mxp__collect_begin_async(const void *owner, uint64_t id, mxp_name name, const mxp_arg *args,
                              uint32_t count)
{
    mxp_async span = mxp_async_begin(MXP_CLASS_USER, name, id, (mxp_context){0, 0});
    keep(owner, id, span, args, count, false);
}

void mxp__collect_begin_async_at(const void *owner, uint64_t id, mxp_name name,
                                 uint64_t begin_ticks)
{
    if (begin_ticks == 0) {
        mxp__collect_begin_async(owner, id, name, NULL, 0);
    } else if (mxp_enabled(MXP_CLASS_USER)) {
        const mxp_arg arg = mxp_u64(mxp_string("id"), id);
        keep(owner, id, (mxp_async){.begin_ticks = begin_ticks, .name = name}, &arg, id != 0, true);
    }
}

// What points at it, or at nothing.
static uint32_t *link_of(const void *owner, uint64_t id)
{
    uint32_t *at = bucket_of(owner, id);
    while (*at != 0 && (table.spans[*at - 1].owner != owner || table.spans[*at - 1].id != id)) {
        at = &table.spans[*at - 1].next;
    }
    return at;
}

// Takes it out of the table. False: there is none.
static bool take_out(const void *owner, uint64_t id, open_span *taken)
{
    uint32_t *at = link_of(owner, id);
    const uint32_t place = *at;
    if (place != 0) {
        open_span *found = &table.spans[place - 1];
        *taken = *found;
        *at = found->next;
        found->next = table.free;
        table.free = place;
    }
    return place != 0;
}

static void emit(const open_span *late, uint64_t end_ticks)
{
    mxp_span_emit(MXP_CLASS_USER, &(mxp_span){.name = late->span.name,
                                              .begin_ticks = late->span.begin_ticks,
                                              .end_ticks = end_ticks != 0 ? end_ticks : mxp_ticks(),
                                              .arg_count = late->arg_count,
                                              .args = late->args});
}

// False: there is none.
static bool end(const void *owner, uint64_t id, uint64_t end_ticks)
{
    open_span taken;
    bool found = false;
    if (mxp__spin_lock(&table.lock)) {
        found = take_out(owner, id, &taken);
        mxp__spin_unlock(&table.lock);
    }
    if (found && taken.is_late) {
        emit(&taken, end_ticks);
    } else if (found) {
        mxp_async_end(&taken.span, taken.args, taken.arg_count);
    }
    return found;
}

void mxp__collect_end_async_at(const void *owner, uint64_t id, uint64_t end_ticks)
{
    if (!end(owner, id, end_ticks)) {
        mxp_lose_foreign(1);
    }
}

void mxp__collect_end_async_if_open(const void *owner, uint64_t id)
{
    end(owner, id, 0);
}

void mxp__collect_end_async(const void *owner, uint64_t id)
{
    mxp__collect_end_async_at(owner, id, 0);
}

bool mxp__collect_tell_async(const void *owner, uint64_t id, const mxp_arg *args, uint32_t count)
{
    bool found = false;
    if (mxp__spin_lock(&table.lock)) {
        uint32_t *at = link_of(owner, id);
        if ((found = *at != 0)) {
            put(&table.spans[*at - 1], args, count);
        }
        mxp__spin_unlock(&table.lock);
    }
    return found;
}
