// SPDX-License-Identifier: Apache-2.0
// The widest vectors that the processor has.
#include "runtime/op/backend/cpu/simd.h"

#include <stddef.h>

#include "base/cpu/cpu.h"

const mxn_vector *mxn__vector(void)
{
    static const mxn_vector *found;  // atomic; the answer is the same whoever asks first
    const mxn_vector *vector = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (vector == NULL) {
        uint32_t bytes = mxp__cpu_vector_bytes();
        vector = bytes >= 64 ? &mxn__vector_64 : bytes >= 32 ? &mxn__vector_32 : &mxn__vector_16;
        __atomic_store_n(&found, vector, __ATOMIC_RELAXED);
    }
    return vector;
}
