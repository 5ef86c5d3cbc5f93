// SPDX-License-Identifier: Apache-2.0
// Vectors of VECTOR_BYTES, of 8 floats and of 4, and how they come from memory and go there. Part
// of simd_loops.h.
#ifndef MXN_OP_BACKEND_CPU_SIMD_TYPES_H
#define MXN_OP_BACKEND_CPU_SIMD_TYPES_H

#include <stdint.h>

enum { LANES = VECTOR_BYTES / 4, HALF = 8 };

typedef float vec __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef float half __attribute__((vector_size(32), aligned(4), may_alias));

static inline vec load(const float *from)
{
    return *(const vec *)(const void *)from;
}

static inline void store(float *to, vec value)
{
    *(vec *)(void *)to = value;
}

static inline vec all_of(float value)
{
    return value - (vec){0};
}

typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));

static inline quad load_quad(const float *from)
{
    return *(const quad *)(const void *)from;
}

#endif
