// SPDX-License-Identifier: Apache-2.0
// Handles of symbols. Private to capi/.
#ifndef MXN_CAPI_SYMBOL_HANDLE_H
#define MXN_CAPI_SYMBOL_HANDLE_H

#include <mxnet/c_types.h>

#include "runtime/capi/api_call.h"
#include "runtime/capi/object.h"
#include "runtime/graph/graph.h"

static inline int mxn__symbol_get(const void *handle, mxn_symbol **symbol)
{
    void *object = NULL;
    int error = mxn__object_get(MXN_OBJECT_SYMBOL, handle, "symbol", &object);
    *symbol = object;
    return error;
}

// The same for a function that gives something out.
static inline int mxn__symbol_get_for(const void *handle, const void *out, mxn_symbol **symbol)
{
    int error = mxn__symbol_get(handle, symbol);
    return error == MXP_OK ? mxn__check_given(out, "out") : error;
}

// The handle of a symbol that was made, unless making it has failed; then it is freed.
int mxn__symbol_hand_out(int error, mxn_symbol *symbol, SymbolHandle *out);

// Shape number `i` of a compressed list: its sizes are those from `begin` to before `end`, of
// int64_t if `wide`, else of int32_t. Without NumPy's shapes a size of 0 is unknown, and so is a
// shape without sizes.
int mxn__take_shape(mx_uint i, const void *sizes, bool wide, int64_t begin, int64_t end,
                    mxn_shape *shape);

#endif
