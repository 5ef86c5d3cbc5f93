// SPDX-License-Identifier: Apache-2.0
// Arrays of memory that is not ours. The buffer has no block; its source is an array without
// memory whose attachment is the owner, so that the owner is let go of where any buffer ends:
// after the last operation on it.
#include "base/atomic.h"
#include "base/fail.h"
#include "runtime/tensor/array_state.h"

int mxn_array_new_foreign(const mxn_shape *shape, int dtype, mxn_context context, void *data,
                          mxn_attachment owner, mxn_array **array)
{
    mxn_array *keeper = NULL;
    int error = mxn_array_new(shape, dtype, context, NULL, true, array);
    if (error == MXP_OK) {
        error = mxn_array_new_none(&keeper);
    }
    if (error != MXP_OK) {
        mxn_array_release(*array);
        *array = NULL;
        return error;
    }
    keeper->attachments[0] = owner;
    mxn_buffer *buffer = (*array)->buffer;
    buffer->source = keeper;
    mxp_atomic_store(&buffer->host_writes, MXN_HOST_WRITES_ANY);
    mxp_atomic_store_release(&buffer->data, data);  // pairs with mxn_buffer_data
    mxp_atomic_store_release(&buffer->state, (uint32_t)MXN__BUFFER_READY);
    return MXP_OK;
}
