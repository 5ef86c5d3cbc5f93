// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI: executors of its 1.x line, networks with arrays for their variables, run forwards
// and backwards. The rules of mxnet/c_api.h hold. An executor belongs to one thread at a time.
#ifndef MXNET_C_API_EXECUTOR_H_
#define MXNET_C_API_EXECUTOR_H_

#include <mxnet/c_types.h>

// ---- making -----------------------------------------------------------------------------------
// `in_args`: `len` arguments in the order of MXSymbolListArguments, all with a shape; what is
// written to them later is seen by the next forward. `arg_grad_store`: where gradients go, null
// ones for none; null: none at all. `grad_req_type`: of each 0 none, 1 or 2 write, 3 add.
// `aux_states`: in the order of MXSymbolListAuxiliaryStates. Everything is on the device
// `dev_type`, `dev_id`: a group that is mapped to another one is an error. With `shared_exec`, an
// executor or null, no memory is shared.
MXNET_DLL int MXExecutorBind(SymbolHandle symbol_handle, int dev_type, int dev_id, mx_uint len,
                             NDArrayHandle *in_args, NDArrayHandle *arg_grad_store,
                             mx_uint *grad_req_type, mx_uint aux_states_len,
                             NDArrayHandle *aux_states, ExecutorHandle *out);
MXNET_DLL int MXExecutorBindX(SymbolHandle symbol_handle, int dev_type, int dev_id,
                              mx_uint num_map_keys, const char **map_keys, const int *map_dev_types,
                              const int *map_dev_ids, mx_uint len, NDArrayHandle *in_args,
                              NDArrayHandle *arg_grad_store, mx_uint *grad_req_type,
                              mx_uint aux_states_len, NDArrayHandle *aux_states,
                              ExecutorHandle *out);
MXNET_DLL int MXExecutorBindEX(SymbolHandle symbol_handle, int dev_type, int dev_id,
                               mx_uint num_map_keys, const char **map_keys,
                               const int *map_dev_types, const int *map_dev_ids, mx_uint len,
                               NDArrayHandle *in_args, NDArrayHandle *arg_grad_store,
                               mx_uint *grad_req_type, mx_uint aux_states_len,
                               NDArrayHandle *aux_states, ExecutorHandle shared_exec,
                               ExecutorHandle *out);
MXNET_DLL int MXExecutorFree(ExecutorHandle handle);

// ---- running ----------------------------------------------------------------------------------
MXNET_DLL int MXExecutorForward(ExecutorHandle handle, int is_train);
// `len` 0: head gradients are ones; else one for each output, null ones are ones. An error before
// the first forward; each backward of one forward gives the same gradients.
MXNET_DLL int MXExecutorBackward(ExecutorHandle handle, mx_uint len, NDArrayHandle *head_grads);
MXNET_DLL int MXExecutorBackwardEx(ExecutorHandle handle, mx_uint len, NDArrayHandle *head_grads,
                                   int is_train);

// ---- asking -----------------------------------------------------------------------------------
// Handles that are the caller's to free, in a list that lives until this thread asks for outputs
// again. The next forward makes other arrays. Before the first one they have no values.
MXNET_DLL int MXExecutorOutputs(ExecutorHandle handle, mx_uint *out_size, NDArrayHandle **out);
// Lives until this thread asks for such a text again.
MXNET_DLL int MXExecutorPrint(ExecutorHandle handle, const char **out_str);
// A symbol that shares nothing with the executor: its network as it runs.
MXNET_DLL int MXExecutorGetOptimizedSymbol(ExecutorHandle handle, SymbolHandle *out);

// Told in each later forward of every operator's outputs as soon as they are pushed, with
// `monitor_all` of its inputs as well: "fc_output", and a handle that the callback frees. Null:
// nobody is told.
typedef void (*ExecutorMonitorCallback)(const char *name, NDArrayHandle array, void *handle);
MXNET_DLL int MXExecutorSetMonitorCallback(ExecutorHandle handle, ExecutorMonitorCallback callback,
                                           void *callback_handle);
MXNET_DLL int MXExecutorSetMonitorCallbackEX(ExecutorHandle handle,
                                             ExecutorMonitorCallback callback,
                                             void *callback_handle, bool monitor_all);

#endif
