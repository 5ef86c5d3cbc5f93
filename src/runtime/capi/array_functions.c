// SPDX-License-Identifier: Apache-2.0
// MXNet's array functions: what its first front ends called instead of operators. Each is made of
// operators.
#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <stdio.h>
#include <string.h>

#include "runtime/capi/api_call.h"
#include "runtime/tensor/tensor.h"

enum { MOST_ARRAYS = 3, ARRAYS_FIRST = 1, TAKES_EMPTY = 4 };

typedef struct array_function {
    const char *name, *about;
    uint32_t arrays, scalars;
    int mask;
    const char *names[MOST_ARRAYS], *types[MOST_ARRAYS], *texts[MOST_ARRAYS];
    int (*run)(NDArrayHandle *arrays, const float *scalars, NDArrayHandle *out);
} array_function;

// ---- what they do -----------------------------------------------------------------------------
// An operator with up to one parameter. Null `*out`: an array is made.
static int run(const char *name, int count, NDArrayHandle *inputs, const char *key,
               const char *value, NDArrayHandle *out)
{
    OpHandle op = NULL;
    NDArrayHandle *outputs = *out != NULL ? out : NULL;
    int output_count = *out != NULL;
    int status = NNGetOpHandle(name, &op);
    if (status == 0) {
        status = MXImperativeInvoke(op, count, inputs, &output_count, &outputs, key != NULL, &key,
                                    &value, NULL);
    }
    if (status == 0 && *out == NULL) {
        *out = outputs[0];
    }
    return status == 0 ? MXP_OK : MXP_EINVAL;
}

static int set_value(NDArrayHandle *arrays, const float *scalars, NDArrayHandle *out)
{
    (void)arrays;
    char value[32];
    snprintf(value, sizeof value, "%.9g", (double)scalars[0]);
    return run("_set_value", 0, NULL, "src", value, out);
}

// As many columns as `like` has, in each row a one where `places` says.
static int one_hot(NDArrayHandle places, NDArrayHandle like, NDArrayHandle *out)
{
    const int64_t *sizes = NULL;
    int rank = 0;
    char depth[32];
    if (MXNDArrayGetShapeEx64(like, &rank, &sizes) != 0) {
        return MXP_EINVAL;
    }
    if (rank != 2) {
        return mxp__fail(MXP_EINVAL, "an array with rows and columns is wanted, not of rank %d",
                         rank);
    }
    snprintf(depth, sizeof depth, "%lld", (long long)sizes[1]);
    return run("one_hot", 1, &places, "depth", depth, out);
}

static int encode(NDArrayHandle *arrays, const float *scalars, NDArrayHandle *out)
{
    (void)scalars;
    return one_hot(arrays[0], arrays[1], out);
}

static int fill_element(NDArrayHandle *arrays, const float *scalars, NDArrayHandle *out)
{
    (void)scalars;
    NDArrayHandle chosen = NULL, column = NULL, spread = NULL;
    int error = one_hot(arrays[2], arrays[0], &chosen);
    if (error == MXP_OK) {
        error = run("expand_dims", 1, &arrays[1], "axis", "1", &column);
    }
    if (error == MXP_OK) {
        error = run("broadcast_like", 2, (NDArrayHandle[]){column, arrays[0]}, NULL, NULL, &spread);
    }
    if (error == MXP_OK) {
        error = run("where", 3, (NDArrayHandle[]){chosen, spread, arrays[0]}, NULL, NULL, out);
    }
    NDArrayHandle made[] = {chosen, column, spread};
    for (int i = 0; i < 3; i++) {
        if (made[i] != NULL) {
            MXNDArrayFree(made[i]);
        }
    }
    return error;
}

static const array_function functions[] = {
    {"_set_value",
     "Fills the array.",
     0,
     1,
     0,
     {"src"},
     {"real_t"},
     {"The value of all elements."},
     set_value},
    {"_onehot_encode",
     "In each row a one, in the column that lhs says; zeros elsewhere.",
     2,
     0,
     ARRAYS_FIRST | TAKES_EMPTY,
     {"lhs", "rhs"},
     {"NDArray", "NDArray"},
     {"A column for each row.", "An array of the shape of the result."},
     encode},
    {"fill_element_0index",
     "lhs with one element of each row replaced by that of mhs, in the column that rhs says.",
     3,
     0,
     ARRAYS_FIRST | TAKES_EMPTY,
     {"lhs", "mhs", "rhs"},
     {"NDArray", "NDArray", "NDArray"},
     {"Rows.", "A value for each row.", "A column for each row, the first is 0."},
     fill_element},
};
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

// ---- finding ----------------------------------------------------------------------------------
static int check(FunctionHandle fun)
{
    for (int i = 0; i < FUNCTIONS; i++) {
        if (fun == &functions[i]) {
            return MXP_OK;
        }
    }
    return mxp__fail(MXP_EHANDLE, "%p is no array function", fun);
}

