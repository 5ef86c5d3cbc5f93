// SPDX-License-Identifier: Apache-2.0
// Why records were lost, in words.
#ifndef MXP_TRACE_LOSS_H
#define MXP_TRACE_LOSS_H

#include <stdint.h>

// Of MXP_LOSS_REASONS; "unknown reason" for a number that a newer version wrote.
const char *mxp__loss_reason(uint32_t reason);

#endif
