// SPDX-License-Identifier: Apache-2.0
// An operation only hands over, inside the push or the completion that releases it, so that no
// thread is woken for it; it ends when the communication thread says so.
#include "runtime/kvstore/worker_operations.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/name_once.h"
#include "runtime/kvstore/operation_names.h"

static int told(int error, const char *text)
{
    return error == MXP_OK ? MXP_OK : mxp__fail(error, "%s", text);
}

// ---- transfers ---------------------------------------------------------------------------------
typedef struct sent {
    mxn_worker_transfer of;
    mxn_completion *completion;
} sent;

static void free_sent(void *argument)
{
    sent *s = argument;
    mxn_array_release(s->of.in);
    mxn_array_release(s->of.out);
    mxn_array_release(s->of.order);
    mxp__free(s, sizeof *s);
}

static void sent_done(void *context, int error, const char *text, const void *answer,
                      uint64_t answer_bytes)
{
    (void)answer, (void)answer_bytes;
    const sent *s = context;
    mxn_complete(s->completion, told(error, text));
}

static int give_data(const mxn_array *array, void **data)
{
    *data = NULL;
    return array == NULL ? MXP_OK : mxn_array_data(array, data);
}

static void start(const mxn_run *run, void *argument, mxn_completion *completion)
{
    (void)run;
    sent *s = argument;
    void *in = NULL, *out = NULL;
    const mxn_array *any = s->of.in != NULL ? s->of.in : s->of.out;
    s->completion = completion;
    s->of.operation.bytes = mxn_array_size(any) * mxn_dtype_size(any->dtype);
    s->of.operation.done = sent_done;
    s->of.operation.context = s;
    int error = give_data(s->of.in, &in);
    error = error == MXP_OK ? give_data(s->of.out, &out) : error;
    s->of.operation.in = in;
    s->of.operation.out = out;
    error = error == MXP_OK ? mxn_dist_submit(s->of.dist, &s->of.operation) : error;
    if (error != MXP_OK) {
        mxn_complete(completion, error);
    }
}

static mxp_name name_of(int kind, bool is_compressed)
{
    static mxp_atomic_u32 caches[MXN_NAMED_OPERATIONS];
    const mxn_named_operation operation = mxn__named_operation(kind, is_compressed);
    return mxp__span_name_once(&caches[operation], "operator", mxn__operation_texts[operation]);
}

int mxn__worker_transfer(const mxn_worker_transfer *transfer)
{
    mxn_var *reads[2], *writes[2];
    uint32_t read_count = 0, write_count = 0;
    sent *s = mxp__alloc(sizeof *s);
    if (s == NULL) {
        return mxp__fail_memory("an operation of a key-value store");
    }
    s->of = *transfer;
    const mxn_array *sent_of = s->of.is_compressed ? s->of.in : s->of.order;
    if (s->of.in != NULL) {
        mxn_array_retain(s->of.in);
        reads[read_count++] = mxn_array_var(s->of.in);
    }
    if (s->of.out != NULL) {
        mxn_array_retain(s->of.out);
        writes[write_count++] = mxn_array_var(s->of.out);
    }
    mxn_array_retain(s->of.order);
    if (s->of.operation.kind == MXN_DIST_PULL) {
        reads[read_count++] = mxn_array_var(s->of.order);
    } else {
        writes[write_count++] = mxn_array_var(s->of.order);
    }
    mxn_vars_dedupe(reads, &read_count, writes, &write_count);
    const mxn_work work = {
        .function.async = start,
        .form = MXN_ASYNC_FUNCTION,
        .argument = s,
        .deleter = free_sent,
        .reads = reads,
        .writes = writes,
        .read_count = read_count,
        .write_count = write_count,
        .flags = MXP_PHASE_COMMUNICATION | MXN_WORK_HANDS_OVER,
        .name = name_of(s->of.operation.kind, s->of.is_compressed),
        .bytes = (float)(mxn_array_size(sent_of) * mxn_dtype_size(sent_of->dtype)),
    };
    return mxn_push(&work);
}

// ---- calls that wait ---------------------------------------------------------------------------
// Two have it: the operation and who waits, who may give up first.
typedef struct awaited {
    mxp_refs refs;
    mxn_dist *dist;
    mxn_dist_operation operation;
    mxn_array *in;
    mxn_completion *completion;
    mxp_strbuf answer;
    char *name;  // copies of what the operation names
    mxn_shape shape;
    void *body;
    uint64_t body_bytes;
} awaited;

