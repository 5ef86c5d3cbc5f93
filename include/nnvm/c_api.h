// SPDX-License-Identifier: Apache-2.0
// The graph library's part of MXNet's C ABI. Same rules as mxnet/c_api.h; none of these calls is
// recorded.
#ifndef NNVM_C_API_H_
#define NNVM_C_API_H_

#include <mxnet/c_types.h>

typedef unsigned int nn_uint;
typedef void *OpHandle;

// All names, aliases among them.
MXNET_DLL int NNListAllOpNames(nn_uint *out_size, const char ***out_array);
// By name or alias.
MXNET_DLL int NNGetOpHandle(const char *op_name, OpHandle *op_out);
// Static data. `return_type` may be null.
MXNET_DLL int NNGetOpInfo(OpHandle op, const char **real_name, const char **description,
                          nn_uint *num_doc_args, const char ***arg_names,
                          const char ***arg_type_infos, const char ***arg_descriptions,
                          const char **return_type);
// Of all variables (`option` 0), of arguments (1) or of auxiliary states (2); lives until this
// thread asks for such a list again.
MXNET_DLL int NNSymbolListInputNames(SymbolHandle symbol, int option, nn_uint *out_size,
                                     const char ***out_str_array);
MXNET_DLL int NNSymbolFree(SymbolHandle symbol);

#endif
