// SPDX-License-Identifier: Apache-2.0
// The loops for the widest vectors that the processor has.
#include "runtime/op/backend/cpu/simd.h"

#include "runtime/op/loops/vector_width.h"

const mxn_vector *mxn__vector(void)
{
    const uint32_t bytes = mxn__vector_width();
    return bytes == 64 ? &mxn__vector_64 : bytes == 32 ? &mxn__vector_32 : &mxn__vector_16;
}
