// SPDX-License-Identifier: Apache-2.0
// The spans that marks have begun on this thread and not ended. A mark's end often names no span,
// only its owner: a domain. Ends of several owners need not nest in each other.
#ifndef MXP_COLLECT_OPEN_STACK_H
#define MXP_COLLECT_OPEN_STACK_H

#include "profiler/collect/thread.h"

// Begins a span of `owner`. Losses are counted (mxp_lose_foreign). On a thread whose tasks go to a
// lane it goes there.
void mxp__collect_begin(const void *owner, mxp_name name, uint64_t id, const mxp_arg *args,
                        uint32_t count);
// The same at a time that was handed in; 0: now. Such a span, and one of a lane, is written at its
// end: up to 64 a thread, with up to 6 arguments (mxp__collect_kept); more count as lost.
void mxp__collect_begin_at(const void *owner, mxp_name name, uint64_t id, uint64_t begin_ticks,
                           const mxp_arg *args, uint32_t count);
// Ends the innermost one of `owner`, with `id` if that is not 0; those above it stay open. An end
// without a begin is counted. The id of the span that ended; 0: it has none, or there is none.
uint64_t mxp__collect_end(const void *owner, uint64_t id);
// The same at a time in the past; 0: now.
uint64_t mxp__collect_end_at(const void *owner, uint64_t id, uint64_t end_ticks);
// The innermost one of `owner`, with `id` if that is not 0; null: there is none. Valid until the
// next begin or end on this thread.
mxp_collect_span *mxp__collect_innermost(const void *owner, uint64_t id);
// Arguments of that one.
void mxp__collect_tell(mxp_collect_span *span, const mxp_arg *args, uint32_t count);

#endif
