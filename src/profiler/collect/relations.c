// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/relations.h"

#include <mxprof/foreign.h>
#include <mxprof/record.h>

#include "base/atomic.h"
#include "profiler/spin.h"

enum { PLACES = 4096, WAITING = 4096, BUCKETS = 1024 };

// The newest span of those that fall into its slot.
typedef struct slot {
    const void *owner;
    uint64_t id;
    mxp_collect_place place;
} slot;

// An arrow of which an end is not known: that of `missing`.
typedef struct arrow {
    const void *owner;
    uint64_t missing, other;  // other: the id of the end that is unknown, too; 0: it is known
    mxp_collect_place known;
    mxp_name name;
    bool is_from_missing;  // it begins at the missing one
    uint16_t next;  // place + 1 of the next of its bucket, or of the next free one
} arrow;

static struct {
    mxp_spin lock;
    slot places[PLACES];
    uint16_t used, free;
    mxp_atomic_u32 waiting;
    uint16_t buckets[BUCKETS];
    arrow arrows[WAITING];
} table;

static uint64_t hash_of(const void *owner, uint64_t id)
{
    return ((uintptr_t)owner >> 4 ^ id) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

// ---- recording an arrow ------------------------------------------------------------------------
static void emit_point(mxp_name name, uint32_t phase, uint64_t id, mxp_collect_place at)
{
    mxp_flow_emit(MXP_CLASS_USER, &(mxp_flow_point){.name = name,
                                                    .phase = phase,
                                                    .id = id,
                                                    .ticks = at.ticks,
                                                    .lane = MXP_LANE_THREAD | at.thread});
}

void mxp__arrow(mxp_name name, mxp_collect_place from, mxp_collect_place to)
{
    static mxp_atomic_u64 last;
    const uint64_t id = mxp_atomic_add(&last, 1) + 1;
    emit_point(name, MXP_FLOW_START, id, from);
    emit_point(name, MXP_FLOW_END, id, to);
}

mxp_collect_place mxp__place_here(void)
{
    return (mxp_collect_place){mxp_ticks(), mxp_thread_index()};
}

// ---- arrows that wait --------------------------------------------------------------------------
// All of these under the lock.
static mxp_collect_place known_place(const void *owner, uint64_t id)
{
    const slot *at = &table.places[hash_of(owner, id) % PLACES];
    return at->owner == owner && at->id == id ? at->place : (mxp_collect_place){0, 0};
}

static bool keep(const arrow *kept)
{
    uint16_t place = table.free;
    if (place != 0) {
        table.free = table.arrows[place - 1].next;
    } else if (table.used < WAITING) {
        place = ++table.used;
    } else {
        return false;
    }
    uint16_t *bucket = &table.buckets[hash_of(kept->owner, kept->missing) % BUCKETS];
    table.arrows[place - 1] = *kept;
    table.arrows[place - 1].next = *bucket;
    *bucket = place;
    mxp_atomic_store(&table.waiting, mxp_atomic_own(&table.waiting) + 1);
    return true;
}

// Takes out one that waits for this span. False: none does.
static bool take(const void *owner, uint64_t id, arrow *taken)
{
    uint16_t *at = &table.buckets[hash_of(owner, id) % BUCKETS];
    while (*at != 0 &&
           (table.arrows[*at - 1].owner != owner || table.arrows[*at - 1].missing != id)) {
        at = &table.arrows[*at - 1].next;
    }
    const uint16_t place = *at;
    if (place == 0) {
        return false;
    }
    *taken = table.arrows[place - 1];
    *at = taken->next;
    table.arrows[place - 1].next = table.free;
    table.free = place;
    mxp_atomic_store(&table.waiting, mxp_atomic_own(&table.waiting) - 1);
    return true;
}

// Its missing end is at `here`. True: the arrow is whole and may be recorded.
static bool complete(arrow *whole, mxp_collect_place here)
{
    if (whole->other == 0) {
        return true;
    }
    const mxp_collect_place other = known_place(whole->owner, whole->other);
    if (other.ticks != 0) {
        whole->known = other;
        return true;
    }
    arrow rest = *whole;
    rest.missing = whole->other;
    rest.other = 0;
    rest.known = here;
    rest.is_from_missing = !whole->is_from_missing;
    keep(&rest);  // in the place that has just been given back
    return false;
}

static void emit(const arrow *whole, mxp_collect_place here)
{
    mxp__arrow(whole->name, whole->is_from_missing ? here : whole->known,
               whole->is_from_missing ? whole->known : here);
}

// ---- what marks tell ---------------------------------------------------------------------------
static void wake(const void *owner, uint64_t id, mxp_collect_place here)
{
    arrow found;
    bool more = true;
    while (more && mxp__spin_lock(&table.lock)) {
        more = take(owner, id, &found);
        const bool is_whole = more && complete(&found, here);
        mxp__spin_unlock(&table.lock);
        if (is_whole) {
            emit(&found, here);
        }
    }
}

void mxp__place_put(const void *owner, uint64_t id)
{
    if (!mxp_enabled(MXP_CLASS_USER)) {
        return;
    }
    const mxp_collect_place here = mxp__place_here();
    if (!mxp__spin_lock(&table.lock)) {
        return;
    }
    table.places[hash_of(owner, id) % PLACES] = (slot){owner, id, here};
    mxp__spin_unlock(&table.lock);
    if (mxp_atomic_load(&table.waiting) != 0) {
        wake(owner, id, here);
    }
}

mxp_collect_place mxp__place_of(const void *owner, uint64_t id)
{
    mxp_collect_place found = {0, 0};
    if (id != 0 && mxp__spin_lock(&table.lock)) {
        found = known_place(owner, id);
        mxp__spin_unlock(&table.lock);
    }
    return found;
}

// Records it, or has it wait for the end that is missing.
static void between(arrow given, mxp_collect_place from, mxp_collect_place to)
{
    if (from.ticks != 0 && to.ticks != 0) {
        mxp__arrow(given.name, from, to);
        return;
    }
    bool is_kept = false;
    if (mxp__spin_lock(&table.lock)) {
        is_kept = keep(&given);
        mxp__spin_unlock(&table.lock);
    }
    if (!is_kept) {
        mxp_lose_foreign(1);
    }
}

void mxp__arrow_between(mxp_name name, const void *owner, uint64_t from, uint64_t to)
{
    if (!mxp_enabled(MXP_CLASS_USER)) {
        return;
    }
    const mxp_collect_place begin = mxp__place_of(owner, from), end = mxp__place_of(owner, to);
    const bool is_from_missing = begin.ticks == 0;
    between((arrow){.owner = owner,
                    .missing = is_from_missing ? from : to,
                    .other = is_from_missing && end.ticks == 0 ? to : 0,
                    .known = is_from_missing ? end : begin,
                    .name = name,
                    .is_from_missing = is_from_missing},
            begin, end);
}

void mxp__arrow_from(mxp_name name, mxp_collect_place from, const void *owner, uint64_t to)
{
    if (mxp_enabled(MXP_CLASS_USER)) {
        between((arrow){.owner = owner, .missing = to, .known = from, .name = name}, from,
                mxp__place_of(owner, to));
    }
}
