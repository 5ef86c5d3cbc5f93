// SPDX-License-Identifier: Apache-2.0
// Deferred compute: a network taken down from operators while a thread runs them.
//
// While the switch is on, each operator the thread runs also becomes a node of a graph, and the
// arrays it gives carry what they are in it. Arrays that nobody computed, data and parameters, are
// told beforehand which variables they are. Afterwards the symbol of some arrays is taken.
//
// What a graph cannot say makes it fail, not the operator: an operator that takes an array which is
// no variable, that writes into an array that was there, values that the program looks at, because
// what it does next may depend on them. The first such reason is the error of mxn_deferred_symbol.
//
// Thread rule: the switch is the calling thread's; arrays that carry something belong to it until
// it is cleared. Errors: 0 or a negative MXP_E code with the detail set.
#ifndef MXN_GRAPH_DEFERRED_H
#define MXN_GRAPH_DEFERRED_H

#include "runtime/graph/graph.h"
#include "runtime/tensor/tensor.h"

// Returns the value before. A graph goes on when the switch was off for a while.
bool mxn_deferred_set(bool on);
bool mxn_deferred(void);

// The array is this variable, a symbol of one output, from now on.
int mxn_deferred_variable(mxn_array *array, const mxn_symbol *variable);
// What the arrays are. MXP_ESTATE: why there is no graph of them. MXP_EINVAL: none of them. Either
// way the thread's next operators begin another graph.
int mxn_deferred_symbol(uint32_t count, mxn_array *const *arrays, mxn_symbol **symbol);
// The array is nothing any more.
void mxn_deferred_clear(mxn_array *array);
void mxn_deferred_forget(void);  // the thread's next operators begin another graph

// The program does to an array what a graph does not have: "values of ... were read".
void mxn_deferred_touch(const mxn_array *array, const char *what);

#endif
