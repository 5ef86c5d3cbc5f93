// SPDX-License-Identifier: Apache-2.0
// Waiting until no operation is pending.
#ifndef MXN_ENGINE_IDLE_H
#define MXN_ENGINE_IDLE_H

#include <stdbool.h>
#include <stdint.h>

// How many queue entries are not over.
uint64_t mxn__engine_pending(void);
// Returns when there is none.
void mxn__idle_wait(void);
// The same, or false once this thread is interrupted. `slept`: in the kernel.
bool mxn__idle_wait_or_leave(bool *slept);
// Wakes those who wait for that, if it is so. Workers call it before they rest.
void mxn__idle_check(void);

#endif
