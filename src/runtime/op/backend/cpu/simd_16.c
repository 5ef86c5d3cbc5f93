// SPDX-License-Identifier: Apache-2.0
// Vectors of 4 floats: any processor.
#define VECTOR_BYTES 16
#define TILE_VECTORS 2
#define TABLE mxn__vector_16
#include "runtime/op/backend/cpu/simd_loops.h"
