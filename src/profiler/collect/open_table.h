// SPDX-License-Identifier: Apache-2.0
// Spans that may overlap and end on any thread, by their owner and an id: marks end them without
// their name.
#ifndef MXP_COLLECT_OPEN_TABLE_H
#define MXP_COLLECT_OPEN_TABLE_H

#include <mxprof/args.h>
#include <mxprof/gate.h>
#include <stdbool.h>
#include <stdint.h>

// One that is open under the same owner and id stays so: the newest ends first. Beyond 4096 open
// ones, and while nothing is recorded, nothing begins; ends that find nothing are counted
// (mxp_lose_foreign). The first MXP__COLLECT_ARGS_MAX arguments are recorded at the end, as
// mxp__collect_kept has them.
enum { MXP__COLLECT_ARGS_MAX = 20 };
void mxp__collect_begin_async(const void *owner, uint64_t id, mxp_name name, const mxp_arg *args,
                              uint32_t count);
void mxp__collect_end_async(const void *owner, uint64_t id);

// The same at a time that was handed in; 0: now. A span that begins so is unknown to a recording
// file until it ends; the end's time counts for such spans alone.
void mxp__collect_begin_async_at(const void *owner, uint64_t id, mxp_name name,
                                 uint64_t begin_ticks);
void mxp__collect_end_async_at(const void *owner, uint64_t id, uint64_t end_ticks);

// Ends the newest such span, if there is one.
void mxp__collect_end_async_if_open(const void *owner, uint64_t id);

// More arguments of the newest such span. False: there is none.
bool mxp__collect_tell_async(const void *owner, uint64_t id, const mxp_arg *args, uint32_t count);

#endif
