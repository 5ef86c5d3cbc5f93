// SPDX-License-Identifier: Apache-2.0
// What the profile counts of a distributed store in place of records: histograms of times, waits
// and bytes, by key and by process (docs/distributed-records.md). Names are "WHAT: WHOM" in a
// category for each quantity. Private to kvstore/; the communication thread's.
#ifndef MXN_KVSTORE_DIST_STATISTICS_H
#define MXN_KVSTORE_DIST_STATISTICS_H

#include <mxprof/record.h>

typedef enum mxn_quantity {
    MXN_QUANTITY_TIME,  // of the whole
    MXN_QUANTITY_WAITED,  // for the worker that came last
    MXN_QUANTITY_SENT,  // until the last piece had left
    MXN_QUANTITY_BYTES,
    MXN_QUANTITIES
} mxn_quantity;

// The names of one thing in each quantity, which are made when they are first counted. Zeros.
typedef struct mxn_statistic {
    mxp_name names[MXN_QUANTITIES];
} mxn_statistic;

// `whom` null: the thing is one alone, "barrier".
void mxn__statistic_add(mxn_statistic *of, mxn_quantity quantity, const char *what,
                        const char *whom, uint64_t value);
void mxn__statistic_add_span(mxn_statistic *of, const char *what, const char *whom,
                             uint64_t begin_ticks, uint64_t end_ticks);

#endif