static void release(void *argument)
{
    awaited *a = argument;
    if (mxp__refs_drop(&a->refs)) {
        mxn_array_release(a->in);
        mxp__strbuf_fini(&a->answer);
        mxp__free(a->body, a->body_bytes);
        mxp__strfree(a->name);
        mxp__free(a, sizeof *a);
    }
}

static void awaited_done(void *context, int error, const char *text, const void *answer,
                         uint64_t answer_bytes)
{
    awaited *a = context;
    if (error == MXP_OK && answer_bytes > 0) {
        mxp__strbuf_append(&a->answer, answer, answer_bytes);
    }
    mxn_complete(a->completion, told(error, text));
}

static void begin(const mxn_run *run, void *argument, mxn_completion *completion)
{
    (void)run;
    awaited *a = argument;
    void *data = a->body;
    a->completion = completion;
    int error = a->in == NULL ? MXP_OK : mxn_array_data(a->in, &data);
    a->operation.in = data;
    a->operation.done = awaited_done;
    a->operation.context = a;
    error = error == MXP_OK ? mxn_dist_submit(a->dist, &a->operation) : error;
    if (error != MXP_OK) {
        mxn_complete(completion, error);
    }
}

// False without memory.
static bool copy_named(awaited *a, const mxn_dist_operation *operation)
{
    if (operation->shape != NULL) {
        mxn_shape_copy(&a->shape, operation->shape);
        a->operation.shape = &a->shape;
    }
    a->operation.name = a->name = mxp__strdup(operation->name);
    if (a->in == NULL && operation->bytes > 0) {
        a->body = mxp__alloc(operation->bytes);
        a->body_bytes = a->body == NULL ? 0 : operation->bytes;
    }
    if (a->body != NULL) {
        memcpy(a->body, operation->in, operation->bytes);
    }
    return (a->name != NULL || operation->name == NULL) &&
           (a->in != NULL || a->body_bytes == operation->bytes);
}

static awaited *new_awaited(mxn_dist *dist, const mxn_dist_operation *operation, mxn_array *in)
{
    awaited *a = mxp__alloc(sizeof *a);
    if (a == NULL) {
        return NULL;
    }
    mxp__refs_init(&a->refs);
    a->dist = dist;
    a->operation = *operation;
    a->in = in;
    if (in != NULL) {
        mxn_array_retain(in);
        a->operation.bytes = mxn_array_size(in) * mxn_dtype_size(in->dtype);
    }
    if (!copy_named(a, operation)) {
        release(a);
        return NULL;
    }
    return a;
}

static int push_awaited(awaited *a, mxn_var *ended)
{
    static mxp_atomic_u32 name;
    mxn_var *reads[] = {a->in == NULL ? NULL : mxn_array_var(a->in)};
    mxn_var *writes[] = {ended};
    const mxn_work work = {.function.async = begin,
                           .form = MXN_ASYNC_FUNCTION,
                           .argument = a,
                           .deleter = release,
                           .reads = reads,
                           .writes = writes,
                           .read_count = a->in == NULL ? 0 : 1,
                           .write_count = 1,
                           .flags = MXP_PHASE_COMMUNICATION | MXN_WORK_HIDDEN | MXN_WORK_HANDS_OVER,
                           .name = mxp__span_name_once(&name, "operator", "KVStoreWait")};
    mxp__refs_take(&a->refs);
    return mxn_push(&work);
}

int mxn__worker_wait_for(mxn_dist *dist, const mxn_dist_operation *operation, mxn_array *in,
                         mxp_strbuf *answer)
{
    mxn_var *ended = mxn_var_new();
    awaited *a = ended == NULL ? NULL : new_awaited(dist, operation, in);
    if (a == NULL) {
        mxn_var_delete(ended, NULL, NULL, 0);
        return mxp__fail_memory("an operation of a key-value store");
    }
    int error = push_awaited(a, ended);
    error = error == MXP_OK ? mxn_var_wait(ended) : error;
    if (error == MXP_OK && answer != NULL) {
        mxp__strbuf_append(answer, a->answer.data, a->answer.length);
        error = a->answer.failed || answer->failed ? mxp__fail_memory("an answer") : MXP_OK;
    }
    mxn_var_delete(ended, NULL, NULL, 0);
    release(a);
    return error;
}
