// SPDX-License-Identifier: Apache-2.0
// Threads whose records another program has taken away by emptying their file. A thread whose page
// went with it begins anew by itself (store_rescue.h); one whose page did not, or whose page was
// just being moved, may still be led into the file by its chunks.
#ifndef MXP_PROF_MEND_H
#define MXP_PROF_MEND_H

// While nobody records, under the drain lock: from here on the chunks of each thread, but for those
// that a freeze leaves out, lead from its oldest to its current one, and none of them is lost.
void mxp__mend_threads(void);

#endif
