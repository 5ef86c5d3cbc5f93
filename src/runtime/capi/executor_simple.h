// SPDX-License-Identifier: Apache-2.0
// What a simple binding asks for, and the arrays it makes. Private to capi/.
#ifndef MXN_CAPI_EXECUTOR_SIMPLE_H
#define MXN_CAPI_EXECUTOR_SIMPLE_H

#include "base/strbuf.h"
#include "runtime/capi/executor_handle.h"

// The parameters of MXExecutorSimpleBind and its like.
typedef struct mxn_simple_request {
    SymbolHandle symbol;
    mxn_context context;
    mx_uint group_count;
    const int *group_types, *group_ids;
    // Names null and count 0: one word for all; names null: a word for each argument, in order;
    // else by name, others none. Types null: none.
    mx_uint request_count;
    const char **request_names, **request_types;
    mx_uint shape_count;
    const char **shape_names;
    const void *sizes;
    const mx_uint *shape_firsts;
    bool wide;  // sizes are int64_t
    mx_uint type_count;
    const char **type_names;
    const int *types;
    mx_uint shared_count;
    const char **shared_names;
    int *buffer_count;  // null, or -1 there: no buffer
    const char **buffer_names;
    NDArrayHandle *buffer_arrays;
    ExecutorHandle shared;
    // Null, or whose network, types, requests and arrays are taken: then `symbol`, words, types,
    // shared names and buffer are not given.
    ExecutorHandle reshaped;
    bool partial_shaping, up_sizing;
} mxn_simple_request;

// Names, one after the other.
typedef struct mxn_name_list {
    mxp_strbuf text;
    const char **items;
    uint32_t count;
} mxn_name_list;

// An array of the program's shared buffer, or one that belongs there from now on.
typedef struct mxn_named_array {
    const char *name;
    mxn_array *array;  // a reference
} mxn_named_array;

typedef struct mxn_simple {
    const mxn_simple_request *from;
    const mxn_symbol *symbol;
    mxn_bound_executor *shared, *reshaped;  // null: none
    mxn_name_list arguments, auxiliary, shared_arguments, shared_auxiliary;
    mxn_inferred inferred;
    mxn_array **arrays;  // arguments, gradients (or null), states: a reference each
    uint32_t *requests;
    mxn_named_array *buffer;
    uint32_t buffer_count;
    size_t buffer_bytes;
} mxn_simple;

// Checks the request, infers shapes and types, makes the arrays. On failure only
// mxn__simple_fini may follow, as on success once all is handed out.
int mxn__simple_init(mxn_simple *simple, const mxn_simple_request *request);
void mxn__simple_fini(mxn_simple *simple);

// Private to the files of it: shapes, types and requests; and the arrays of them. `place`: in what
// was inferred.
int mxn__simple_infer(mxn_simple *simple);
int mxn__simple_make_arrays(mxn_simple *simple);
int mxn__simple_zeros(const mxn_simple *simple, uint32_t place, mxn_array **array);
// The arrays of the executor that is reshaped, in their new shapes.
int mxn__simple_reshape_arrays(mxn_simple *simple);
// Its place in the list, or -1.
int64_t mxn__name_place(const char *const *names, uint32_t count, const char *name);

#endif
