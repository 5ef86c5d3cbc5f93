// SPDX-License-Identifier: Apache-2.0
// The operation holds the variables of its arrays until it ends, so its function gets aliases of
// them. When it returns, an operation that reads all aliases is pushed, CustomOperatorWait; it runs
// when everything the function has pushed is over, and completes the operation with the first error
// there was.
//
//   push: aliases -> worker: task -> custom thread: function, its pushes -> CustomOperatorWait
//
// With NaiveEngine all of it happens inside the push.
#include "runtime/imperative/custom/custom_call.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/name_once.h"
#include "runtime/imperative/custom/custom_thread.h"
#include "runtime/imperative/thread_mode.h"
#include "runtime/op/custom.h"

struct mxn_custom_call {
    mxn_custom_task task;  // first: the task is the call
    const mxn_job *job;
    mxn_params *params;  // the job's, with a reference of the call's own
    mxn_call_state *state;  // a reference; null: the parameters tell the function
    mxn_completion *completion;
    mxn_thread_mode mode;
    uint32_t scope, phase;
    int error;
    char *detail;  // of the error
    mxn_custom_arguments arguments;
    mxn_array **aliases;  // a reference each; an empty array where there is nothing
    mxn_custom_slot *slots;
    int *requests;
    uint32_t var_count;
    mxn_var **vars;  // of the aliases, each once
    size_t bytes;
};

// ---- making -----------------------------------------------------------------------------------
// The job's state goes over: a worker that lets go of it last would call the program.
static mxn_custom_call *call_take(mxn_job *job)
{
    uint32_t count = mxn_custom_slots(job->params, NULL);
    size_t each = sizeof(mxn_array *) + sizeof(void *) + sizeof(mxn_var *) +
                  sizeof(mxn_custom_slot) + 2 * sizeof(int);
    size_t bytes = sizeof(mxn_custom_call) + count * each;
    mxn_custom_call *call = mxp__alloc(bytes);
    if (call == NULL) {
        mxp__fail_memory("a call of a custom operator");
        return NULL;
    }
    call->bytes = bytes;
    call->job = job;
    call->state = job->state;
    job->state = NULL;
    call->params = (mxn_params *)job->params;
    mxn_params_retain(call->params);
    call->aliases = (mxn_array **)(call + 1);
    call->arguments.count = count;
    call->arguments.arrays = (void **)(call->aliases + count);
    call->vars = (mxn_var **)(call->arguments.arrays + count);
    call->slots = (mxn_custom_slot *)(call->vars + count);
    call->arguments.tags = (int *)(call->slots + count);
    call->requests = call->arguments.tags + count;
    call->arguments.requests = call->requests;
    mxn_custom_slots(job->params, call->slots);
    return call;
}

// The alias made before of an array with the same memory, or null.
static mxn_array *alias_beside(const mxn_custom_call *call, mxn_array *const *arrays,
                               uint32_t before)
{
    for (uint32_t i = 0; i < before; i++) {
        if (arrays[i] != NULL && mxn_array_shares(arrays[i], arrays[before])) {
            return call->aliases[i];
        }
    }
    return NULL;
}

static int add_alias(mxn_custom_call *call, mxn_array **arrays, uint32_t at)
{
    if (arrays[at] == NULL) {
        return mxn_array_new_none(&call->aliases[at]);
    }
    mxn_array *beside = alias_beside(call, arrays, at);
    int error = mxn_array_alias(arrays[at], beside, &call->aliases[at]);
    if (error == MXP_OK && beside == NULL) {
        call->vars[call->var_count++] = mxn_array_var(call->aliases[at]);
    }
    return error;
}

