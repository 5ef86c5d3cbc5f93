// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/record/stop_log.h"

enum { KEPT = 64 };

static struct {
    uint64_t off, on;  // atomic
} stops[KEPT];
static unsigned count;

// Of an entry that is used again the later moment is changed last: until then it is behind nothing
// that is still asked for.
void mxp__stops_begin(uint64_t off_ticks)
{
    unsigned at = count++ % KEPT;
    __atomic_store_n(&stops[at].off, off_ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&stops[at].on, UINT64_MAX, __ATOMIC_RELEASE);  // pairs with mxp__stops_behind
}

void mxp__stops_end(uint64_t on_ticks)
{
    if (count > 0) {
        __atomic_store_n(&stops[(count - 1) % KEPT].on, on_ticks, __ATOMIC_RELEASE);
    }
}

bool mxp__stops_behind(uint64_t token, uint64_t *off_ticks)
{
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < KEPT; i++) {
        if (__atomic_load_n(&stops[i].on, __ATOMIC_ACQUIRE) >= token) {
            uint64_t off = __atomic_load_n(&stops[i].off, __ATOMIC_RELAXED);
            first = off < first ? off : first;
        }
    }
    *off_ticks = first;
    return token <= first && first != UINT64_MAX;
}
