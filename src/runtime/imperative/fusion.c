// SPDX-License-Identifier: Apache-2.0
#include "runtime/imperative/fusion.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/strbuf.h"
#include "runtime/imperative/bound.h"
#include "runtime/imperative/call_memory.h"

struct mxn_fusion {
    mxp_refs refs;
    size_t bytes;
    mxn_fused *fused;
    mxn_context context;
    mxp_name name;
    uint32_t scope;
    uint32_t value_count, call_count;
    bool is_parallel;
    float flops, bytes_moved;
    uint64_t *value_bytes;  // 0: of an inner value
    mxn_part *parts;
};

// One run, in one block of memory: the struct, its values, its variables.
typedef struct bound_fusion {
    mxn_fusion *fusion;  // a reference
    size_t bytes;
    mxn_fused_job job;
    mxn_var **reads, **writes;
    uint32_t read_count, write_count;
    mxn_buffer_ref values[];
} bound_fusion;

// ---- making -----------------------------------------------------------------------------------
static void describe_call(mxn_fusion *f, uint32_t index, const mxn_fusion_form *form)
{
    const mxn_prepared *prepared = form->prepared[index];
    const mxn_op *op = form->fused.calls[index].params->op;
    f->parts[index] = (mxn_part){.name = mxn_op_record_name(op),
                                 .scope = form->scopes[index],
                                 .shape = prepared->shape_text,
                                 .flops = prepared->flops,
                                 .bytes = prepared->bytes_moved};
    f->flops += prepared->flops;
    f->is_parallel = f->is_parallel || (op->flags & MXN_OP_PARALLEL) != 0;
}

// What all scopes have in common: "net:block:" of "net:block:conv:" and "net:block:relu:".
static uint32_t common_scope(const uint32_t *scopes, uint32_t count)
{
    const char *first = mxp_name_text(scopes[0]);
    size_t common = strlen(first);
    bool same = true;
    for (uint32_t i = 1; i < count; i++) {
        const char *other = mxp_name_text(scopes[i]);
        size_t length = 0;
        while (length < common && other[length] == first[length]) {
            length++;
        }
        common = length;
        same = same && scopes[i] == scopes[0];
    }
    while (!same && common > 0 && first[common - 1] != ':') {
        common--;
    }
    if (same || common == 0) {
        return same ? scopes[0] : 0;
    }
    mxp_strbuf text = {0};
    mxp__strbuf_printf(&text, "%.*s", (int)common, first);
    const uint32_t id = mxp_scope_id(mxp__strbuf_text(&text));
    mxp__strbuf_fini(&text);
    return id;
}

static mxp_name name_of(const mxn_fused_form *form)
{
    mxp_strbuf text = {0};
    for (uint32_t i = 0; i < form->call_count; i++) {
        mxp__strbuf_printf(&text, "%s%s", i == 0 ? "fused[" : ",", form->calls[i].params->op->name);
    }
    mxp__strbuf_printf(&text, "]");
    const mxp_name name = mxp_span_name("operator", mxp__strbuf_text(&text));
    mxp__strbuf_fini(&text);
    return name;
}

static mxn_fusion *fusion_new(const mxn_fusion_form *form)
{
    const uint32_t values = form->fused.value_count, calls = form->fused.call_count;
    const size_t bytes = sizeof(mxn_fusion) + values * sizeof(uint64_t) + calls * sizeof(mxn_part);
    mxn_fusion *f = mxp__alloc(bytes);
    if (f == NULL) {
        mxp__fail_memory("a fusion of operators");
        return NULL;
    }
    *f = (mxn_fusion){.bytes = bytes,
                      .context = form->context,
                      .name = name_of(&form->fused),
                      .scope = common_scope(form->scopes, calls),
                      .value_count = values,
                      .call_count = calls,
                      .is_parallel = form->fused.is_pointwise};
    f->value_bytes = (uint64_t *)(f + 1);
    f->parts = (mxn_part *)(f->value_bytes + values);
    mxp__refs_init(&f->refs);
    return f;
}

int mxn_fusion_make(const mxn_fusion_form *form, mxn_fusion **made)
{
    mxn_fusion *f = fusion_new(form);
    if (f == NULL) {
        return MXP_ENOMEM;
    }
    for (uint32_t i = 0; i < f->call_count; i++) {
        describe_call(f, i, form);
    }
    for (uint32_t i = 0; i < f->value_count; i++) {
        const mxn_fused_value *value = &form->fused.values[i];
        f->value_bytes[i] = value->kind == MXN_FUSED_INNER
                                ? 0
                                : mxn_shape_size(value->shape) * mxn_dtype_size(value->dtype);
        f->bytes_moved += (float)f->value_bytes[i];
    }
    int error = mxn_fused_make(&form->fused, &f->fused);
    if (error != MXP_OK) {
        mxp__free(f, f->bytes);
        return error;
    }
    *made = f;
    return MXP_OK;
}

