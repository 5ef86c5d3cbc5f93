// SPDX-License-Identifier: Apache-2.0
// Where the memory of each device comes from. The only file of the runtime's arrays that knows.
#include <mxprof/format.h>

#include "base/alloc.h"
#include "base/os/memory.h"
#include "runtime/storage/pool.h"

void *mxn__memory_take(uint32_t device, uint64_t bytes, uint32_t *lead)
{
    *lead = 0;
    if (device == MXP_DEVICE_CPU_SHARED) {
        return mxp__os_map_shared_pages(bytes);
    }
    char *start = mxp__realloc(NULL, 0, bytes + MXN_ALIGNMENT);
    if (start == NULL) {
        return NULL;
    }
    mxp__os_advise_huge(start, bytes);
    *lead = (uint32_t)(-(uintptr_t)start & (MXN_ALIGNMENT - 1));
    return start + *lead;
}

void mxn__memory_give(uint32_t device, void *data, uint64_t bytes, uint32_t lead)
{
    if (device == MXP_DEVICE_CPU_SHARED) {
        mxp__os_unmap_shared_pages(data, bytes);
        return;
    }
    mxp__free((char *)data - lead, bytes + MXN_ALIGNMENT);
}
