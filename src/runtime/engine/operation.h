// SPDX-License-Identifier: Apache-2.0
// One queued operation. A short one (one variable, nothing to say about its cost) takes a cache
// line.
//
//   | 48 B head | 16 B a variable ... | 32 B extra, if MXN__OP_EXTRA |
//
// Who writes. The pushing thread until it is published, then whoever it belongs to: the queue, the
// variable it is parked on, the thread that runs it.
#ifndef MXN_ENGINE_OPERATION_H
#define MXN_ENGINE_OPERATION_H

#include <assert.h>
#include <stddef.h>

#include "runtime/engine/engine.h"

// With its two bytes exchanged this is what a record says, among other things: mxn__record_bits.
enum {
    MXN__OP_ASYNC = MXP_OP_ASYNC >> 8,  // forms other than MXN_SYNC
    MXN__OP_EXTRA = 1 << 1,
    MXN__OP_VOID = 1 << 2,
    MXN__OP_WOKE = MXP_OP_WOKE >> 8,  // the worker that runs it has slept; only of RECORD
    MXN__OP_RECORD = 1 << 4,  // its class was on when it was pushed
    MXN__OP_NO_SKIP = 1 << 5,  // runs although a dependency has failed
    MXN__OP_DELETE = 1 << 6,  // runs in any case, also during shutdown
    MXN__OP_VAR_ENDS = 1 << 7,  // its deleter is what it does, then its only variable goes
    MXN__OP_RECORD_SHIFT = 8,  // of what is in the record's lower byte
    MXN__OP_RECORD_MASK =
        MXP_OP_PHASE_MASK | MXP_OP_SYMBOLIC | MXP_OP_BULK_PARENT | MXP_OP_ASYNC | MXP_OP_WOKE,
    MXN__OP_HIDDEN = (MXP_KIND_HIDDEN ^ MXP_KIND_OPERATOR) << 8,  // has no name that may be shown
    MXN__OP_SYMBOLIC = MXP_OP_SYMBOLIC << 8,
    MXN__OP_BULK = MXP_OP_BULK_PARENT << 8,  // its extra has members
    MXN__OP_WAIT = 1 << 15,  // argument is a mxn_waiter; released at the very end
    MXN__USES_MAX = 65535
};

// Who runs it.
enum {
    MXN__QUEUE_COMPUTE = MXP_QUEUE_COMPUTE,
    MXN__QUEUE_LIGHT = MXP_QUEUE_LIGHT,
    MXN__QUEUE_PRIORITY = MXP_QUEUE_PRIORITY,
    MXN__QUEUE_NONE = MXP_QUEUE_NONE  // who pushes it, or releases it
};

// Bit 0 of `var` tells writes, bit 1 those that overwrite, bit 2 those that keep (mxn_work).
// Ticket: what the variable's `done` must show (variable.h).
typedef struct mxn_use {
    uintptr_t var;
    uint64_t ticket;
} mxn_use;

typedef struct mxn_operation {
    struct mxn_operation *next;  // in whatever list it is; with NaiveEngine its mxn_naive_call
    uint64_t push_stamp;  // low 48 bits of the push's ticks | index of the pushing thread << 48
    mxn_function function;
    void *argument;
    mxp_name name;
    uint32_t id;
    uint16_t count;  // of uses
    uint16_t waits_on;  // index of the use it is parked for
    uint16_t flags;  // MXN__OP_*
    uint8_t device;
    uint8_t block_class : 4;  // of its memory: block_pool.h
    uint8_t place : 4;  // MXN__QUEUE_* << 2 | MXP_KERNEL_*, the latter for the record
    mxn_use uses[];
} mxn_operation;

typedef struct mxn_operation_extra {
    void (*deleter)(void *argument);
    union {
        mxn_operation *members;  // of a bulk
        int64_t priority;  // until it runs
        uint64_t start_ticks;  // of an asynchronous one, while it runs
    } is;
    uint32_t scope, shape;
    float flops, bytes;
} mxn_operation_extra;

_Static_assert((MXN__OP_ASYNC | MXN__OP_WOKE) == 9 && MXN__OP_HIDDEN == 1 << 11 &&
                   (MXP_KIND_OPERATOR & MXN__OP_HIDDEN >> 8) == 0 &&
                   (MXN__OP_RECORD_MASK & MXP_OP_VARIABLES_CUT) == 0,
               "each flag has a bit of its own");
_Static_assert(sizeof(mxn_operation) + sizeof(mxn_use) == 64, "one variable fits a cache line");
_Static_assert(sizeof(mxn_operation) + 3 * sizeof(mxn_use) + sizeof(mxn_operation_extra) == 128,
               "three variables and the extra part fit two");

static inline mxn_var *mxn__use_var(const mxn_use *use)
{
    return (mxn_var *)(use->var & ~(uintptr_t)7);
}

static inline bool mxn__use_writes(const mxn_use *use)
{
    return (use->var & 1) != 0;
}

static inline bool mxn__use_overwrites(const mxn_use *use)
{
    return (use->var & 2) != 0;
}

static inline bool mxn__use_keeps(const mxn_use *use)
{
    return (use->var & 4) != 0;
}

static inline size_t mxn__operation_bytes(size_t uses, bool extra)
{
    return sizeof(mxn_operation) + uses * sizeof(mxn_use) +
           (extra ? sizeof(mxn_operation_extra) : 0);
}

static inline uint8_t mxn__operation_queue(const mxn_operation *op)
{
    return op->place >> 2;
}

// Whether it is one of a pool's.
static inline bool mxn__queue_is_pool(uint8_t queue)
{
    return queue == MXN__QUEUE_LIGHT || queue == MXN__QUEUE_PRIORITY;
}

// Whose kernel computes it is unknown then.
static inline void mxn__operation_queue_set(mxn_operation *op, uint8_t queue)
{
    op->place = (uint8_t)(queue << 2) & 0xf;
}

static inline void mxn__operation_family_set(mxn_operation *op, uint32_t family)
{
    op->place = (op->place & 0xcu) | (family & 3);
}

static inline uint32_t mxn__record_bits(const mxn_operation *op)
{
    return (uint16_t)(op->flags >> 8 | op->flags << 8);
}

// Only with MXN__OP_EXTRA.
static inline mxn_operation_extra *mxn__operation_extra(mxn_operation *op)
{
    assert((op->flags & MXN__OP_EXTRA) != 0);
    return (mxn_operation_extra *)(op->uses + op->count);
}

static inline uint16_t mxn__operation_owner(const mxn_operation *op)
{
    return (uint16_t)(op->push_stamp >> MXP_STAMP_BITS);
}

#endif
