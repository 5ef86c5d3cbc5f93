// SPDX-License-Identifier: Apache-2.0
// Inference of shapes and types: the check around an operator's own rules, and the rules that
// families share.
#include "runtime/op/registry/infer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "runtime/op/registry/operator_state.h"

enum { OPERAND_TEXT = 96 };

// "input 1 'weight'", "output 0".
static const char *operand_text(const mxn_params *params, const char *what, uint32_t index,
                                char text[OPERAND_TEXT])
{
    char name[64];
    if (strcmp(what, "input") == 0) {
        snprintf(text, OPERAND_TEXT, "%s %u '%s'", what, index,
                 mxn_params_input_name(params, index, name));
    } else {
        snprintf(text, OPERAND_TEXT, "%s %u", what, index);
    }
    return text;
}

int mxn__shape_merge(const mxn_params *params, const char *what, uint32_t index, mxn_shape *to,
                     const mxn_shape *from)
{
    if (from->ndim < 0) {
        return 0;
    }
    bool fits = to->ndim < 0 || to->ndim == from->ndim;
    for (int32_t i = 0; fits && to->ndim >= 0 && i < from->ndim; i++) {
        fits = to->dims[i] < 0 || from->dims[i] < 0 || to->dims[i] == from->dims[i];
    }
    if (!fits) {
        char operand[OPERAND_TEXT], is[MXN_SHAPE_TEXT], wanted[MXN_SHAPE_TEXT];
        return mxp__fail(MXP_EINVAL, "Operator %s: %s has shape %s, it must be %s",
                         params->op->name, operand_text(params, what, index, operand),
                         mxn_shape_tuple(to, is), mxn_shape_tuple(from, wanted));
    }
    if (to->ndim < 0) {
        mxn_shape_copy(to, from);
        return 0;
    }
    for (int32_t i = 0; i < from->ndim; i++) {
        to->dims[i] = to->dims[i] < 0 ? from->dims[i] : to->dims[i];
    }
    return 0;
}

int mxn__type_merge(const mxn_params *params, const char *what, uint32_t index, int32_t *to,
                    int32_t from)
{
    if (from == MXN_DTYPE_NONE || *to == from) {
        return 0;
    }
    if (*to == MXN_DTYPE_NONE) {
        *to = from;
        return 0;
    }
    char operand[OPERAND_TEXT];
    return mxp__fail(MXP_EINVAL, "Operator %s: %s has type %s, it must be %s", params->op->name,
                     operand_text(params, what, index, operand), mxn_dtype_name(*to),
                     mxn_dtype_name(from));
}

