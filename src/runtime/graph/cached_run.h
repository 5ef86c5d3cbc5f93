// SPDX-License-Identifier: Apache-2.0
// A call of a cached operator step by step: each operator is invoked as if the program called it,
// and what no later step needs is given back on the way. Private to cached_op.c.
#ifndef MXN_CACHED_RUN_H
#define MXN_CACHED_RUN_H

#include "runtime/graph/cached_flags.h"
#include "runtime/graph/cached_op.h"
#include "runtime/graph/open_shapes.h"
#include "runtime/graph/schedule.h"
#include "runtime/graph/static_op.h"

struct mxn_cached_op {
    mxn_symbol *symbol;  // with nodes of its own
    mxn_schedule schedule;
    mxn_cached_flags flags;
    mxn_static_op *fixed;  // with static_alloc; else null
    mxn_open_shapes *open;  // null: all shapes are known from the inputs'
    mxn_params *copy;  // of `_copy`
    mxn_cached_op_hook hook;  // null: nobody is told
    void *hook_context;
    int hook_what;  // MXN_TELL_*
};

// Pushes all steps. `call` has been checked; outputs that are not given are made, and in case of an
// error none stays.
int mxn__cached_run(const mxn_cached_op *op, const mxn_cached_call *call);

// Pushes a copy of an array into an output: of what is another output as well, or the program's
// own.
int mxn__cached_copy(const mxn_cached_op *op, const mxn_cached_call *call, mxn_array *from,
                     uint32_t output);

#endif
