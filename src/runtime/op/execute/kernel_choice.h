// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/execute: one execution of an operator, and which kernel runs it.
//
// Kernels beside the plain C reference, which is in the declaration of the operator. Each
// backend has one table of them, by operator; MXNET_CPU_KERNELS says which backends are asked, in
// this order:
//
//   auto   own, dnnl, reference      (dnnl, own, reference while the library writes its own log)
//   dnnl   dnnl, own, reference
//   own    own, reference
//   ref    reference
//
// The first that takes the job runs it. Private to op/ and its backends.
#ifndef MXN_OP_EXECUTE_KERNEL_CHOICE_H
#define MXN_OP_EXECUTE_KERNEL_CHOICE_H

#include "runtime/op/registry/declare.h"

typedef struct mxn_kernel_entry {
    const char *op;  // primary name of the operator
    // Whether it can run this job, by what is known before operands have addresses: parameters,
    // shapes, types (as they were passed: half precision is converted for the reference only).
    bool (*takes)(const mxn_job *job);
    uint64_t (*workspace)(const mxn_job *job);  // bytes; null: wants none
    mxn_kernel run;
} mxn_kernel_entry;

typedef struct mxn_kernel_table {
    const mxn_kernel_entry *entries;
    uint32_t count;
} mxn_kernel_table;

// op/backend/cpu and op/backend/dnnl; the latter only if the build has the library.
extern const mxn_kernel_table mxn__kernels_own, mxn__kernels_dnnl;

// The backend's kernel for an operator, null if there is none.
const mxn_kernel_entry *mxn__kernel_find(int kind, const char *op);
// The backend's table, null if the build has none; each row is an operator's.
const mxn_kernel_table *mxn__kernel_table(int kind);
#ifndef NDEBUG
// For debug builds, once all operators are there: aborts unless each row is an operator's, and the
// only one of the table.
void mxn__registry_check_kernels(int kind, const mxn_kernel_table *table);
#endif

// For `takes` of our own kernels: whether the library is asked next, and takes the job.
bool mxn__kernel_library_follows(const mxn_job *job);

// For as many threads as the calling one may use (mxn__threads_enter): parallel kernels have a
// workspace, and the library a primitive, for each number. MXP_EVALUE: see mxn_kernels_check.
int mxn__kernel_choose(const mxn_job *job, mxn_kernel_choice *choice);
// Whether a kernel that may be chosen wants a workspace.
bool mxn__kernels_want_workspace(const mxn_op *op);

#endif
