// SPDX-License-Identifier: Apache-2.0
// Private to src/runtime/tensor: the resource manager's start.
#ifndef MXN_TENSOR_RESOURCE_STATE_H
#define MXN_TENSOR_RESOURCE_STATE_H

#include <stdint.h>

#include "base/atomic.h"

extern mxp_atomic_u32 mxn__resources_started;
int mxn__resources_start_slow(void);

// Called by each request of a resource. Seeds the parallel generators the first time.
static inline int mxn__resources_start(void)
{
    return mxp_atomic_load_acquire(&mxn__resources_started) != 0 ? 0 : mxn__resources_start_slow();
}

#endif
