// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/itt/values.h"

#include <string.h>

#include "profiler/collect/itt/itt_abi.h"

// Callers' data need not be aligned.
#define READ(ctype, make)                                                       \
    do {                                                                        \
        ctype number;                                                           \
        memcpy(&number, (const char *)data + i * sizeof number, sizeof number); \
        *value = make(key, number);                                             \
        return true;                                                            \
    } while (0)

bool mxp__itt_value(const void *data, size_t i, int type, mxp_name key, mxp_arg *value)
{
    switch (type) {
    case ITT_U64:
        READ(uint64_t, mxp_u64);
    case ITT_S64:
        READ(int64_t, mxp_i64);
    case ITT_U32:
        READ(uint32_t, mxp_u64);
    case ITT_S32:
        READ(int32_t, mxp_i64);
    case ITT_U16:
        READ(uint16_t, mxp_u64);
    case ITT_S16:
        READ(int16_t, mxp_i64);
    case ITT_FLOAT:
        READ(float, mxp_f64);
    case ITT_DOUBLE:
        READ(double, mxp_f64);
    default:
        return false;
    }
}