void mxn_fusion_release(mxn_fusion *f)
{
    if (f != NULL && mxp__refs_drop(&f->refs)) {
        mxn_fused_free(f->fused);
        mxp__free(f, f->bytes);
    }
}

// ---- binding ----------------------------------------------------------------------------------
static bool overlap(const bound_fusion *b, uint32_t one, uint32_t other)
{
    const mxn_buffer_ref *x = &b->values[one], *y = &b->values[other];
    const uint64_t *bytes = b->fusion->value_bytes;
    return x->buffer == y->buffer && x->offset_bytes < y->offset_bytes + bytes[other] &&
           y->offset_bytes < x->offset_bytes + bytes[one];
}

// Whether what is written lies on something that is read, other than exactly.
static bool needs_copies(const bound_fusion *b)
{
    const mxn_fusion *f = b->fusion;
    for (uint32_t i = 0; i < f->value_count; i++) {
        for (uint32_t k = 0; k < f->value_count && mxn_fused_writes(f->fused, i); k++) {
            const bool is_other = k != i && f->value_bytes[i] != 0 && f->value_bytes[k] != 0;
            const bool is_same = b->values[i].offset_bytes == b->values[k].offset_bytes &&
                                 f->value_bytes[i] == f->value_bytes[k];
            if (is_other && !is_same && overlap(b, i, k)) {
                return true;
            }
        }
    }
    return false;
}

static int execute(const mxn_run *run, void *argument)
{
    bound_fusion *b = argument;
    mxn_record_parts(b->fusion->parts, b->fusion->call_count);
    return mxn_fused_execute(&b->job, run);
}

static void over(void *argument)
{
    bound_fusion *b = argument;
    mxn_fusion_release(b->fusion);
    mxn__call_give(b, b->bytes);
}

static bound_fusion *bound_new(mxn_fusion *f)
{
    const size_t vars = 2 * (size_t)f->value_count + 1;  // and the workspace's
    const size_t bytes =
        sizeof(bound_fusion) + f->value_count * sizeof(mxn_buffer_ref) + vars * sizeof(mxn_var *);
    bound_fusion *b = mxn__call_take(bytes);
    if (b == NULL) {
        return NULL;
    }
    mxp__refs_take(&f->refs);
    *b = (bound_fusion){.fusion = f, .bytes = bytes, .job = {.fused = f->fused}};
    b->job.values = b->values;
    b->reads = (mxn_var **)(b->values + f->value_count);
    b->writes = b->reads + f->value_count;
    return b;
}

static void take_arrays(bound_fusion *b, mxn_array *const *arrays)
{
    const mxn_fusion *f = b->fusion;
    for (uint32_t i = 0; i < f->value_count; i++) {
        b->values[i] = (mxn_buffer_ref){0};
        if (arrays[i] == NULL) {
            continue;
        }
        b->values[i] = mxn_array_memory(arrays[i]);
        if (mxn_fused_writes(f->fused, i)) {
            b->writes[b->write_count++] = mxn_array_var(arrays[i]);
        } else {
            b->reads[b->read_count++] = mxn_array_var(arrays[i]);
        }
    }
    b->job.copies = needs_copies(b);
}

int mxn_fusion_bind(mxn_fusion *f, mxn_array *const *arrays, mxn_work *work)
{
    bound_fusion *b = bound_new(f);
    if (b == NULL) {
        return MXP_ENOMEM;
    }
    take_arrays(b, arrays);
    int error = mxn_workspace_get(f->context, &b->job.workspace);
    if (error != MXP_OK) {
        over(b);
        return error;
    }
    b->writes[b->write_count++] = mxn_workspace_var(b->job.workspace);
    mxn_vars_dedupe(b->reads, &b->read_count, b->writes, &b->write_count);
    *work = (mxn_work){.function.sync = execute,
                       .form = MXN_SYNC,
                       .argument = b,
                       .deleter = over,
                       .reads = b->reads,
                       .writes = b->writes,
                       .read_count = b->read_count,
                       .write_count = b->write_count,
                       .device = mxn_context_engine_device(f->context),
                       .flags = f->is_parallel ? MXN_WORK_PARALLEL : 0,
                       .name = f->name,
                       .scope = f->scope,
                       .flops = f->flops,
                       .bytes = f->bytes_moved};
    return MXP_OK;
}
