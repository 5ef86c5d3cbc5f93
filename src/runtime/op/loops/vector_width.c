// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/loops/vector_width.h"

#include "base/atomic.h"
#include "base/cpu/cpu.h"

uint32_t mxn__vector_width(void)
{
    static MXP_ATOMIC(uint32_t) found;  // the answer is the same whoever asks first
    uint32_t bytes = mxp_atomic_load(&found);
    if (bytes == 0) {
        bytes = mxp__cpu_vector_bytes();
        bytes = bytes >= 64 ? 64 : bytes >= 32 ? 32 : 16;
        mxp_atomic_store(&found, bytes);
    }
    return bytes;
}
