// SPDX-License-Identifier: Apache-2.0
// Aliases: the memory of an array under another variable. The buffer of an alias has no block; it
// keeps a reference on the array whose memory it shows, and gets the address when that is known to
// be there.
#include "base/atomic.h"
#include "base/fail.h"
#include "runtime/tensor/array_state.h"

static int make_first(mxn_array *array, mxn_array **alias)
{
    int error =
        mxn_array_new(&array->shape, array->dtype, mxn_array_context(array), NULL, true, alias);
    if (error == MXP_OK) {
        mxn_array_retain(array);
        mxn_buffer *buffer = (*alias)->buffer;
        buffer->source = array;
        (*alias)->offset_bytes = array->offset_bytes;
    }
    return error;
}

int mxn_array_alias(mxn_array *array, mxn_array *beside, mxn_array **alias)
{
    *alias = NULL;
    if (mxn_array_is_none(array)) {
        return mxp__fail(MXP_EINVAL, "alias: the array is empty: it has no shape and no values");
    }
    if (beside == NULL) {
        return make_first(array, alias);
    }
    int error = mxn_array_detach(beside, alias);
    if (error == MXP_OK) {
        mxn_shape_copy(&(*alias)->shape, &array->shape);
        (*alias)->dtype = array->dtype;
        (*alias)->offset_bytes = array->offset_bytes;
    }
    return error;
}

int mxn_array_alias_open(mxn_array *alias)
{
    mxn_buffer *buffer = alias->buffer;
    if (mxp_atomic_load(&buffer->state) == MXN__BUFFER_READY) {
        return MXP_OK;  // opened with another alias of the same memory
    }
    const mxn_buffer_ref whole = {buffer->source->buffer, 0};
    void *data = NULL;
    int error = mxn_buffer_data(&whole, &data);
    if (error == MXP_OK) {
        mxp_atomic_store_release(&buffer->data, data);  // pairs with mxn_buffer_data
        mxp_atomic_store_release(&buffer->state, (uint32_t)MXN__BUFFER_READY);
    }
    return error;
}
