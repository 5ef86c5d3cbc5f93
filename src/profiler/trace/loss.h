// SPDX-License-Identifier: Apache-2.0
// Why records were lost, in words.
#ifndef MXP_TRACE_LOSS_H
#define MXP_TRACE_LOSS_H

#include <stdint.h>

// The text of a reason of MXP_LOSS_REASONS; "unknown reason" for the number of a newer version.
const char *mxp__loss_reason(uint32_t reason);

#endif
