// SPDX-License-Identifier: Apache-2.0
// Writing files of arrays (array_file.h). A regular file is written beside its place under another
// name and renamed, so that a failure leaves the old one; anything else is written in place.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/fail.h"
#include "base/os/new_file.h"
#include "runtime/tensor/array_file.h"
#include "runtime/tensor/array_state.h"

typedef struct writer {
    FILE *file;
    bool failed;
} writer;

static void put(writer *to, const void *data, size_t size_bytes)
{
    to->failed =
        to->failed || (size_bytes > 0 && fwrite(data, 1, size_bytes, to->file) != size_bytes);
}

static void put_u32(writer *to, uint32_t value)
{
    put(to, &value, sizeof value);
}

static void put_u64(writer *to, uint64_t value)
{
    put(to, &value, sizeof value);
}

static int check_array(const mxn_array *array, uint64_t index, bool numpy)
{
    char what[48];
    snprintf(what, sizeof what, "save: array %llu", (unsigned long long)index);
    int error = mxn_array_check(array, what);
    bool plain = error == MXP_OK && (mxn_array_is_none(array) || mxn_array_size(array) > 0);
    bool scalar = error == MXP_OK && array->shape.ndim == 0;
    if (error == MXP_OK && !numpy && (!plain || scalar)) {
        char shape[MXN_SHAPE_TEXT];
        error = mxp__fail(MXP_EINVAL,
                          "%s has shape %s, which the file format knows only with numpy semantics: "
                          "turn them on to save it (MXSetIsNumpyShape)",
                          what, mxn_shape_tuple(&array->shape, shape));
    }
    return error;
}

static void put_none(writer *to, bool numpy)
{
    put_u32(to, numpy ? UINT32_MAX : 0);
}

static int put_array(writer *to, const mxn_array *array, bool numpy)
{
    put_u32(to, numpy ? MXN__ARRAY_V3 : MXN__ARRAY_V2);
    put_u32(to, 0);
    if (mxn_array_is_none(array)) {
        put_none(to, numpy);
        return MXP_OK;
    }
    void *data = NULL;
    int error = mxn_array_wait_read(array);
    if (error == MXP_OK) {
        error = mxn_array_data(array, &data);
    }
    if (error != MXP_OK) {
        return error;
    }
    put_u32(to, (uint32_t)array->shape.ndim);
    for (int32_t i = 0; i < array->shape.ndim; i++) {
        put_u64(to, (uint64_t)array->shape.dims[i]);
    }
    put_u32(to, (uint32_t)array->buffer->context.type);
    put_u32(to, (uint32_t)array->buffer->context.id);
    put_u32(to, (uint32_t)array->dtype);
    put(to, data, mxn_array_size(array) * mxn_dtype_size(array->dtype));
    return MXP_OK;
}

static int put_list(writer *to, uint64_t count, mxn_array *const *arrays, const char *const *names,
                    bool numpy)
{
    put_u64(to, MXN__LIST_MAGIC);
    put_u64(to, 0);
    put_u64(to, count);
    for (uint64_t i = 0; i < count && !to->failed; i++) {
        int error = put_array(to, arrays[i], numpy);
        if (error != MXP_OK) {
            return error;
        }
    }
    put_u64(to, names != NULL ? count : 0);
    for (uint64_t i = 0; names != NULL && i < count; i++) {
        put_u64(to, strlen(names[i]));
        put(to, names[i], strlen(names[i]));
    }
    return MXP_OK;
}

static int fail_file(const char *action, const char *path)
{
    return mxp__fail(MXP_EIO, "cannot %s '%s': %s", action, path, mxp__descriptor_reason());
}

// Writes all to `file`, which it closes. `path` names it in the error.
static int write_all(FILE *file, const char *path, uint64_t count, mxn_array *const *arrays,
                     const char *const *names, bool numpy)
{
    writer to = {.file = file};
    errno = 0;
    int error = put_list(&to, count, arrays, names, numpy);
    int problem = errno;
    if (fclose(to.file) != 0 && !to.failed) {
        to.failed = true;
        problem = errno;
    }
    errno = problem;
    return error == MXP_OK && to.failed ? fail_file("write", path) : error;
}

static int write_in_place(const char *path, uint64_t count, mxn_array *const *arrays,
                          const char *const *names, bool numpy)
{
    FILE *file = fopen(path, "wb");
    return file != NULL ? write_all(file, path, count, arrays, names, numpy)
                        : fail_file("open", path);
}

// The program may close the number meanwhile: a descriptor then writes nothing.
static ssize_t write_new(void *descriptor, const char *data, size_t size_bytes)
{
    return (ssize_t)mxp__descriptor_write(descriptor, data, size_bytes);
}

static int replace(const char *path, uint64_t count, mxn_array *const *arrays,
                   const char *const *names, bool numpy)
{
    mxp_new_file made;
    if (!mxp__new_file_open(&made, path, 0666)) {
        return fail_file("open", path);
    }
    FILE *file = fopencookie(&made.descriptor, "wb", (cookie_io_functions_t){.write = write_new});
    int error = file != NULL ? write_all(file, path, count, arrays, names, numpy)
                             : mxp__fail_memory("a file of arrays");
    if (error == MXP_OK &&
        mxp__new_file_finish(&made, path, MXP__PUBLISH_REPLACE) != MXP__PUBLISHED) {
        error = fail_file("replace", path);
    }
    mxp__new_file_discard(&made);
    return error;
}

int mxn_arrays_save(const char *path, uint64_t count, mxn_array *const *arrays,
                    const char *const *names, bool numpy)
{
    if (path == NULL || (count > 0 && arrays == NULL)) {
        return mxp__fail(MXP_EINVAL, "save: the %s is null", path == NULL ? "file name" : "list");
    }
    for (uint64_t i = 0; i < count; i++) {
        int error = check_array(arrays[i], i, numpy);
        if (error == MXP_OK && names != NULL && names[i] == NULL) {
            error = mxp__fail(MXP_EINVAL, "save: name %llu is null", (unsigned long long)i);
        }
        if (error != MXP_OK) {
            return error;
        }
    }
    struct stat status;
    bool special = lstat(path, &status) == 0 && !S_ISREG(status.st_mode);
    return special ? write_in_place(path, count, arrays, names, numpy)
                   : replace(path, count, arrays, names, numpy);
}

// ---- one array --------------------------------------------------------------------------------
static ssize_t write_bytes(void *bytes, const char *data, size_t size_bytes)
{
    mxp_strbuf *to = bytes;
    mxp__strbuf_append(to, data, size_bytes);
    return to->failed ? 0 : (ssize_t)size_bytes;
}

int mxn_array_save_bytes(mxn_array *array, bool numpy, mxp_strbuf *bytes)
{
    int error = check_array(array, 0, numpy);
    if (error != MXP_OK) {
        return error;
    }
    FILE *file = fopencookie(bytes, "wb", (cookie_io_functions_t){.write = write_bytes});
    if (file == NULL) {
        return mxp__fail_memory("the bytes of an array");
    }
    writer to = {.file = file};
    error = put_array(&to, array, numpy);
    const bool failed = fclose(file) != 0 || to.failed;
    return error == MXP_OK && failed ? mxp__fail_memory("the bytes of an array") : error;
}
