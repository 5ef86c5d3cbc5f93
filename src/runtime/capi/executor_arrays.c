// SPDX-License-Identifier: Apache-2.0
// The arrays of a simple binding: new ones, those of another executor, those of a shared buffer.
#include <string.h>

#include "base/alloc.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/array_list.h"
#include "runtime/capi/executor_simple.h"
#include "runtime/capi/symbol_handle.h"

// ---- names ------------------------------------------------------------------------------------
static int list_names(const mxn_symbol *symbol, int kind, mxn_name_list *names)
{
    int error = mxn_symbol_list(symbol, kind, &names->text, &names->count);
    if (error == MXP_OK) {
        names->items = mxp__alloc(names->count * sizeof *names->items + 1);
        error = names->items != NULL ? MXP_OK : mxp__fail_memory("names of arguments");
    }
    const char *next = mxp__strbuf_text(&names->text);
    for (uint32_t i = 0; error == MXP_OK && i < names->count; i++) {
        names->items[i] = next;
        next += strlen(next) + 1;
    }
    return error;
}

static void free_names(mxn_name_list *names)
{
    mxp__free(names->items, names->count * sizeof *names->items + 1);
    mxp__strbuf_fini(&names->text);
}

// ---- single arrays ----------------------------------------------------------------------------
int mxn__simple_zeros(const mxn_simple *s, uint32_t place, mxn_array **array)
{
    int error = mxn_array_new(&s->inferred.shapes[place], s->inferred.types[place],
                              s->from->context, NULL, true, array);
    if (error == MXP_OK) {
        error = mxn_array_fill(*array, 0.0, &(mxn_push_options){0});
        if (error != MXP_OK) {
            mxn_array_release(*array);
            *array = NULL;
        }
    }
    return error;
}

static bool fits(const mxn_simple *s, uint32_t place, const mxn_array *array)
{
    return array != NULL && mxn_shape_equal(&array->shape, &s->inferred.shapes[place]) &&
           array->dtype == s->inferred.types[place] &&
           mxn_context_equal(mxn_array_context(array), s->from->context);
}

static void share(mxn_array *array, mxn_array **to)
{
    mxn_array_retain(array);
    *to = array;
}

// The argument of the shared executor, and its gradient if one is wanted and there.
static int share_argument(mxn_simple *s, uint32_t i, mxn_array **to, mxn_array **gradient)
{
    const char *name = s->arguments.items[i];
    const int64_t place =
        mxn__name_place(s->shared_arguments.items, s->shared_arguments.count, name);
    if (place < 0 || !fits(s, i, s->shared->arrays[place])) {
        return mxp__fail(MXP_EINVAL,
                         "shared_arg_names: the shared executor has no argument '%s' of the same "
                         "shape, type and device",
                         name);
    }
    share(s->shared->arrays[place], to);
    mxn_array *other = s->shared->arrays[s->shared->argument_count + place];
    if (s->requests[i] != MXN_NULL && fits(s, i, other)) {
        share(other, gradient);
    }
    return MXP_OK;
}

// A part of the array that has this name, if it is large enough; else a new one takes its place.
static int take_from_buffer(mxn_simple *s, uint32_t i, mxn_array **to)
{
    const mxn_shape *shape = &s->inferred.shapes[i];
    const int32_t type = s->inferred.types[i];
    mxn_named_array *entry = s->buffer, *const end = s->buffer + s->buffer_count;
    while (entry < end && strcmp(entry->name, s->arguments.items[i]) != 0) {
        entry++;
    }
    if (entry < end && entry->array->dtype == type &&
        mxn_array_size(entry->array) >= mxn_shape_size(shape) &&
        mxn_context_equal(mxn_array_context(entry->array), s->from->context)) {
        return mxn_array_view(entry->array, shape, type, to);
    }
    int error = mxn__simple_zeros(s, i, to);
    if (error != MXP_OK) {
        return error;
    }
    if (entry == end) {
        *entry = (mxn_named_array){s->arguments.items[i], NULL};
        s->buffer_count++;
    }
    mxn_array_release(entry->array);
    share(*to, &entry->array);
    return MXP_OK;
}

// ---- all of them ------------------------------------------------------------------------------
static int make_argument(mxn_simple *s, uint32_t i)
{
    const mxn_simple_request *from = s->from;
    mxn_array **gradient = &s->arrays[s->arguments.count + i];
    const bool is_shared =
        s->shared != NULL &&
        mxn__name_place(from->shared_names, from->shared_count, s->arguments.items[i]) >= 0;
    int error = MXP_OK;
    if (is_shared) {
        error = share_argument(s, i, &s->arrays[i], gradient);
    } else if (s->buffer != NULL) {
        error = take_from_buffer(s, i, &s->arrays[i]);
    } else {
        error = mxn__simple_zeros(s, i, &s->arrays[i]);
    }
    if (error == MXP_OK && s->requests[i] != MXN_NULL && *gradient == NULL) {
        error = mxn__simple_zeros(s, i, gradient);
    }
    return error;
}

static int make_state(mxn_simple *s, uint32_t i)
{
    mxn_array **to = &s->arrays[2 * s->arguments.count + i];
    const uint32_t place = s->inferred.arguments + s->inferred.outputs + i;
    const int64_t other = mxn__name_place(s->shared_auxiliary.items, s->shared_auxiliary.count,
                                          s->auxiliary.items[i]);
    if (other >= 0) {
        mxn_array *shared = s->shared->arrays[2 * s->shared->argument_count + other];
        if (fits(s, place, shared)) {
            share(shared, to);
            return MXP_OK;
        }
    }
    return mxn__simple_zeros(s, place, to);
}

