// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI: registries that front ends read when they are imported, and this process's part in
// a distributed program. A registry that has nothing yet is an empty list; asking about an entry of
// it is an error. The rules of mxnet/c_api.h hold.
#ifndef MXNET_C_API_REGISTRY_H_
#define MXNET_C_API_REGISTRY_H_

#include <mxnet/c_types.h>

// ---- data -------------------------------------------------------------------------------------
MXNET_DLL int MXListDatasets(uint32_t *out_size, DatasetCreator **out_array);
MXNET_DLL int MXDatasetGetDatasetInfo(DatasetCreator creator, const char **name,
                                      const char **description, uint32_t *num_args,
                                      const char ***arg_names, const char ***arg_type_infos,
                                      const char ***arg_descriptions);
MXNET_DLL int MXListBatchifyFunctions(uint32_t *out_size, BatchifyFunctionCreator **out_array);
MXNET_DLL int MXBatchifyFunctionGetFunctionInfo(BatchifyFunctionCreator creator, const char **name,
                                                const char **description, uint32_t *num_args,
                                                const char ***arg_names,
                                                const char ***arg_type_infos,
                                                const char ***arg_descriptions);

// ---- functions --------------------------------------------------------------------------------
// Array functions, which MXNet's first front ends called instead of operators: _set_value,
// _onehot_encode, fill_element_0index. What is given out lives forever.
MXNET_DLL int MXListFunctions(uint32_t *out_size, FunctionHandle **out_array);
MXNET_DLL int MXGetFunction(const char *name, FunctionHandle *out);
MXNET_DLL int MXFuncGetInfo(FunctionHandle fun, const char **name, const char **description,
                            uint32_t *num_args, const char ***arg_names,
                            const char ***arg_type_infos, const char ***arg_descriptions,
                            const char **return_type);
MXNET_DLL int MXFuncDescribe(FunctionHandle fun, uint32_t *num_use_vars, uint32_t *num_scalars,
                             uint32_t *num_mutate_vars, int *type_mask);

// `use_vars` and `scalar_args` are as many as MXFuncDescribe says; the result goes to the array
// `mutate_vars[0]`. None of the functions has further parameters.
MXNET_DLL int MXFuncInvoke(FunctionHandle fun, NDArrayHandle *use_vars, float *scalar_args,
                           NDArrayHandle *mutate_vars, int num_params, char **param_keys,
                           char **param_vals);
MXNET_DLL int MXFuncInvokeEx(FunctionHandle fun, NDArrayHandle *use_vars, float *scalar_args,
                             NDArrayHandle *mutate_vars, int num_params, char **param_keys,
                             char **param_vals);  // 1.x

// Packed functions. Of a name that is unknown the function is null, which is no error.
MXNET_DLL int MXNetFuncListGlobalNames(int *out_size, const char ***out_array);
MXNET_DLL int MXNetFuncGetGlobal(const char *name, MXNetFunctionHandle *out);

// ---- roles ------------------------------------------------------------------------------------
// From the environment variable DMLC_ROLE: worker (default), server or scheduler.
MXNET_DLL int MXKVStoreIsWorkerNode(int *ret);
MXNET_DLL int MXKVStoreIsServerNode(int *ret);
MXNET_DLL int MXKVStoreIsSchedulerNode(int *ret);

#endif
