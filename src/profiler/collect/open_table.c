// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/open_table.h"

#include <mxprof/async.h>
#include <mxprof/foreign.h>
#include <mxprof/record.h>
#include <stdbool.h>
#include <string.h>

#include "profiler/spin.h"

enum { OPEN_MAX = 4096, BUCKETS = 1024 };

typedef struct open_span {
    const void *owner;
    uint64_t id;
    mxp_async span;
    mxp_arg args[MXP__COLLECT_ARGS_MAX];
    uint32_t arg_count;
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

static void put(open_span *to, const mxp_arg *args, uint32_t count)
{
    to->arg_count = count < MXP__COLLECT_ARGS_MAX ? count : MXP__COLLECT_ARGS_MAX;
    if (to->arg_count != 0) {
        memcpy(to->args, args, to->arg_count * sizeof *args);
    }
}

void mxp__collect_begin_async(const void *owner, uint64_t id, mxp_name name, const mxp_arg *args,
                              uint32_t count)
{
    mxp_async span = mxp_async_begin(MXP_CLASS_USER, name, id, (mxp_context){0, 0});
    if (span.begin_ticks == 0 || !mxp__spin_lock(&table.lock)) {
        return;
    }
    uint32_t place = take_place();
    if (place != 0) {
        uint32_t *bucket = bucket_of(owner, id);
        open_span *made = &table.spans[place - 1];
        *made = (open_span){.owner = owner, .id = id, .span = span, .next = *bucket};
        put(made, args, count);
        *bucket = place;
    }
    mxp__spin_unlock(&table.lock);
    if (place == 0) {
        mxp_async_end(&span, NULL, 0);  // of no length, so that it is not open for ever
        mxp_lose_foreign(1);
    }
}

// Takes it out of the table. False: there is none.
static bool take_out(const void *owner, uint64_t id, open_span *taken)
{
    uint32_t *at = bucket_of(owner, id);
    while (*at != 0 && (table.spans[*at - 1].owner != owner || table.spans[*at - 1].id != id)) {
        at = &table.spans[*at - 1].next;
    }
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

void mxp__collect_end_async(const void *owner, uint64_t id)
{
    open_span taken;
    bool found = false;
    if (mxp__spin_lock(&table.lock)) {
        found = take_out(owner, id, &taken);
        mxp__spin_unlock(&table.lock);
    }
    if (found) {
        mxp_async_end(&taken.span, taken.args, taken.arg_count);
    } else {
        mxp_lose_foreign(1);
    }
}
