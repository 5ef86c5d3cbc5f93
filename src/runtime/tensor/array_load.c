// SPDX-License-Identifier: Apache-2.0
// Reading files of arrays (array_file.h), from a file or from memory. Nothing a file says is
// believed: no memory is taken for more than what is left to read.
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/tensor/array_file.h"
#include "runtime/tensor/array_state.h"

typedef struct loader {
    const char *path;  // for errors
    FILE *file;  // or, if null,
    const char *memory;  // the rest of it
    uint64_t offset, left;  // `left` is the most there can be
} loader;

static int damaged(const loader *from, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int damaged(const loader *from, const char *format, ...)
{
    char reason[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return mxp__fail(MXP_EFORMAT, "Invalid NDArray file format: '%s' at byte %" PRIu64 ": %s",
                     from->path, from->offset, reason);
}

static int get(loader *from, void *data, uint64_t size_bytes)
{
    if (size_bytes > from->left) {
        return damaged(from, "it ends where %" PRIu64 " more bytes should be", size_bytes);
    }
    if (from->file == NULL) {
        memcpy(data, from->memory, size_bytes);
        from->memory += size_bytes;
    } else if (fread(data, 1, size_bytes, from->file) != size_bytes) {
        return ferror(from->file)
                   ? mxp__fail(MXP_EIO, "cannot read '%s': %s", from->path, strerror(errno))
                   : damaged(from, "it ends where %" PRIu64 " more bytes should be", size_bytes);
    }
    from->offset += size_bytes;
    from->left -= size_bytes;
    return MXP_OK;
}

static int get_i32(loader *from, int32_t *value)
{
    return get(from, value, sizeof *value);
}

static int get_u64(loader *from, uint64_t *value)
{
    return get(from, value, sizeof *value);
}

// ---- one array --------------------------------------------------------------------------------
static int get_dims(loader *from, int32_t ndim, bool wide, mxn_shape *shape)
{
    if (ndim < -1 || ndim > MXN_DIMS_MAX) {
        return damaged(from, "an array of %" PRId32 " dimensions (at most %d are possible)", ndim,
                       MXN_DIMS_MAX);
    }
    int64_t dims[MXN_DIMS_MAX];
    for (int32_t i = 0; i < ndim; i++) {
        uint32_t narrow = 0;
        int error = wide ? get(from, &dims[i], sizeof dims[i]) : get(from, &narrow, sizeof narrow);
        if (error != MXP_OK) {
            return error;
        }
        dims[i] = wide ? dims[i] : (int64_t)narrow;
        if (dims[i] < 0) {
            return damaged(from, "dimension %" PRId32 " is negative", i);
        }
    }
    int error = mxn_shape_set(shape, ndim, dims, "a shape in the file");
    return error == MXP_OK ? MXP_OK : damaged(from, "the shape has too many elements");
}

// Rank -1 of *shape: a none array, nothing more of it follows.
static int get_shape(loader *from, mxn_shape *shape)
{
    uint32_t magic = 0;
    int32_t ndim = 0, storage = 0;
    int error = get(from, &magic, sizeof magic);
    bool versioned = magic == MXN__ARRAY_V1 || magic == MXN__ARRAY_V2 || magic == MXN__ARRAY_V3;
    if (error == MXP_OK && (magic == MXN__ARRAY_V2 || magic == MXN__ARRAY_V3)) {
        error = get_i32(from, &storage);
    }
    if (error == MXP_OK && versioned) {
        error = get_i32(from, &ndim);
    }
    if (error != MXP_OK) {
        return error;
    }
    if (!versioned && magic > MXN_DIMS_MAX) {
        return damaged(from, "0x%08" PRIx32 " is not the beginning of an array", magic);
    }
    ndim = versioned ? ndim : (int32_t)magic;
    bool none = magic == MXN__ARRAY_V3 ? ndim == -1 : ndim == 0;
    if (none) {
        shape->ndim = -1;
        return MXP_OK;
    }
    if (storage == 1 || storage == 2) {
        return mxp__fail(MXP_ENOTSUP, "'%s' at byte %" PRIu64 ": %s arrays cannot be loaded yet",
                         from->path, from->offset, storage == 1 ? "row_sparse" : "csr");
    }
    if (storage != 0 || ndim < 0) {
        return damaged(from, "storage type %" PRId32 " of rank %" PRId32, storage, ndim);
    }
    return get_dims(from, ndim, versioned, shape);
}

static int make_array(loader *from, const mxn_shape *shape, int32_t dtype, mxn_array **array)
{
    if (!mxn_dtype_known(dtype)) {
        return damaged(from, "dtype %" PRId32 " is unknown", dtype);
    }
    uint64_t size = mxn_shape_size(shape);
    if (size > from->left / mxn_dtype_size(dtype)) {
        return damaged(from, "it ends where %" PRIu64 " elements of %s should be", size,
                       mxn_dtype_name(dtype));
    }
    mxn_tag tag = {.scope = mxp_scope_current(), .category = MXN_MEMORY_PARAMETER};
    return mxn_array_new(shape, dtype, (mxn_context){MXN_CPU, 0}, &tag, false, array);
}

static int get_array(loader *from, mxn_array **array)
{
    mxn_shape shape;
    int32_t device_type, device_id, dtype;
    int error = get_shape(from, &shape);
    *array = NULL;
    if (error != MXP_OK || shape.ndim == -1) {
        return error;
    }
    if ((error = get_i32(from, &device_type)) != MXP_OK ||
        (error = get_i32(from, &device_id)) != MXP_OK ||
        (error = get_i32(from, &dtype)) != MXP_OK ||
        (error = make_array(from, &shape, dtype, array)) != MXP_OK) {
        return error;
    }
    void *data;
    uint64_t size = mxn_shape_size(&shape);
    error = mxn_array_data(*array, &data);
    return error == MXP_OK && size > 0 ? get(from, data, size * mxn_dtype_size(dtype)) : error;
}

// ---- the list ---------------------------------------------------------------------------------
static int get_count(loader *from, const char *what, uint64_t least_bytes, uint64_t *count)
{
    int error = get_u64(from, count);
    if (error == MXP_OK && *count > from->left / least_bytes) {
        error = damaged(from, "it is too short for %" PRIu64 " %s", *count, what);
    }
    return error;
}

static int get_arrays(loader *from, mxn_array_list *list)
{
    uint64_t count;
    int error = get_count(from, "arrays", sizeof(uint32_t), &count);
    if (error != MXP_OK || count == 0) {
        return error;
    }
    if (count > SIZE_MAX / sizeof *list->arrays ||
        (list->arrays = mxp__alloc(count * sizeof *list->arrays)) == NULL) {
        return mxp__fail_memory("the list of arrays of a file");
    }
    list->count = count;
    for (uint64_t i = 0; error == MXP_OK && i < count; i++) {
        error = get_array(from, &list->arrays[i]);
    }
    return error;
}

static int get_name(loader *from, char **name)
{
    uint64_t length;
    int error = get_count(from, "bytes of a name", 1, &length);
    if (error != MXP_OK) {
        return error;
    }
    char *text = mxp__alloc(length + 1);
    if (text == NULL) {
        return mxp__fail_memory("a name in a file");
    }
    error = get(from, text, length);
    *name = error == MXP_OK ? mxp__strdup(text) : NULL;  // ends at a zero inside
    mxp__free(text, length + 1);
    return error == MXP_OK && *name == NULL ? mxp__fail_memory("a name in a file") : error;
}

static int get_names(loader *from, mxn_array_list *list)
{
    uint64_t count;
    int error = get_count(from, "names", sizeof(uint64_t), &count);
    if (error != MXP_OK || count == 0) {
        return error;
    }
    if (count != list->count) {
        return damaged(from, "%" PRIu64 " names for %" PRIu64 " arrays", count, list->count);
    }
    if ((list->names = mxp__alloc(count * sizeof *list->names)) == NULL) {
        return mxp__fail_memory("the names of a file");
    }
    for (uint64_t i = 0; error == MXP_OK && i < count; i++) {
        error = get_name(from, &list->names[i]);
    }
    return error;
}

static int get_list(loader *from, mxn_array_list *list)
{
    uint64_t magic, reserved;
    *list = (mxn_array_list){0};
    int error = get_u64(from, &magic);
    if (error == MXP_OK && magic != MXN__LIST_MAGIC) {
        error = damaged(from, "it does not begin like a list of arrays");
    }
    if (error == MXP_OK && (error = get_u64(from, &reserved)) == MXP_OK &&
        (error = get_arrays(from, list)) == MXP_OK) {
        error = get_names(from, list);
    }
    if (error != MXP_OK) {
        mxn_array_list_fini(list);
    }
    return error;
}

void mxn_array_list_fini(mxn_array_list *list)
{
    for (uint64_t i = 0; i < list->count; i++) {
        mxn_array_release(list->arrays[i]);
        if (list->names != NULL) {
            mxp__strfree(list->names[i]);
        }
    }
    mxp__free(list->arrays, list->count * sizeof *list->arrays);
    mxp__free(list->names, list->count * sizeof *list->names);
    *list = (mxn_array_list){0};
}

int mxn_arrays_load_bytes(const void *data, uint64_t size_bytes, mxn_array_list *list)
{
    *list = (mxn_array_list){0};
    if (data == NULL && size_bytes > 0) {
        return mxp__fail(MXP_EINVAL, "load: the memory to load from is null");
    }
    loader from = {.path = "<memory>", .memory = data, .left = size_bytes};
    return get_list(&from, list);
}

int mxn_arrays_load(const char *path, mxn_array_list *list)
{
    *list = (mxn_array_list){0};
    if (path == NULL) {
        return mxp__fail(MXP_EINVAL, "load: the file name is null");
    }
    loader from = {.path = path, .file = fopen(path, "rb"), .left = UINT64_MAX};
    if (from.file == NULL) {
        return mxp__fail(MXP_EIO, "Open \"%s\": %s", path, strerror(errno));
    }
    struct stat status;
    if (fstat(fileno(from.file), &status) == 0 && S_ISREG(status.st_mode)) {
        from.left = (uint64_t)status.st_size;
    }
    int error = get_list(&from, list);
    fclose(from.file);
    return error;
}

int mxn_array_load_bytes(const void *data, uint64_t size_bytes, mxn_array **array)
{
    loader from = {.path = "<memory>", .memory = data, .left = size_bytes};
    int error = get_array(&from, array);
    if (error == MXP_OK && *array == NULL) {
        error = mxn_array_new_none(array);
    }
    if (error != MXP_OK) {
        mxn_array_release(*array);
        *array = NULL;
    }
    return error;
}
