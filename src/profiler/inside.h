// SPDX-License-Identifier: Apache-2.0
// Whether a thread is inside of a call that holds locks. There it is not cancelled, for nobody
// would give them back. And where a signal's handler that has interrupted it ends the program by
// exit(), nothing may wait for them: the call goes on no more.
#ifndef MXP_PROF_INSIDE_H
#define MXP_PROF_INSIDE_H

#include <stdbool.h>

// Around whatever takes locks; they nest.
void mxp__inside_enter(void);
void mxp__inside_leave(void);

// From here to the end of the block.
static inline void mxp__inside_end(const int *ignored)
{
    (void)ignored;
    mxp__inside_leave();
}
#define MXP__INSIDE()    \
    mxp__inside_enter(); \
    const int inside __attribute__((cleanup(mxp__inside_end), unused)) = 0

bool mxp__is_inside(void);  // of the calling thread

#endif
