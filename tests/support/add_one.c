// SPDX-License-Identifier: Apache-2.0
#include "add_one.h"

#include <nnvm/c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int add_one_properties, add_one_property_deletes, add_one_operators, add_one_operator_deletes,
    add_one_forwards, add_one_backwards, add_one_trained;

NDArrayHandle add_one_output;

typedef struct property {
    int mode, states;
    int needs[1];
} property;

static void count(int *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELEASE);
}

// ---- running operators ------------------------------------------------------------------------
static int run(const char *name, int input_count, NDArrayHandle *inputs, NDArrayHandle *out,
               const char *key, const char *value)
{
    OpHandle op = NULL;
    int outputs = *out != NULL;
    NDArrayHandle *list = *out != NULL ? out : NULL;
    if (NNGetOpHandle(name, &op) != 0 ||
        MXImperativeInvoke(op, input_count, inputs, &outputs, &list, key != NULL, &key, &value,
                           NULL) != 0) {
        return -1;
    }
    *out = list[0];
    return 0;
}

static int copy(NDArrayHandle from, NDArrayHandle to)
{
    return run("_copyto", 1, &from, &to, NULL, NULL);
}

int add_one_invoke(int mode, NDArrayHandle in, NDArrayHandle state, NDArrayHandle *out)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", mode);
    const char *keys[] = {"op_type", "mode", "states"};
    const char *values[] = {"MyAddOne", text, state == NULL ? "0" : "1"};
    NDArrayHandle inputs[] = {in, state}, *list = *out == NULL ? NULL : out;
    OpHandle op = NULL;
    int outputs = 1;
    int status = NNGetOpHandle("Custom", &op);
    if (status == 0) {
        status = MXImperativeInvoke(op, state == NULL ? 1 : 2, inputs, &outputs, &list, 3, keys,
                                    values, NULL);
    }
    if (status == 0 && *out == NULL) {
        *out = list[0];
    }
    return status;
}

// ---- what modes do ----------------------------------------------------------------------------
static void fail_later(void *rctx, void *on_start, void *on_complete, void *param)
{
    (void)rctx;
    (void)on_start;
    (void)param;
    const struct MXEngineCallback *done = on_complete;
    done->callback(done->engine, done->param, "");
}

static int push_failing(NDArrayHandle array)
{
    return MXEnginePushAsyncND(fail_later, NULL, NULL, NULL, NULL, 0, &array, 1, NULL, 0, "breaks",
                               false);
}

static int add(int mode, NDArrayHandle in, NDArrayHandle out)
{
    NDArrayHandle sum = NULL;
    int status = mode == ADD_ONE_NESTS ? add_one_invoke(ADD_ONE_PLAIN, in, NULL, &sum)
                                       : run("_plus_scalar", 1, &in, &sum, "scalar", "1");
    if (status == 0) {
        status = copy(sum, out);
        MXNDArrayFree(sum);
    }
    return status;
}

static int read_back(NDArrayHandle in)
{
    bool recording = true;
    void *data = NULL;
    if (MXAutogradIsRecording(&recording) != 0 || recording || MXNDArrayWaitToRead(in) != 0) {
        return -1;
    }
    return MXNDArrayGetData(in, &data);
}

static int do_forward(int mode, NDArrayHandle in, NDArrayHandle out)
{
    switch (mode) {
    case ADD_ONE_FAILS:
        return -1;
    case ADD_ONE_CALL_FAILS:
        return run("_plus_scalar", 1, &in, &out, "scalar", "many");
    case ADD_ONE_PUSH_FAILS:
        return add(mode, in, out) == 0 ? push_failing(out) : -1;
    case ADD_ONE_WAITS:
        return read_back(in) == 0 ? add(mode, in, out) : -1;
    case ADD_ONE_WAITS_FOR_ALL:
        return MXNDArrayWaitAll() != 0 ? add(mode, in, out) : -1;
    case ADD_ONE_WAITS_FOR_ITSELF:
        return MXNDArrayWaitToRead(add_one_output) != 0 ? add(mode, in, out) : -1;
    default:
        return add(mode, in, out);
    }
}

// ---- the operator -----------------------------------------------------------------------------
static void free_all(int size, void **ptrs)
{
    for (int i = 0; i < size; i++) {
        MXNDArrayFree(ptrs[i]);
    }
}

static int forward(int size, void **ptrs, int *tags, const int *reqs, const int is_train,
                   void *state)
{
    count(&add_one_forwards);
    __atomic_store_n(&add_one_trained, is_train, __ATOMIC_RELAXED);
    const property *own = state;
    bool good = size == 2 + own->states && tags[0] == 0 && tags[1] == 1 && reqs[0] != 0;
    int status = good ? do_forward(own->mode, ptrs[0], ptrs[1]) : -1;
    if (status == 0 && own->states == 1 && tags[2] == 4) {
        status = run("_plus_scalar", 1, &ptrs[2], &ptrs[2], "scalar", "1");
    }
    free_all(size, ptrs);
    return status == 0;
}

