// SPDX-License-Identifier: Apache-2.0
// The loop over spans that are recorded inline. A file of its own: MXP_INLINE is per file.
#define MXP_INLINE
#include <mxprof/record.h>

#include "support/loops.h"

void bench_loop_span_inline(uint64_t count, mxp_name name)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t token = mxp_span_begin(name);
        BENCH_OPAQUE();
        mxp_span_end(name, token);
        BENCH_OPAQUE();
    }
}
