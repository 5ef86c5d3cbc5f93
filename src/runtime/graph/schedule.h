// SPDX-License-Identifier: Apache-2.0
// The order in which the operators of a network run, and which values each takes and gives. Private
// to graph/.
//
// Values have places: the variables' come first, in the order of MXN_LIST_INPUTS, then the outputs
// of each step, in the order of the steps.
#ifndef MXN_GRAPH_SCHEDULE_H
#define MXN_GRAPH_SCHEDULE_H

#include "runtime/graph/node.h"

typedef struct mxn_schedule_step {
    const mxn_graph_node *node;
    uint32_t first_operand;  // of its inputs' places, node->input_count of them
    uint32_t first_output;  // place of its first output, node->params->output_count of them
    uint32_t scope;  // that the node says it belongs to; 0: none
    uint32_t name;  // of the node
    uint32_t first_dead, dead_count;  // places of values that nobody takes after this step
} mxn_schedule_step;

typedef struct mxn_schedule_output {
    uint32_t place;
    // A variable's value, or one that an output before has: the output is a copy.
    bool is_copy;
} mxn_schedule_output;

// The lists belong to the schedule; nodes are borrowed.
typedef struct mxn_schedule {
    const mxn_graph_node **variables;
    mxn_schedule_step *steps;
    uint32_t *operands, *dead;
    mxn_schedule_output *outputs;
    uint32_t variable_count, step_count, operand_count, dead_count, output_count;
    uint32_t place_count;
    uint32_t most;  // inputs, and outputs, of one step
} mxn_schedule;

// MXP_EINVAL: an operator has not been composed. On failure *schedule is empty.
int mxn__schedule_make(const mxn_symbol *symbol, mxn_schedule *schedule);
void mxn__schedule_fini(mxn_schedule *schedule);  // an empty one is fine

#endif
