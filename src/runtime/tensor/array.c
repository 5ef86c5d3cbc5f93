// SPDX-License-Identifier: Apache-2.0
// Birth and death of arrays and buffers. A buffer lies in the slot of the array it was made with;
// the slot goes back when the array is dead and the buffer's variable has ended, whichever is later
// (an array that is a view has no use for its own buffer).
#include <assert.h>

#include "base/atomic.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "runtime/tensor/array_state.h"

// ---- buffers -----------------------------------------------------------------------------------
static mxn_array *slot_of(mxn_buffer *buffer)
{
    return (mxn_array *)(void *)((char *)buffer - offsetof(mxn_array, own));
}

// The end of the variable: nobody can know the buffer any more.
static void end_buffer(void *argument)
{
    mxn_buffer *buffer = argument;
    mxn_array *source = buffer->source;
    mxn_storage_free(buffer->block);
    buffer->block = NULL;
    mxp_atomic_store(&buffer->data, NULL);
    mxp_atomic_store(&buffer->state, (uint32_t)MXN__BUFFER_NONE);
    mxn__array_put_back(slot_of(buffer));
    mxn_array_release(source);
}

static void drop_buffer(mxn_buffer *buffer)
{
    if (mxp__refs_drop(&buffer->refs)) {
        mxn_var *var = buffer->var;
        mxn_var_delete(var, end_buffer, buffer, mxn_context_engine_device(buffer->context));
    }
}

static int allocate_first(mxn_buffer *buffer)
{
    assert(buffer->block == NULL && buffer->source == NULL);
    mxn_allocation *block = NULL;
    int error = mxn_storage_alloc(mxn__context_storage_device(buffer->context), buffer->bytes,
                                  &buffer->tag, &block);
    buffer->block = block;
    if (error == MXP_OK && block != NULL) {
        mxp_atomic_store_release(&buffer->data, block->data);  // pairs: mxn_buffer_data
    }
    mxp_atomic_store_release(&buffer->state,
                             (uint32_t)(error == MXP_OK ? MXN__BUFFER_READY : MXN__BUFFER_EMPTY));
    return error;
}

// Readers of an array that nobody has written may come here together: one allocates.
int mxn__buffer_allocate(mxn_buffer *buffer)
{
    for (;;) {
        uint32_t state = MXN__BUFFER_EMPTY;
        if (mxp_atomic_cas_acquire(&buffer->state, &state, (uint32_t)MXN__BUFFER_ALLOCATING)) {
            return allocate_first(buffer);
        }
        if (state == MXN__BUFFER_READY) {
            return MXP_OK;
        }
        mxp__os_yield();
    }
}

// ---- arrays -----------------------------------------------------------------------------------
static int check_new(const mxn_shape *shape, int dtype, mxn_context context)
{
    int error = mxn_context_check(context);
    if (error == MXP_OK) {
        error = mxn_dtype_check(dtype);
    }
    if (error == MXP_OK && (!mxn_shape_known(shape) || !mxn_shape_countable(shape))) {
        char text[MXN_SHAPE_TEXT];
        error = mxp__fail(MXP_EINVAL,
                          mxn_shape_known(shape) ? "an array of shape %s has too many elements"
                                                 : "an array cannot be made with the unknown shape "
                                                   "%s",
                          mxn_shape_tuple(shape, text));
    }
    return error;
}

static int make_buffer(mxn_array *array, const mxn_shape *shape, int dtype, mxn_context context,
                       const mxn_tag *tag)
{
    uint64_t size = mxn_shape_size(shape);
    if (size > UINT64_MAX / 2 / mxn_dtype_size(dtype)) {
        return mxp__fail(MXP_EINVAL, "an array of %llu elements of %s is too large",
                         (unsigned long long)size, mxn_dtype_name(dtype));
    }
    mxn_var *var = mxn_var_new();
    if (var == NULL) {
        return MXP_ENOMEM;
    }
    mxn_buffer *buffer = &array->own;
    buffer->var = var;
    mxp_atomic_set(&buffer->data, NULL);
    buffer->block = NULL;
    buffer->source = NULL;
    buffer->bytes = size * mxn_dtype_size(dtype);
    mxp_atomic_store(&buffer->host_writes, 0u);
    mxp_atomic_store(&buffer->recorded, 0u);
    buffer->context = context;
    buffer->tag =
        tag != NULL ? *tag : (mxn_tag){.scope = mxp_scope_current(), .category = MXN_MEMORY_INPUT};
    mxp__refs_init(&buffer->refs);
    mxp_atomic_store(&buffer->state, (uint32_t)MXN__BUFFER_EMPTY);
    mxn_shape_copy(&array->shape, shape);
    array->dtype = dtype;
    array->buffer = buffer;
    return MXP_OK;
}

