// SPDX-License-Identifier: Apache-2.0
// Private to src/profiler/export: the time that is covered by intervals which come in any order.
#ifndef MXP_EXPORT_COVER_H
#define MXP_EXPORT_COVER_H

#include <stddef.h>
#include <stdint.h>

typedef struct mxp_interval {
    int64_t begin_ns, end_ns;
} mxp_interval;

// Begins as zeros. Memory: 16 bytes for each interval that touches no other.
typedef struct mxp_cover {
    mxp_interval *intervals;
    size_t count, capacity;
    size_t join_at;  // the number at which touching intervals are joined
} mxp_cover;

// Cheapest where the outer one comes after those inside of it. MXP_ENOMEM with the detail line.
int mxp__cover_add(mxp_cover *cover, int64_t begin_ns, int64_t end_ns);
// Afterwards the intervals are ascending and apart from each other, until more is added.
void mxp__cover_join(mxp_cover *cover);
// How much of begin_ns .. end_ns is covered; joined before. *from: 0 at first, then left as it is
// for intervals that ascend.
uint64_t mxp__cover_within(const mxp_cover *cover, size_t *from, int64_t begin_ns, int64_t end_ns);
void mxp__cover_fini(mxp_cover *cover);

#endif
