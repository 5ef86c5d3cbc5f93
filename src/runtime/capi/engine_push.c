// SPDX-License-Identifier: Apache-2.0
// MXNet's functions that push a program's own operations. The engine calls a synchronous function
// on cpu as it is. For the others, what it is given as argument is a small block that keeps the
// program's function, its parameter and its deleter together.
#include <mxnet/c_api.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "runtime/capi/api_call.h"
#include "runtime/engine/engine.h"
#include "runtime/tensor/tensor.h"

_Static_assert(offsetof(mxn_run, device_type) == 0 && MXN_CPU == 1 &&
                   offsetof(mxn_run, device) == offsetof(struct MXContext, dev_id) &&
                   offsetof(mxn_run, stream) == sizeof(struct MXContext),
               "a mxn_run on cpu begins like a RunContext");
_Static_assert(sizeof(struct MXContext) == sizeof(mxn_context),
               "a ContextHandle is an mxn_context");

// What a program's function gets as rctx: the beginning of MXNet's RunContext.
typedef struct run_context {
    struct MXContext context;
    void *stream, *aux_stream;
    bool is_bulk;
} run_context;

typedef struct program_call {
    EngineSyncFunc sync;
    EngineAsyncFunc async;
    EngineFuncParamDeleter deleter;
    void *param;
    struct MXContext context;
} program_call;

// ---- names ------------------------------------------------------------------------------------
// Interning takes a lock and a program pushes few names many times, so the ids met last are kept,
// each where the address of its text says. An entry is one number: what it stands for is compared,
// because other texts may come to be at that address.
enum { NAMES_KEPT = 256 };

static mxp_name operation_name(const char *text)
{
    static mxp_atomic_u32 kept[NAMES_KEPT];
    if (text == NULL || text[0] == '\0') {
        return MXP_NAME_NONE;
    }
    uintptr_t at = (uintptr_t)text;
    mxp_atomic_u32 *entry = &kept[(at ^ at >> 8) % NAMES_KEPT];
    mxp_name name = mxp_atomic_load(entry);
    if (name == MXP_NAME_NONE || strcmp(mxp_name_text(name), text) != 0) {
        name = mxp_span_name("operator", text);
        mxp_atomic_store(entry, name);
    }
    return name;
}

static void call_delete(void *argument)
{
    program_call *c = argument;
    if (c->deleter != NULL) {
        c->deleter(c->param);
    }
    mxp__free(c, sizeof(program_call));
}

static int run_sync(const mxn_run *run, void *argument)
{
    (void)run;
    const program_call *c = argument;
    run_context context = {.context = c->context};
    c->sync(&context, c->param);
    return MXP_OK;
}

static void started(void *engine, void *param, const void *error)
{
    (void)engine;
    (void)param;
    (void)error;
}

static void completed(void *engine, void *param, const void *error)
{
    (void)engine;
    mxn_complete(param, error == NULL
                            ? MXP_OK
                            : mxp__fail(MXP_ESTATE, "an asynchronous operation of the program has "
                                                    "failed"));
}

static void run_async(const mxn_run *run, void *argument, mxn_completion *completion)
{
    (void)run;
    const program_call *c = argument;
    run_context context = {.context = c->context};
    struct MXEngineCallback on_start = {started, NULL, NULL};
    struct MXEngineCallback on_complete = {completed, NULL, completion};
    c->async(&context, &on_start, &on_complete, c->param);
}

// ---- arguments --------------------------------------------------------------------------------
static inline int check_count(int count, const void *list, const char *what)
{
    if (count < 0) {
        return mxp__fail(MXP_EINVAL, "Non-negative number of %s vars expected.", what);
    }
    if (count > 0 && list == NULL) {
        return mxp__fail(MXP_EINVAL, "%d %s vars are announced, and the list of them is null",
                         count, what);
    }
    return MXP_OK;
}

static int property_of(EngineFnPropertyHandle handle)
{
    return handle == NULL ? MXN_NORMAL : *(const int *)handle;
}

