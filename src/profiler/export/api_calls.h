// SPDX-License-Identifier: Apache-2.0
// MXNet's two counters of API calls, which nobody records: how many there were and how many at once
// follow from the spans of category MXNET_C_API. Memory does not grow with the calls, except by 8
// bytes for each one that lasted through thousands of others.
#ifndef MXP_EXPORT_API_CALLS_H
#define MXP_EXPORT_API_CALLS_H

#include "profiler/export/arrows.h"

#define MXP__API_CATEGORY "MXNET_C_API"
#define MXP__API_CALLS "MXNet C API Calls"
#define MXP__API_CONCURRENCY "MXNet C API Concurrency"

// The begin or the end of a call.
typedef struct mxp_api_change {
    int64_t ns;
    bool is_end;
    uint64_t calls;  // begun in this source so far
    uint64_t open;  // under way from now on
} mxp_api_change;

typedef struct mxp_api_stream mxp_api_stream;

// `arrows` (may be null) see the calls.
int mxp__api_stream_open(mxp_source *source, mxp_arrows *arrows, mxp_api_stream **stream);
// In the order of time. 1: *change is set; 0: the end; a negative error: the rest cannot be read
// (MXP_EFORMAT: damaged, all that could be read was given out).
int mxp__api_stream_next(mxp_api_stream *stream, mxp_api_change *change);
void mxp__api_stream_close(mxp_api_stream *stream);  // null is fine

// Whether spans of this name are API calls.
bool mxp__is_api_name(const mxp_source *source, uint32_t id);

#endif
