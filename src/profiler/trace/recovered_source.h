// SPDX-License-Identifier: Apache-2.0
// The readable part of a source. Unreadable ranges are left out, and each range ends before its
// first damaged record, so that `range` never fails.
#ifndef MXP_TRACE_RECOVERED_SOURCE_H
#define MXP_TRACE_RECOVERED_SOURCE_H

#include "profiler/trace/source.h"

typedef struct mxp_recovery_loss {
    uint64_t chunks, bytes;  // with something missing; bytes of records, as far as they are known
    char text[160];  // what was wrong with the first one
} mxp_recovery_loss;

// All processes of `inner`, which must outlive it. What is left out is added to *lost. MXP_ENOMEM.
int mxp__recovered_open(mxp_source *inner, mxp_source **source, mxp_recovery_loss *lost);

#endif
