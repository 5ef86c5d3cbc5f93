// SPDX-License-Identifier: Apache-2.0
// Vectors of 32 bytes: AVX2 with FMA, or whatever makes them of shorter ones.
#define VECTOR_BYTES 32
#define TABLE mxp__ceiling_kernels_32
#include "profiler/analysis/roof/ceiling_loops.h"
