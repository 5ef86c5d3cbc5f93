// SPDX-License-Identifier: Apache-2.0
// Elements are added one by one in their order, so the compiler may use vectors and the result is
// the same with every width of them.
#include "runtime/kvstore/sums.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

static void add_f32(float *restrict sum, const float *restrict value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sum[i] += value[i];
    }
}

static void add_f64(double *restrict sum, const double *restrict value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sum[i] += value[i];
    }
}

static void add_half(float *restrict sum, const mxn_half *restrict value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sum[i] += mxn_half_to_float(value[i]);
    }
}

static void add_bfloat(float *restrict sum, const mxn_bfloat *restrict value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sum[i] += mxn_bfloat_to_float(value[i]);
    }
}

static void add_8(uint8_t *restrict sum, const uint8_t *restrict value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sum[i] = (uint8_t)(sum[i] + value[i]);
    }
}

static void add_16(uint16_t *restrict sum, const uint16_t *restrict value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sum[i] = (uint16_t)(sum[i] + value[i]);
    }
}

static void add_32(uint32_t *restrict sum, const uint32_t *restrict value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sum[i] += value[i];
    }
}

static void add_64(uint64_t *restrict sum, const uint64_t *restrict value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sum[i] += value[i];
    }
}

static void add_bool(uint8_t *restrict sum, const uint8_t *restrict value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sum[i] = (uint8_t)((sum[i] | value[i]) != 0);
    }
}

void mxn__sum_begin(int dtype, void *sum, const void *value, size_t count)
{
    if (mxn__sum_is_wide(dtype)) {
        mxn_cast(sum, MXN_FLOAT32, value, dtype, count);
    } else if (count > 0) {
        memcpy(sum, value, count * mxn_dtype_size(dtype));
    }
}

// Signed numbers are added as unsigned ones: they wrap, and the bits are the same.
void mxn__sum_add(int dtype, void *sum, const void *value, size_t count)
{
    switch (dtype) {
    case MXN_FLOAT32:
        add_f32(sum, value, count);
        break;
    case MXN_FLOAT64:
        add_f64(sum, value, count);
        break;
    case MXN_FLOAT16:
        add_half(sum, value, count);
        break;
    case MXN_BFLOAT16:
        add_bfloat(sum, value, count);
        break;
    case MXN_BOOL:
        add_bool(sum, value, count);
        break;
    case MXN_UINT8:
    case MXN_INT8:
        add_8(sum, value, count);
        break;
    case MXN_INT16:
    case MXN_UINT16:
        add_16(sum, value, count);
        break;
    case MXN_INT32:
    case MXN_UINT32:
        add_32(sum, value, count);
        break;
    default:
        assert(dtype == MXN_INT64 || dtype == MXN_UINT64);
        add_64(sum, value, count);
        break;
    }
}

void mxn__sum_round(int dtype, void *value, const void *sum, size_t count)
{
    assert(mxn__sum_is_wide(dtype));
    mxn_cast(value, dtype, sum, MXN_FLOAT32, count);
}