int MXListFunctions(uint32_t *out_size, FunctionHandle **out_array)
{
    static FunctionHandle all[FUNCTIONS] = {&functions[0], &functions[1], &functions[2]};
    MXN_API_CALL();
    int error = mxn__check_given(out_size, "out_size");
    if (error == MXP_OK) {
        error = mxn__check_given(out_array, "out_array");
    }
    if (error == MXP_OK) {
        *out_size = FUNCTIONS;
        *out_array = all;
    }
    return mxn__api_end(&call, error);
}

static int find(const char *name, FunctionHandle *out)
{
    for (int i = 0; i < FUNCTIONS; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            *out = &functions[i];
            return MXP_OK;
        }
    }
    return mxp__fail(MXP_EINVAL,
                     "there is no array function '%s': operators are found with NNGetOpHandle",
                     name);
}

int MXGetFunction(const char *name, FunctionHandle *out)
{
    MXN_API_CALL();
    int error = mxn__check_given(name, "name");
    if (error == MXP_OK) {
        error = mxn__check_given(out, "out");
    }
    return mxn__api_end(&call, error == MXP_OK ? find(name, out) : error);
}

// Of parameters that things are given out by.
static int check_outs(FunctionHandle fun, const void *const *outs, int count)
{
    int error = check(fun);
    for (int i = 0; i < count && error == MXP_OK; i++) {
        error = mxn__check_given(outs[i], "an output parameter");
    }
    return error;
}

int MXFuncGetInfo(FunctionHandle fun, const char **name, const char **description,
                  uint32_t *num_args, const char ***arg_names, const char ***arg_type_infos,
                  const char ***arg_descriptions, const char **return_type)
{
    static mxp_atomic_u32 cache;  // MXNet's profiler has one name for all such questions
    const mxn_api_call call = mxn__api_begin(&cache, "MXAPIGetFunctionRegInfo");
    const void *const outs[] = {name,      description,    num_args,
                                arg_names, arg_type_infos, arg_descriptions};
    const array_function *of = fun;
    int error = check_outs(fun, outs, sizeof(outs) / sizeof(outs[0]));
    if (error == MXP_OK) {
        *name = of->name;
        *description = of->about;
        *num_args = of->arrays + of->scalars;
        *arg_names = (const char **)of->names;
        *arg_type_infos = (const char **)of->types;
        *arg_descriptions = (const char **)of->texts;
    }
    if (error == MXP_OK && return_type != NULL) {
        *return_type = "";
    }
    return mxn__api_end(&call, error);
}

int MXFuncDescribe(FunctionHandle fun, uint32_t *num_use_vars, uint32_t *num_scalars,
                   uint32_t *num_mutate_vars, int *type_mask)
{
    MXN_API_CALL();
    const void *const outs[] = {num_use_vars, num_scalars, num_mutate_vars, type_mask};
    const array_function *of = fun;
    int error = check_outs(fun, outs, sizeof(outs) / sizeof(outs[0]));
    if (error == MXP_OK) {
        *num_use_vars = of->arrays;
        *num_scalars = of->scalars;
        *num_mutate_vars = 1;
        *type_mask = of->mask;
    }
    return mxn__api_end(&call, error);
}

// ---- running ----------------------------------------------------------------------------------
static int invoke(FunctionHandle fun, NDArrayHandle *use_vars, const float *scalar_args,
                  NDArrayHandle *mutate_vars)
{
    const array_function *of = fun;
    int error = check(fun);
    if (error == MXP_OK && of->arrays > 0) {
        error = mxn__check_given(use_vars, "use_vars");
    }
    if (error == MXP_OK && of->scalars > 0) {
        error = mxn__check_given(scalar_args, "scalar_args");
    }
    if (error == MXP_OK) {
        error = mxn__check_given(mutate_vars, "mutate_vars");
    }
    for (uint32_t i = 0; error == MXP_OK && i < of->arrays; i++) {
        error = mxn_array_check(use_vars[i], "use_vars");
    }
    if (error == MXP_OK) {
        error = mxn_array_check(mutate_vars[0], "mutate_vars");
    }
    NDArrayHandle out = error == MXP_OK ? mutate_vars[0] : NULL;
    return error == MXP_OK ? of->run(use_vars, scalar_args, &out) : error;
}

int MXFuncInvoke(FunctionHandle fun, NDArrayHandle *use_vars, float *scalar_args,
                 NDArrayHandle *mutate_vars, int num_params, char **param_keys, char **param_vals)
{
    MXN_API_CALL();
    (void)num_params, (void)param_keys, (void)param_vals;
    return mxn__api_end(&call, invoke(fun, use_vars, scalar_args, mutate_vars));
}

int MXFuncInvokeEx(FunctionHandle fun, NDArrayHandle *use_vars, float *scalar_args,
                   NDArrayHandle *mutate_vars, int num_params, char **param_keys, char **param_vals)
{
    MXN_API_CALL();
    (void)num_params, (void)param_keys, (void)param_vals;
    return mxn__api_end(&call, invoke(fun, use_vars, scalar_args, mutate_vars));
}
