// SPDX-License-Identifier: Apache-2.0
#include "profiler/collect/nvtx/payload_types.h"

#include <string.h>
#include <wchar.h>

enum { NONE, SIGNED, UNSIGNED, FLOAT };

static const struct {
    unsigned char bytes, form;
} types[] = {
    [1] = {sizeof(char), UNSIGNED},
    [2] = {sizeof(char), UNSIGNED},
    [3] = {sizeof(short), SIGNED},
    [4] = {sizeof(short), UNSIGNED},
    [5] = {sizeof(int), SIGNED},
    [6] = {sizeof(int), UNSIGNED},
    [7] = {sizeof(long), SIGNED},
    [8] = {sizeof(long), UNSIGNED},
    [9] = {sizeof(long long), SIGNED},
    [10] = {sizeof(long long), UNSIGNED},
    [11] = {1, SIGNED},
    [12] = {1, UNSIGNED},
    [13] = {2, SIGNED},
    [14] = {2, UNSIGNED},
    [15] = {4, SIGNED},
    [16] = {4, UNSIGNED},
    [17] = {8, SIGNED},
    [18] = {8, UNSIGNED},
    [19] = {sizeof(float), FLOAT},
    [20] = {sizeof(double), FLOAT},
    [21] = {sizeof(long double), NONE},
    [22] = {sizeof(size_t), UNSIGNED},
    [23] = {sizeof(void *), UNSIGNED},
    [24] = {sizeof(wchar_t), UNSIGNED},
    [25] = {1, UNSIGNED},
    [26] = {2, UNSIGNED},
    [27] = {4, UNSIGNED},
    [32] = {1, UNSIGNED},
    [42] = {2, NONE},
    [43] = {4, FLOAT},
    [44] = {8, FLOAT},
    [45] = {16, NONE},
    [50] = {2, NONE},
    [52] = {4, NONE},
    [67] = {8, UNSIGNED},
    [68] = {4, UNSIGNED},
    [69] = {4, UNSIGNED},
    [70] = {8, UNSIGNED},
    [71] = {4, UNSIGNED},
    [72] = {8, UNSIGNED},
    [73] = {4, UNSIGNED},
    [74] = {8, UNSIGNED},
    [NVTX_TYPE_CSTRING] = {1, NONE},
    [NVTX_TYPE_CSTRING_UTF8] = {1, NONE},
    [NVTX_TYPE_REGISTERED] = {sizeof(void *), NONE},
};
enum { TYPES = sizeof types / sizeof types[0] };

size_t mxp__nvtx_type_bytes(uint64_t type)
{
    return type < TYPES ? types[type].bytes : 0;
}

static uint64_t read_unsigned(const void *data, size_t bytes)
{
    uint8_t of_1;
    uint16_t of_2;
    uint32_t of_4;
    uint64_t of_8;
    switch (bytes) {
    case 1:
        return memcpy(&of_1, data, 1), of_1;
    case 2:
        return memcpy(&of_2, data, 2), of_2;
    case 4:
        return memcpy(&of_4, data, 4), of_4;
    default:
        return memcpy(&of_8, data, 8), of_8;
    }
}

bool mxp__nvtx_number(uint64_t type, const void *data, mxp_name key, mxp_arg *value)
{
    const int form = type < TYPES ? types[type].form : NONE;
    const size_t bytes = mxp__nvtx_type_bytes(type);
    if (form == NONE || bytes > sizeof(uint64_t)) {
        return false;
    }
    const uint64_t bits = read_unsigned(data, bytes);
    if (form == UNSIGNED) {
        *value = mxp_u64(key, bits);
    } else if (form == SIGNED) {
        const unsigned above = 64 - 8 * (unsigned)bytes;
        *value = mxp_i64(key, (int64_t)(bits << above) >> above);
    } else if (bytes == sizeof(float)) {
        float number;
        memcpy(&number, data, sizeof number);
        *value = mxp_f64(key, (double)number);
    } else {
        double number;
        memcpy(&number, data, sizeof number);
        *value = mxp_f64(key, number);
    }
    return true;
}
