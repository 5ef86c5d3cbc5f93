// SPDX-License-Identifier: Apache-2.0
// Ranges for Nvidia's tools alone: nothing is recorded of them. They are sent whenever there is
// such a tool (NVTX_INJECTION64_PATH), whether or not a session runs.
#ifndef MXPROF_RANGE_H
#define MXPROF_RANGE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Begins a coloured range on the calling thread, and ends the newest one there. MXP_ENOTSUP: there
// is no such tool; the error line says why, and names the variable. A null text counts as "".
int mxp_range_push(const char *text, uint32_t argb);
int mxp_range_pop(void);

#ifdef __cplusplus
}
#endif
#endif
