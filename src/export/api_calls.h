// SPDX-License-Identifier: Apache-2.0
// MXNet's two counters of API calls, which nobody records: how many there were and how many at once
// follow from the spans of category MXNET_C_API.
#ifndef MXP_EXPORT_API_CALLS_H
#define MXP_EXPORT_API_CALLS_H

#include "trace/source.h"

#define MXP__API_CATEGORY "MXNET_C_API"

// The begin or the end of a call.
typedef struct mxp_api_change {
    int64_t ns;
    uint64_t order;  // of changes at one moment; odd: an end
} mxp_api_change;

typedef struct mxp_api_changes {
    mxp_api_change *items;  // in the order of time
    size_t count, capacity;
} mxp_api_changes;

// All of a source. Damage (MXP_EFORMAT) leaves what could be read.
int mxp__api_changes_take(mxp_source *source, mxp_api_changes *changes);
void mxp__api_changes_fini(mxp_api_changes *changes);

#endif
