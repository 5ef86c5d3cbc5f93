// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI: operators (finding them, running them) and gradients. The rules of mxnet/c_api.h
// hold.
#ifndef MXNET_C_API_OPERATOR_H_
#define MXNET_C_API_OPERATOR_H_

#include <mxnet/c_types.h>

// ---- discovery: static data -------------------------------------------------------------------
// All names, aliases among them.
MXNET_DLL int MXListAllOpNames(mx_uint *out_size, const char ***out_array);
// Each operator once.
MXNET_DLL int MXSymbolListAtomicSymbolCreators(mx_uint *out_size, AtomicSymbolCreator **out_array);
MXNET_DLL int MXSymbolGetAtomicSymbolName(AtomicSymbolCreator creator, const char **name);
// `key_var_num_args` names the parameter that counts the inputs, "" if there is none. `return_type`
// may be null.
MXNET_DLL int MXSymbolGetAtomicSymbolInfo(AtomicSymbolCreator creator, const char **name,
                                          const char **description, mx_uint *num_args,
                                          const char ***arg_names, const char ***arg_type_infos,
                                          const char ***arg_descriptions,
                                          const char **key_var_num_args, const char **return_type);

// ---- running an operator ----------------------------------------------------------------------
// With *outputs null the library makes the visible outputs and returns a list that lives until this
// thread's next call; the handles in it are the caller's. Else *num_outputs arrays, all or the
// visible ones, are written in place; those without a shape take one. `out_stypes` may be null.
MXNET_DLL int MXImperativeInvoke(AtomicSymbolCreator creator, int num_inputs, NDArrayHandle *inputs,
                                 int *num_outputs, NDArrayHandle **outputs, int num_params,
                                 const char **param_keys, const char **param_vals,
                                 const int **out_stypes);
MXNET_DLL int MXImperativeInvokeEx(AtomicSymbolCreator creator, int num_inputs,
                                   NDArrayHandle *inputs, int *num_outputs, NDArrayHandle **outputs,
                                   int num_params, const char **param_keys, const char **param_vals,
                                   const int **out_stypes);  // 1.x

// ---- recording, for the calling thread --------------------------------------------------------
// `prev` may be null.
MXNET_DLL int MXAutogradSetIsRecording(int is_recording, int *prev);
MXNET_DLL int MXAutogradSetIsTraining(int is_training, int *prev);
MXNET_DLL int MXAutogradIsRecording(bool *curr);
MXNET_DLL int MXAutogradIsTraining(bool *curr);

// Attaches arrays for the gradients. `reqs_array`: 0 none, 1 write, 3 add.
MXNET_DLL int MXAutogradMarkVariables(mx_uint num_var, NDArrayHandle *var_handles,
                                      mx_uint *reqs_array, NDArrayHandle *grad_handles);

// ---- gradients --------------------------------------------------------------------------------
// Null `ograd_handles`, or a null one in it, stand for ones. Without variables the gradients go to
// the marked arrays; with them, to new arrays in *grad_handles, a list that lives until this
// thread's next call. The graph is forgotten afterwards unless `retain_graph`. `grad_stypes` may be
// null.
MXNET_DLL int MXAutogradBackward(mx_uint num_output, NDArrayHandle *output_handles,
                                 NDArrayHandle *ograd_handles, int retain_graph);
MXNET_DLL int MXAutogradBackwardEx(mx_uint num_output, NDArrayHandle *output_handles,
                                   NDArrayHandle *ograd_handles, mx_uint num_variables,
                                   NDArrayHandle *var_handles, int retain_graph, int create_graph,
                                   int is_train, NDArrayHandle **grad_handles, int **grad_stypes);
MXNET_DLL int MXAutogradComputeGradient(mx_uint num_output, NDArrayHandle *output_handles);
// The graph an array was recorded in. Always fails: it is no symbol yet.
MXNET_DLL int MXAutogradGetSymbol(NDArrayHandle handle, SymbolHandle *out);

#endif
