// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that bind a network to arrays they make: the same for sizes of 32 and 64 bits.
#include <string.h>

#include "base/alloc.h"
#include "runtime/capi/api_call.h"
#include "runtime/capi/executor_simple.h"
#include "runtime/capi/thread_buffer.h"

// Where what is made goes.
typedef struct given {
    int *buffer_count;
    const char ***buffer_names;
    NDArrayHandle **buffer_arrays;
    mx_uint *argument_count;
    NDArrayHandle **arguments, **gradients;
    mx_uint *auxiliary_count;
    NDArrayHandle **auxiliary;
    ExecutorHandle *executor;
} given;

static int check_given(const mxn_simple_request *request, const given *to)
{
    const bool has_buffer = request->buffer_count != NULL && *request->buffer_count >= 0;
    const void *const all[] = {to->argument_count,
                               to->arguments,
                               to->gradients,
                               to->auxiliary_count,
                               to->auxiliary,
                               to->executor,
                               has_buffer ? (void *)to->buffer_names : (void *)to,
                               has_buffer ? (void *)to->buffer_arrays : (void *)to};
    static const char *const names[] = {"num_in_args",
                                        "in_args",
                                        "arg_grads",
                                        "num_aux_states",
                                        "aux_states",
                                        "out",
                                        "updated_shared_buffer_name_list",
                                        "updated_shared_buffer_handle_list"};
    int error = MXP_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && error == MXP_OK; i++) {
        error = mxn__check_given(all[i], names[i]);
    }
    return error;
}

// ---- handing out ------------------------------------------------------------------------------
static size_t shared_bytes(const mxn_simple *s)
{
    size_t bytes = s->buffer_count * (sizeof(char *) + sizeof(NDArrayHandle));
    for (uint32_t i = 0; i < s->buffer_count; i++) {
        bytes += strlen(s->buffer[i].name) + 1;
    }
    return bytes;
}

// Handles, pointers to names, names.
static void give_buffer(const mxn_simple *s, void *memory, const given *to)
{
    NDArrayHandle *arrays = memory;
    const char **names = (const char **)(arrays + s->buffer_count);
    char *text = (char *)(names + s->buffer_count);
    for (uint32_t i = 0; i < s->buffer_count; i++) {
        const size_t length = strlen(s->buffer[i].name) + 1;
        memcpy(text, s->buffer[i].name, length);
        names[i] = text;
        text += length;
        mxn_array_retain(s->buffer[i].array);
        arrays[i] = s->buffer[i].array;
    }
    *to->buffer_count = (int)s->buffer_count;
    *to->buffer_names = names;
    *to->buffer_arrays = arrays;
}

static void give_arrays(const mxn_simple *s, NDArrayHandle *list, const given *to)
{
    const uint32_t count = s->arguments.count;
    for (uint32_t i = 0; i < 2 * count + s->auxiliary.count; i++) {
        list[i] = s->arrays[i];
        if (s->arrays[i] != NULL) {
            mxn_array_retain(s->arrays[i]);
        }
    }
    *to->argument_count = count;
    *to->arguments = list;
    *to->gradients = list + count;
    *to->auxiliary_count = s->auxiliary.count;
    *to->auxiliary = list + 2 * (size_t)count;
}

static int bind_and_give(const mxn_simple *s, const given *to)
{
    const uint32_t count = s->arguments.count;
    const mxn_binding_request request = {.symbol = s->symbol,
                                         .context = s->from->context,
                                         .argument_count = count,
                                         .arguments = s->arrays,
                                         .gradients = s->arrays + count,
                                         .requests = s->requests,
                                         .auxiliary_count = s->auxiliary.count,
                                         .auxiliary = s->arrays + 2 * (size_t)count};
    const size_t arrays = 2 * (size_t)count + s->auxiliary.count;
    NDArrayHandle *list = mxn__thread_buffer(MXN_BUFFER_BOUND, arrays * sizeof *list);
    void *shared = mxn__thread_buffer(MXN_BUFFER_SHARED, shared_bytes(s));
    if (list == NULL || shared == NULL) {
        return MXP_ENOMEM;
    }
    int error = mxn__executor_make(&request, to->executor);
    if (error == MXP_OK) {
        give_arrays(s, list, to);
    }
    if (error == MXP_OK && s->buffer != NULL) {
        give_buffer(s, shared, to);
    }
    return error;
}

static int bind_simply(const mxn_simple_request *request, const given *to)
{
    mxn_simple simple;
    int error = check_given(request, to);
    if (error != MXP_OK) {
        return error;
    }
    error = mxn__simple_init(&simple, request);
    if (error == MXP_OK) {
        error = bind_and_give(&simple, to);
    }
    mxn__simple_fini(&simple);
    return error;
}

