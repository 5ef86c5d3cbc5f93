// SPDX-License-Identifier: Apache-2.0
// What an updater keeps of each key. Private to the updater.
#ifndef MXN_KVSTORE_UPDATE_STATES_H
#define MXN_KVSTORE_UPDATE_STATES_H

#include "base/id_map.h"
#include "runtime/imperative/prepared.h"
#include "runtime/kvstore/optimizer_text.h"

enum { MXN_KV_STATES = 4 };

typedef struct mxn_kv_state {
    struct mxn_kv_state *next;  // of all, the newest first
    struct mxn_kv_state *same;  // another key of this hash
    char *key;
    mxn_kv_of_key of;
    uint32_t updates;
    uint64_t first;  // of the part's elements, within the whole weight
    bool is_made;  // whether what follows is there
    bool is_mixed;  // float16 with a float32 copy
    uint32_t count;
    mxn_array *arrays[MXN_KV_STATES];  // after weight and gradient, as the operator takes them
    // Of float16 whose operator knows only one type: it updates `exact` by `gradient`, both
    // float32.
    mxn_array *exact, *gradient;
    mxn_kv_operation operation;  // the last; no name: none yet
    mxn_params *params;  // of it
    mxn_prepared *prepared;
} mxn_kv_state;

typedef struct mxn_kv_states {
    mxp_id_map map;  // hash to the first state
    mxn_kv_state *newest;
    uint32_t count;
} mxn_kv_states;

// Null: not there.
mxn_kv_state *mxn__kv_state_find(const mxn_kv_states *states, const char *key);
// A state without arrays. MXP_ENOMEM.
int mxn__kv_state_add(mxn_kv_states *states, const char *key, mxn_kv_state **state);
// Zeros of the weight's shape and device.
int mxn__kv_state_zeros(const mxn_array *weight, int dtype, mxn_array **array);
void mxn__kv_states_fini(mxn_kv_states *states);

#endif