// Gradient of the output, input, output, gradient of the input, state.
static int backward(int size, void **ptrs, int *tags, const int *reqs, const int is_train,
                    void *state)
{
    (void)is_train;
    count(&add_one_backwards);
    const property *own = state;
    int rank = 7;
    const int *dims = NULL;
    bool good = size == 4 + own->states && tags[0] == 3 && tags[3] == 2 &&
                MXNDArrayGetShape(ptrs[1], &rank, &dims) == 0 && rank <= 0;
    int status = !good || own->mode == ADD_ONE_BACKWARD_FAILS ? -1 : 0;
    if (status == 0 && reqs[0] == 3) {
        NDArrayHandle pair[] = {ptrs[3], ptrs[0]};
        status = run("elemwise_add", 2, pair, &ptrs[3], NULL, NULL);
    } else if (status == 0 && reqs[0] != 0) {
        status = copy(ptrs[0], ptrs[3]);
    }
    free_all(size, ptrs);
    return status == 0;
}

static int delete_operator(void *state)
{
    (void)state;
    count(&add_one_operator_deletes);
    return 1;
}

// ---- the property -----------------------------------------------------------------------------
static int list_arguments(char ***args, void *state)
{
    static char *names[] = {(char *)"data", NULL};
    (void)state;
    *args = names;
    return 1;
}

static int list_outputs(char ***args, void *state)
{
    static char *names[] = {(char *)"output", NULL};
    (void)state;
    *args = names;
    return 1;
}

static int list_states(char ***args, void *state)
{
    static char *names[] = {(char *)"count", NULL};
    const property *own = state;
    *args = own->states == 1 ? names : names + 1;
    return 1;
}

static int infer_shape(int num_input, int *ndims, int **shapes, void *state)
{
    static int one = 1;
    (void)state;
    ndims[1] = ndims[0];
    memcpy(shapes[1], shapes[0], (size_t)ndims[0] * sizeof(int));
    if (num_input == 3) {
        ndims[2] = 1;
        shapes[2] = &one;
    }
    return num_input >= 2;
}

static int declare_needs(const int *out_grad, const int *in_data, const int *out_data,
                         int *num_deps, int **rdeps, void *state)
{
    (void)in_data;
    (void)out_data;
    property *own = state;
    own->needs[0] = out_grad[0];
    *num_deps = 1;
    *rdeps = own->needs;
    return 1;
}

typedef int (*any_function)(void);

static int create_operator(const char *ctx, int num_inputs, unsigned **shapes, const int *ndims,
                           const int *dtypes, struct MXCallbackList *ret, void *state)
{
    static any_function functions[] = {(any_function)(void (*)(void))delete_operator,
                                       (any_function)(void (*)(void))forward,
                                       (any_function)(void (*)(void))backward};
    count(&add_one_operators);
    void *contexts[] = {state, state, state};
    static _Thread_local void *kept[3];
    memcpy(kept, contexts, sizeof(kept));
    *ret = (struct MXCallbackList){3, functions, kept};
    return strcmp(ctx, "cpu(0)") == 0 && num_inputs >= 1 && ndims[0] > 0 && shapes[0][0] > 0 &&
           dtypes[0] == 0;
}

static int delete_property(void *state)
{
    count(&add_one_property_deletes);
    free(state);
    return 1;
}

static int create_property(const char *op_type, const int num_kwargs, const char **keys,
                           const char **values, struct MXCallbackList *ret)
{
    static any_function functions[] = {
        (any_function)(void (*)(void))delete_property, (any_function)(void (*)(void))list_arguments,
        (any_function)(void (*)(void))list_outputs,    (any_function)(void (*)(void))list_states,
        (any_function)(void (*)(void))infer_shape,     (any_function)(void (*)(void))declare_needs,
        (any_function)(void (*)(void))create_operator};
    enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };
    static _Thread_local void *contexts[FUNCTIONS];
    property *own = calloc(1, sizeof(*own));
    for (int i = 0; i < num_kwargs; i++) {
        *(strcmp(keys[i], "mode") == 0 ? &own->mode : &own->states) = atoi(values[i]);
    }
    for (int i = 0; i < FUNCTIONS; i++) {
        contexts[i] = own;
    }
    count(&add_one_properties);
    *ret = (struct MXCallbackList){FUNCTIONS, functions, contexts};
    return strcmp(op_type, "MyAddOne") == 0;
}

void add_one_register(void)
{
    MXCustomOpRegister("MyAddOne", create_property);
}
