// SPDX-License-Identifier: Apache-2.0
// MXNet's C ABI: operations of the program's own on the engine. The rules of mxnet/c_api.h hold.
#ifndef MXNET_C_API_ENGINE_H_
#define MXNET_C_API_ENGINE_H_

#include <mxnet/c_types.h>

// What a ContextHandle points to; null is cpu(0).
struct MXContext {
    int32_t dev_type, dev_id;
};

// What `on_start` and `on_complete` of an asynchronous function point to: MXNet's C++ class
// CallbackOnComplete. To end the operation, once, from any thread, call
// callback(engine, param, NULL) with its members, copied before the function returns.
struct MXEngineCallback {
    void (*callback)(void *engine, void *param, const void *error);
    void *engine;
    void *param;
};

typedef void (*EngineAsyncFunc)(void *rctx, void *on_start, void *on_complete, void *param);
typedef void (*EngineSyncFunc)(void *rctx, void *param);
typedef void (*EngineFuncParamDeleter)(void *param);

// The function runs once everything pushed before that conflicts in a variable is over. Lists are
// arrays of EngineVarHandle, or of arrays (...ND); none may be in them twice. `prop_handle`:
// FnProperty, null is 0. `opr_name` is what the profile shows, null is nothing. `deleter` (may be
// null) gets `func_param` when the operation is over, also if the call fails after its arguments
// were found good. `wait` has no effect on processors.
MXNET_DLL int MXEnginePushAsync(EngineAsyncFunc async_func, void *func_param,
                                EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                EngineVarHandle const_vars_handle, int num_const_vars,
                                EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                                EngineFnPropertyHandle prop_handle, int priority,
                                const char *opr_name, bool wait);
MXNET_DLL int MXEnginePushSync(EngineSyncFunc sync_func, void *func_param,
                               EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                               EngineVarHandle const_vars_handle, int num_const_vars,
                               EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                               EngineFnPropertyHandle prop_handle, int priority,
                               const char *opr_name);
MXNET_DLL int MXEnginePushAsyncND(EngineAsyncFunc async_func, void *func_param,
                                  EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                  NDArrayHandle *const_nds_handle, int num_const_nds,
                                  NDArrayHandle *mutable_nds_handle, int num_mutable_nds,
                                  EngineFnPropertyHandle prop_handle, int priority,
                                  const char *opr_name, bool wait);
MXNET_DLL int MXEnginePushSyncND(EngineSyncFunc sync_func, void *func_param,
                                 EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                                 NDArrayHandle *const_nds_handle, int num_const_nds,
                                 NDArrayHandle *mutable_nds_handle, int num_mutable_nds,
                                 EngineFnPropertyHandle prop_handle, int priority,
                                 const char *opr_name);

#endif