// ---- the functions ----------------------------------------------------------------------------
// The parameters of all three have the same names.
#define REQUEST(is_wide)                                                                       \
    {                                                                                          \
        .symbol = symbol_handle, .context = {dev_type, dev_id}, .group_count = num_g2c_keys,   \
        .group_types = g2c_dev_types, .group_ids = g2c_dev_ids,                                \
        .request_count = provided_grad_req_list_len, .request_names = provided_grad_req_names, \
        .request_types = provided_grad_req_types, .shape_count = num_provided_arg_shapes,      \
        .shape_names = provided_arg_shape_names, .sizes = provided_arg_shape_data,             \
        .shape_firsts = provided_arg_shape_idx, .wide = is_wide,                               \
        .type_count = num_provided_arg_dtypes, .type_names = provided_arg_dtype_names,         \
        .types = provided_arg_dtypes, .shared_count = num_shared_arg_names,                    \
        .shared_names = shared_arg_name_list, .buffer_count = shared_buffer_len,               \
        .buffer_names = shared_buffer_name_list, .buffer_arrays = shared_buffer_handle_list,   \
        .shared = shared_exec_handle                                                           \
    }
#define GIVEN                                                                                  \
    {                                                                                          \
        shared_buffer_len, updated_shared_buffer_name_list, updated_shared_buffer_handle_list, \
            num_in_args, in_args, arg_grads, num_aux_states, aux_states, out                   \
    }

int MXExecutorSimpleBind(
    SymbolHandle symbol_handle, int dev_type, int dev_id, const mx_uint num_g2c_keys,
    const char **g2c_keys, const int *g2c_dev_types, const int *g2c_dev_ids,
    const mx_uint provided_grad_req_list_len, const char **provided_grad_req_names,
    const char **provided_grad_req_types, const mx_uint num_provided_arg_shapes,
    const char **provided_arg_shape_names, const mx_uint *provided_arg_shape_data,
    const mx_uint *provided_arg_shape_idx, const mx_uint num_provided_arg_dtypes,
    const char **provided_arg_dtype_names, const int *provided_arg_dtypes,
    const mx_uint num_provided_arg_stypes, const char **provided_arg_stype_names,
    const int *provided_arg_stypes, const mx_uint num_shared_arg_names,
    const char **shared_arg_name_list, int *shared_buffer_len, const char **shared_buffer_name_list,
    NDArrayHandle *shared_buffer_handle_list, const char ***updated_shared_buffer_name_list,
    NDArrayHandle **updated_shared_buffer_handle_list, mx_uint *num_in_args,
    NDArrayHandle **in_args, NDArrayHandle **arg_grads, mx_uint *num_aux_states,
    NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle *out)
{
    MXN_API_CALL();
    (void)g2c_keys;
    (void)num_provided_arg_stypes;
    (void)provided_arg_stype_names;
    (void)provided_arg_stypes;
    const mxn_simple_request request = REQUEST(false);
    const given to = GIVEN;
    return mxn__api_end(&call, bind_simply(&request, &to));
}

int MXExecutorSimpleBindEx(
    SymbolHandle symbol_handle, int dev_type, int dev_id, const mx_uint num_g2c_keys,
    const char **g2c_keys, const int *g2c_dev_types, const int *g2c_dev_ids,
    const mx_uint provided_grad_req_list_len, const char **provided_grad_req_names,
    const char **provided_grad_req_types, const mx_uint num_provided_arg_shapes,
    const char **provided_arg_shape_names, const int *provided_arg_shape_data,
    const mx_uint *provided_arg_shape_idx, const mx_uint num_provided_arg_dtypes,
    const char **provided_arg_dtype_names, const int *provided_arg_dtypes,
    const mx_uint num_provided_arg_stypes, const char **provided_arg_stype_names,
    const int *provided_arg_stypes, const mx_uint num_shared_arg_names,
    const char **shared_arg_name_list, int *shared_buffer_len, const char **shared_buffer_name_list,
    NDArrayHandle *shared_buffer_handle_list, const char ***updated_shared_buffer_name_list,
    NDArrayHandle **updated_shared_buffer_handle_list, mx_uint *num_in_args,
    NDArrayHandle **in_args, NDArrayHandle **arg_grads, mx_uint *num_aux_states,
    NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle *out)
{
    MXN_API_CALL();
    (void)g2c_keys;
    (void)num_provided_arg_stypes;
    (void)provided_arg_stype_names;
    (void)provided_arg_stypes;
    const mxn_simple_request request = REQUEST(false);
    const given to = GIVEN;
    return mxn__api_end(&call, bind_simply(&request, &to));
}

