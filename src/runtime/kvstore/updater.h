// SPDX-License-Identifier: Apache-2.0
// Built-in updaters: an optimizer with the states of the weights it was given. An update is one
// operator, prepared once for each key and pushed to the engine: it needs no thread of the program.
// Numbers are those of Python's updater with the same optimizer. Private to kvstore/.
//
// One thread at a time uses an updater. Arrays are the caller's, who may release them once a call
// returns. Functions that can fail return 0 or a negative MXP_E code with the detail set, which
// names the key.
#ifndef MXN_KVSTORE_UPDATER_H
#define MXN_KVSTORE_UPDATER_H

#include "runtime/kvstore/optimizer_text.h"
#include "runtime/tensor/tensor.h"

typedef struct mxn_kv_updater mxn_kv_updater;

// Takes the optimizer over, whatever comes of it.
int mxn__kv_updater_new(mxn_kv_optimizer *optimizer, mxn_kv_updater **made);
void mxn__kv_updater_free(mxn_kv_updater *updater);  // null does nothing; what was pushed runs

// A weight, or the part of one that an owner has.
typedef struct mxn_kv_weight {
    const char *key;
    uint64_t first;  // of the part's elements, within the whole weight
    mxn_array *gradient, *weight;  // of one shape and type
} mxn_kv_weight;

// Pushes the update of a weight. The key's first update makes its states.
int mxn__kv_updater_update(mxn_kv_updater *updater, const mxn_kv_weight *weight);
// mxn__kv_optimizer_set, for the updates that follow.
int mxn__kv_updater_set(mxn_kv_updater *updater, const char *text, size_t length);

// The states of all keys, and how often each was updated, as bytes that only `load` reads. Waits
// for the updates that were pushed.
int mxn__kv_updater_save(mxn_kv_updater *updater, mxp_strbuf *bytes);
// In place of those there are. MXP_EFORMAT: not such bytes; then nothing was changed.
int mxn__kv_updater_load(mxn_kv_updater *updater, const void *bytes, size_t length);

#endif