// `arguments.arrays` holds the operands meanwhile, null where there is nothing.
static int add_aliases(mxn_custom_call *call, const mxn_binding *in)
{
    uint32_t inputs = call->params->input_count;
    uint32_t written = 0;
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < call->arguments.count; i++) {
        int32_t operand = call->slots[i].operand;
        bool output = operand >= (int32_t)inputs;
        mxn_array *array = NULL;
        if (output) {
            uint32_t request = call->job->outputs[(uint32_t)operand - inputs].request;
            call->requests[written++] = (int)request;
            array = request == MXN_NULL ? NULL : in->outputs[(uint32_t)operand - inputs];
        } else if (operand >= 0) {
            array = in->inputs[operand];
        }
        call->arguments.tags[i] = call->slots[i].tag;
        call->arguments.arrays[i] = array;
        error = add_alias(call, (mxn_array **)call->arguments.arrays, i);
    }
    return error;
}

int mxn__custom_call_new(mxn_job *job, const mxn_binding *in, mxn_custom_call **made)
{
    mxn_custom_call *call = call_take(job);
    if (call == NULL) {
        return MXP_ENOMEM;
    }
    call->mode =
        (mxn_thread_mode){.training = job->training, .numpy_shape = call->params->numpy_shape};
    call->phase = mxn_phase();
    call->arguments.training = job->training;
    call->scope = in->scope != 0 ? in->scope : mxp_scope_current();
    int error = add_aliases(call, in);
    if (error != MXP_OK) {
        mxn__custom_call_free(call);
        return error;
    }
    *made = call;
    return MXP_OK;
}

// Calls what the program has for deleting, which may take as long as it likes.
static void release(mxn_custom_task *task)
{
    mxn_custom_call *call = (mxn_custom_call *)task;
    mxn_call_state_release(call->state);
    mxn_params_release(call->params);
    mxp__strfree(call->detail);
    mxp__free(call, call->bytes);
}

// A worker calls no function of the program here.
void mxn__custom_call_free(mxn_custom_call *call)
{
    if (call == NULL) {
        return;
    }
    for (uint32_t i = 0; i < call->arguments.count; i++) {
        mxn_array_release(call->aliases[i]);
    }
    call->task.run = release;
    bool started = call->completion != NULL && !mxn_engine_is_naive();
    if (!started || mxn__custom_thread_put(&call->task) != MXP_OK) {
        release(&call->task);
    }
}

// ---- the end ----------------------------------------------------------------------------------
static const char *name_of(const mxn_custom_call *call)
{
    const char *prefix = mxn_custom_prefix(call->params);
    return prefix != NULL ? prefix : "Function.backward";
}

// Takes the errors of what the function has pushed; the first of all is the operation's.
static void collect_errors(mxn_custom_call *call)
{
    for (uint32_t i = 0; i < call->var_count; i++) {
        int error = mxn_var_error(call->vars[i]);
        if (error != MXP_OK && call->error == MXP_OK) {
            call->error = error;
            call->detail = mxp__strdup(mxp_last_error());
        }
    }
}

static void complete(mxn_custom_call *call)
{
    collect_errors(call);
    if (call->error != MXP_OK) {
        mxp__fail(call->error, "Custom operator %s has failed: %s", name_of(call),
                  call->detail == NULL ? mxp_strerror(call->error) : call->detail);
    }
    mxn_complete(call->completion, call->error);
}

static int all_is_over(const mxn_run *run, void *argument)
{
    (void)run;
    complete(argument);
    return MXP_OK;
}

static mxp_name wait_name(void)
{
    static mxp_atomic_u32 name;
    return mxp__span_name_once(&name, "operator", "CustomOperatorWait");
}

// As a deletion, so that it runs during shutdown too.
static void complete_later(mxn_custom_call *call)
{
    const mxn_work work = {.function.sync = all_is_over,
                           .property = MXN_DELETE_VAR,
                           .argument = call,
                           .reads = call->vars,
                           .read_count = call->var_count,
                           .name = wait_name()};
    if (mxn_push(&work) == MXP_OK) {
        return;
    }
    for (uint32_t i = 0; i < call->var_count; i++) {
        mxn_var_wait_write(call->vars[i]);
    }
    complete(call);
}

