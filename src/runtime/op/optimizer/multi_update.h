// SPDX-License-Identifier: Apache-2.0
// What updates of several weights share. Their inputs are a weight, its gradient and its states,
// then those of the next. Private to this folder.
#ifndef MXN_OP_OPTIMIZER_MULTI_UPDATE_H
#define MXN_OP_OPTIMIZER_MULTI_UPDATE_H

#include "runtime/op/registry/declare.h"

// Of each weight as many.
uint32_t mxn__multi_inputs_each(const mxn_params *params);
// Members of mxn_op_def, over mxn_update_params.
uint32_t mxn__multi_weight_count(const void *values);
uint32_t mxn__multi_four_each(const void *values);
bool mxn__multi_own_weight(const mxn_params *params, uint32_t output, uint32_t input);
bool mxn__multi_is_state(const mxn_params *params, uint32_t index);
int mxn__multi_shapes(const mxn_shapes *shapes);
// What belongs to a weight is of its type; of a master update its states are float32.
int mxn__multi_types(const mxn_types *types);
int mxn__multi_master_types(const mxn_types *types);

#endif
