// SPDX-License-Identifier: Apache-2.0
// Arrays that share the memory of one that was written to while recording.
#include "autograd/other_arrays.h"

#include "base/fail.h"

// The newest node when a graph was last forgotten; what was noted before counts no more.
static uint64_t forgotten;

void mxn__others_note(const mxn_array *output, const mxn_node *node)
{
    mxn_chunk *chunk = output->chunk;
    if (chunk != NULL && __atomic_load_n(&chunk->refs, __ATOMIC_RELAXED) > 1) {
        __atomic_store_n(&chunk->recorded, node->number, __ATOMIC_RELAXED);
    }
}

void mxn__others_forget(void)
{
    __atomic_store_n(&forgotten, mxn__node_newest(), __ATOMIC_RELAXED);
}

// a[key] += value takes a view of `a`, writes to it, and assigns it to where it is already: what
// the part of `a` held does not count then.
static bool is_assigned(const mxn_params *params, mxn_array *const *inputs, uint64_t number)
{
    for (uint32_t i = 1; (params->op->flags & MXN_OP_ASSIGNS) != 0 && i < params->input_count;
         i++) {
        mxn_entry entry = mxn__entry_of(inputs[i]);
        if (entry.node != NULL && entry.node->number >= number &&
            inputs[i]->chunk == inputs[0]->chunk) {
            return true;
        }
    }
    return false;
}

int mxn__others_check(const mxn_params *params, mxn_array *const *inputs)
{
    uint64_t past = __atomic_load_n(&forgotten, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < params->input_count; i++) {
        const mxn_chunk *chunk = inputs[i]->chunk;
        uint64_t number = chunk == NULL ? 0 : __atomic_load_n(&chunk->recorded, __ATOMIC_RELAXED);
        if (number <= past) {
            continue;
        }
        mxn_entry entry = mxn__entry_of(inputs[i]);
        bool is_older = entry.node == NULL || entry.node->number < number;
        if (is_older && (i > 0 || !is_assigned(params, inputs, number))) {
            return mxp__fail(
                MXP_EINVAL,
                "Operator %s, input %u: the array shares its memory with another one, a view of it "
                "or the array that it is a view of, which was written to while recording: its "
                "gradient would be lost. Write to parts with array[key] = value, and take views "
                "after that.",
                params->op->name, i);
        }
    }
    return MXP_OK;
}
