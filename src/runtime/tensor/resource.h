// SPDX-License-Identifier: Apache-2.0
// What operators need besides arrays: workspaces, which are memory for the time of one operation,
// and random numbers. Each resource has a variable of the engine; an operation that uses it lists
// that among its writes, so operations that share a resource run one after the other. One that
// fails leaves no error there: what has nothing of it but the resource goes on.
//
// Workspaces belong to the pushing thread (MXNET_CPU_TEMP_COPY of them, 4, given out in turn) and
// go with it. Random generators are the process's, so a seed reaches every thread. The first
// request of any resource starts the manager and pushes "ResourceParallelRandomSetSeed" once for
// each parallel generator (MXNET_CPU_PARALLEL_RAND_COPY, 1), on cpu(0).
//
// Any thread may call anything here but mxn_workspace_take, mxn_random_reserve, which are called
// inside an operation that writes the resource's variable. Functions that can fail return 0 or a
// negative MXP_E code with the detail set.
#ifndef MXN_TENSOR_RESOURCE_H
#define MXN_TENSOR_RESOURCE_H

#include <stdint.h>

#include "runtime/engine/engine.h"
#include "runtime/storage/storage.h"
#include "runtime/tensor/tensor.h"

// ---- workspaces -------------------------------------------------------------------------------
typedef struct mxn_workspace mxn_workspace;

// The calling thread's next workspace on the device. It lives as long as the thread, and until the
// operations that write its variable are over.
int mxn_workspace_get(mxn_context context, mxn_workspace **workspace);
mxn_var *mxn_workspace_var(const mxn_workspace *workspace);
// Inside an operation that writes its variable: at least `bytes`, 64-byte aligned, undefined, valid
// until the operation ends. It grows when it must, and shrinks to what is asked for when a thousand
// requests in a row were less than an eighth of it (below 16 MiB it never does): the old block is
// given back to the system first.
// `name` is what the block is called, by custom "temp_space (file +line)". Size 0 gives null and
// changes nothing. MXP_ENOMEM.
int mxn_workspace_take(mxn_workspace *workspace, uint64_t bytes, mxp_name name, void **data);

// ---- random numbers ---------------------------------------------------------------------------
// Philox 4x32-10: block n of a key is four 32-bit numbers that depend on nothing else. So an
// operation reserves a range of blocks, in its turn, and may make them in any order, in parallel.
typedef struct mxn_random mxn_random;

int mxn_random_get(mxn_context context, mxn_random **random);  // the generator
int mxn_random_get_parallel(mxn_context context, mxn_random **random);  // the next parallel one
mxn_var *mxn_random_var(const mxn_random *random);
// Inside an operation that writes its variable: the key and the first of `blocks` new blocks.
void mxn_random_reserve(mxn_random *random, uint64_t blocks, uint64_t *key, uint64_t *first);
void mxn_random_block(uint64_t key, uint64_t block, uint32_t numbers[4]);

// MXRandomSeed: all generators, in order with the operations pushed before and after. Pushes
// "ResourceRandomSetSeed" and "ResourceNativeRandomSetSeed" (for each parallel generator). Copy i
// of device d gets d + 16 i + 127 seed. Until the first call the seed is the time of the start.
int mxn_random_seed(int seed);
int mxn_random_seed_context(int seed, mxn_context context);

#endif
