// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/record/stop_log.h"

#include "base/atomic.h"
#include "profiler/recorder/thread/rules.h"

enum { KEPT = 64 };

static struct {
    mxp_atomic_u64 off, on;
} stops[KEPT];
static unsigned count;

// When an entry is reused, `on` is written last. Until then the entry describes its old interval,
// which no open span can refer to any more.
void mxp__stops_begin(uint64_t off_ticks)
{
    assert(mxp__drain_is_held());
    unsigned at = count++ % KEPT;
    mxp_atomic_store(&stops[at].off, off_ticks);
    mxp_atomic_store_release(&stops[at].on, UINT64_MAX);  // pairs with mxp__stops_after
}

void mxp__stops_end(uint64_t on_ticks)
{
    assert(mxp__drain_is_held());
    if (count > 0) {
        mxp_atomic_store_release(&stops[(count - 1) % KEPT].on, on_ticks);
    }
}

bool mxp__stops_after(uint64_t token, uint64_t *off_ticks)
{
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; i < KEPT; i++) {
        if (mxp_atomic_load_acquire(&stops[i].on) >= token) {
            uint64_t off = mxp_atomic_load(&stops[i].off);
            first = off < first ? off : first;
        }
    }
    *off_ticks = first;
    return token <= first && first != UINT64_MAX;
}
