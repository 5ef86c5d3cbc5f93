// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/loops/type_promotion.h"

#include "base/fail.h"
#include "runtime/op/loops/binary_loops.h"
#include "runtime/op/registry/infer.h"

// A row and a column for each type, in the order of their numbers.
#define F4 MXN_FLOAT32
#define F8 MXN_FLOAT64
#define F2 MXN_FLOAT16
#define B2 MXN_BFLOAT16
#define T1 MXN_BOOL
#define I1 MXN_INT8
#define I2 MXN_INT16
#define I4 MXN_INT32
#define I8 MXN_INT64
#define U1 MXN_UINT8
#define U2 MXN_UINT16
#define U4 MXN_UINT32
#define U8 MXN_UINT64

static const uint8_t table[MXN_DTYPE_COUNT][MXN_DTYPE_COUNT] = {
    // F4, F8, F2, U1, I4, I1, I8, T1, I2, U2, U4, U8, B2
    [F4] = {F4, F8, F4, F4, F4, F4, F4, F4, F4, F4, F4, F4, F4},
    [F8] = {F8, F8, F8, F8, F8, F8, F8, F8, F8, F8, F8, F8, F8},
    [F2] = {F4, F8, F2, F2, F2, F2, F2, F2, F2, F2, F2, F2, F4},
    [U1] = {F4, F8, F2, U1, I4, I2, I8, U1, I2, U2, U4, U8, B2},
    [I4] = {F4, F8, F2, I4, I4, I4, I8, I4, I4, I4, I8, F8, B2},
    [I1] = {F4, F8, F2, I2, I4, I1, I8, I1, I2, I4, I8, F8, B2},
    [I8] = {F4, F8, F2, I8, I8, I8, I8, I8, I8, I8, I8, F8, B2},
    [T1] = {F4, F8, F2, U1, I4, I1, I8, T1, I2, U2, U4, U8, B2},
    [I2] = {F4, F8, F2, I2, I4, I2, I8, I2, I2, I4, I8, F8, B2},
    [U2] = {F4, F8, F2, U2, I4, I4, I8, U2, I4, U2, U4, U8, B2},
    [U4] = {F4, F8, F2, U4, I8, I8, I8, U4, I8, U4, U4, U8, B2},
    [U8] = {F4, F8, F2, U8, F8, F8, F8, U8, F8, U8, U8, U8, B2},
    [B2] = {F4, F8, F4, B2, B2, B2, B2, B2, B2, B2, B2, B2, B2},
};

int32_t mxn__type_of_two(int32_t a, int32_t b)
{
    return table[a][b];
}

// ---- inference ----------------------------------------------------------------------------------
int mxn__types_of_two(const mxn_types *types)
{
    if (types->inputs[0] == MXN_DTYPE_NONE || types->inputs[1] == MXN_DTYPE_NONE) {
        return mxn__types_alike(types);
    }
    int32_t type = mxn__type_of_two(types->inputs[0], types->inputs[1]);
    bool divides = types->params->op->def->variant == MXN_DIV_OF;
    type = divides && !mxn_dtype_is_float(type) ? MXN_FLOAT32 : type;
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0], type);
}

int mxn__types_of_two_float(const mxn_types *types)
{
    if (types->inputs[0] == MXN_DTYPE_NONE || types->inputs[1] == MXN_DTYPE_NONE) {
        return mxn__types_alike(types);
    }
    int32_t type = mxn__type_of_two(types->inputs[0], types->inputs[1]);
    return mxn__type_merge(types->params, "output", 0, &types->outputs[0],
                           mxn_dtype_is_float(type) ? type : MXN_FLOAT32);
}

int mxn__types_of_two_whole(const mxn_types *types)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (types->inputs[i] != MXN_DTYPE_NONE && mxn_dtype_is_float(types->inputs[i])) {
            return mxp__fail(MXP_EINVAL,
                             "TypeError: Operator %s: input %u has type %s, it must be whole",
                             types->params->op->name, i, mxn_dtype_name(types->inputs[i]));
        }
    }
    int32_t a = types->inputs[0], b = types->inputs[1];
    if (a != MXN_DTYPE_NONE && b != MXN_DTYPE_NONE && mxn_dtype_is_float(mxn__type_of_two(a, b))) {
        return mxp__fail(MXP_EINVAL, "TypeError: Operator %s: no whole type holds both %s and %s",
                         types->params->op->name, mxn_dtype_name(a), mxn_dtype_name(b));
    }
    return mxn__types_of_two(types);
}

int mxn__types_truth(const mxn_types *types)
{
    return types->outputs[0] != MXN_DTYPE_NONE
               ? 0
               : mxn__type_merge(types->params, "output", 0, &types->outputs[0], MXN_BOOL);
}
