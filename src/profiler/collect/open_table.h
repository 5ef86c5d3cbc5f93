// SPDX-License-Identifier: Apache-2.0
// Spans that may overlap and end on any thread, by their owner and an id: marks end them without
// their name.
#ifndef MXP_COLLECT_OPEN_TABLE_H
#define MXP_COLLECT_OPEN_TABLE_H

#include <mxprof/args.h>
#include <mxprof/gate.h>
#include <stdint.h>

// One that is open under the same owner and id stays so: the newest ends first. Beyond 4096 open
// ones, and while nothing is recorded, nothing begins; ends that find nothing are counted
// (mxp_lose_foreign). The first MXP__COLLECT_ARGS_MAX of `args`, no texts, are recorded at the end.
enum { MXP__COLLECT_ARGS_MAX = 3 };
void mxp__collect_begin_async(const void *owner, uint64_t id, mxp_name name, const mxp_arg *args,
                              uint32_t count);
void mxp__collect_end_async(const void *owner, uint64_t id);

#endif
