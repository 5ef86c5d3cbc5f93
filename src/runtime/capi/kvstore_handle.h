// SPDX-License-Identifier: Apache-2.0
// Handles of key-value stores. Private to capi/.
#ifndef MXN_CAPI_KVSTORE_HANDLE_H
#define MXN_CAPI_KVSTORE_HANDLE_H

#include <mxnet/c_types.h>

#include "runtime/capi/api_call.h"
#include "runtime/capi/object.h"
#include "runtime/kvstore/kvstore.h"

typedef struct mxn_kvstore_object mxn_kvstore_object;

int mxn__kvstore_object_new(const char *type, mxn_kvstore_object **made);
void mxn__kvstore_object_free(mxn_kvstore_object *object);  // null does nothing
int mxn__kvstore_get(const void *handle, mxn_kvstore **store);

// The same for a function that gives something out.
static inline int mxn__kvstore_get_for(const void *handle, const void *out, mxn_kvstore **store)
{
    int error = mxn__kvstore_get(handle, store);
    return error == MXP_OK ? mxn__check_given(out, "out") : error;
}

#endif
