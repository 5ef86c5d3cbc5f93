// SPDX-License-Identifier: Apache-2.0
// A new thread has the signal mask of the one that starts it.
#include "base/os/quiet_thread.h"

#include <stddef.h>

#include "base/os/os.h"

enum { SIGNAL_SET_BYTES = 128 };

int mxp__os_start_thread(pthread_t *thread, void *(*function)(void *), void *argument)
{
    _Alignas(16) char signals[SIGNAL_SET_BYTES];
    pthread_t made;
    mxp__os_block_signals(signals);
    int error = pthread_create(&made, NULL, function, argument);
    mxp__os_restore_signals(signals);
    if (error == 0 && thread == NULL) {
        pthread_detach(made);
    } else if (error == 0) {
        *thread = made;
    }
    return error;
}