// What all four give in the same words, before the function.
static inline mxn_work work_of(void *param, EngineFuncParamDeleter deleter, int reads, int writes,
                               EngineFnPropertyHandle property, int priority, const char *name)
{
    return (mxn_work){.property = property_of(property),
                      .argument = param,
                      .deleter = deleter,
                      .read_count = (uint32_t)reads,
                      .write_count = (uint32_t)writes,
                      .priority = priority,
                      .name = operation_name(name)};
}

// What was given for either function; without one of them there is nothing to push.
typedef struct given_function {
    EngineSyncFunc sync;
    EngineAsyncFunc async;
} given_function;

static inline int check_lists(const given_function *given, const mxn_work *work,
                              const void *const_list, const void *mutable_list)
{
    if (given->sync == NULL && given->async == NULL) {
        return mxp__fail(MXP_EINVAL, "Check  notnull: function");
    }
    int error = check_count((int)work->read_count, const_list, "const");
    return error != MXP_OK ? error : check_count((int)work->write_count, mutable_list, "mutable");
}

// Keeps the function and its context in a block of their own, where the operation has no space. As
// in a push, the argument is consumed in any case.
static int enclose(mxn_work *work, const given_function *given, mxn_context context)
{
    program_call *c = mxp__alloc(sizeof(program_call));
    if (c == NULL) {
        if (work->deleter != NULL) {
            work->deleter(work->argument);
        }
        return mxp__fail_memory("an operation");
    }
    *c = (program_call){.sync = given->sync,
                        .async = given->async,
                        .deleter = work->deleter,
                        .param = work->argument,
                        .context = {context.type, context.id}};
    work->argument = c;
    work->deleter = call_delete;
    if (given->sync != NULL) {
        work->form = MXN_SYNC;
        work->function.sync = run_sync;
    } else {
        work->form = MXN_ASYNC_FUNCTION;
        work->function.async = run_async;
    }
    return MXP_OK;
}

static int push(mxn_work *work, const given_function *given, ContextHandle context_handle)
{
    mxn_context context = {MXN_CPU, 0};
    if (context_handle != NULL) {
        const struct MXContext *in = context_handle;
        context = (mxn_context){in->dev_type, in->dev_id};
    }
    int error = mxn_context_check(context);
    work->device = mxn_context_engine_device(context);
    if (error == MXP_OK && (given->sync == NULL || context.type != MXN_CPU)) {
        error = enclose(work, given, context);
    }
    return error == MXP_OK ? mxn_push(work) : error;
}

static int push_vars(mxn_work *work, given_function given, ContextHandle context,
                     EngineVarHandle const_vars, EngineVarHandle mutable_vars)
{
    work->reads = const_vars;
    work->writes = mutable_vars;
    int error = check_lists(&given, work, const_vars, mutable_vars);
    return error != MXP_OK ? error : push(work, &given, context);
}

static int refuse_array(const void *handle, const char *what, uint32_t index)
{
    int error = mxn_array_check(handle, what);
    return error != MXP_OK
               ? error
               : mxp__fail(MXP_EINVAL, "%s[%u] has no shape and no memory yet", what, index);
}

static inline int vars_of_arrays(mxn_var **vars, NDArrayHandle *arrays, uint32_t count,
                                 const char *what)
{
    for (uint32_t i = 0; i < count; i++) {
        if (mxn_array_check(arrays[i], what) != MXP_OK || mxn_array_is_none(arrays[i])) {
            return refuse_array(arrays[i], what, i);
        }
        vars[i] = mxn_array_var(arrays[i]);
    }
    return MXP_OK;
}

