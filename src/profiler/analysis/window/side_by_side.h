// SPDX-License-Identifier: Apache-2.0
// Pieces of work that do not need one another, done at once on several cores.
#ifndef MXP_ANALYSIS_SIDE_BY_SIDE_H
#define MXP_ANALYSIS_SIDE_BY_SIDE_H

#include <stddef.h>
#include <stdint.h>

// Does `piece`; what it writes is its own, but for what is safe for several threads.
typedef int mxp_piece_run(void *context, size_t piece);

enum { MXP__SIDES_MAX = 4 };  // more threads wait for memory more than they gain

// How many pieces are worth it for so many bytes of records: 1 for few, or on one core.
size_t mxp__side_by_side_count(uint64_t bytes);

// Does the pieces 0 to count - 1 on the calling thread and on others, and returns when all are
// done: MXP_OK, or the error of the first piece that has one, with its line. Which thread does
// which piece is open.
int mxp__side_by_side(size_t count, mxp_piece_run *run, void *context);

#endif
