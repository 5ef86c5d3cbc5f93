// SPDX-License-Identifier: Apache-2.0
// Prepared calls, for any front end: the one addition to MXNet's C ABI. They are exported under
// MXNET_PREPARED. The rules of mxnet/c_api.h hold.
//
// An operator whose parameters are parsed once and which is then run any number of times, from any
// thread, under that thread's switch of NumPy's shapes. Runs are recorded as MXImperativeInvoke,
// the other calls here are not. Null and freed handles are errors; what was never a handle of these
// is undefined.
#ifndef MXNET_INVOKE_H_
#define MXNET_INVOKE_H_

#include <mxnet/c_types.h>

typedef void *MXPreparedHandle;

// `num_inputs` is the number of arrays each run is given.
MXNET_DLL int MXPreparedCreate(AtomicSymbolCreator creator, int num_inputs, int num_params,
                               const char **param_keys, const char **param_vals,
                               MXPreparedHandle *out);
// As MXImperativeInvoke.
MXNET_DLL int MXPreparedInvoke(MXPreparedHandle prepared, NDArrayHandle *inputs, int *num_outputs,
                               NDArrayHandle **outputs);
// After the last run has returned. -1, and nothing happens, if the call was freed before.
MXNET_DLL int MXPreparedFree(MXPreparedHandle prepared);

#endif
