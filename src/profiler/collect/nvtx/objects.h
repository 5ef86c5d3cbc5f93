// SPDX-License-Identifier: Apache-2.0
// Resources, objects for synchronization, and names of devices and streams.
#ifndef MXP_COLLECT_NVTX_OBJECTS_H
#define MXP_COLLECT_NVTX_OBJECTS_H

#include "profiler/collect/nvtx/nvtx_abi.h"

// A resource that is a thread names the thread; others are kept as names.
void *mxp__nvtx_resource_create(void *domain, const nvtx_resource *given);
void mxp__nvtx_resource_destroy(void *resource);

// Waits for them are spans as those of ITT's objects are (waits.h).
void *mxp__nvtx_sync_create(void *domain, const nvtx_sync_user *given);
void mxp__nvtx_sync_destroy(void *object);
void mxp__nvtx_sync_acquire_start(void *object);
void mxp__nvtx_sync_acquire_failed(void *object);
void mxp__nvtx_sync_acquired(void *object);
void mxp__nvtx_sync_releasing(void *object);

#endif
