// SPDX-License-Identifier: Apache-2.0
// Records of operations that run on other threads than those that asked for them: what each one
// waited for and how long it ran, and how long threads waited. Part of format.h, which tells how
// records begin.
#ifndef MXPROF_FORMAT_OPERATOR_H
#define MXPROF_FORMAT_OPERATOR_H

// OPERATOR:   w0 stamp = start        w1 high = operator id (never 0)
//             w2 run ticks (48)   | flags (16): phase (low 3 bits), MXP_OP_*
//             w3 start - push (48) | pushing thread (16), 0xffff unknown
//             w4 start - ready (48) | device (8) | ids in VARIABLES records (8)
//             w5 id of the operator that released it (low 32) | id of its bulk parent (high 32)
//             w6 scope id (low 32) | shape string id (high 32)
//             w7 estimated flops, f32 (low 32) | estimated bytes, f32 (high 32)
enum {
    MXP_PHASE_NONE = 0,
    MXP_PHASE_FORWARD = 1,
    MXP_PHASE_BACKWARD = 2,
    MXP_PHASE_UPDATE = 3,
    MXP_PHASE_COMMUNICATION = 4,
    MXP_OP_PHASE_MASK = 7,
    MXP_OP_VARIABLES_CUT = 8,  // more variables than fit into 16 continuation records
    MXP_OP_SYMBOLIC = 16,  // part of a prepared graph
    MXP_OP_BULK_PARENT = 32,  // members carry this operator's id as bulk parent
    MXP_OP_FAILED = 64,  // skipped, or ended in an error
    MXP_OP_SHARED = 128,  // has no time of its own: its bulk parent did its work with others'
    // Its end is inside of the operator that completed it, on another thread: on no thread's row.
    MXP_OP_ASYNC = 256,
    MXP_OP_QUEUE_SHIFT = 9,  // two bits, MXP_QUEUE_*: where it waited for a worker
    MXP_OP_WOKE = 2048,  // its worker slept before it
    MXP_OP_FAMILY_SHIFT = 12  // two bits, MXP_KERNEL_*: who computed it
};

enum {
    MXP_QUEUE_COMPUTE = 0,
    MXP_QUEUE_LIGHT = 1,
    MXP_QUEUE_PRIORITY = 2,
    MXP_QUEUE_NONE = 3  // it only hands over, inside of who pushed or released it
};

enum {
    MXP_KERNEL_UNKNOWN = 0,
    MXP_KERNEL_OWN = 1,
    MXP_KERNEL_ONEDNN = 2,
    MXP_KERNEL_REFERENCE = 3
};

// VARIABLES:  w0 instead of a stamp: count (8) | 0 (8) | operator id (32)   w1 ... w7: 14 ids, the
//             first in the low half of w1; top bit: written; 0: none. A reader takes shorter ones.
#define MXP_VARIABLES_PER_RECORD 14u
#define MXP_VARIABLES_UNITS 4u
#define MXP_VARIABLES_RECORDS_MAX 16u
#define MXP_VARIABLE_WRITTEN 0x80000000u

// WAIT:       w0 stamp = begin        w1 high = id of the operator that ended it, 0: unknown
//             w2 duration (48) | what (4) | flags (12)
//             w3 low = variable that was waited for, 0: none
// Written by the thread that waited, when it goes on.
enum {
    MXP_WAIT_WRITTEN = 1,  // until a variable is written
    MXP_WAIT_UNUSED = 2,  // until nobody uses it
    MXP_WAIT_ALL = 3,  // everything pushed: ended by the operator with the last end before it
    MXP_WAIT_TASK = 4,  // a thread of custom operators has nothing to do; ended by who handed over
    MXP_WAIT_BACK_PRESSURE = 5,
    MXP_WAIT_INPUT = 6,
    MXP_WAIT_COMMUNICATION = 7,
    MXP_WAIT_PROGRAM = 8,  // the program's own
    MXP_WAIT_WHAT_SHIFT = 48,
    MXP_WAIT_FLAGS_SHIFT = 52
};

enum {
    MXP_WAIT_BLOCKED = 1,  // else what was waited for was there already
    MXP_WAIT_SLEPT = 2,  // in the kernel
    MXP_WAIT_IN_CUSTOM = 4  // inside of a custom operator's function
};

#endif
