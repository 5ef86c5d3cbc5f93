// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI: symbols, networks that are described before they run. The rules of mxnet/c_api.h
// hold. A symbol and those that have nodes in common with it belong to one thread at a time.
//
// Lists and texts live until this thread asks for such a list or text again.
#ifndef MXNET_C_API_SYMBOL_H_
#define MXNET_C_API_SYMBOL_H_

#include <mxnet/c_types.h>

// ---- making -----------------------------------------------------------------------------------
// An operator without inputs: compose it. Parameters are checked here.
MXNET_DLL int MXSymbolCreateAtomicSymbol(AtomicSymbolCreator creator, mx_uint num_param,
                                         const char **keys, const char **vals, SymbolHandle *out);
MXNET_DLL int MXSymbolCreateVariable(const char *name, SymbolHandle *out);
MXNET_DLL int MXSymbolCreateGroup(mx_uint num_symbols, SymbolHandle *symbols, SymbolHandle *out);
// Inputs by position (`keys` null) or by name; missing ones become variables `name_input`. Of a
// composed symbol the variables of these names are replaced. `name` may be null.
MXNET_DLL int MXSymbolCompose(SymbolHandle sym, const char *name, mx_uint num_args,
                              const char **keys, SymbolHandle *args);
MXNET_DLL int MXSymbolCopy(SymbolHandle symbol, SymbolHandle *out);  // with nodes of its own
MXNET_DLL int MXShallowCopySymbol(SymbolHandle src, SymbolHandle *out);  // of the same nodes
MXNET_DLL int MXSymbolFree(SymbolHandle symbol);

// A copy: of the casts that MXNet's mixed precision adds there are none to leave out.
MXNET_DLL int MXSymbolRemoveAmpCast(SymbolHandle sym_handle, SymbolHandle *ret_sym_handle);
// Errors: there are no backends that networks could be partitioned for.
MXNET_DLL int MXGenBackendSubgraph(SymbolHandle sym_handle, const char *backend,
                                   SymbolHandle *ret_sym_handle);
MXNET_DLL int MXOptimizeForBackend(
    SymbolHandle sym_handle, const char *backend_name, const int dev_type,
    SymbolHandle *ret_sym_handle, const mx_uint args_len, NDArrayHandle *in_args_handle,
    const mx_uint aux_len, NDArrayHandle *in_aux_handle, const mx_uint num_options,
    const char **keys, const char **vals, const uint32_t num_input_shapes,
    const char **input_shape_names, const int64_t *input_shape_data,
    const uint32_t *input_shape_idx, const uint32_t num_input_dtypes,
    const char **input_dtype_names, const int *input_dtypes, const uint32_t num_input_stypes,
    const char **input_stype_names, const int *input_stypes, bool skip_infer, int *new_args_cnt,
    NDArrayHandle **new_args_handle, char ***new_arg_names_handle, int *new_aux_cnt,
    NDArrayHandle **new_aux_handle, char ***new_aux_names_handle);

// ---- files ------------------------------------------------------------------------------------
MXNET_DLL int MXSymbolCreateFromFile(const char *fname, SymbolHandle *out);
MXNET_DLL int MXSymbolCreateFromJSON(const char *json, SymbolHandle *out);
MXNET_DLL int MXSymbolSaveToFile(SymbolHandle symbol, const char *fname);
MXNET_DLL int MXSymbolSaveToJSON(SymbolHandle symbol, const char **out_json);
MXNET_DLL int MXSymbolPrint(SymbolHandle symbol, const char **out_str);  // for people

// ---- parts ------------------------------------------------------------------------------------
MXNET_DLL int MXSymbolGetNumOutputs(SymbolHandle symbol, mx_uint *output_count);
MXNET_DLL int MXSymbolGetOutput(SymbolHandle symbol, mx_uint index, SymbolHandle *out);
MXNET_DLL int MXSymbolGetInternals(SymbolHandle symbol, SymbolHandle *out);
MXNET_DLL int MXSymbolGetChildren(SymbolHandle symbol, SymbolHandle *out);  // *out null: none

// ---- names and attributes ---------------------------------------------------------------------
// `success` 0: the symbol has outputs of several nodes, or there is no such attribute.
MXNET_DLL int MXSymbolGetName(SymbolHandle symbol, const char **out, int *success);
MXNET_DLL int MXSymbolListArguments(SymbolHandle symbol, mx_uint *out_size,
                                    const char ***out_str_array);
MXNET_DLL int MXSymbolListOutputs(SymbolHandle symbol, mx_uint *out_size,
                                  const char ***out_str_array);
MXNET_DLL int MXSymbolListAuxiliaryStates(SymbolHandle symbol, mx_uint *out_size,
                                          const char ***out_str_array);
MXNET_DLL int MXSymbolGetAttr(SymbolHandle symbol, const char *key, const char **out, int *success);
MXNET_DLL int MXSymbolSetAttr(SymbolHandle symbol, const char *key, const char *value);
// Pairs: `out_size` counts them. Of all nodes, keys as "node$key", or of the symbol's own.
MXNET_DLL int MXSymbolListAttr(SymbolHandle symbol, mx_uint *out_size, const char ***out);
MXNET_DLL int MXSymbolListAttrShallow(SymbolHandle symbol, mx_uint *out_size, const char ***out);

