// SPDX-License-Identifier: Apache-2.0
// Arrows from the API call that pushed an operator to its run, which nobody records: an operator's
// record says who pushed it and when, and the calls of that thread are spans. An arrow begins in a
// call. So an operator has none if its push is not known, if it is outside of the time in which
// calls of that thread are known, or if records of the thread were lost then. A bulk has none: its
// members have theirs. Nor has what its thread did as it pushed it: there is no way to lead.
//
// A trace may be written in parts. An operator whose call has not ended when a part is written
// waits for the next one. Memory: 16 bytes a thread, 1 a name, and MXP__ARROWS_WAITING arrows.
#ifndef MXP_EXPORT_ARROWS_H
#define MXP_EXPORT_ARROWS_H

#include "profiler/trace/event.h"

#define MXP__ARROW_NAME "push"  // of all arrows, and their category

enum { MXP__ARROWS_WAITING = 1024 };

typedef struct mxp_arrow {
    uint64_t id;  // of the operator's event
    uint32_t from_thread, to_thread;
    int64_t from_ns, to_ns;  // 0 <= from <= to; of one thread from < to
} mxp_arrow;

typedef struct mxp_arrows mxp_arrows;

int mxp__arrows_create(mxp_arrows **arrows);
void mxp__arrows_destroy(mxp_arrows *arrows);  // null is fine

// Takes in a part; its threads and names are those of the part before, and more. MXP_ENOMEM.
int mxp__arrows_begin(mxp_arrows *arrows, const mxp_source *source);
// Every API call of the part, in any order, before the questions below; other records may come too.
void mxp__arrows_see(mxp_arrows *arrows, const mxp_event *event);
// The arrow of a record. 1: *arrow is set; 0: it has none, or none in this part; MXP_ENOMEM.
int mxp__arrows_of(mxp_arrows *arrows, const mxp_event *event, mxp_arrow *arrow);
// The next of those that waited for this part, as above; 0: there are no more.
int mxp__arrows_waited(mxp_arrows *arrows, mxp_arrow *arrow);
// The part is written; without this call the next part is this one again, and more.
void mxp__arrows_commit(mxp_arrows *arrows);

#endif
