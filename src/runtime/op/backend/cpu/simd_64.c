// SPDX-License-Identifier: Apache-2.0
// Vectors of 16 floats: AVX-512, or whatever makes them of shorter ones.
#define VECTOR_BYTES 64
#define TILE_VECTORS 4
#define TABLE mxn__vector_64
#include "runtime/op/backend/cpu/simd_loops.h"
