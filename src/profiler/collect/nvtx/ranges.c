// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/nvtx/ranges.h"

#include <mxprof/record.h>

#include "base/atomic.h"
#include "profiler/collect/open_stack.h"
#include "profiler/collect/open_table.h"

// The id of a span on the stack is how many of its domain are open with it.
int mxp__nvtx_push(const nvtx_domain *domain, mxp_name name, const mxp_arg *args, uint32_t count)
{
    const mxp_collect_span *below = mxp__collect_innermost(domain, 0);
    const int depth = below != NULL ? (int)below->id : 0;
    mxp__collect_begin(domain, name, (uint64_t)depth + 1, args, count);
    return depth;
}

int mxp__nvtx_pop(const nvtx_domain *domain, const mxp_arg *args, uint32_t count)
{
    mxp_collect_span *told = count != 0 ? mxp__collect_innermost(domain, 0) : NULL;
    if (told != NULL) {
        mxp__collect_tell(told, args, count);
    }
    return (int)mxp__collect_end(domain, 0) - 1;
}

static const char range_owner[] = "ranges that may end on any thread";

uint64_t mxp__nvtx_start(mxp_name name, const mxp_arg *args, uint32_t count)
{
    static mxp_atomic_u64 last;
    const uint64_t id = mxp_atomic_add(&last, 1) + 1;
    mxp__collect_begin_async(range_owner, id, name, args, count);
    return id;
}

void mxp__nvtx_end(uint64_t id, const mxp_arg *args, uint32_t count)
{
    if (id != 0) {
        if (count != 0) {
            mxp__collect_tell_async(range_owner, id, args, count);
        }
        mxp__collect_end_async(range_owner, id);
    }
}

void mxp__nvtx_moment(mxp_name name, const mxp_arg *args, uint32_t count)
{
    const uint64_t now = mxp_ticks();
    mxp_span_emit(
        MXP_CLASS_USER,
        &(mxp_span){
            .name = name, .begin_ticks = now, .end_ticks = now, .arg_count = count, .args = args});
}
