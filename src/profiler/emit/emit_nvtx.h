// SPDX-License-Identifier: Apache-2.0
// Ranges for programs that call Nvidia's functions by our names, whether or not anything is
// recorded.
#ifndef MXP_EMIT_NVTX_H
#define MXP_EMIT_NVTX_H

#include <stdint.h>

// What the tool answers: how deep the range is, or below 0. Without a tool -1.
int mxp__nvtx_push(const char *text, uint32_t argb);
int mxp__nvtx_pop(void);

#endif
