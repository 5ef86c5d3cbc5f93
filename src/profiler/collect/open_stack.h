// SPDX-License-Identifier: Apache-2.0
// The spans that marks have begun on this thread and not ended. A mark's end often names no span,
// only its owner: a domain. Ends of several owners need not nest in each other.
#ifndef MXP_COLLECT_OPEN_STACK_H
#define MXP_COLLECT_OPEN_STACK_H

#include <mxprof/args.h>
#include <mxprof/record.h>
#include <stdbool.h>
#include <stdint.h>

enum { MXP__COLLECT_OPEN_MAX = 4096 };  // deeper ones are counted and not recorded

typedef struct mxp_collect_span {
    const void *owner;
    uint64_t id;  // by which marks refer to it; 0: none
    uint64_t token;  // 0: nothing was recording
    mxp_name name;
} mxp_collect_span;

// Begins a span of `owner`. Losses are counted (mxp_lose_foreign).
void mxp__collect_begin(const void *owner, mxp_name name, uint64_t id, const mxp_arg *args,
                        uint32_t count);
// Ends the innermost one of `owner`, with `id` if that is not 0; those above it stay open. An end
// without a begin is counted.
void mxp__collect_end(const void *owner, uint64_t id);
// The same at a time in the past; what was told of the span while it was open is not recorded.
void mxp__collect_end_at(const void *owner, uint64_t id, uint64_t end_ticks);
// The innermost one of `owner`, with `id` if that is not 0; null: there is none. Valid until the
// next begin or end on this thread.
const mxp_collect_span *mxp__collect_innermost(const void *owner, uint64_t id);

#endif