int mxn_array_new_none(mxn_array **array)
{
    *array = mxn__array_take();
    return *array != NULL ? MXP_OK : mxp__fail_memory("an array");
}

int mxn_array_new(const mxn_shape *shape, int dtype, mxn_context context, const mxn_tag *tag,
                  bool delay, mxn_array **array)
{
    *array = NULL;
    int error = check_new(shape, dtype, context);
    mxn_array *made = NULL;
    if (error == MXP_OK) {
        error = mxn_array_new_none(&made);
    }
    if (error == MXP_OK) {
        error = make_buffer(made, shape, dtype, context, tag);
    }
    if (error == MXP_OK && !delay) {
        error = mxn__buffer_allocate(made->buffer);
    }
    if (error != MXP_OK) {
        mxn_array_release(made);
        return error;
    }
    *array = made;
    return MXP_OK;
}

int mxn_array_init(mxn_array *array, const mxn_shape *shape, int dtype, mxn_context context,
                   const mxn_tag *tag)
{
    if (!mxn_array_is_none(array)) {
        return mxp__fail(MXP_ESTATE, "the array has a shape and type already");
    }
    int error = check_new(shape, dtype, context);
    return error == MXP_OK ? make_buffer(array, shape, dtype, context, tag) : error;
}

// Nobody allocates meanwhile: an operation may be about to.
int mxn_array_name_memory(mxn_array *array, mxp_name name)
{
    uint32_t state = MXN__BUFFER_EMPTY;
    if (mxn_array_is_none(array) ||
        !mxp_atomic_cas_acquire(&array->buffer->state, &state, (uint32_t)MXN__BUFFER_ALLOCATING)) {
        return mxp__fail(MXP_ESTATE, "only the memory of an array that has a shape and has none "
                                     "yet can be named: make it with delay_alloc");
    }
    array->buffer->tag.name = name;
    mxp_atomic_store_release(&array->buffer->state, (uint32_t)MXN__BUFFER_EMPTY);
    return MXP_OK;
}

static void release_attachments(mxn_array *array)
{
    for (int i = 0; i < MXN_ATTACHMENTS; i++) {
        mxn_attachment attached = array->attachments[i];
        array->attachments[i] = (mxn_attachment){0};
        if (attached.release != NULL) {
            attached.release(attached.data);
        }
    }
}

void mxn_array_release(mxn_array *array)
{
    if (array == NULL || !mxp__refs_drop(&array->refs)) {
        return;
    }
    release_attachments(array);
    mxp_atomic_store(&array->check, mxn__array_word(array, MXN__ARRAY_DEAD));
    mxn_buffer *buffer = array->buffer;
    if (buffer != NULL) {
        drop_buffer(buffer);  // may put the slot back, if it is the array's own
    }
    if (buffer != &array->own) {
        mxn__array_put_back(array);
    }
}

int mxn_array_check(const void *handle, const char *what)
{
    if (handle == NULL) {
        return mxp__fail(MXP_EHANDLE, "%s is a null handle: an array was expected", what);
    }
    if (!mxn__array_may_be_at(handle)) {
        return mxp__fail(MXP_EHANDLE, "%s (%p) is no handle of an array", what, handle);
    }
    const mxn_array *array = handle;
    uint64_t check = mxp_atomic_load(&array->check);
    if (check == mxn__array_word(array, MXN__ARRAY_ALIVE)) {
        return MXP_OK;
    }
    return mxp__fail(MXP_EHANDLE, "%s (%p) %s", what, handle,
                     check == mxn__array_word(array, MXN__ARRAY_DEAD)
                         ? "is an array that has been freed"
                         : "is no handle of an array, or is that of one that has been freed");
}

mxn_context mxn_array_context(const mxn_array *array)
{
    return array->buffer != NULL ? array->buffer->context : (mxn_context){0, 0};
}

int mxn_array_data(const mxn_array *array, void **data)
{
    if (mxn_array_is_none(array)) {
        return mxp__fail(MXP_ESTATE, "the array is empty: it has no shape and no values yet");
    }
    mxn_buffer_ref ref = mxn_array_memory(array);
    return mxn_buffer_data(&ref, data);
}

int mxn_array_data_exposed(const mxn_array *array, void **data)
{
    int error = mxn_array_data(array, data);
    if (error == MXP_OK) {
        mxp_atomic_store(&array->buffer->host_writes, MXN_HOST_WRITES_ANY);
    }
    return error;
}
