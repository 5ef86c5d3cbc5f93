// SPDX-License-Identifier: Apache-2.0
// Private to src/profiler/export: a size limit for the items of a trace: a sink before another
// sink. Whole items that exceed the limit are left out and counted.
#ifndef MXP_EXPORT_CHROME_LIMIT_H
#define MXP_EXPORT_CHROME_LIMIT_H

#include <stdbool.h>

#include "profiler/export/sink.h"

typedef struct mxp_chrome_limit {
    mxp_sink sink;  // what the exporter writes to
    mxp_sink *to;
    uint64_t space_bytes;  // that items may still take
    bool is_full;  // from the first one on that did not fit
    uint64_t left_out;  // items
} mxp_chrome_limit;

// `left_out`: how many were left out before: then nothing more is taken.
void mxp__chrome_limit_init(mxp_chrome_limit *limit, uint64_t space_bytes, uint64_t left_out,
                            mxp_sink *to);

#endif
