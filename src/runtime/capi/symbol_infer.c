// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that infer shapes and types of symbols: the same for shapes of 32 and of 64
// bits, whose lists differ in the width of their numbers alone.
#include <limits.h>
#include <mxnet/c_api_symbol.h>
#include <string.h>

#include "base/alloc.h"
#include "runtime/capi/symbol_handle.h"
#include "runtime/capi/thread_buffer.h"
#include "runtime/imperative/thread_mode.h"

// ---- what is known ----------------------------------------------------------------------------
typedef struct told {
    mx_uint count;
    const char **keys;
    const void *first, *sizes;  // compressed rows
    bool wide;  // of int64_t
} told;

static int64_t number_at(const void *numbers, bool wide, size_t index)
{
    return wide ? ((const int64_t *)numbers)[index] : ((const int32_t *)numbers)[index];
}

int mxn__take_shape(mx_uint i, const void *sizes, bool wide, int64_t begin, int64_t end,
                    mxn_shape *shape)
{
    const bool numpy = mxn_numpy_shape();
    if (begin < 0 || end < begin || end - begin > MXN_DIMS_MAX) {
        return mxp__fail(MXP_EINVAL, "shape %u has %lld sizes: from 0 to %d are possible", i,
                         (long long)(end - begin), MXN_DIMS_MAX);
    }
    shape->ndim = end == begin && !numpy ? -1 : (int32_t)(end - begin);
    for (int64_t j = begin; j < end; j++) {
        const int64_t size = number_at(sizes, wide, (size_t)j);
        shape->dims[j - begin] = size < 0 || (size == 0 && !numpy) ? -1 : size;
    }
    return MXP_OK;
}

static int take_shape(const told *from, mx_uint i, mxn_shape *shape)
{
    return mxn__take_shape(i, from->sizes, from->wide, number_at(from->first, from->wide, i),
                           number_at(from->first, from->wide, i + 1), shape);
}

static int check_told(const told *from)
{
    int error = from->count > 0 ? mxn__check_given(from->first, "arg_ind_ptr") : MXP_OK;
    for (mx_uint i = 0; i < from->count && from->keys != NULL && error == MXP_OK; i++) {
        error = mxn__check_given(from->keys[i], "keys");
    }
    if (error == MXP_OK && from->count > 0 && number_at(from->first, from->wide, from->count) > 0) {
        error = mxn__check_given(from->sizes, "arg_shape_data");
    }
    return error;
}

static int infer_shapes(const mxn_symbol *symbol, const told *from, mxn_inferred *inferred)
{
    int error = check_told(from);
    const size_t bytes = from->count * sizeof(mxn_shape) + 1;
    mxn_shape *shapes = error == MXP_OK ? mxp__alloc(bytes) : NULL;
    if (error == MXP_OK && shapes == NULL) {
        error = mxp__fail_memory("shapes");
    }
    for (mx_uint i = 0; i < from->count && error == MXP_OK; i++) {
        error = take_shape(from, i, &shapes[i]);
    }
    if (error == MXP_OK) {
        const mxn_known known = {from->count, from->keys, shapes, NULL};
        error = mxn_symbol_infer(symbol, &known, inferred);
    }
    mxp__free(shapes, bytes);
    return error;
}

// ---- what is given out ------------------------------------------------------------------------
typedef struct given {
    void *count;  // mx_uint, or size_t if wide
    const int **ndim;
    void *sizes;  // where the list of lists goes
} given;

// One thread's buffer: pointers to sizes, then sizes, then ranks.
typedef struct giving {
    const mxn_inferred *inferred;
    bool wide, numpy;
    char *pointers, *sizes;
    int *ranks;
} giving;

static size_t width_of(bool wide)
{
    return wide ? sizeof(int64_t) : sizeof(int32_t);
}

static int begin_giving(giving *to)
{
    const mxn_inferred *all = to->inferred;
    const size_t count = (size_t)all->arguments + all->outputs + all->auxiliary;
    size_t sizes = 0;
    for (size_t i = 0; i < count; i++) {
        sizes += all->shapes[i].ndim > 0 ? (size_t)all->shapes[i].ndim : 0;
    }
    const size_t pointer_bytes = count * sizeof(void *);
    const size_t size_bytes = sizes * width_of(to->wide);
    to->pointers =
        mxn__thread_buffer(MXN_BUFFER_INFERRED, pointer_bytes + size_bytes + count * sizeof(int));
    if (to->pointers == NULL) {
        return MXP_ENOMEM;
    }
    to->sizes = to->pointers + pointer_bytes;
    to->ranks = (int *)(void *)(to->sizes + size_bytes);
    return MXP_OK;
}

