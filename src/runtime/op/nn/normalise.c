// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/nn/normalise.h"

#include "runtime/op/registry/infer.h"

int mxn__normalised_shapes(const mxn_shapes *shapes, int32_t wanted, int32_t *axis,
                           mxn_shape *along)
{
    const mxn_shape *data = shapes->inputs[0];
    *axis = -1;
    int error = mxn__shape_output(shapes, 0, data);
    if (error != 0 || data->ndim < 0) {
        return error;
    }
    error = mxn__axis(shapes->params, wanted, data->ndim, axis);
    if (error == 0) {
        *along = (mxn_shape){.ndim = 1, .dims = {data->dims[*axis]}};
    }
    return error;
}

int mxn__normalised_view(const mxn_job *job, uint32_t input, int32_t axis, mxn_axis_view *view)
{
    const mxn_operand *data = &job->inputs[input];
    int error = mxn__axis_view_along(job->params, axis, data->shape, view);
    return error == 0 ? mxn__real_type(job, data->dtype) : error;
}
