// SPDX-License-Identifier: Apache-2.0
// Folder runtime/autograd: recording what a program computes, and its gradients.
//
// While a thread records, each operator that depends on a variable leaves a node: its parameters,
// where its inputs came from, and those values that its gradient takes. The nodes are the tape.
// Backward is carried out by diff/ over them, on arrays.
//
// Thread rule: recording and training are switches of the calling thread. A graph belongs to one
// thread at a time: backward, and recording on top of its arrays, must not run at once for one
// graph. Graphs of several threads may have variables in common. Ownership: an array in a graph
// holds its node, and that the nodes before it; saved values are views, not copies. Order: backward
// pushes and does not wait. Errors: 0 or a negative MXP_E code with the detail set; what goes wrong
// in a kernel surfaces at the next wait.
#ifndef MXN_AUTOGRAD_AUTOGRAD_H
#define MXN_AUTOGRAD_AUTOGRAD_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/imperative/imperative.h"
#include "runtime/tensor/tensor.h"

// ---- switches: return the value before --------------------------------------------------------
bool mxn_autograd_recording(void);
bool mxn_autograd_training(void);
bool mxn_autograd_recording_set(bool on);  // the thread's phase is forward while it records
bool mxn_autograd_training_set(bool on);
// Size of the bulks in which gradients of what is recorded from now on are pushed;
// MXN_BULK_DEFAULT: as the environment says.
enum { MXN_BULK_DEFAULT = -1 };
int32_t mxn_autograd_bulk_size_set(int32_t size);

// ---- variables --------------------------------------------------------------------------------
// Makes `array` a variable whose gradient goes to `gradient` as `request` says (MXN_NULL,
// MXN_WRITE, MXN_ADD), whatever it was before. MXP_EINVAL: shapes or types differ.
int mxn_autograd_mark(mxn_array *array, uint32_t request, mxn_array *gradient);
// The same, but an array of a graph stays what it is: its gradient is written on the way of a
// backward. When that graph is forgotten, the array is a variable.
int mxn_autograd_attach(mxn_array *array, uint32_t request, mxn_array *gradient);
// A new view of the gradient's memory, in no graph; null if there is none.
int mxn_autograd_gradient(const mxn_array *array, mxn_array **gradient);
// Whether backward has written the variable's gradient since the mark was last set.
bool mxn_autograd_fresh(const mxn_array *array);
int mxn_autograd_fresh_set(mxn_array *array, bool fresh);  // MXP_EINVAL: it is no variable

// ---- running ----------------------------------------------------------------------------------
// mxn_invoke, with the thread's training switch; recorded if the thread records and an input
// depends on a variable. MXP_EINVAL: an output is part of a graph already.
int mxn_autograd_invoke(const mxn_invocation *invocation);
// From now on `watcher` is told of each operator that this thread has run without an error, whether
// or not it is recorded; `writes`: into an array that had values. Null: nobody is.
typedef void (*mxn_autograd_watcher)(const mxn_params *params, mxn_array *const *inputs,
                                     mxn_array *const *outputs, bool writes);
void mxn_autograd_watch(mxn_autograd_watcher watcher);
// Records that `outputs`, made in another way, are what the operator gives: of views.
int mxn_autograd_record(mxn_params *params, mxn_array *const *inputs, mxn_array *const *outputs);
// Whether a backward checks that values it takes are still those of the forward: as
// MXNET_AUTOGRAD_CHECK_VALUES (1) says. MXP_EVALUE: that is ill-formed.
int mxn_autograd_checks_values(bool *checks);
// Whether the array is a variable, or depends on one: whether a backward can begin at it.
bool mxn_autograd_recorded(const mxn_array *array);

// ---- backward ---------------------------------------------------------------------------------
typedef struct mxn_backward_request {
    mxn_array *const *outputs;
    mxn_array *const *head_gradients;  // null, or null ones: all ones
    uint32_t output_count;
    // Null: gradients go where the variables were marked to, as values without a graph.
    mxn_array *const *variables;
    uint32_t variable_count;
    bool retain_graph;
    bool create_graph;  // what backward runs is recorded too
    bool training;
    mxn_array **gradients;  // of `variables`: filled in, one reference each
} mxn_backward_request;

// Only pushes. MXP_EINVAL: an output or a variable is in no graph; a head gradient does not fit.
// MXP_ENOTSUP: an operator on the way has no gradient. On failure the graph stays.
int mxn_autograd_backward(const mxn_backward_request *request);

#endif