// ---- the function -----------------------------------------------------------------------------
static int open_aliases(const mxn_custom_call *call)
{
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < call->arguments.count; i++) {
        if (!mxn_array_is_none(call->aliases[i])) {
            error = mxn_array_alias_open(call->aliases[i]);
        }
    }
    return error;
}

// The scope with those around it. How many they are.
static unsigned push_scopes(uint32_t scope)
{
    if (scope == 0) {
        return 0;
    }
    unsigned around = push_scopes(mxp_name_category(scope));
    mxp_scope_push(mxp_name_text(scope));
    return around + 1;
}

static mxp_name span_name(const char *prefix)
{
    enum { TEXT_MAX = 256 };
    char text[TEXT_MAX];
    snprintf(text, sizeof(text), "%s::pure_python", prefix);
    return mxp_span_name("Custom Operator", text);
}

static bool call_recorded(mxn_custom_call *call, const char *prefix)
{
    for (uint32_t i = 0; i < call->arguments.count; i++) {
        mxn_array_retain(call->aliases[i]);  // the function frees what it is given
        call->arguments.arrays[i] = call->aliases[i];
    }
    uint64_t token = 0;
    mxp_name name = MXP_NAME_NONE;
    if (prefix != NULL && mxp_enabled(MXP_CLASS_IMPERATIVE)) {
        name = span_name(prefix);
        token = mxp_span_begin_in(MXP_CLASS_IMPERATIVE, name);
    }
    bool done = mxn_custom_run(call->params, call->state, &call->arguments);
    mxp_span_end(name, token);
    return done;
}

static void call_named(mxn_custom_call *call)
{
    mxn_callback callback = {.prefix = mxn_custom_prefix(call->params),
                             .operation = call->completion,
                             .waits = mxn__custom_thread_waits};
    call->error = mxn_callback_begin(&callback);
    if (call->error == MXP_OK) {
        const char *detail = "";
        if (!call_recorded(call, callback.prefix)) {
            detail = mxp_last_error();
            call->error = MXP_ESTATE;
            call->detail = mxp__strdup(detail[0] != '\0' ? detail : "its function returned 0");
        }
        int error = mxn_callback_end(&callback);
        call->error = call->error != MXP_OK ? call->error : error;
    }
}

// Under the switches of the thread that has pushed it, or, NumPy's shapes, has parsed the operator.
static void call_in_mode(mxn_custom_call *call)
{
    const mxn_thread_mode before = mxn__mode;
    unsigned scopes = mxp_scope_current() == call->scope ? 0 : push_scopes(call->scope);
    uint32_t phase = mxn_phase_set(call->phase);
    mxn__mode = call->mode;
    call_named(call);
    mxn__mode = before;
    mxn_phase_set(phase);
    while (scopes-- > 0) {
        mxp_scope_pop();
    }
}

// An error from before is not this call's.
static void run_call(mxn_custom_call *call)
{
    mxp_set_last_error(MXP_OK, "");
    call->error = open_aliases(call);
    if (call->error == MXP_OK) {
        call_in_mode(call);
    } else {
        call->detail = mxp__strdup(mxp_last_error());
    }
    complete_later(call);
}

// What an earlier call has left behind on this thread is forgotten.
static void run_task(mxn_custom_task *task)
{
    while (mxp_scope_current() != MXP_NAME_NONE) {
        mxp_scope_pop();
    }
    run_call((mxn_custom_call *)task);
}

void mxn__custom_call_start(mxn_custom_call *call, mxn_completion *completion)
{
    call->completion = completion;
    call->task.run = run_task;
    if (mxn_engine_is_naive()) {
        run_call(call);
        return;
    }
    int error = mxn__custom_thread_put(&call->task);
    if (error != MXP_OK) {
        mxn_complete(completion, error);
    }
}
