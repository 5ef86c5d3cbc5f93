// SPDX-License-Identifier: Apache-2.0
// Values in and out: waits, host copies by the calling thread, copies and fills by the engine.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/name_once.h"
#include "runtime/tensor/array_state.h"

// ---- waits and host copies --------------------------------------------------------------------
int mxn_array_wait_read(const mxn_array *array)
{
    return mxn_array_is_none(array) ? MXP_OK : mxn_var_wait(array->buffer->var);
}

int mxn_array_wait_write(const mxn_array *array)
{
    return mxn_array_is_none(array) ? MXP_OK : mxn_var_wait_write(array->buffer->var);
}

static int check_host_copy(const mxn_array *array, const void *data, uint64_t count)
{
    uint64_t size = mxn_array_size(array);
    if (mxn_array_is_none(array)) {
        return mxp__fail(MXP_EINVAL, "the array is empty: it has no shape and no values yet");
    }
    if (count != size) {
        char text[MXN_SHAPE_TEXT];
        return mxp__fail(MXP_EINVAL,
                         "Check failed: dshape.Size() == size (%" PRIu64 " vs. %" PRIu64
                         ") : Memory size do not match: the array has shape %s",
                         size, count, mxn_shape_tuple(&array->shape, text));
    }
    if (data == NULL && size > 0) {
        return mxp__fail(MXP_EINVAL, "the host memory of a copy is null");
    }
    return MXP_OK;
}

// Counting must not arrive at "any".
static void count_host_write(mxn_buffer *buffer)
{
    uint32_t writes = mxn_buffer_host_writes(buffer);
    while (writes != MXN_HOST_WRITES_ANY &&
           !mxp_atomic_cas(&buffer->host_writes, &writes, (writes + 1) % MXN_HOST_WRITES_ANY)) {
    }
}

int mxn_array_copy_in(mxn_array *array, const void *data, uint64_t count)
{
    int error = check_host_copy(array, data, count);
    if (error != MXP_OK || count == 0) {
        return error;
    }
    void *to = NULL;
    error = mxn_array_wait_write(array);
    if (error == MXP_OK) {
        error = mxn_array_data(array, &to);
    }
    if (error == MXP_OK) {
        memcpy(to, data, count * mxn_dtype_size(array->dtype));
        count_host_write(array->buffer);
    }
    return error;
}

int mxn_array_copy_out(const mxn_array *array, void *data, uint64_t count)
{
    int error = check_host_copy(array, data, count);
    if (error != MXP_OK || count == 0) {
        return error;
    }
    void *from = NULL;
    error = mxn_array_wait_read(array);
    if (error == MXP_OK) {
        error = mxn_array_data(array, &from);
    }
    if (error == MXP_OK) {
        memcpy(data, from, count * mxn_dtype_size(array->dtype));
    }
    return error;
}

// ---- operations -------------------------------------------------------------------------------
typedef struct copy_job {
    mxn_buffer_ref from, to;
    int32_t from_dtype, to_dtype;
    uint64_t count;
} copy_job;

typedef struct fill_job {
    mxn_buffer_ref to;
    int32_t dtype;
    uint64_t count;
    double value;
} fill_job;

static void free_copy(void *argument)
{
    mxp__free(argument, sizeof(copy_job));
}

static void free_fill(void *argument)
{
    mxp__free(argument, sizeof(fill_job));
}

static int run_copy(const mxn_run *run, void *argument)
{
    (void)run;
    const copy_job *job = argument;
    void *from, *to;
    int error = mxn_buffer_data(&job->from, &from);
    if (error == MXP_OK) {
        error = mxn_buffer_data(&job->to, &to);
    }
    if (error == MXP_OK) {
        mxn_cast(to, job->to_dtype, from, job->from_dtype, job->count);
    }
    return error;
}

static int run_fill(const mxn_run *run, void *argument)
{
    (void)run;
    const fill_job *job = argument;
    void *to;
    int error = mxn_buffer_data(&job->to, &to);
    if (error == MXP_OK) {
        mxn_fill(to, job->dtype, job->value, job->count);
    }
    return error;
}

static void apply_options(mxn_work *work, const mxn_push_options *options)
{
    if (options != NULL) {
        work->priority = options->priority;
        work->flags |= options->flags;
        work->scope = options->scope;
    }
}