// ---- inference --------------------------------------------------------------------------------
// Shapes of arguments by name, or by position (`keys` null): that of number i is in arg_shape_data
// from arg_ind_ptr[i] to before arg_ind_ptr[i + 1]. Unknown sizes are 0 (-1 where the thread has
// NumPy's shapes), unknown shapes have no sizes (rank -1 there). `complete`: whether all came out;
// what did is given in any case. Lists live until this thread asks again.
MXNET_DLL int MXSymbolInferShape(SymbolHandle sym, mx_uint num_args, const char **keys,
                                 const mx_uint *arg_ind_ptr, const int *arg_shape_data,
                                 mx_uint *in_shape_size, const int **in_shape_ndim,
                                 const int ***in_shape_data, mx_uint *out_shape_size,
                                 const int **out_shape_ndim, const int ***out_shape_data,
                                 mx_uint *aux_shape_size, const int **aux_shape_ndim,
                                 const int ***aux_shape_data, int *complete);
MXNET_DLL int MXSymbolInferShapeEx(SymbolHandle sym, mx_uint num_args, const char **keys,
                                   const mx_uint *arg_ind_ptr, const int *arg_shape_data,
                                   mx_uint *in_shape_size, const int **in_shape_ndim,
                                   const int ***in_shape_data, mx_uint *out_shape_size,
                                   const int **out_shape_ndim, const int ***out_shape_data,
                                   mx_uint *aux_shape_size, const int **aux_shape_ndim,
                                   const int ***aux_shape_data, int *complete);  // 1.x
MXNET_DLL int MXSymbolInferShapePartial(SymbolHandle sym, mx_uint num_args, const char **keys,
                                        const mx_uint *arg_ind_ptr, const int *arg_shape_data,
                                        mx_uint *in_shape_size, const int **in_shape_ndim,
                                        const int ***in_shape_data, mx_uint *out_shape_size,
                                        const int **out_shape_ndim, const int ***out_shape_data,
                                        mx_uint *aux_shape_size, const int **aux_shape_ndim,
                                        const int ***aux_shape_data, int *complete);
MXNET_DLL int MXSymbolInferShapePartialEx(SymbolHandle sym, mx_uint num_args, const char **keys,
                                          const mx_uint *arg_ind_ptr, const int *arg_shape_data,
                                          mx_uint *in_shape_size, const int **in_shape_ndim,
                                          const int ***in_shape_data, mx_uint *out_shape_size,
                                          const int **out_shape_ndim, const int ***out_shape_data,
                                          mx_uint *aux_shape_size, const int **aux_shape_ndim,
                                          const int ***aux_shape_data, int *complete);  // 1.x
MXNET_DLL int MXSymbolInferShape64(SymbolHandle sym, mx_uint num_args, const char **keys,
                                   const int64_t *arg_ind_ptr, const int64_t *arg_shape_data,
                                   size_t *in_shape_size, const int **in_shape_ndim,
                                   const int64_t ***in_shape_data, size_t *out_shape_size,
                                   const int **out_shape_ndim, const int64_t ***out_shape_data,
                                   size_t *aux_shape_size, const int **aux_shape_ndim,
                                   const int64_t ***aux_shape_data, int *complete);
MXNET_DLL int MXSymbolInferShapeEx64(SymbolHandle sym, mx_uint num_args, const char **keys,
                                     const int64_t *arg_ind_ptr, const int64_t *arg_shape_data,
                                     size_t *in_shape_size, const int **in_shape_ndim,
                                     const int64_t ***in_shape_data, size_t *out_shape_size,
                                     const int **out_shape_ndim, const int64_t ***out_shape_data,
                                     size_t *aux_shape_size, const int **aux_shape_ndim,
                                     const int64_t ***aux_shape_data, int *complete);
MXNET_DLL int MXSymbolInferShapePartial64(SymbolHandle sym, mx_uint num_args, const char **keys,
                                          const int64_t *arg_ind_ptr, const int64_t *arg_shape_data,
                                          size_t *in_shape_size, const int **in_shape_ndim,
                                          const int64_t ***in_shape_data, size_t *out_shape_size,
                                          const int **out_shape_ndim,
                                          const int64_t ***out_shape_data, size_t *aux_shape_size,
                                          const int **aux_shape_ndim,
                                          const int64_t ***aux_shape_data, int *complete);
MXNET_DLL int MXSymbolInferShapePartialEx64(
    SymbolHandle sym, mx_uint num_args, const char **keys, const int64_t *arg_ind_ptr,
    const int64_t *arg_shape_data, size_t *in_shape_size, const int **in_shape_ndim,
    const int64_t ***in_shape_data, size_t *out_shape_size, const int **out_shape_ndim,
    const int64_t ***out_shape_data, size_t *aux_shape_size, const int **aux_shape_ndim,
    const int64_t ***aux_shape_data, int *complete);
MXNET_DLL int MXSymbolInferType(SymbolHandle sym, mx_uint num_args, const char **keys,
                                const int *arg_type_data, mx_uint *in_type_size,
                                const int **in_type_data, mx_uint *out_type_size,
                                const int **out_type_data, mx_uint *aux_type_size,
                                const int **aux_type_data, int *complete);
MXNET_DLL int MXSymbolInferTypePartial(SymbolHandle sym, mx_uint num_args, const char **keys,
                                       const int *arg_type_data, mx_uint *in_type_size,
                                       const int **in_type_data, mx_uint *out_type_size,
                                       const int **out_type_data, mx_uint *aux_type_size,
                                       const int **aux_type_data, int *complete);

#endif
