// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/loss.h"

#include <mxprof/loss.h>

const char *mxp__loss_reason(uint32_t reason)
{
    switch (reason) {
#define MXP_LOSS_TEXT(name, number, text) \
    case number:                          \
        return text;
        MXP_LOSS_REASONS(MXP_LOSS_TEXT)
#undef MXP_LOSS_TEXT
    default:
        return "unknown reason";
    }
}
