// SPDX-License-Identifier: Apache-2.0
// Shapes, types and requests of a simple binding: what the program says by name, and what follows.
#include <string.h>

#include "base/alloc.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/executor_simple.h"
#include "runtime/capi/symbol_handle.h"

int64_t mxn__name_place(const char *const *names, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

static int place_of(const mxn_simple *s, const char *name, const char *what, int64_t *place)
{
    int error = mxn__check_given(name, what);
    if (error != MXP_OK) {
        return error;
    }
    *place = mxn__name_place(s->arguments.items, s->arguments.count, name);
    return *place >= 0 ? MXP_OK
                       : mxp__fail(MXP_EINVAL, "%s: the network has no argument '%s'", what, name);
}

// ---- requests ---------------------------------------------------------------------------------
static int take_request(const char *word, uint32_t *request)
{
    static const char *const words[] = {"null", "write", "inplace", "add"};
    int error = mxn__check_given(word, "provided_grad_req_types");
    const int64_t place = error == MXP_OK ? mxn__name_place(words, 4, word) : -1;
    if (error == MXP_OK && place < 0) {
        error =
            mxp__fail(MXP_EINVAL,
                      "grad_req is '%s', valid values are 'null', 'write', 'inplace', 'add'", word);
    }
    *request = place >= 0 ? (uint32_t)place : (uint32_t)MXN_NULL;
    return error;
}

static int take_named_requests(mxn_simple *s)
{
    int error = MXP_OK;
    for (mx_uint i = 0; i < s->from->request_count && error == MXP_OK; i++) {
        int64_t place = 0;
        error = place_of(s, s->from->request_names[i], "provided_grad_req_names", &place);
        if (error == MXP_OK) {
            error = take_request(s->from->request_types[i], &s->requests[place]);
        }
    }
    return error;
}

static int take_requests(mxn_simple *s)
{
    const mxn_simple_request *from = s->from;
    int error = MXP_OK;
    if (s->reshaped != NULL) {
        memcpy(s->requests, s->reshaped->requests, s->arguments.count * sizeof *s->requests);
        return MXP_OK;
    }
    if (from->request_types == NULL) {
        return MXP_OK;
    }
    if (from->request_names != NULL) {
        return take_named_requests(s);
    }
    if (from->request_count != 0 && from->request_count != s->arguments.count) {
        return mxp__fail(MXP_EINVAL, "%u gradient requests are given for %u arguments",
                         from->request_count, s->arguments.count);
    }
    for (uint32_t i = 0; i < s->arguments.count && error == MXP_OK; i++) {
        error =
            take_request(from->request_types[from->request_count != 0 ? i : 0], &s->requests[i]);
    }
    return error;
}

// ---- shapes and types -------------------------------------------------------------------------
static int take_shapes(const mxn_simple *s, mxn_shape *shapes)
{
    const mxn_simple_request *from = s->from;
    int error = from->shape_count > 0 ? mxn__check_given(from->shape_names, "shape names") : MXP_OK;
    if (error == MXP_OK && from->shape_count > 0) {
        error = mxn__check_given(from->shape_firsts, "provided_arg_shape_idx");
    }
    if (error == MXP_OK && from->shape_count > 0 && from->shape_firsts[from->shape_count] > 0) {
        error = mxn__check_given(from->sizes, "provided_arg_shape_data");
    }
    for (mx_uint i = 0; i < from->shape_count && error == MXP_OK; i++) {
        int64_t place = 0;
        error = place_of(s, from->shape_names[i], "provided_arg_shape_names", &place);
        if (error == MXP_OK) {
            error = mxn__take_shape(i, from->sizes, from->wide, from->shape_firsts[i],
                                    from->shape_firsts[i + 1], &shapes[place]);
        }
    }
    return error;
}

static int take_types(const mxn_simple *s, int32_t *types)
{
    const mxn_simple_request *from = s->from;
    int error = from->type_count > 0 ? mxn__check_given(from->type_names, "type names") : MXP_OK;
    if (error == MXP_OK && from->type_count > 0) {
        error = mxn__check_given(from->types, "provided_arg_dtypes");
    }
    for (uint32_t i = 0; s->reshaped != NULL && i < s->arguments.count; i++) {
        types[i] = s->reshaped->arrays[i]->dtype;
    }
    for (mx_uint i = 0; i < from->type_count && error == MXP_OK; i++) {
        int64_t place = 0;
        error = place_of(s, from->type_names[i], "provided_arg_dtype_names", &place);
        if (error == MXP_OK && from->types[i] != MXN_DTYPE_NONE) {
            error = mxn_dtype_check(from->types[i]);
            types[place] = from->types[i];
        }
    }
    return error;
}

static int refuse_unknown(const mxn_simple *s)
{
    mxp_strbuf text = {0};
    for (uint32_t i = 0; i < s->inferred.arguments; i++) {
        const mxn_shape *shape = &s->inferred.shapes[i];
        char buffer[MXN_SHAPE_TEXT];
        bool known = shape->ndim >= 0;
        for (int32_t j = 0; j < shape->ndim; j++) {
            known = known && shape->dims[j] >= 0;
        }
        if (!known) {
            mxp__strbuf_printf(&text, "%s: %s, ", s->arguments.items[i],
                               shape->ndim < 0 ? "None" : mxn_shape_tuple(shape, buffer));
        }
    }
    mxp__fail(MXP_EINVAL,
              "InferShape pass cannot decide shapes for the following arguments (-1 means unknown "
              "dimensions). Please consider providing them as inputs: %s",
              mxp__strbuf_text(&text));
    mxp__strbuf_fini(&text);
    return MXP_EINVAL;
}

// Arguments whose type nobody says are float32.
static int infer_from(mxn_simple *s, const mxn_shape *shapes, int32_t *types)
{
    const mxn_known known = {s->arguments.count, NULL, shapes, types};
    int error = mxn_symbol_infer(s->symbol, &known, &s->inferred);
    if (error != MXP_OK || s->inferred.types_complete) {
        return error;
    }
    for (uint32_t i = 0; i < s->arguments.count; i++) {
        const int32_t type = s->inferred.types[i];
        types[i] = type == MXN_DTYPE_NONE ? (int32_t)MXN_FLOAT32 : type;
    }
    mxn_inferred_fini(&s->inferred);
    return mxn_symbol_infer(s->symbol, &known, &s->inferred);
}

int mxn__simple_infer(mxn_simple *s)
{
    const uint32_t count = s->arguments.count;
    mxn_shape *shapes = mxp__alloc(count * sizeof *shapes + 1);
    int32_t *types = mxp__alloc(count * sizeof *types + 1);
    int error = shapes != NULL && types != NULL ? MXP_OK : mxp__fail_memory("shapes");
    for (uint32_t i = 0; i < count && error == MXP_OK; i++) {
        shapes[i].ndim = -1;
        types[i] = MXN_DTYPE_NONE;
    }
    if (error == MXP_OK) {
        error = take_shapes(s, shapes);
    }
    if (error == MXP_OK) {
        error = take_types(s, types);
    }
    if (error == MXP_OK) {
        error = infer_from(s, shapes, types);
    }
    mxp__free(shapes, count * sizeof *shapes + 1);
    mxp__free(types, count * sizeof *types + 1);
    if (error == MXP_OK && !s->inferred.shapes_complete) {
        error = refuse_unknown(s);
    }
    return error == MXP_OK ? take_requests(s) : error;
}
