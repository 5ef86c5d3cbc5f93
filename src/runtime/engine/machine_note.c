// SPDX-License-Identifier: Apache-2.0
// What a reader of a recording needs to know of the machine to say how fast an operator could have
// been. It is here and not in the profiler, because only operators are compared with that.
#include "runtime/engine/machine_note.h"

#include <inttypes.h>
#include <mxprof/foreign.h>
#include <stdio.h>

#include "base/os/machine.h"
#include "base/os/memory.h"

// What is not known is left out. Without memory for a line it is missing.
static void note(const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    if (value != 0) {
        (void)mxp_info(key, text);
    }
}

static void note_cpu_limit(uint64_t thousandths)
{
    char text[24] = "none";
    if (thousandths != UINT64_MAX) {
        snprintf(text, sizeof text, "%.9g", (double)thousandths / 1000);
    }
    (void)mxp_info("machine.cgroup_cpu", text);
}

void mxn__machine_note(void)
{
    static const char *const keys[MXP__CACHE_LEVELS] = {"machine.l1", "machine.l2", "machine.l3"};
    uint64_t total_bytes = 0, available_bytes = 0;
    for (unsigned i = 0; i < MXP__CACHE_LEVELS; i++) {
        note(keys[i], mxp__os_cache_bytes("", i + 1));
    }
    (void)mxp__os_memory(&total_bytes, &available_bytes);
    note("machine.memory", total_bytes);
    note_cpu_limit(mxp__os_cpu_limit(""));
}
