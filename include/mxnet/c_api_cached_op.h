// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI: cached operators, networks that are called like one operator. The rules of
// mxnet/c_api.h hold. A cached operator is immutable but for its hook: any thread may call it.
//
// The two lines of MXNet have other parameters for two functions of one name. MXCreateCachedOp and
// MXInvokeCachedOp are those of 2.0; what 1.9.1's front ends call has a name of its own.
#ifndef MXNET_C_API_CACHED_OP_H_
#define MXNET_C_API_CACHED_OP_H_

#include <mxnet/c_types.h>

// ---- making -----------------------------------------------------------------------------------
// Flags: static_alloc, static_shape, inline_limit, forward_bulk_size, backward_bulk_size,
// data_indices, param_indices, subgraph, is_dynamic. An unknown one is an error. The symbol is
// copied. `thread_safe` changes nothing: all of them are.
MXNET_DLL int MXCreateCachedOp(SymbolHandle handle, int num_flags, const char **keys,
                               const char **vals, CachedOpHandle *out, bool thread_safe);
MXNET_DLL int MXCreateCachedOpEX(SymbolHandle handle, int num_flags, const char **keys,
                                 const char **vals, CachedOpHandle *out, bool thread_safe);
MXNET_DLL int MXCreateCachedOpEx(SymbolHandle handle, int num_flags, const char **keys,
                                 const char **vals, CachedOpHandle *out);
MXNET_DLL int MXFreeCachedOp(CachedOpHandle handle);  // no call of it may be under way
// The network that runs, to be freed as any symbol.
MXNET_DLL int MXCachedOpGetOptimizedSymbol(CachedOpHandle handle, SymbolHandle *out);

// ---- calling ----------------------------------------------------------------------------------
// `inputs`: arguments and auxiliary states, in the order of NNSymbolListInputNames (option 0), all
// on one device. `*outputs` null: they are made, and `num_outputs` is set; the list lives until
// this thread asks for such a list again. Else there must be as many as the symbol has.
// `out_stypes` may be null. The default device is that of a network without inputs: cpu(0) alone.
MXNET_DLL int MXInvokeCachedOp(CachedOpHandle handle, int num_inputs, NDArrayHandle *inputs,
                               int default_dev_type, int default_dev_id, int *num_outputs,
                               NDArrayHandle **outputs, const int **out_stypes);
MXNET_DLL int MXInvokeCachedOpEx(CachedOpHandle handle, int num_inputs, NDArrayHandle *inputs,
                                 int *num_outputs, NDArrayHandle **outputs, const int **out_stypes);

// Told, from now on and in each call, of every operator's outputs as soon as they are pushed, with
// `monitor_all` of its inputs as well: "fc_output", the operator's name, and a handle that the
// callback frees. Null: nobody is told. Not while a call is under way.
typedef void (*CachedOpMonitorCallback)(const char *name, const char *op_name, NDArrayHandle array);
MXNET_DLL int MXCachedOpRegisterOpHook(CachedOpHandle handle, CachedOpMonitorCallback callback,
                                       bool monitor_all);

#endif
