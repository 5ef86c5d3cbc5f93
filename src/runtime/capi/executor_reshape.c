// SPDX-License-Identifier: Apache-2.0
// The arrays of an executor that is reshaped: parts of those that are there, or new ones.
#include "base/fail.h"
#include "runtime/capi/executor_simple.h"

// The original's words, letter by letter: programs look for them.
static int refuse_change(const char *what, const char *name)
{
    return mxp__fail(MXP_EINVAL,
                     "Shape of unspecifie %s: %s changed. This can cause the new executor to not "
                     "share parameters with the old one. Please check for error in network.If this "
                     "is intended, set partial_shaping=True to suppress this warning.",
                     what, name);
}

static int refuse_size(const char *what, const char *name)
{
    return mxp__fail(MXP_EINVAL,
                     "New shape of %s: %s is larger than original.First making a big executor and "
                     "then down sizing it is more efficient than the reverse.If you really want to "
                     "up size, set allow_up_sizing=True to enable allocation of new arrays.",
                     what, name);
}

static int check_change(const mxn_simple *s, uint32_t place, const mxn_array *old, const char *what,
                        const char *name)
{
    const mxn_shape *shape = &s->inferred.shapes[place];
    const mxn_simple_request *from = s->from;
    const bool is_named = mxn__name_place(from->shape_names, from->shape_count, name) >= 0;
    if (!is_named && !from->partial_shaping && !mxn_shape_equal(shape, &old->shape)) {
        return refuse_change(what, name);
    }
    const bool is_larger = mxn_shape_size(shape) > mxn_array_size(old);
    return is_larger && !from->up_sizing ? refuse_size(what, name) : MXP_OK;
}

static int reshape(const mxn_simple *s, uint32_t place, mxn_array *old, mxn_array **to)
{
    const mxn_shape *shape = &s->inferred.shapes[place];
    return mxn_shape_size(shape) > mxn_array_size(old) ? mxn__simple_zeros(s, place, to)
                                                       : mxn_array_view(old, shape, old->dtype, to);
}

static int reshape_argument(mxn_simple *s, uint32_t i)
{
    const uint32_t count = s->arguments.count;
    mxn_array *const *old = s->reshaped->arrays;
    int error = check_change(s, i, old[i], "arg", s->arguments.items[i]);
    if (error == MXP_OK) {
        error = reshape(s, i, old[i], &s->arrays[i]);
    }
    if (error == MXP_OK && old[count + i] != NULL) {
        error = reshape(s, i, old[count + i], &s->arrays[count + i]);
    }
    return error;
}

int mxn__simple_reshape_arrays(mxn_simple *s)
{
    const uint32_t arguments = s->arguments.count;
    int error = MXP_OK;
    for (uint32_t i = 0; i < arguments && error == MXP_OK; i++) {
        error = reshape_argument(s, i);
    }
    for (uint32_t i = 0; i < s->auxiliary.count && error == MXP_OK; i++) {
        const uint32_t place = s->inferred.arguments + s->inferred.outputs + i;
        mxn_array *old = s->reshaped->arrays[2 * arguments + i];
        error = check_change(s, place, old, "aux", s->auxiliary.items[i]);
        if (error == MXP_OK) {
            error = reshape(s, place, old, &s->arrays[2 * arguments + i]);
        }
    }
    return error;
}