static int push_arrays(mxn_work *work, given_function given, ContextHandle context,
                       NDArrayHandle *const_nds, NDArrayHandle *mutable_nds)
{
    enum { ON_STACK = 32 };
    mxn_var *stack_vars[ON_STACK], **vars = stack_vars;
    int error = check_lists(&given, work, const_nds, mutable_nds);
    if (error != MXP_OK) {
        return error;
    }
    size_t count = (size_t)work->read_count + work->write_count;
    if (count > ON_STACK) {
        vars = mxp__alloc(count * sizeof(mxn_var *));
        if (vars == NULL) {
            return mxp__fail_memory("an operation's variables");
        }
    }
    work->reads = vars;
    work->writes = vars + work->read_count;
    error = vars_of_arrays(vars, const_nds, work->read_count, "const_nds_handle");
    if (error == MXP_OK) {
        error = vars_of_arrays(vars + work->read_count, mutable_nds, work->write_count,
                               "mutable_nds_handle");
    }
    if (error == MXP_OK) {
        error = push(work, &given, context);
    }
    if (vars != stack_vars) {
        mxp__free(vars, count * sizeof(mxn_var *));
    }
    return error;
}

// ---- entry points -----------------------------------------------------------------------------
int MXEnginePushAsync(EngineAsyncFunc async_func, void *func_param, EngineFuncParamDeleter deleter,
                      ContextHandle ctx_handle, EngineVarHandle const_vars_handle,
                      int num_const_vars, EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                      EngineFnPropertyHandle prop_handle, int priority, const char *opr_name,
                      bool wait)
{
    MXN_API_CALL();
    (void)wait;
    mxn_work work = work_of(func_param, deleter, num_const_vars, num_mutable_vars, prop_handle,
                            priority, opr_name);
    work.push_ticks = call.begin_ticks;
    const given_function given = {.async = async_func};
    return mxn__api_end(
        &call, push_vars(&work, given, ctx_handle, const_vars_handle, mutable_vars_handle));
}

int MXEnginePushSync(EngineSyncFunc sync_func, void *func_param, EngineFuncParamDeleter deleter,
                     ContextHandle ctx_handle, EngineVarHandle const_vars_handle,
                     int num_const_vars, EngineVarHandle mutable_vars_handle, int num_mutable_vars,
                     EngineFnPropertyHandle prop_handle, int priority, const char *opr_name)
{
    MXN_API_CALL();
    mxn_work work = work_of(func_param, deleter, num_const_vars, num_mutable_vars, prop_handle,
                            priority, opr_name);
    work.push_ticks = call.begin_ticks;
    work.function.plain = sync_func;
    work.form = MXN_VOID;
    const given_function given = {.sync = sync_func};
    return mxn__api_end(
        &call, push_vars(&work, given, ctx_handle, const_vars_handle, mutable_vars_handle));
}

int MXEnginePushAsyncND(EngineAsyncFunc async_func, void *func_param,
                        EngineFuncParamDeleter deleter, ContextHandle ctx_handle,
                        NDArrayHandle *const_nds_handle, int num_const_nds,
                        NDArrayHandle *mutable_nds_handle, int num_mutable_nds,
                        EngineFnPropertyHandle prop_handle, int priority, const char *opr_name,
                        bool wait)
{
    MXN_API_CALL();
    (void)wait;
    mxn_work work = work_of(func_param, deleter, num_const_nds, num_mutable_nds, prop_handle,
                            priority, opr_name);
    work.push_ticks = call.begin_ticks;
    const given_function given = {.async = async_func};
    return mxn__api_end(
        &call, push_arrays(&work, given, ctx_handle, const_nds_handle, mutable_nds_handle));
}

int MXEnginePushSyncND(EngineSyncFunc sync_func, void *func_param, EngineFuncParamDeleter deleter,
                       ContextHandle ctx_handle, NDArrayHandle *const_nds_handle, int num_const_nds,
                       NDArrayHandle *mutable_nds_handle, int num_mutable_nds,
                       EngineFnPropertyHandle prop_handle, int priority, const char *opr_name)
{
    MXN_API_CALL();
    mxn_work work = work_of(func_param, deleter, num_const_nds, num_mutable_nds, prop_handle,
                            priority, opr_name);
    work.push_ticks = call.begin_ticks;
    work.function.plain = sync_func;
    work.form = MXN_VOID;
    const given_function given = {.sync = sync_func};
    return mxn__api_end(
        &call, push_arrays(&work, given, ctx_handle, const_nds_handle, mutable_nds_handle));
}
