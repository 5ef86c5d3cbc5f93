// SPDX-License-Identifier: Apache-2.0
// Inference of custom operators: the property's functions are asked, and what they answer must
// agree with what is known.
#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/op/custom/custom_property.h"
#include "runtime/op/registry/infer.h"

typedef int (*shapes_function)(int count, int *ndims, int **shapes, void *state);
typedef int (*types_function)(int count, int *types, void *state);

static const mxn_custom *custom_of(const mxn_params *params)
{
    return ((const mxn_custom_params *)(const void *)params->values)->custom;
}

// ---- order ------------------------------------------------------------------------------------
// What an inference is about, in the order of the callbacks: arguments, outputs, states.
static uint32_t input_at(const mxn_custom *custom, uint32_t position)
{
    return position < custom->arguments ? position : position - custom->outputs;
}

static bool is_output(const mxn_custom *custom, uint32_t position)
{
    return position >= custom->arguments && position < custom->arguments + custom->outputs;
}

static uint32_t total_of(const mxn_custom *custom)
{
    return custom->arguments + custom->outputs + custom->states;
}

// ---- shapes -----------------------------------------------------------------------------------
int mxn__shape_lists_init(mxn_shape_lists *lists, uint32_t count)
{
    lists->bytes = count * (sizeof(int *) + sizeof(int) * (2 + MXN_DIMS_MAX));
    lists->shapes = mxp__alloc(lists->bytes);
    if (lists->shapes == NULL) {
        return mxp__fail_memory("the shapes of a custom operator");
    }
    lists->ndims = (int *)(lists->shapes + count);
    lists->types = lists->ndims + count;
    lists->dims = lists->types + count;
    for (uint32_t i = 0; i < count; i++) {
        lists->shapes[i] = lists->dims + (size_t)i * MXN_DIMS_MAX;
    }
    return 0;
}

void mxn__shape_lists_fini(mxn_shape_lists *lists)
{
    mxp__free(lists->shapes, lists->bytes);
}

void mxn__shape_lists_put(mxn_shape_lists *lists, uint32_t at, const mxn_shape *shape)
{
    lists->ndims[at] = shape->ndim;
    for (int32_t i = 0; i < shape->ndim; i++) {
        lists->shapes[at][i] = (int)shape->dims[i];
    }
}

static int take_shape(const mxn_shapes *shapes, const mxn_custom *custom,
                      const mxn_shape_lists *lists, uint32_t at)
{
    int64_t wide[MXN_DIMS_MAX];
    mxn_shape shape;
    for (int i = 0; i < lists->ndims[at] && i < MXN_DIMS_MAX; i++) {
        wide[i] = lists->shapes[at][i];
    }
    int error = mxn_shape_set(&shape, lists->ndims[at], wide, custom->name);
    if (error != 0) {
        return error;
    }
    if (is_output(custom, at)) {
        uint32_t output = at - custom->arguments;
        return mxn__shape_merge(shapes->params, "output", output, shapes->outputs[output], &shape);
    }
    uint32_t input = input_at(custom, at);
    return mxn__shape_merge(shapes->params, "input", input, shapes->inputs[input], &shape);
}

static int ask_shapes(const mxn_shapes *shapes, const mxn_custom *custom, mxn_shape_lists *lists)
{
    void *context;
    uint32_t total = total_of(custom);
    shapes_function function =
        (shapes_function)mxn__callback_at(&custom->callbacks, MXN__PROPERTY_SHAPES, &context);
    for (uint32_t i = 0; i < custom->arguments; i++) {
        mxn__shape_lists_put(lists, i, shapes->inputs[i]);
    }
    if (function == NULL || function((int)total, lists->ndims, lists->shapes, context) == 0) {
        return mxn__custom_failed(custom, "inference of shapes");
    }
    int error = 0;
    for (uint32_t i = 0; error == 0 && i < total; i++) {
        error = take_shape(shapes, custom, lists, i);
    }
    return error;
}

int mxn__custom_shapes(const mxn_shapes *shapes)
{
    const mxn_custom *custom = custom_of(shapes->params);
    for (uint32_t i = 0; i < custom->arguments; i++) {
        if (!mxn_shape_known(shapes->inputs[i])) {
            return 0;
        }
    }
    mxn_shape_lists lists = {0};
    int error = mxn__shape_lists_init(&lists, total_of(custom));
    if (error == 0) {
        error = ask_shapes(shapes, custom, &lists);
        mxn__shape_lists_fini(&lists);
    }
    return error;
}

// ---- types ------------------------------------------------------------------------------------
static int take_types(const mxn_types *types, const mxn_custom *custom, const int *list)
{
    int error = 0;
    for (uint32_t i = 0; error == 0 && i < total_of(custom); i++) {
        uint32_t output = i - custom->arguments, input = input_at(custom, i);
        error = mxn_dtype_check(list[i]);
        if (error == 0) {
            error = is_output(custom, i) ? mxn__type_merge(types->params, "output", output,
                                                           &types->outputs[output], list[i])
                                         : mxn__type_merge(types->params, "input", input,
                                                           &types->inputs[input], list[i]);
        }
    }
    return error;
}

int mxn__custom_types(const mxn_types *types)
{
    const mxn_custom *custom = custom_of(types->params);
    void *context;
    types_function function =
        (types_function)mxn__callback_at(&custom->callbacks, MXN__PROPERTY_TYPES, &context);
    if (function == NULL) {
        return mxn__types_alike(types);
    }
    uint32_t total = total_of(custom);
    for (uint32_t i = 0; i < custom->arguments; i++) {
        if (types->inputs[i] == MXN_DTYPE_NONE) {
            return 0;
        }
    }
    int *list = mxp__alloc(total * sizeof(int));
    if (list == NULL) {
        return mxp__fail_memory("the types of a custom operator");
    }
    for (uint32_t i = 0; i < total; i++) {
        list[i] = i < custom->arguments ? types->inputs[i] : MXN_DTYPE_NONE;
    }
    int error = function((int)total, list, context) == 0
                    ? mxn__custom_failed(custom, "inference of types")
                    : take_types(types, custom, list);
    mxp__free(list, total * sizeof(int));
    return error;
}