int mxn__simple_make_arrays(mxn_simple *s)
{
    int error = MXP_OK;
    for (uint32_t i = 0; i < s->arguments.count && error == MXP_OK; i++) {
        error = make_argument(s, i);
    }
    for (uint32_t i = 0; i < s->auxiliary.count && error == MXP_OK; i++) {
        error = make_state(s, i);
    }
    return error;
}

// ---- the request ------------------------------------------------------------------------------
static uint32_t given_count(const mxn_simple_request *from)
{
    return from->buffer_count != NULL && *from->buffer_count > 0 ? (uint32_t)*from->buffer_count
                                                                 : 0;
}

static int take_buffer(mxn_simple *s)
{
    const mxn_simple_request *from = s->from;
    const uint32_t given = given_count(from);
    int error = mxn__check_arrays(given, from->buffer_arrays, "shared_buffer_handle_list", false);
    if (error != MXP_OK || from->buffer_count == NULL || *from->buffer_count < 0) {
        return error;
    }
    s->buffer_bytes = (given + s->arguments.count) * sizeof *s->buffer + 1;
    s->buffer = mxp__alloc(s->buffer_bytes);
    if (s->buffer == NULL) {
        return mxp__fail_memory("a shared buffer");
    }
    error = mxn__check_texts(given, from->buffer_names, "shared_buffer_name_list");
    for (uint32_t i = 0; i < given && error == MXP_OK; i++) {
        s->buffer[i].name = from->buffer_names[i];
        share(from->buffer_arrays[i], &s->buffer[i].array);
        s->buffer_count++;
    }
    return error;
}

static int take_shared(mxn_simple *s)
{
    const mxn_simple_request *from = s->from;
    int error = mxn__check_texts(from->shared_count, from->shared_names, "shared_arg_name_list");
    if (error == MXP_OK && from->shared != NULL) {
        error = mxn__executor_get(from->shared, &s->shared);
    }
    if (error == MXP_OK && s->shared != NULL) {
        const mxn_symbol *symbol = mxn_executor_symbol(s->shared->executor);
        error = list_names(symbol, MXN_LIST_ARGUMENTS, &s->shared_arguments);
        if (error == MXP_OK) {
            error = list_names(symbol, MXN_LIST_AUXILIARY, &s->shared_auxiliary);
        }
    }
    return error;
}

static size_t array_room(const mxn_simple *s)
{
    return (2 * (size_t)s->arguments.count + s->auxiliary.count) * sizeof *s->arrays + 1;
}

static int take_memory(mxn_simple *s)
{
    int error = list_names(s->symbol, MXN_LIST_ARGUMENTS, &s->arguments);
    if (error == MXP_OK) {
        error = list_names(s->symbol, MXN_LIST_AUXILIARY, &s->auxiliary);
    }
    if (error == MXP_OK) {
        s->arrays = mxp__alloc(array_room(s));
        s->requests = mxp__alloc(s->arguments.count * sizeof *s->requests + 1);
        error = s->arrays != NULL && s->requests != NULL ? MXP_OK : mxp__fail_memory("arguments");
    }
    return error;
}

static int take_network(mxn_simple *s)
{
    mxn_symbol *symbol = NULL;
    int error = s->from->reshaped != NULL ? mxn__executor_get(s->from->reshaped, &s->reshaped)
                                          : mxn__symbol_get(s->from->symbol, &symbol);
    s->symbol = s->reshaped != NULL ? mxn_executor_symbol(s->reshaped->executor) : symbol;
    return error;
}

int mxn__simple_init(mxn_simple *s, const mxn_simple_request *request)
{
    *s = (mxn_simple){.from = request};
    int error = take_network(s);
    if (error == MXP_OK) {
        error = mxn_context_check(request->context);
    }
    if (error == MXP_OK) {
        error = mxn__executor_check_groups(request->context, request->group_count,
                                           request->group_types, request->group_ids);
    }
    if (error == MXP_OK) {
        error = take_memory(s);
    }
    if (error == MXP_OK) {
        error = take_shared(s);
    }
    if (error == MXP_OK) {
        error = take_buffer(s);
    }
    if (error == MXP_OK) {
        error = mxn__simple_infer(s);
    }
    if (error == MXP_OK) {
        error = s->reshaped != NULL ? mxn__simple_reshape_arrays(s) : mxn__simple_make_arrays(s);
    }
    return error;
}

void mxn__simple_fini(mxn_simple *s)
{
    const size_t count = 2 * (size_t)s->arguments.count + s->auxiliary.count;
    for (size_t i = 0; s->arrays != NULL && i < count; i++) {
        mxn_array_release(s->arrays[i]);
    }
    for (uint32_t i = 0; i < s->buffer_count; i++) {
        mxn_array_release(s->buffer[i].array);
    }
    mxp__free(s->arrays, array_room(s));
    mxp__free(s->requests, s->arguments.count * sizeof *s->requests + 1);
    mxp__free(s->buffer, s->buffer_bytes);
    mxn_inferred_fini(&s->inferred);
    free_names(&s->arguments);
    free_names(&s->auxiliary);
    free_names(&s->shared_arguments);
    free_names(&s->shared_auxiliary);
}
