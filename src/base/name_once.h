// SPDX-License-Identifier: Apache-2.0
// Ids of names that are literals in the code: interned at first use, afterwards one load. Threads
// that race for the first use store the same id.
//
//     static mxp_atomic_u32 name;
//     ... mxp__span_name_once(&name, "operator", "SetValueOp") ...
#ifndef MXP_BASE_NAME_ONCE_H
#define MXP_BASE_NAME_ONCE_H

#include <mxprof/record.h>

#include "base/atomic.h"

// mxp_span_name of `category` and `text`. A cache starts as zero and always gets the same texts.
static inline mxp_name mxp__span_name_once(mxp_atomic_u32 *cache, const char *category,
                                           const char *text)
{
    mxp_name name = mxp_atomic_load(cache);
    if (__builtin_expect(name == MXP_NAME_NONE, 0)) {
        name = mxp_span_name(category, text);
        mxp_atomic_store(cache, name);
    }
    return name;
}

// The same for mxp_string.
static inline mxp_name mxp__string_once(mxp_atomic_u32 *cache, const char *text)
{
    mxp_name name = mxp_atomic_load(cache);
    if (__builtin_expect(name == MXP_NAME_NONE, 0)) {
        name = mxp_string(text);
        mxp_atomic_store(cache, name);
    }
    return name;
}

#endif
