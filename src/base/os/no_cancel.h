// SPDX-License-Identifier: Apache-2.0
// pthread_cancel ends a thread in nearly any system call, and what it holds then is held for ever.
// Who holds what others wait for, or is in the middle of a record, puts it off.
#ifndef MXP_BASE_NO_CANCEL_H
#define MXP_BASE_NO_CANCEL_H

#include <pthread.h>

// Gives what mxp__cancel_back takes at the section's end. They nest. Safe in signal handlers.
static inline int mxp__cancel_off(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void mxp__cancel_back(int before)
{
    pthread_setcancelstate(before, NULL);
}

#endif
