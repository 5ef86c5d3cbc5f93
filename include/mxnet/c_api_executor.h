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

// ---- making with arrays of its own ------------------------------------------------------------
// Arrays are made, as zeros, of the shapes and types that follow from those that are given by the
// names of arguments; a type that nobody says is float32. Storage types are not looked at: all are
// dense. Requests are the words "null", "write", "inplace", "add": one for all (length 0, names
// null), one for each argument (names null), or by name, others null; types null: all null.
// Those of `shared_arg_name_list` are the arguments, and their gradients, of `shared_exec_handle`,
// as auxiliary states of the same name and shape are. Others come out of the shared buffer, if one
// is given (its length not null and not -1): the array of that name, if it is large enough; else a
// new one, which is in the updated lists. The lists handed out live until this thread binds again;
// the handles in them are the caller's to free, a gradient that nobody wants is null.
MXNET_DLL int MXExecutorSimpleBind(
    SymbolHandle symbol_handle, int dev_type, int dev_id, const mx_uint num_g2c_keys,
    const char **g2c_keys, const int *g2c_dev_types, const int *g2c_dev_ids,
    const mx_uint provided_grad_req_list_len, const char **provided_grad_req_names,
    const char **provided_grad_req_types, const mx_uint num_provided_arg_shapes,
    const char **provided_arg_shape_names, const mx_uint *provided_arg_shape_data,
    const mx_uint *provided_arg_shape_idx, const mx_uint num_provided_arg_dtypes,
    const char **provided_arg_dtype_names, const int *provided_arg_dtypes,
    const mx_uint num_provided_arg_stypes, const char **provided_arg_stype_names,
    const int *provided_arg_stypes, const mx_uint num_shared_arg_names,
    const char **shared_arg_name_list, int *shared_buffer_len, const char **shared_buffer_name_list,
    NDArrayHandle *shared_buffer_handle_list, const char ***updated_shared_buffer_name_list,
    NDArrayHandle **updated_shared_buffer_handle_list, mx_uint *num_in_args,
    NDArrayHandle **in_args, NDArrayHandle **arg_grads, mx_uint *num_aux_states,
    NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle *out);
MXNET_DLL int MXExecutorSimpleBindEx(
    SymbolHandle symbol_handle, int dev_type, int dev_id, const mx_uint num_g2c_keys,
    const char **g2c_keys, const int *g2c_dev_types, const int *g2c_dev_ids,
    const mx_uint provided_grad_req_list_len, const char **provided_grad_req_names,
    const char **provided_grad_req_types, const mx_uint num_provided_arg_shapes,
    const char **provided_arg_shape_names, const int *provided_arg_shape_data,
    const mx_uint *provided_arg_shape_idx, const mx_uint num_provided_arg_dtypes,
    const char **provided_arg_dtype_names, const int *provided_arg_dtypes,
    const mx_uint num_provided_arg_stypes, const char **provided_arg_stype_names,
    const int *provided_arg_stypes, const mx_uint num_shared_arg_names,
    const char **shared_arg_name_list, int *shared_buffer_len, const char **shared_buffer_name_list,
    NDArrayHandle *shared_buffer_handle_list, const char ***updated_shared_buffer_name_list,
    NDArrayHandle **updated_shared_buffer_handle_list, mx_uint *num_in_args,
    NDArrayHandle **in_args, NDArrayHandle **arg_grads, mx_uint *num_aux_states,
    NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle *out);
MXNET_DLL int MXExecutorSimpleBindEx64(
    SymbolHandle symbol_handle, int dev_type, int dev_id, const mx_uint num_g2c_keys,
    const char **g2c_keys, const int *g2c_dev_types, const int *g2c_dev_ids,
    const mx_uint provided_grad_req_list_len, const char **provided_grad_req_names,
    const char **provided_grad_req_types, const mx_uint num_provided_arg_shapes,
    const char **provided_arg_shape_names, const int64_t *provided_arg_shape_data,
    const mx_uint *provided_arg_shape_idx, const mx_uint num_provided_arg_dtypes,
    const char **provided_arg_dtype_names, const int *provided_arg_dtypes,
    const mx_uint num_provided_arg_stypes, const char **provided_arg_stype_names,
    const int *provided_arg_stypes, const mx_uint num_shared_arg_names,
    const char **shared_arg_name_list, int *shared_buffer_len, const char **shared_buffer_name_list,
    NDArrayHandle *shared_buffer_handle_list, const char ***updated_shared_buffer_name_list,
    NDArrayHandle **updated_shared_buffer_handle_list, mx_uint *num_in_args,
    NDArrayHandle **in_args, NDArrayHandle **arg_grads, mx_uint *num_aux_states,
    NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle *out);

// An executor of the same network and requests for other shapes of some arguments. Its arrays are
// parts of those of `shared_exec`, or new ones where they are larger, which only `allow_up_sizing`
// allows; the shape of an argument that is not named may change with `partial_shaping` alone.
MXNET_DLL int
MXExecutorReshape(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id,
                  mx_uint num_map_keys, const char **map_keys, const int *map_dev_types,
                  const int *map_dev_ids, const mx_uint num_provided_arg_shapes,
                  const char **provided_arg_shape_names, const mx_uint *provided_arg_shape_data,
                  const mx_uint *provided_arg_shape_idx, mx_uint *num_in_args,
                  NDArrayHandle **in_args, NDArrayHandle **arg_grads, mx_uint *num_aux_states,
                  NDArrayHandle **aux_states, ExecutorHandle shared_exec, ExecutorHandle *out);
MXNET_DLL int
MXExecutorReshapeEx(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id,
                    mx_uint num_map_keys, const char **map_keys, const int *map_dev_types,
                    const int *map_dev_ids, const mx_uint num_provided_arg_shapes,
                    const char **provided_arg_shape_names, const int *provided_arg_shape_data,
                    const mx_uint *provided_arg_shape_idx, mx_uint *num_in_args,
                    NDArrayHandle **in_args, NDArrayHandle **arg_grads, mx_uint *num_aux_states,
                    NDArrayHandle **aux_states, ExecutorHandle shared_exec, ExecutorHandle *out);

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
