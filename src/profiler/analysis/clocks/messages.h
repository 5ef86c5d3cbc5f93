// SPDX-License-Identifier: Apache-2.0
// Messages between processes: flows that begin in one and end in another. They are found in one go
// over all records in turns of a range, so that both ends of a message come soon after one another;
// what is on its way meanwhile has a bound.
#ifndef MXP_CLOCKS_MESSAGES_H
#define MXP_CLOCKS_MESSAGES_H

#include "profiler/trace/source.h"

// The category of the names of flows between processes. Their ids are of the whole job: the
// sender's number in it (20 bits) and a number of its own (44). Other flows are a process's own.
#define MXP__MESSAGE_CATEGORY "communication"

bool mxp__is_message_name(const mxp_source *source, uint32_t name);

typedef struct mxp_message {
    size_t from, to;  // places of the processes
    uint64_t id;
    int64_t sent_ns, received_ns;  // each in its process's trace time
    uint64_t sent_ticks, received_ticks;
} mxp_message;

// 0, or an error that ends the search.
typedef int mxp_message_visit(void *context, const mxp_message *message);

typedef struct mxp_message_counts {
    uint64_t messages;  // visited
    uint64_t ends;  // that found no other end
} mxp_message_counts;

// Visits messages between different processes. Ranges that cannot be read are left out. MXP_ENOMEM,
// or what a visit returns.
int mxp__messages_each(mxp_source *const *processes, size_t count, mxp_message_visit *visit,
                       void *context, mxp_message_counts *counts);

#endif
