// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that make other networks out of symbols: front ends call them before they save
// or bind, so they are here, also where there is nothing to change.
#include <mxnet/c_api_symbol.h>

#include "runtime/capi/symbol_handle.h"

int MXSymbolRemoveAmpCast(SymbolHandle sym_handle, SymbolHandle *ret_sym_handle)
{
    MXN_API_CALL();
    mxn_symbol *from, *copy = NULL;
    int error = mxn__symbol_get_for(sym_handle, ret_sym_handle, &from);
    if (error == MXP_OK) {
        error = mxn_symbol_copy(from, &copy);
        error = mxn__symbol_hand_out(error, copy, ret_sym_handle);
    }
    return mxn__api_end(&call, error);
}

static int refuse(SymbolHandle handle, const char *backend)
{
    mxn_symbol *symbol;
    int error = mxn__symbol_get(handle, &symbol);
    if (error == MXP_OK) {
        error = mxn__check_given(backend, "backend");
    }
    return error != MXP_OK ? error
                           : mxp__fail(MXP_ENOTSUP,
                                       "there is no backend '%s': networks are not partitioned, "
                                       "they run on the library's own operators",
                                       backend);
}

int MXGenBackendSubgraph(SymbolHandle sym_handle, const char *backend, SymbolHandle *ret_sym_handle)
{
    MXN_API_CALL();
    (void)ret_sym_handle;
    return mxn__api_end(&call, refuse(sym_handle, backend));
}

int MXOptimizeForBackend(SymbolHandle sym_handle, const char *backend_name, const int dev_type,
                         SymbolHandle *ret_sym_handle, const mx_uint args_len,
                         NDArrayHandle *in_args_handle, const mx_uint aux_len,
                         NDArrayHandle *in_aux_handle, const mx_uint num_options, const char **keys,
                         const char **vals, const uint32_t num_input_shapes,
                         const char **input_shape_names, const int64_t *input_shape_data,
                         const uint32_t *input_shape_idx, const uint32_t num_input_dtypes,
                         const char **input_dtype_names, const int *input_dtypes,
                         const uint32_t num_input_stypes, const char **input_stype_names,
                         const int *input_stypes, bool skip_infer, int *new_args_cnt,
                         NDArrayHandle **new_args_handle, char ***new_arg_names_handle,
                         int *new_aux_cnt, NDArrayHandle **new_aux_handle,
                         char ***new_aux_names_handle)
{
    MXN_API_CALL();
    (void)dev_type, (void)ret_sym_handle, (void)args_len, (void)in_args_handle, (void)aux_len;
    (void)in_aux_handle, (void)num_options, (void)keys, (void)vals, (void)num_input_shapes;
    (void)input_shape_names, (void)input_shape_data, (void)input_shape_idx;
    (void)num_input_dtypes, (void)input_dtype_names, (void)input_dtypes, (void)num_input_stypes;
    (void)input_stype_names, (void)input_stypes, (void)skip_infer, (void)new_args_cnt;
    (void)new_args_handle, (void)new_arg_names_handle, (void)new_aux_cnt;
    (void)new_aux_handle, (void)new_aux_names_handle;
    return mxn__api_end(&call, refuse(sym_handle, backend_name));
}