static void give_shape(giving *to, const mxn_shape *shape)
{
    const int64_t unknown = to->numpy ? -1 : 0;
    memcpy(to->pointers, &to->sizes, sizeof(void *));
    to->pointers += sizeof(void *);
    *to->ranks++ = shape->ndim < 0 && !to->numpy ? 0 : shape->ndim;
    for (int32_t i = 0; i < shape->ndim; i++) {
        const int64_t size = shape->dims[i] < 0 ? unknown : shape->dims[i];
        const int32_t narrow = (int32_t)size;
        memcpy(to->sizes, to->wide ? (const void *)&size : &narrow, width_of(to->wide));
        to->sizes += width_of(to->wide);
    }
}

static int give_group(giving *to, const mxn_shape *shapes, uint32_t count, const given *out)
{
    for (uint32_t i = 0; i < count; i++) {
        for (int32_t j = 0; j < shapes[i].ndim && !to->wide; j++) {
            if (shapes[i].dims[j] > INT_MAX) {
                return mxp__fail(MXP_EINVAL, "a size of %lld does not fit into 32 bits: ask for 64",
                                 (long long)shapes[i].dims[j]);
            }
        }
    }
    const size_t wide_count = count;
    memcpy(out->count, to->wide ? (const void *)&wide_count : &count,
           to->wide ? sizeof wide_count : sizeof count);
    memcpy(out->sizes, &to->pointers, sizeof(void *));
    *out->ndim = to->ranks;
    for (uint32_t i = 0; i < count; i++) {
        give_shape(to, &shapes[i]);
    }
    return MXP_OK;
}

static int give_shapes(const mxn_inferred *all, bool wide, const given out[3])
{
    giving to = {.inferred = all, .wide = wide, .numpy = mxn_numpy_shape()};
    const uint32_t counts[] = {all->arguments, all->outputs, all->auxiliary};
    const mxn_shape *shapes = all->shapes;
    int error = begin_giving(&to);
    for (int i = 0; i < 3 && error == MXP_OK; i++) {
        error = give_group(&to, shapes, counts[i], &out[i]);
        shapes += counts[i];
    }
    return error;
}

static int shapes_of(SymbolHandle handle, const told *from, const given out[3], bool partial,
                     int *complete)
{
    mxn_symbol *symbol;
    mxn_inferred inferred;
    int error = mxn__symbol_get_for(handle, complete, &symbol);
    for (int i = 0; i < 3 && error == MXP_OK; i++) {
        const bool there = out[i].count != NULL && out[i].ndim != NULL && out[i].sizes != NULL;
        error = mxn__check_given(there ? out : NULL, "an output parameter of the inference");
    }
    if (error == MXP_OK) {
        error = infer_shapes(symbol, from, &inferred);
    }
    if (error != MXP_OK) {
        return error;
    }
    error = give_shapes(&inferred, from->wide, out);
    *complete = partial || inferred.shapes_complete;
    mxn_inferred_fini(&inferred);
    return error;
}

// The functions that take what is known call it complete, whatever it is, as MXNet's do: its front
// ends give out nothing else.
#define MXN_INFER_SHAPE(name, first_type, size_type, count_type, wide, partial)                    \
    int name(SymbolHandle sym, mx_uint num_args, const char **keys, const first_type *arg_ind_ptr, \
             const size_type *arg_shape_data, count_type *in_shape_size,                           \
             const int **in_shape_ndim, const size_type ***in_shape_data,                          \
             count_type *out_shape_size, const int **out_shape_ndim,                               \
             const size_type ***out_shape_data, count_type *aux_shape_size,                        \
             const int **aux_shape_ndim, const size_type ***aux_shape_data, int *complete)         \
    {                                                                                              \
        MXN_API_CALL();                                                                            \
        const told from = {num_args, keys, arg_ind_ptr, arg_shape_data, wide};                     \
        const given out[] = {{in_shape_size, in_shape_ndim, (void *)in_shape_data},                \
                             {out_shape_size, out_shape_ndim, (void *)out_shape_data},             \
                             {aux_shape_size, aux_shape_ndim, (void *)aux_shape_data}};            \
        return mxn__api_end(&call, shapes_of(sym, &from, out, partial, complete));                 \
    }

