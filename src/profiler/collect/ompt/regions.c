// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/ompt/regions.h"

#include <dlfcn.h>
#include <mxprof/record.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic.h"

enum { REGIONS = 1 << 16, SITES = 1 << 10 };

typedef struct region {
    mxp_atomic_u32 name;
    mxp_atomic_u64 ended_ticks;  // 0: it goes on
} region;

// Where regions are written in the program: a region's name is that of its call.
typedef struct site {
    MXP_ATOMIC(const void *) address;
    mxp_atomic_u32 name;
} site;

static region regions[REGIONS];
static site sites[SITES];
static mxp_atomic_u64 begun;

static mxp_name name_of(const void *address)
{
    Dl_info info;
    char text[256];
    if (address == NULL || dladdr(address, &info) == 0 || info.dli_fname == NULL) {
        snprintf(text, sizeof text, "parallel %p", address);
    } else if (info.dli_sname != NULL) {
        snprintf(text, sizeof text, "parallel %.200s+0x%zx", info.dli_sname,
                 (size_t)((const char *)address - (const char *)info.dli_saddr));
    } else {
        const char *slash = strrchr(info.dli_fname, '/');
        snprintf(text, sizeof text, "parallel %.200s+0x%zx",
                 slash != NULL ? slash + 1 : info.dli_fname,
                 (size_t)((const char *)address - (const char *)info.dli_fbase));
    }
    return mxp_span_name("OpenMP", text);
}

// Two threads that find a place empty write the same; one that finds another's asks anew.
static mxp_name name_of_site(const void *address)
{
    site *at = &sites[((uintptr_t)address >> 2) % SITES];
    if (mxp_atomic_load_acquire(&at->address) == address && address != NULL) {
        mxp_name name = mxp_atomic_load(&at->name);
        if (name != 0) {
            return name;
        }
    }
    mxp_name name = name_of(address);
    const void *nobody = NULL;
    if (mxp_atomic_cas_acq_rel(&at->address, &nobody, address)) {
        mxp_atomic_store(&at->name, name);
    }
    return name;
}

uint64_t mxp__ompt_region_begin(const void *return_address)
{
    const uint64_t number = mxp_atomic_add(&begun, 1) % (REGIONS - 1) + 1;
    mxp_atomic_store(&regions[number].name, name_of_site(return_address));
    mxp_atomic_store_release(&regions[number].ended_ticks, 0);
    return number;
}

void mxp__ompt_region_end(uint64_t number)
{
    mxp_atomic_store_release(&regions[number % REGIONS].ended_ticks, mxp_ticks());
}

mxp_name mxp__ompt_region_name(uint64_t number)
{
    const mxp_name name = mxp_atomic_load(&regions[number % REGIONS].name);
    return name != 0 ? name : mxp_span_name("OpenMP", "parallel");
}

uint64_t mxp__ompt_region_end_ticks(uint64_t number)
{
    const uint64_t now = mxp_ticks();
    const uint64_t ended = mxp_atomic_load_acquire(&regions[number % REGIONS].ended_ticks);
    return ended != 0 && ended < now ? ended : now;
}
