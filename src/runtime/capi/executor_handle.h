// SPDX-License-Identifier: Apache-2.0
// What the handle of an executor is, and the arrays it is bound to. Private to capi/.
#ifndef MXN_CAPI_EXECUTOR_HANDLE_H
#define MXN_CAPI_EXECUTOR_HANDLE_H

#include <mxnet/c_api_executor.h>

#include "runtime/graph/executor.h"

typedef struct mxn_bound_executor {
    mxn_executor *executor;
    ExecutorMonitorCallback callback;
    void *callback_handle;
    // The program's arrays, a reference each: arguments, their gradients (or null), and states.
    mxn_array **arrays;
    uint32_t *requests;  // of the arguments' gradients
    uint32_t argument_count, auxiliary_count;
} mxn_bound_executor;

static inline size_t mxn__bound_arrays(const mxn_bound_executor *bound)
{
    return 2 * (size_t)bound->argument_count + bound->auxiliary_count;
}

int mxn__executor_get(ExecutorHandle handle, mxn_bound_executor **bound);
// Binds, and gives the handle; everything in the request has been checked to be an array or null.
int mxn__executor_make(const mxn_binding_request *request, ExecutorHandle *out);
// MXP_ENOTSUP: a group is mapped to another device.
int mxn__executor_check_groups(mxn_context context, mx_uint count, const int *types,
                               const int *ids);

#endif
