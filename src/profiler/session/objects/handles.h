// SPDX-License-Identifier: Apache-2.0
// Folder profiler/session/objects: what programs create: domains, tasks, frames, events, counters.
//
// Checked handles. A handle is no address but a packed number, so that any value a program passes
// can be looked at safely:
//
//   63        48 47          28 27    24 23                 0
//   | magic 16  | generation 20 | type 4 | index 24          |
//
// Slots live in a table that only grows; a slot is reused with the next generation and retired
// after the last one. Finding a slot takes no lock; using it takes the slot's own, which also keeps
// it from being destroyed meanwhile. Lock order: session, then slot, then the recorder's.
#ifndef MXP_SESSION_HANDLES_H
#define MXP_SESSION_HANDLES_H

#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <stdbool.h>
#include <stdint.h>

#include "profiler/recorder/record/tap.h"
#include "profiler/spin.h"

enum {
    MXP__OBJECT_FREE = 0,
    MXP__OBJECT_DOMAIN = 1,
    MXP__OBJECT_TASK = 2,
    MXP__OBJECT_FRAME = 3,
    MXP__OBJECT_EVENT = 4,
    MXP__OBJECT_SPAN = 5,
    MXP__OBJECT_COUNTER = 6
};

enum { MXP__START_INLINE = 2, MXP__LABEL_BYTES = 40 };

// One start of a duration that has not been stopped.
typedef struct mxp_start {
    uintptr_t thread;  // the starter: address of its mxp_self
    uint64_t begin_ticks;  // before `recording`: when recording had begun last by then
    uint16_t thread_index;  // 0xffff: unknown
    bool recording;  // recording was on, or has begun since (then begin is clipped to it)
    bool closed;  // a stop of the session has recorded it
    uint16_t flags;  // MXP_SPAN_*
    bool told;  // to senders: `sent` is set
    uint64_t token;  // that its stop must give; 0: a plain start
    uint64_t sent[MXP__SENDERS];  // what they have made of it (tap.h)
} mxp_start;

// An object. Everything but `lock` is protected by it; `next` by the table's lock.
typedef struct mxp_slot {
    mxp_spin lock;
    uint32_t generation;
    uint32_t type;
    uint32_t next;  // of the free list, or of a domain's chain; 0: none
    mxp_name name;
    uint32_t start_count, start_capacity;
    mxp_start *starts;  // oldest first; start_inline until that is full
    mxp_start start_inline[MXP__START_INLINE];
    uint64_t value;  // of a counter; records made of a frame
    uint64_t tokens;  // given out for starts
    uint64_t last_ticks;  // of a counter: its newest sample
    const char *frames;  // domain: category of its frames; never freed
    const char *markers;  // domain: category of its markers; never freed
    const char *text;  // domain: its name; never freed
    char label[MXP__LABEL_BYTES];  // the name for messages, shortened
} mxp_slot;

// Makes an object other than a domain; it is unlocked and complete when *handle is set.
int mxp__slot_create(uint32_t type, const mxp_slot *content, mxp_handle *handle);
// The domain of this name, which is made (*made) if there is none.
int mxp__domain_create(const mxp_slot *content, mxp_handle *domain, bool *made);

// The slot of `handle`, locked. `types`: bits 1 << MXP__OBJECT_*; `null_text`: the message for
// null.
int mxp__slot_lock(mxp_handle handle, uint32_t types, const char *null_text, mxp_slot **slot);
static inline void mxp__slot_unlock(mxp_slot *slot)
{
    mxp__spin_unlock(&slot->lock);
}

// Frees the locked slot and unlocks it: its handle is invalid from now on.
void mxp__slot_destroy(mxp_slot *slot);

void mxp__slot_set_label(mxp_slot *slot, const char *name);

// The domain whose interned name is `name`, or null; always null for MXP_NAME_FULL.
mxp_handle mxp__domain_find(mxp_name name);

// Calls `visit` for every live object, locked. For the session's transitions.
void mxp__slots_visit(void (*visit)(mxp_slot *slot, uint64_t argument), uint64_t argument);

void mxp__slots_fork_prepare(void);
void mxp__slots_fork_parent(void);
void mxp__slots_fork_child(void);  // every lock is free, nothing is started; handles stay valid

#endif
