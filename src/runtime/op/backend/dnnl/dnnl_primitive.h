// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/backend/dnnl: kernels of oneDNN.
//
// Primitives of oneDNN, each made once for its problem: everything that is known before the numbers
// are. The library may want arguments in layouts of its own; arrays are row-major for everybody
// else, so arguments are reordered on the way in and out, through the job's workspace, and weights
// are cached in the library's layout for as long as their version lasts. Private to
// op/backend/dnnl.
//
// One lock is held by whoever looks at the caches or computes: the engine's compute worker, nearly
// always.
#ifndef MXN_OP_BACKEND_DNNL_DNNL_PRIMITIVE_H
#define MXN_OP_BACKEND_DNNL_DNNL_PRIMITIVE_H

#include <oneapi/dnnl/dnnl.h>

#include "runtime/op/registry/declare.h"

enum { MXN_PROBLEM_NUMBERS = 24, MXN_PROBLEM_ARGUMENTS = 4, MXN_PROBLEMS_MAX = 512 };

// What makes two problems the same; unused numbers are 0.
typedef struct mxn_problem_key {
    int64_t kind;  // whatever tells makers apart
    int64_t threads;  // the library plans for a number of them: set by a search
    int64_t numbers[MXN_PROBLEM_NUMBERS];
} mxn_problem_key;

typedef struct mxn_problem_argument {
    int what;  // DNNL_ARG_*
    bool written;
    dnnl_memory_desc_t plain;  // as it lies in the array
} mxn_problem_argument;

// What a maker says about a problem.
typedef struct mxn_problem_plan {
    dnnl_primitive_desc_t primitive;
    mxn_problem_argument arguments[MXN_PROBLEM_ARGUMENTS];
    int count;
} mxn_problem_plan;

typedef dnnl_status_t (*mxn_problem_maker)(const mxn_problem_key *key, dnnl_engine_t engine,
                                           const_dnnl_primitive_attr_t attributes,
                                           mxn_problem_plan *plan);

// False, without a detail: the library cannot do it, or only by its reference code. `bytes`, which
// may be null: of the workspace it takes. Another thread's search may throw the problem out again,
// so nobody is given it.
bool mxn__problem_find(mxn_problem_key *key, mxn_problem_maker make, uint64_t *bytes);

// An array for each argument, in the maker's order. `weight` is null or the memory of the weight,
// which is argument `weight_index`.
typedef struct mxn_problem_run {
    void *data[MXN_PROBLEM_ARGUMENTS];
    const mxn_buffer_ref *weight;
    int weight_index;
    void *workspace;
} mxn_problem_run;
// Finds the problem again, and runs it.
int mxn__problem_run(mxn_problem_key *key, mxn_problem_maker make, const mxn_problem_run *run);

// Since the process began; for tests.
typedef struct mxn_problem_counts {
    uint64_t made;  // primitives
    uint64_t executed;
    uint64_t weights_reordered, weights_cached;  // the latter: found in the library's layout
    char implementation[64];  // the library's name of the last one it proposed
} mxn_problem_counts;
void mxn__problem_counts_get(mxn_problem_counts *counts);

#endif
