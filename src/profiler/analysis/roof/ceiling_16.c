// SPDX-License-Identifier: Apache-2.0
// Vectors of 16 bytes: what every processor has.
#define VECTOR_BYTES 16
#define TABLE mxp__ceiling_kernels_16
#include "profiler/analysis/roof/ceiling_loops.h"
