// SPDX-License-Identifier: Apache-2.0
// NVTX's counters: one number, or the numbers of a structure that a schema describes. Both versions
// of the extension begin alike.
#ifndef MXP_COLLECT_NVTX_COUNTERS_H
#define MXP_COLLECT_NVTX_COUNTERS_H

#include "profiler/collect/nvtx/nvtx_abi.h"

// The id by which samples name it; 0: there is no memory for it.
uint64_t mxp__nvtx_counter_register(void *domain, const nvtx_counter *given);
// Samples of a counter that was never registered are counted (mxp_lose_foreign).
void mxp__nvtx_counter_sample_i64(void *domain, uint64_t counter, int64_t value);
void mxp__nvtx_counter_sample_f64(void *domain, uint64_t counter, double value);
void mxp__nvtx_counter_sample(void *domain, uint64_t counter, const void *data, size_t size_bytes);

#endif
