// SPDX-License-Identifier: Apache-2.0
// Arrays that share the memory of one that was written to while recording.
#include "runtime/autograd/other_arrays.h"

#include "base/atomic.h"
#include "base/fail.h"

// The newest node when a graph was last forgotten; what was noted before counts no more.
static mxp_atomic_u64 forgotten;

void mxn__others_note(const mxn_array *output, const mxn_node *node)
{
    mxn_buffer *buffer = output->buffer;
    if (buffer != NULL && mxp__refs_shared(&buffer->refs)) {
        mxp_atomic_store(&buffer->recorded, node->number);
    }
}

void mxn__others_forget(void)
{
    mxp_atomic_store(&forgotten, mxn__node_newest());
}

static uint64_t recorded_in(const mxn_array *array)
{
    const mxn_buffer *buffer = array->buffer;
    return buffer == NULL ? 0 : mxp_atomic_load(&buffer->recorded);
}

static bool knows(const mxn_array *array, uint64_t number)
{
    mxn_entry entry = mxn__entry_of(array);
    return entry.node != NULL && entry.node->number >= number;
}

// a[key] += value takes a view of `a`, writes to it, and assigns it to where it is already: what
// the part of `a` held does not count then. An input from `first` on is that view.
static bool is_assigned(const mxn_params *params, mxn_array *const *inputs, uint32_t first,
                        const mxn_array *to)
{
    for (uint32_t i = first; i < params->input_count; i++) {
        if (inputs[i]->buffer == to->buffer && knows(inputs[i], recorded_in(to))) {
            return true;
        }
    }
    return false;
}

int mxn__others_check(const mxn_params *params, mxn_array *const *inputs)
{
    uint64_t past = mxp_atomic_load(&forgotten);
    bool assigns = (params->op->flags & MXN_OP_ASSIGNS) != 0;
    for (uint32_t i = 0; i < params->input_count; i++) {
        uint64_t number = recorded_in(inputs[i]);
        if (number > past && !knows(inputs[i], number) &&
            !(assigns && i == 0 && is_assigned(params, inputs, 1, inputs[0]))) {
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

int mxn__others_check_outputs(const mxn_params *params, mxn_array *const *inputs,
                              mxn_array *const *outputs)
{
    uint64_t past = mxp_atomic_load(&forgotten);
    for (uint32_t i = 0; i < params->output_count; i++) {
        if (outputs[i] != NULL && recorded_in(outputs[i]) > past &&
            !is_assigned(params, inputs, 0, outputs[i])) {
            return mxp__fail(
                MXP_EINVAL,
                "Operator %s, output %u: the array shares its memory with another one, a view of "
                "it or the array that it is a view of, which was written to while recording: its "
                "values would no longer be what its gradient is of.",
                params->op->name, i);
        }
    }
    return MXP_OK;
}