int mxn__shape_refused(const mxn_shapes *shapes, uint32_t index, const char *format, ...)
{
    char why[256], name[64], shape[MXN_SHAPE_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return mxp__fail(MXP_EINVAL, "Operator %s: input %u '%s' of shape %s: %s",
                     shapes->params->op->name, index,
                     mxn_params_input_name(shapes->params, index, name),
                     mxn_shape_tuple(shapes->inputs[index], shape), why);
}

static int size_refused(const mxn_params *params, int64_t a, const char *sign, int64_t b)
{
    return mxp__fail(MXP_EINVAL, "Operator %s: a size of %lld %s %lld is too large",
                     params->op->name, (long long)a, sign, (long long)b);
}

int mxn__dim_mul(const mxn_params *params, int64_t a, int64_t b, int64_t *result)
{
    bool wraps = __builtin_mul_overflow(a, b, result);
    return wraps || *result > MXN_SIZE_LIMIT ? size_refused(params, a, "times", b) : 0;
}

int mxn__dim_add(const mxn_params *params, int64_t a, int64_t b, int64_t *result)
{
    bool wraps = __builtin_add_overflow(a, b, result);
    return wraps || *result > MXN_SIZE_LIMIT ? size_refused(params, a, "and", b) : 0;
}

int mxn__shapes_alike(const mxn_shapes *shapes)
{
    const mxn_params *params = shapes->params;
    mxn_shape known = {.ndim = -1};
    int error = 0;
    // Twice, so that what the last one knows reaches the first one.
    for (int round = 0; round < 2 && error == 0; round++) {
        for (uint32_t i = 0; i < params->input_count && error == 0; i++) {
            error = mxn__shape_merge(params, "input", i, shapes->inputs[i], &known);
            mxn_shape_copy(&known, shapes->inputs[i]);
        }
        for (uint32_t i = 0; i < params->output_count && error == 0; i++) {
            error = mxn__shape_output(shapes, i, &known);
            mxn_shape_copy(&known, shapes->outputs[i]);
        }
        // An output may have told what a single input did not know.
        bool is_told = params->input_count == 1 && mxn_shape_known(shapes->inputs[0]);
        if (is_told || params->input_count == 0) {
            break;
        }
    }
    return error;
}

int mxn__types_alike(const mxn_types *types)
{
    const mxn_params *params = types->params;
    int32_t known = MXN_DTYPE_NONE;
    for (uint32_t i = 0; i < params->input_count && known == MXN_DTYPE_NONE; i++) {
        known = types->inputs[i];
    }
    for (uint32_t i = 0; i < params->output_count && known == MXN_DTYPE_NONE; i++) {
        known = types->outputs[i];
    }
    int error = 0;
    for (uint32_t i = 0; i < params->input_count && error == 0; i++) {
        error = mxn__type_merge(params, "input", i, &types->inputs[i], known);
    }
    for (uint32_t i = 0; i < params->output_count && error == 0; i++) {
        error = mxn__type_merge(params, "output", i, &types->outputs[i], known);
    }
    return error;
}

int mxn__shapes_given(const mxn_shapes *shapes)
{
    (void)shapes;
    return 0;
}

int mxn__types_given(const mxn_types *types)
{
    (void)types;
    return 0;
}

void mxn__values_kept(void *values)
{
    (void)values;
}

int mxn__types_bool(const mxn_types *types)
{
    mxn_params inputs_only = {.op = types->params->op, .input_count = types->params->input_count};
    const mxn_types inputs = {&inputs_only, types->inputs, types->outputs};
    int error = mxn__types_alike(&inputs);
    for (uint32_t i = 0; i < types->params->output_count && error == 0; i++) {
        error = mxn__type_merge(types->params, "output", i, &types->outputs[i], MXN_BOOL);
    }
    return error;
}

int mxn__types_of_first(const mxn_types *types)
{
    int error = 0;
    for (uint32_t i = 0; i < types->params->output_count && error == 0; i++) {
        error = mxn__type_merge(types->params, "output", i, &types->outputs[i], types->inputs[0]);
    }
    return error;
}

// Of a dimension that is not known yet (-1) the other one is all that can be said.
static bool broadcast_dim(int64_t left, int64_t right, int64_t *dim)
{
    if (left == right || right == 1) {
        *dim = left;
        return true;
    }
    if (left == 1) {
        *dim = right;
        return true;
    }
    *dim = left > right ? left : right;
    return left < 0 || right < 0;
}

int mxn__broadcast_merge(const mxn_shapes *shapes, uint32_t index, mxn_shape *result)
{
    const mxn_shape *in = shapes->inputs[index];
    const mxn_shape before = *result;
    result->ndim = in->ndim > before.ndim ? in->ndim : before.ndim;
    for (int32_t i = 1; i <= result->ndim; i++) {
        int64_t left = i <= before.ndim ? before.dims[before.ndim - i] : 1;
        int64_t right = i <= in->ndim ? in->dims[in->ndim - i] : 1;
        if (!broadcast_dim(left, right, &result->dims[result->ndim - i])) {
            char other[MXN_SHAPE_TEXT];
            return mxn__shape_refused(shapes, index, "cannot be broadcast with shape %s",
                                      mxn_shape_tuple(&before, other));
        }
    }
    return 0;
}

int mxn__shapes_broadcast(const mxn_shapes *shapes)
{
    mxn_shape result = {.ndim = 0};
    for (uint32_t i = 0; i < shapes->params->input_count; i++) {
        int error = shapes->inputs[i]->ndim < 0 ? 0 : mxn__broadcast_merge(shapes, i, &result);
        if (error != 0 || shapes->inputs[i]->ndim < 0) {
            return error;
        }
    }
    return mxn__shape_output(shapes, 0, &result);
}

int mxn__axis(const mxn_params *params, int64_t axis, int32_t ndim, int32_t *result)
{
    if (axis < -(int64_t)ndim || axis >= ndim) {
        return mxp__fail(MXP_EINVAL, "Operator %s: axis %lld is out of range for %d dimensions",
                         params->op->name, (long long)axis, ndim);
    }
    *result = (int32_t)(axis < 0 ? axis + ndim : axis);
    return 0;
}

uint32_t mxn__one(const void *values)
{
    (void)values;
    return 1;
}

uint32_t mxn__two(const void *values)
{
    (void)values;
    return 2;
}

uint32_t mxn__three(const void *values)
{
    (void)values;
    return 3;
}

// Whether everything is known; without `complete` anything unknown is an error.
static int check_known(const mxn_shapes *shapes, const mxn_types *types, bool *complete)
{
    const mxn_params *params = shapes->params;
    char name[64];
    bool known = true;
    for (uint32_t i = 0; i < params->input_count && known; i++) {
        known = mxn_shape_known(shapes->inputs[i]) && types->inputs[i] != MXN_DTYPE_NONE;
        if (!known && complete == NULL) {
            return mxp__fail(MXP_EINVAL, "Operator %s: input %u '%s' has no known %s",
                             params->op->name, i, mxn_params_input_name(params, i, name),
                             types->inputs[i] != MXN_DTYPE_NONE ? "shape" : "type");
        }
    }
    for (uint32_t i = 0; i < params->output_count && known; i++) {
        known = mxn_shape_known(shapes->outputs[i]) && types->outputs[i] != MXN_DTYPE_NONE;
        if (!known && complete == NULL) {
            return mxp__fail(MXP_EINVAL, "Operator %s: the %s of output %u cannot be inferred",
                             params->op->name,
                             types->outputs[i] != MXN_DTYPE_NONE ? "shape" : "type", i);
        }
    }
    if (complete != NULL) {
        *complete = known;
    }
    return 0;
}

int mxn__params_refuse_type(const mxn_params *params, int32_t dtype)
{
    return mxp__fail(MXP_EINVAL, "Operator %s does not take type %s", params->op->name,
                     mxn_dtype_name(dtype));
}

static int check_taken(const mxn_types *types, uint32_t takes)
{
    int32_t dtype = (takes & MXN_TAKES_OF_INPUT) != 0 ? types->inputs[0] : types->outputs[0];
    bool taken = dtype == MXN_DTYPE_NONE || (takes >> dtype & 1) != 0;
    return taken ? 0 : mxn__params_refuse_type(types->params, dtype);
}

static int size_refused_of(const mxn_params *params, const char *what, uint32_t index,
                           const mxn_shape *shape)
{
    char operand[OPERAND_TEXT], text[MXN_SHAPE_TEXT];
    return mxp__fail(
        MXP_EINVAL, "Operator %s: %s would be of shape %s, which has too many elements",
        params->op->name, operand_text(params, what, index, operand), mxn_shape_tuple(shape, text));
}

int mxn_op_size_refused(const mxn_params *params, uint32_t output, const mxn_shape *shape)
{
    return size_refused_of(params, "output", output, shape);
}

static int check_sizes(const mxn_params *params, const char *what, mxn_shape *const *of,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!mxn_shape_countable(of[i])) {
            return size_refused_of(params, what, i, of[i]);
        }
    }
    return 0;
}

// Of a graph, whose other operators multiply these sizes without another look.
static int check_all_sizes(const mxn_shapes *shapes)
{
    const mxn_params *params = shapes->params;
    int error = check_sizes(params, "output", shapes->outputs, params->output_count);
    return error != 0 ? error : check_sizes(params, "input", shapes->inputs, params->input_count);
}

int mxn_op_infer(const mxn_params *params, mxn_shape *const *input_shapes, int32_t *input_types,
                 mxn_shape *const *output_shapes, int32_t *output_types, bool *complete)
{
    const mxn_op_state *state = params->op->state;
    const mxn_shapes shapes = {params, input_shapes, output_shapes, complete == NULL};
    const mxn_types types = {params, input_types, output_types};
    int error = state->infer_shapes(&shapes);
    if (error == 0 && complete != NULL) {
        error = check_all_sizes(&shapes);
    }
    if (error == 0) {
        error = state->infer_types(&types);
    }
    if (error == 0 && state->takes != MXN_TAKES_ALL) {
        error = check_taken(&types, state->takes);
    }
    return error != 0 ? error : check_known(&shapes, &types, complete);
}
