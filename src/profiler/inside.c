// SPDX-License-Identifier: Apache-2.0
#include "profiler/inside.h"

#include <assert.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/os/no_cancel.h"

static __thread struct {
    uint32_t depth;
    int cancel_state;  // as it was outside
} thread __attribute__((tls_model("initial-exec")));

// A handler between two of these lines enters and leaves by itself, and leaves all as it was.
void mxp__inside_enter(void)
{
    if (thread.depth == 0) {
        int before = mxp__cancel_off();
        mxp_compiler_barrier();
        thread.cancel_state = before;
    }
    thread.depth++;
    mxp_compiler_barrier();
}

void mxp__inside_leave(void)
{
    assert(thread.depth != 0 && "a thread leaves more often than it entered");
    mxp_compiler_barrier();
    if (--thread.depth == 0) {
        mxp__cancel_back(thread.cancel_state);
    }
}

bool mxp__is_inside(void)
{
    return thread.depth != 0;
}
