// SPDX-License-Identifier: Apache-2.0
// Folder runtime/capi: MXNet's C functions: checks and forwarding.
//
// What every entry point that MXNet records does around its work: one span, category MXNET_C_API,
// named after the function. Calls and their concurrency are derived from these spans by whoever
// reads them. Whether a call is recorded is decided at its begin; its end follows that.
//
//     int MXNDArrayFree(NDArrayHandle handle)
//     {
//         MXN_API_CALL();
//         return mxn__api_end(&call, ...);
//     }
#ifndef MXN_CAPI_API_CALL_H
#define MXN_CAPI_API_CALL_H

#ifndef MXP_INLINE
#define MXP_INLINE
#endif
#include <mxprof/error.h>
#include <mxprof/record.h>

#include "base/atomic.h"
#include "base/fail.h"
#include "base/name_once.h"

typedef struct mxn_api_call {
    mxp_name name;
    uint64_t begin_ticks;  // 0: not recorded
} mxn_api_call;

static inline mxn_api_call mxn__api_begin(mxp_atomic_u32 *cache, const char *function)
{
    mxn_api_call call = {0, 0};
    if (__builtin_expect(!mxp_enabled(MXP_CLASS_API), 1)) {
        return call;
    }
    call.name = mxp__span_name_once(cache, "MXNET_C_API", function);
    call.begin_ticks = mxp_span_begin_in(MXP_CLASS_API, call.name);
    return call;
}

// Ends the span and turns an MXP_E code into what MX functions return.
static inline int mxn__api_end(const mxn_api_call *call, int error)
{
    mxp_span_end(call->name, call->begin_ticks);
    return error == MXP_OK ? 0 : -1;
}

// Declares `call`, begun now.
#define MXN_API_CALL()                    \
    static mxp_atomic_u32 api_name_cache; \
    const mxn_api_call call = mxn__api_begin(&api_name_cache, __func__)

// MXP_EINVAL for a parameter that must not be null.
static inline int mxn__check_given(const void *pointer, const char *what)
{
    return pointer != NULL ? MXP_OK : mxp__fail(MXP_EINVAL, "Check  notnull: %s", what);
}

// The same for a list of texts and each of them; a list of none may be null.
static inline int mxn__check_texts(uint32_t count, const char *const *texts, const char *what)
{
    int error = count > 0 ? mxn__check_given(texts, what) : MXP_OK;
    for (uint32_t i = 0; i < count && error == MXP_OK; i++) {
        error = mxn__check_given(texts[i], what);
    }
    return error;
}

#endif
