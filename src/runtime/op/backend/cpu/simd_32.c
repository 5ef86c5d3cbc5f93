// SPDX-License-Identifier: Apache-2.0
// Vectors of 8 floats: AVX2 with multiply-add, or whatever makes them of shorter ones.
#define VECTOR_BYTES 32
#define TILE_VECTORS 2
#define TABLE mxn__vector_32
#include "runtime/op/backend/cpu/simd_loops.h"
