// SPDX-License-Identifier: Apache-2.0
// For front ends, beyond MXNet's C ABI. The rules of mxnet/c_api.h hold.
//
// Prepared calls: an operator whose parameters are parsed once and which is then run any number of
// times, from any thread. Runs are recorded as MXImperativeInvoke, the other calls here are not.
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
MXNET_DLL int MXPreparedFree(MXPreparedHandle prepared);

// Waits of the thread with this number (pthread_self) call `wanted` some twenty times a second, and
// fail once it answers other than 0; what they waited for goes on. It may run code of the program.
// Null: no wait does.
MXNET_DLL int MXEngineSetInterrupt(int (*wanted)(void), uintptr_t thread);
// Operations that have not begun complete without running from now on, as after MXNotifyShutdown.
MXNET_DLL int MXEngineDropPending(void);

// MXAutogradMarkVariables of one array, but an array that recorded operators have made stays in
// their graph: backward writes its gradient and goes on to what it was made of. Recorded as
// MXAutogradMarkVariables.
MXNET_DLL int MXAutogradAttachGradient(NDArrayHandle handle, mx_uint req, NDArrayHandle gradient);

// What the memory of an array is called in the table of allocations and among the owners, beside
// the scope in which the array was made; "unknown" otherwise. -1 once it has memory, so the array
// is made with `delay_alloc`.
MXNET_DLL int MXNDArrayNameMemory(NDArrayHandle handle, const char *name);

#endif
