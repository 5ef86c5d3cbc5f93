// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI: operators and gradients that the program computes itself. The rules of
// mxnet/c_api.h hold.
//
// Callbacks return 0 for failure, anything else for success: the opposite of all other functions.
// Each is called with its entry of `contexts` as the last argument, on any thread. They must not
// throw. Tables and what is in them are copied; their delete is called once, when nothing can call
// the others any more.
#ifndef MXNET_C_API_CUSTOM_H_
#define MXNET_C_API_CUSTOM_H_

#include <mxnet/c_types.h>

typedef int (*MXGenericCallback)(void);  // what each of a table is converted to

struct MXCallbackList {
    int num_callbacks;
    MXGenericCallback *callbacks;
    void **contexts;
};

// ---- what a creator fills in ------------------------------------------------------------------
enum CustomOpPropCallbacks {
    kCustomOpPropDelete,
    kCustomOpPropListArguments,
    kCustomOpPropListOutputs,
    kCustomOpPropListAuxiliaryStates,
    kCustomOpPropInferShape,
    kCustomOpPropDeclareBackwardDependency,
    kCustomOpPropCreateOperator,
    kCustomOpPropInferType,  // may be left out: all types are alike
    kCustomOpPropInferStorageType,  // not called: all arrays are dense
    kCustomOpPropBackwardInferStorageType
};

typedef int (*CustomOpDelFunc)(void *state);
typedef int (*CustomOpListFunc)(char ***args, void *state);  // a list that ends with null
// Arguments, outputs, auxiliary states: of the arguments all is known, the others are asked for. An
// entry of `shapes` may be written to (16 numbers) or replaced.
typedef int (*CustomOpInferShapeFunc)(int num_input, int *ndims, int **shapes, void *state);
typedef int (*CustomOpInferTypeFunc)(int num_input, int *types, void *state);
typedef int (*CustomOpInferStorageTypeFunc)(int num_input, int *stypes, void *state);
typedef int (*CustomOpBackwardInferStorageTypeFunc)(int num_input, int *stypes, int *tags,
                                                    void *state);
// The arrays that backward is to be given, by the numbers in the three lists.
typedef int (*CustomOpBwdDepFunc)(const int *out_grad, const int *in_data, const int *out_data,
                                  int *num_deps, int **rdeps, void *state);
typedef int (*CustomOpCreateFunc)(const char *ctx, int num_inputs, unsigned **shapes,
                                  const int *ndims, const int *dtypes, struct MXCallbackList *ret,
                                  void *state);

// ---- what the operator does -------------------------------------------------------------------
enum CustomOpCallbacks { kCustomOpDelete, kCustomOpForward, kCustomOpBackward };

// `ptrs` are new handles, which the function frees; `tags` say what they are: 0 input, 1 output, 2
// gradient of an input, 3 gradient of an output, 4 auxiliary state. Arrays that backward has not
// asked for have no shape. `reqs`: for each written array 0 nothing, 1 and 2 write, 3 add. What the
// function pushes on these arrays belongs to the operator, which ends when all of it has. It may
// wait for them, not for everything (MXNDArrayWaitAll fails).
typedef int (*CustomOpFBFunc)(int size, void **ptrs, int *tags, const int *reqs, const int is_train,
                              void *state);

typedef int (*CustomOpPropCreator)(const char *op_type, const int num_kwargs, const char **keys,
                                   const char **values, struct MXCallbackList *ret);

// From now on operator Custom with parameter op_type=`op_type` is what `creator` makes; it gets all
// other parameters as text. Replaces an earlier creator. Functions run one thread each, of their
// own; with NaiveEngine on the pushing thread.
MXNET_DLL int MXCustomOpRegister(const char *op_type, CustomOpPropCreator creator);

// ---- gradients of what the program has computed -----------------------------------------------
// `kCustomFunctionDepends` is mxprof's, and may be left out. It is not called: if it is there and
// not null, the gradient depends on the values of the inputs. Without it a gradient depends on
// those of the outputs alone, so that a second gradient by the inputs is zero; with it, asking for
// one is an error.
enum CustomFunctionCallbacks {
    kCustomFunctionBackward,
    kCustomFunctionDelete,
    kCustomFunctionDepends
};

// `ptrs`: the gradients of the outputs, then those of the inputs, to be written as `reqs` says.
typedef int (*CustomFunctionBwdFunc)(int num_ograds, int num_igrads, void **ptrs, const int *reqs,
                                     const int is_train, void *state);
typedef int (*CustomFunctionDelFunc)(void *state);

// Records, if the thread records, that `outputs` depend on `inputs` and that `callbacks` know their
// gradient.
MXNET_DLL int MXCustomFunctionRecord(int num_inputs, NDArrayHandle *inputs, int num_outputs,
                                     NDArrayHandle *outputs, struct MXCallbackList *callbacks);

#endif
