// SPDX-License-Identifier: Apache-2.0
// The widest vectors that the processor has.
#include "runtime/op/backend/cpu/simd.h"

#include <stddef.h>

#include "base/cpu/cpu.h"
#include "base/atomic.h"

const mxn_vector *mxn__vector(void)
{
    static MXP_ATOMIC(const mxn_vector *) found;  // the answer is the same whoever asks first
    const mxn_vector *vector = mxp_atomic_load(&found);
    if (vector == NULL) {
        uint32_t bytes = mxp__cpu_vector_bytes();
        vector = bytes >= 64 ? &mxn__vector_64 : bytes >= 32 ? &mxn__vector_32 : &mxn__vector_16;
        mxp_atomic_store(&found, vector);
    }
    return vector;
}
