// SPDX-License-Identifier: Apache-2.0
// Nodes of recorded graphs. Private to autograd/.
//
//   array --attachment--> entry of a node --> node --inputs[i].from--> entry of an older node
//                                               |----inputs[i].array: values its gradient asks for
//
// References: an array's attachment holds its node, a node holds the nodes before it. A node never
// holds an array that may carry an attachment, but views of their own of what it keeps and of where
// gradients go, so there are no cycles.
//
// A variable may be beside an operator's output: an array in a graph that was given a gradient.
// Its gradient is written on the way; when the node is cleared, the array is that variable.
#ifndef MXN_AUTOGRAD_TAPE_H
#define MXN_AUTOGRAD_TAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "runtime/op/op.h"
#include "runtime/tensor/tensor.h"

typedef struct mxn_node mxn_node;

// Output `index` of a node. A null node: nothing to differentiate.
typedef struct mxn_entry {
    mxn_node *node;
    uint32_t index;
} mxn_entry;

// What a node knows of an operand.
typedef struct mxn_saved {
    mxn_entry from;  // of an input; holds a reference
    mxn_entry self;  // of an output: what attachments point to
    mxn_array
        *array;  // the values, without attachments; null if the gradient does not ask for them
    mxn_shape shape;
    mxn_context context;
    int32_t dtype;
    bool given;  // of an output, while the operator is invoked: by the caller
    bool written;  // of an input that the operator writes: its values are meant to move on
    mxn_values values;  // of `array` when they were saved
} mxn_saved;

struct mxn_node {
    mxp_refs refs;
    uint64_t number;  // larger than those of the nodes before it
    uint32_t scope;
    uint32_t request;  // of a variable
    int32_t bulk_size;  // of its gradient; MXN_BULK_DEFAULT: the environment's
    mxp_atomic_bool fresh;
    bool cleared;
    mxn_params *params;  // null: a variable, with one output
    mxn_array *gradient;  // of a variable
    mxn_node *beside;  // variables beside the outputs; of such a variable the next one; references
    uint32_t beside_index;  // of such a variable: the output
    mxn_call_state *state;  // of the run, for the calls of its gradient; a reference, or null
    mxn_node *next;  // on the way to being freed
    size_t bytes;
    mxn_saved *inputs, *outputs;  // params->input_count, params->output_count
    mxn_saved saved[];
};

// A node with one reference and empty operands; null with the detail set. `params` null: a
// variable.
mxn_node *mxn__node_new(mxn_params *params);
uint64_t mxn__node_newest(void);  // the largest number so far
static inline void mxn__node_retain(mxn_node *node)
{
    mxp__refs_take(&node->refs);
}
void mxn__node_release(mxn_node *node);  // null does nothing
// Forgets what the node holds: nothing can be differentiated through it any more.
void mxn__node_clear(mxn_node *node);

// The variable beside an output, or null.
mxn_node *mxn__node_beside(const mxn_node *node, uint32_t index);
// Takes the place of the one before; null: none is there any more. Takes the reference over.
void mxn__node_set_beside(mxn_node *node, uint32_t index, mxn_node *variable);

// Fills in an operand but for the array.
void mxn__saved_describe(mxn_saved *saved, const mxn_array *array);

int mxn__saved_take(mxn_saved *saved, mxn_array *array);  // saves an operand's values

// The output that an array is; node null if it is in no graph, or in one that was cleared.
mxn_entry mxn__entry_of(const mxn_array *array);
// The variable that an array is, or that is beside it; null if there is none.
mxn_node *mxn__variable_of(const mxn_array *array);
// The array is output `index` of `node` from now on, whatever it was before; takes a reference.
void mxn__entry_attach(mxn_array *array, mxn_node *node, uint32_t index);
void mxn__entry_detach(mxn_array *array);

#endif