static int check_copy(mxn_array *from, mxn_array *to)
{
    if (mxn_array_is_none(from)) {
        return mxp__fail(MXP_EINVAL, "copy: the source array is empty: it has no values yet");
    }
    if (mxn_array_is_none(to)) {
        return mxn_array_init(to, &from->shape, from->dtype, mxn_array_context(from), NULL);
    }
    if (!mxn_shape_equal(&from->shape, &to->shape)) {
        char source[MXN_SHAPE_TEXT], target[MXN_SHAPE_TEXT];
        return mxp__fail(MXP_EINVAL, "operands shape mismatch from.shape = %s to.shape=%s",
                         mxn_shape_text(&from->shape, source), mxn_shape_text(&to->shape, target));
    }
    return MXP_OK;
}

static bool is_same(const mxn_array *from, const mxn_array *to)
{
    return mxn_array_shares(from, to) && from->offset_bytes == to->offset_bytes &&
           from->dtype == to->dtype;
}

static int push_copy(mxn_array *from, mxn_array *to, mxp_name name, const mxn_push_options *options)
{
    uint64_t count = mxn_array_size(from);
    if (count == 0 || is_same(from, to)) {
        return MXP_OK;
    }
    if (mxn_array_shares(from, to) && from->dtype != to->dtype) {
        return mxp__fail(MXP_EINVAL, "copy: views of one array with types %s and %s may overlap",
                         mxn_dtype_name(from->dtype), mxn_dtype_name(to->dtype));
    }
    copy_job *job = mxp__realloc(NULL, 0, sizeof *job);
    if (job == NULL) {
        return mxp__fail_memory("a copy");
    }
    *job = (copy_job){mxn_array_memory(from), mxn_array_memory(to), from->dtype, to->dtype, count};
    mxn_var *reads[] = {from->buffer->var}, *writes[] = {to->buffer->var};
    mxn_work work = {
        .function.sync = run_copy,
        .form = MXN_SYNC,
        .argument = job,
        .deleter = free_copy,
        .reads = reads,
        .writes = writes,
        .read_count = !mxn_array_shares(from, to),
        .write_count = 1,
        .device = mxn_context_engine_device(from->buffer->context),
        .name = name,
        .bytes = (float)count * (float)(mxn_dtype_size(from->dtype) + mxn_dtype_size(to->dtype)),
    };
    apply_options(&work, options);
    return mxn_push(&work);
}

int mxn_array_copy(mxn_array *from, mxn_array *to, const mxn_push_options *options)
{
    static mxp_atomic_u32 name;
    int error = check_copy(from, to);
    return error == MXP_OK
               ? push_copy(from, to, mxp__span_name_once(&name, "operator", "CopyCPU2CPU"), options)
               : error;
}

int mxn_array_copy_wait(mxn_array *from, mxn_array *to)
{
    static mxp_atomic_u32 name;
    int error = check_copy(from, to);
    if (error == MXP_OK) {
        error = push_copy(
            from, to, mxp__span_name_once(&name, "operator", "SyncCopyFromNDArrayCPU2CPU"), NULL);
    }
    return error == MXP_OK ? mxn_array_wait_read(to) : error;
}

int mxn_array_fill(mxn_array *array, double value, const mxn_push_options *options)
{
    static mxp_atomic_u32 name;
    if (mxn_array_is_none(array)) {
        return mxp__fail(MXP_EINVAL, "the array to fill is empty: it has no shape yet");
    }
    fill_job *job = mxp__realloc(NULL, 0, sizeof *job);
    if (job == NULL) {
        return mxp__fail_memory("a fill");
    }
    *job = (fill_job){mxn_array_memory(array), array->dtype, mxn_array_size(array), value};
    mxn_var *writes[] = {array->buffer->var};
    mxn_work work = {
        .function.sync = run_fill,
        .form = MXN_SYNC,
        .argument = job,
        .deleter = free_fill,
        .writes = writes,
        .write_count = 1,
        .device = mxn_context_engine_device(array->buffer->context),
        .name = mxp__span_name_once(&name, "operator", "SetValueOp"),
        .bytes = (float)job->count * (float)mxn_dtype_size(array->dtype),
    };
    apply_options(&work, options);
    return mxn_push(&work);
}
