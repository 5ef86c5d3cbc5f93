// SPDX-License-Identifier: Apache-2.0
// What processes of a distributed store counted in place of records
// (distributed_detail=statistics): histograms of each operation, message and round, by what it was
// and of whom. Several processes are added up.
#ifndef MXP_RANKS_COUNTED_H
#define MXP_RANKS_COUNTED_H

#include "base/id_map.h"
#include "profiler/trace/histogram.h"
#include "profiler/trace/source.h"

typedef enum mxp_counted_quantity {
    MXP__COUNTED_TIME,  // ns, as the next two
    MXP__COUNTED_WAITED,
    MXP__COUNTED_SENT,
    MXP__COUNTED_BYTES,
    MXP__COUNTED_QUANTITIES
} mxp_counted_quantity;

// "KVStoreDistDefaultPush" of "w1"; "barrier" of nobody.
typedef struct mxp_counted_row {
    const char *what, *whom;  // as long as the source
    size_t what_length, whom_length;
    mxp_histogram of[MXP__COUNTED_QUANTITIES];  // count 0: it has none
} mxp_counted_row;

// Begins as zeros.
typedef struct mxp_counted {
    mxp_counted_row *rows;  // the longest times together first
    size_t count, capacity;
    mxp_id_map places;
} mxp_counted;

// How many names any process counted so.
size_t mxp__counted_names(mxp_source *source);
// Of all processes of the source. MXP_ENOMEM; fini is due also then.
int mxp__counted_make(mxp_source *source, mxp_counted *counted);
void mxp__counted_fini(mxp_counted *counted);

#endif