MXN_INFER_SHAPE(MXSymbolInferShape, mx_uint, int, mx_uint, false, false)
MXN_INFER_SHAPE(MXSymbolInferShapeEx, mx_uint, int, mx_uint, false, false)
MXN_INFER_SHAPE(MXSymbolInferShapePartial, mx_uint, int, mx_uint, false, true)
MXN_INFER_SHAPE(MXSymbolInferShapePartialEx, mx_uint, int, mx_uint, false, true)
MXN_INFER_SHAPE(MXSymbolInferShape64, int64_t, int64_t, size_t, true, false)
MXN_INFER_SHAPE(MXSymbolInferShapeEx64, int64_t, int64_t, size_t, true, false)
MXN_INFER_SHAPE(MXSymbolInferShapePartial64, int64_t, int64_t, size_t, true, true)
MXN_INFER_SHAPE(MXSymbolInferShapePartialEx64, int64_t, int64_t, size_t, true, true)

// ---- types ------------------------------------------------------------------------------------
typedef struct types_out {
    mx_uint *counts[3];
    const int **types[3];
} types_out;

static int check_types(mx_uint count, const char **keys, const int *types)
{
    int error = count > 0 ? mxn__check_given(types, "arg_type_data") : MXP_OK;
    for (mx_uint i = 0; i < count && error == MXP_OK; i++) {
        error = keys != NULL ? mxn__check_given(keys[i], "keys") : MXP_OK;
        if (error == MXP_OK && types[i] != MXN_DTYPE_NONE) {
            error = mxn_dtype_check(types[i]);
        }
    }
    return error;
}

static int give_types(const mxn_inferred *all, const types_out *out)
{
    const uint32_t counts[] = {all->arguments, all->outputs, all->auxiliary};
    const size_t bytes = ((size_t)counts[0] + counts[1] + counts[2]) * sizeof(int);
    int *types = mxn__thread_buffer(MXN_BUFFER_INFERRED_TYPES, bytes);
    if (types == NULL) {
        return MXP_ENOMEM;
    }
    if (bytes > 0) {
        memcpy(types, all->types, bytes);
    }
    for (int i = 0; i < 3; i++) {
        *out->counts[i] = counts[i];
        *out->types[i] = types;
        types += counts[i];
    }
    return MXP_OK;
}

static int types_of(SymbolHandle handle, const mxn_known *known, const types_out *out, bool partial,
                    int *complete)
{
    mxn_symbol *symbol;
    mxn_inferred inferred;
    int error = mxn__symbol_get_for(handle, complete, &symbol);
    for (int i = 0; i < 3 && error == MXP_OK; i++) {
        const bool there = out->counts[i] != NULL && out->types[i] != NULL;
        error = mxn__check_given(there ? out : NULL, "an output parameter of the inference");
    }
    if (error == MXP_OK) {
        error = check_types(known->count, (const char **)known->keys, known->types);
    }
    if (error == MXP_OK) {
        error = mxn_symbol_infer(symbol, known, &inferred);
    }
    if (error != MXP_OK) {
        return error;
    }
    error = give_types(&inferred, out);
    *complete = partial || inferred.types_complete;
    mxn_inferred_fini(&inferred);
    return error;
}

#define MXN_INFER_TYPE(name, partial)                                                         \
    int name(SymbolHandle sym, mx_uint num_args, const char **keys, const int *arg_type_data, \
             mx_uint *in_type_size, const int **in_type_data, mx_uint *out_type_size,         \
             const int **out_type_data, mx_uint *aux_type_size, const int **aux_type_data,    \
             int *complete)                                                                   \
    {                                                                                         \
        MXN_API_CALL();                                                                       \
        const mxn_known known = {num_args, keys, NULL, arg_type_data};                        \
        const types_out out = {{in_type_size, out_type_size, aux_type_size},                  \
                               {in_type_data, out_type_data, aux_type_data}};                 \
        return mxn__api_end(&call, types_of(sym, &known, &out, partial, complete));           \
    }

MXN_INFER_TYPE(MXSymbolInferType, false)
MXN_INFER_TYPE(MXSymbolInferTypePartial, true)
