// SPDX-License-Identifier: Apache-2.0
// Registries that hold nothing yet: what front ends ask when they are imported gets an answer, and
// handles that were never given out are errors.
#include <mxnet/c_api.h>

#include "runtime/capi/api_call.h"

// What MXNet's profiler calls all questions about an entry.
#define MXN_INFO_CALL()                   \
    static mxp_atomic_u32 api_name_cache; \
    const mxn_api_call call = mxn__api_begin(&api_name_cache, "MXAPIGetFunctionRegInfo")

static int give_none(uint32_t *out_size, void *out_array, void *list)
{
    int error = mxn__check_given(out_size, "out_size");
    if (error == MXP_OK) {
        error = mxn__check_given(out_array, "out_array");
    }
    if (error == MXP_OK) {
        *out_size = 0;
        *(void **)out_array = list;
    }
    return error;
}

static int refuse(const void *handle, const char *what)
{
    return mxp__fail(MXP_EHANDLE, "%p is no %s: the list of them is empty", handle, what);
}

// ---- data -------------------------------------------------------------------------------------
int MXListDatasets(uint32_t *out_size, DatasetCreator **out_array)
{
    static DatasetCreator none[1];
    MXN_API_CALL();
    return mxn__api_end(&call, give_none(out_size, out_array, none));
}

int MXDatasetGetDatasetInfo(DatasetCreator creator, const char **name, const char **description,
                            uint32_t *num_args, const char ***arg_names,
                            const char ***arg_type_infos, const char ***arg_descriptions)
{
    MXN_INFO_CALL();
    (void)name, (void)description, (void)num_args;
    (void)arg_names, (void)arg_type_infos, (void)arg_descriptions;
    return mxn__api_end(&call, refuse(creator, "dataset"));
}

int MXListBatchifyFunctions(uint32_t *out_size, BatchifyFunctionCreator **out_array)
{
    static BatchifyFunctionCreator none[1];
    MXN_API_CALL();
    return mxn__api_end(&call, give_none(out_size, out_array, none));
}

int MXBatchifyFunctionGetFunctionInfo(BatchifyFunctionCreator creator, const char **name,
                                      const char **description, uint32_t *num_args,
                                      const char ***arg_names, const char ***arg_type_infos,
                                      const char ***arg_descriptions)
{
    MXN_INFO_CALL();
    (void)name, (void)description, (void)num_args;
    (void)arg_names, (void)arg_type_infos, (void)arg_descriptions;
    return mxn__api_end(&call, refuse(creator, "batchify function"));
}

// ---- packed functions -------------------------------------------------------------------------
int MXNetFuncListGlobalNames(int *out_size, const char ***out_array)
{
    static const char *none[1];
    MXN_API_CALL();
    return mxn__api_end(&call, give_none((uint32_t *)out_size, out_array, none));
}

int MXNetFuncGetGlobal(const char *name, MXNetFunctionHandle *out)
{
    MXN_API_CALL();
    int error = mxn__check_given(name, "name");
    if (error == MXP_OK) {
        error = mxn__check_given(out, "out");
    }
    if (error == MXP_OK) {
        *out = NULL;
    }
    return mxn__api_end(&call, error);
}
