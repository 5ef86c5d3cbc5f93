// SPDX-License-Identifier: Apache-2.0
// Vectors of 64 bytes: AVX-512, or whatever makes them of shorter ones.
#define VECTOR_BYTES 64
#define TABLE mxp__ceiling_kernels_64
#include "profiler/analysis/roof/ceiling_loops.h"
