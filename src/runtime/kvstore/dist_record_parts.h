// SPDX-License-Identifier: Apache-2.0
// What the files dist_record*.c share: whether something is recorded, names, spans.
#ifndef MXN_KVSTORE_DIST_RECORD_PARTS_H
#define MXN_KVSTORE_DIST_RECORD_PARTS_H

#include <mxprof/record.h>

#include "base/atomic.h"
#include "base/name_once.h"
#include "runtime/kvstore/dist_node.h"

enum { MXN_RECORD_CLASS = MXP_CLASS_IMPERATIVE };

// The function name_NAME gives the name of an argument.
#define MXN_RECORD_ARGUMENT(name)               \
    static mxp_name name_##name(void)           \
    {                                           \
        static mxp_atomic_u32 cache;            \
        return mxp__string_once(&cache, #name); \
    }

// Of what is chosen now: operations and rounds; their messages, too; histograms.
bool mxn__records(mxn_dist *dist);
bool mxn__records_messages(mxn_dist *dist);
bool mxn__counts(mxn_dist *dist);

mxp_name mxn__record_name(mxp_atomic_u32 *cache, const char *category, const char *text, int style,
                          int unit);
mxp_name mxn__record_async_name(mxp_atomic_u32 *cache, const char *text);
mxp_name mxn__record_flow_name(void);
uint64_t mxn__record_next_flow(mxn_dist *dist);
uint64_t mxn__record_ns_since(uint64_t from_ns);
// A span of the lane `communication`. What began before recording did (0) is not told.
void mxn__record_emit(mxp_name name, uint64_t begin_ticks, uint64_t end_ticks, const mxp_arg *args,
                      uint32_t count);

#endif
