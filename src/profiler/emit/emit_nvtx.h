// SPDX-License-Identifier: Apache-2.0
// Ranges for programs that call Nvidia's functions by our names, whether or not anything is
// recorded.
#ifndef MXP_EMIT_NVTX_H
#define MXP_EMIT_NVTX_H

#include <stdint.h>

// Without a tool nothing.
void mxp__nvtx_push(const char *text, uint32_t argb);
void mxp__nvtx_pop(void);

#endif
