// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/update_states.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

typedef struct found {
    uint64_t hash;
    mxn_kv_state *state;
} found;

static uint64_t hash_of(const char *key)
{
    uint64_t hash = UINT64_C(14695981039346656037);  // FNV-1a
    for (const char *at = key; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    }
    return hash == 0 ? 1 : hash;
}

mxn_kv_state *mxn__kv_state_find(const mxn_kv_states *states, const char *key)
{
    if (states->count == 0) {
        return NULL;
    }
    const found *at = mxp__id_map_find(&states->map, hash_of(key));
    mxn_kv_state *state = at == NULL ? NULL : at->state;
    while (state != NULL && strcmp(state->key, key) != 0) {
        state = state->same;
    }
    return state;
}

int mxn__kv_state_add(mxn_kv_states *states, const char *key, mxn_kv_state **state)
{
    states->map.entry_bytes = sizeof(found);
    mxn_kv_state *made = mxp__alloc(sizeof *made);
    char *copy = mxp__strdup(key);
    found *at = made == NULL || copy == NULL ? NULL : mxp__id_map_add(&states->map, hash_of(key));
    if (at == NULL) {
        mxp__strfree(copy);
        mxp__free(made, sizeof *made);
        return mxp__fail_memory("the state of a key");
    }
    *made = (mxn_kv_state){.next = states->newest, .same = at->state, .key = copy};
    at->state = states->newest = made;
    states->count++;
    *state = made;
    return MXP_OK;
}

int mxn__kv_state_zeros(const mxn_array *weight, int dtype, mxn_array **array)
{
    const mxn_tag tag = {
        .name = mxp_string("state"), .scope = mxp_scope_current(), .category = MXN_MEMORY_KVSTORE};
    int error = mxn_array_new(&weight->shape, dtype, mxn_array_context(weight), &tag, true, array);
    return error == MXP_OK ? mxn_array_fill(*array, 0, NULL) : error;
}

static void free_state(mxn_kv_state *state)
{
    for (uint32_t i = 0; i < MXN_KV_STATES; i++) {
        mxn_array_release(state->arrays[i]);
    }
    mxn_array_release(state->exact);
    mxn_array_release(state->gradient);
    mxn_prepared_release(state->prepared);
    mxn_params_release(state->params);
    mxp__strfree(state->key);
    mxp__free(state, sizeof *state);
}

void mxn__kv_states_fini(mxn_kv_states *states)
{
    while (states->newest != NULL) {
        mxn_kv_state *state = states->newest;
        states->newest = state->next;
        free_state(state);
    }
    mxp__id_map_fini(&states->map);
    *states = (mxn_kv_states){.count = 0};
}