int MXExecutorSimpleBindEx64(
    SymbolHandle symbol_handle, int dev_type, int dev_id, const mx_uint num_g2c_keys,
    const char **g2c_keys, const int *g2c_dev_types, const int *g2c_dev_ids,
    const mx_uint provided_grad_req_list_len, const char **provided_grad_req_names,
    const char **provided_grad_req_types, const mx_uint num_provided_arg_shapes,
    const char **provided_arg_shape_names, const int64_t *provided_arg_shape_data,
    const mx_uint *provided_arg_shape_idx, const mx_uint num_provided_arg_dtypes,
    const char **provided_arg_dtype_names, const int *provided_arg_dtypes,
    const mx_uint num_provided_arg_stypes, const char **provided_arg_stype_names,
    const int *provided_arg_stypes, const mx_uint num_shared_arg_names,
    const char **shared_arg_name_list, int *shared_buffer_len, const char **shared_buffer_name_list,
    NDArrayHandle *shared_buffer_handle_list, const char ***updated_shared_buffer_name_list,
    NDArrayHandle **updated_shared_buffer_handle_list, mx_uint *num_in_args,
    NDArrayHandle **in_args, NDArrayHandle **arg_grads, mx_uint *num_aux_states,
    NDArrayHandle **aux_states, ExecutorHandle shared_exec_handle, ExecutorHandle *out)
{
    MXN_API_CALL();
    (void)g2c_keys;
    (void)num_provided_arg_stypes;
    (void)provided_arg_stype_names;
    (void)provided_arg_stypes;
    const mxn_simple_request request = REQUEST(true);
    const given to = GIVEN;
    return mxn__api_end(&call, bind_simply(&request, &to));
}

#define RESHAPE_REQUEST                                                                           \
    {                                                                                             \
        .context = {dev_type, dev_id}, .group_count = num_map_keys, .group_types = map_dev_types, \
        .group_ids = map_dev_ids, .shape_count = num_provided_arg_shapes,                         \
        .shape_names = provided_arg_shape_names, .sizes = provided_arg_shape_data,                \
        .shape_firsts = provided_arg_shape_idx, .reshaped = shared_exec,                          \
        .partial_shaping = partial_shaping != 0, .up_sizing = allow_up_sizing != 0                \
    }
#define RESHAPE_GIVEN                                                                      \
    {                                                                                      \
        NULL, NULL, NULL, num_in_args, in_args, arg_grads, num_aux_states, aux_states, out \
    }

static int reshape(const mxn_simple_request *request, const given *to)
{
    int error = mxn__check_given(request->reshaped, "shared_exec");
    return error == MXP_OK ? bind_simply(request, to) : error;
}

int MXExecutorReshape(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id,
                      mx_uint num_map_keys, const char **map_keys, const int *map_dev_types,
                      const int *map_dev_ids, const mx_uint num_provided_arg_shapes,
                      const char **provided_arg_shape_names, const mx_uint *provided_arg_shape_data,
                      const mx_uint *provided_arg_shape_idx, mx_uint *num_in_args,
                      NDArrayHandle **in_args, NDArrayHandle **arg_grads, mx_uint *num_aux_states,
                      NDArrayHandle **aux_states, ExecutorHandle shared_exec, ExecutorHandle *out)
{
    MXN_API_CALL();
    (void)map_keys;
    const mxn_simple_request request = RESHAPE_REQUEST;
    const given to = RESHAPE_GIVEN;
    return mxn__api_end(&call, reshape(&request, &to));
}

int MXExecutorReshapeEx(int partial_shaping, int allow_up_sizing, int dev_type, int dev_id,
                        mx_uint num_map_keys, const char **map_keys, const int *map_dev_types,
                        const int *map_dev_ids, const mx_uint num_provided_arg_shapes,
                        const char **provided_arg_shape_names, const int *provided_arg_shape_data,
                        const mx_uint *provided_arg_shape_idx, mx_uint *num_in_args,
                        NDArrayHandle **in_args, NDArrayHandle **arg_grads, mx_uint *num_aux_states,
                        NDArrayHandle **aux_states, ExecutorHandle shared_exec, ExecutorHandle *out)
{
    MXN_API_CALL();
    (void)map_keys;
    const mxn_simple_request request = RESHAPE_REQUEST;
    const given to = RESHAPE_GIVEN;
    return mxn__api_end(&call, reshape(&request, &to));
}
