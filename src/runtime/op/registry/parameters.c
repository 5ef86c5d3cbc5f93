// SPDX-License-Identifier: Apache-2.0
// Parameters of one call: the operator's struct, and what follows from it (numbers of inputs and
// outputs, the device). Immutable once made, so one of them serves the forward operation, the tape
// and the backward operations at the same time.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/strbuf.h"
#include "runtime/op/registry/gradient.h"
#include "runtime/op/registry/operator_state.h"
#include "runtime/op/registry/parameter_text.h"
#include "runtime/op/registry/parameters_fill.h"

static void params_free(mxn_params *params)
{
    if (params->op->def->release != NULL) {
        params->op->def->release(params->values);
    }
    mxp__free(params, params->bytes);
}

static size_t pairs_bytes(const mxn_pairs *given)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < given->count; i++) {
        bytes += strlen(given->keys[i]) + strlen(given->values[i]) + 2;
    }
    return bytes;
}

static void keep_pairs(const mxn_pairs *given, mxn_params *params, char *at)
{
    params->pairs = at;
    params->pair_count = given->count;
    for (uint32_t i = 0; i < given->count; i++) {
        at = stpcpy(at, given->keys[i]) + 1;
        at = stpcpy(at, given->values[i]) + 1;
    }
}

static int make(const mxn_op *op, const mxn_pairs *given, uint32_t inputs, bool numpy_shape,
                mxn_params **made)
{
    const size_t before =
        sizeof(mxn_params) + mxn__params_values_bytes(op) + mxn__params_extra_bytes(op, given);
    const size_t bytes = before + pairs_bytes(given);
    mxn_params *params = mxp__alloc(bytes);
    if (params == NULL) {
        return mxp__fail_memory("the parameters of an operator");
    }
    params->op = op;
    mxp__refs_init(&params->refs);
    params->bytes = bytes;
    params->input_count = inputs;
    params->numpy_shape = numpy_shape;
    keep_pairs(given, params, (char *)params + before);
    int error = mxn__params_fill(op, given, params);
    if (error != 0) {
        params_free(params);
        return error;
    }
    *made = params;
    return 0;
}

// Those of an operator without parameters are made once and shared; the operator keeps a reference.
static int plain_params(const mxn_op *op, bool numpy_shape, mxn_params **params)
{
    mxn_params *plain = mxp_atomic_load_acquire(&op->state->plain);
    if (plain == NULL) {
        const mxn_pairs none = {0};
        mxn_params *made;
        int error = make(op, &none, 0, false, &made);
        if (error != 0) {
            return error;
        }
        plain = mxn__publish(&op->state->plain, made);
        if (plain != made) {
            mxn_params_release(made);
        }
    }
    int error = mxn_params_under(plain, numpy_shape, params);
    if (error == 0) {
        mxn_params_retain(*params);
    }
    return error;
}

int mxn_params_parse(const mxn_op *op, uint32_t count, const char *const *keys,
                     const char *const *values, uint32_t inputs, bool numpy_shape,
                     mxn_params **params)
{
    *params = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (keys[i] == NULL || values[i] == NULL) {
            return mxp__fail(MXP_EINVAL, "parameter %u of operator %s has a null key or value", i,
                             op->name);
        }
    }
    if (count == 0 && op->params_bytes == 0 && op->def->key == NULL && !op->state->list) {
        return plain_params(op, numpy_shape, params);
    }
    const mxn_pairs given = {count, keys, values};
    return make(op, &given, inputs, numpy_shape, params);
}

// What lies beside the struct moves with it: pointers into the old block become ones into the new.
static void move_pointers(const mxn_params *from, mxn_params *to)
{
    const mxn_op *op = from->op;
    uintptr_t begin = (uintptr_t)from;
    for (uint32_t i = 0; i < op->state->field_count; i++) {
        const mxn_field *field = &op->def->fields[i];
        size_t at = field->offset;
        if (field->kind == MXN_FIELD_FLOATS) {
            at += offsetof(mxn_floats, values);
        } else if (field->kind != MXN_FIELD_STRING) {
            continue;
        }
        uintptr_t pointer;
        memcpy(&pointer, from->values + at, sizeof pointer);
        if (pointer >= begin && pointer < begin + from->bytes) {
            pointer = pointer - begin + (uintptr_t)to;
            memcpy(to->values + at, &pointer, sizeof pointer);
        }
    }
}

// What is shared with a copy, and what follows from its struct.
static int finish_copy(mxn_params *copy, mxn_params **params)
{
    if (copy->op->def->share != NULL) {
        copy->op->def->share(copy->values);
    }
    int error = mxn__params_fill_counts(copy->op, copy);
    if (error != 0) {
        params_free(copy);
        return error;
    }
    *params = copy;
    return 0;
}

int mxn__params_share(const mxn_params *forward, const mxn_op *op, uint32_t inputs,
                      void (*adjust)(void *values), mxn_params **params)
{
    mxn_params *copy = mxp__alloc(forward->bytes);
    if (copy == NULL) {
        return mxp__fail_memory("the parameters of a gradient");
    }
    // Not as a whole: other threads are counting references to the original.
    *copy = (mxn_params){.op = op,
                         .input_count = inputs,
                         .context = forward->context,
                         .numpy_shape = forward->numpy_shape,
                         .bytes = forward->bytes};
    mxp__refs_init(&copy->refs);
    memcpy(copy->values, forward->values, forward->bytes - offsetof(mxn_params, values));
    move_pointers(forward, copy);
    if (op == forward->op && forward->pairs != NULL) {
        copy->pairs = (const char *)copy + (forward->pairs - (const char *)forward);
        copy->pair_count = forward->pair_count;
    }
    if (adjust != NULL) {
        adjust(copy->values);
    }
    return finish_copy(copy, params);
}

int mxn__params_other(mxn_params *params, mxn_params **other)
{
    mxn_params *known = mxp_atomic_load_acquire(&params->other);
    if (known == NULL) {
        mxn_params *made;
        int error = mxn__params_share(params, params->op, params->input_count, NULL, &made);
        if (error != 0) {
            return error;
        }
        made->numpy_shape = !params->numpy_shape;
        known = mxn__publish(&params->other, made);
        if (known != made) {
            mxn_params_release(made);
        }
    }
    *other = known;
    return 0;
}

int mxn__params_of(const mxn_op *op, const void *values, uint32_t inputs, bool numpy_shape,
                   mxn_params **params)
{
    size_t bytes = sizeof(mxn_params) + mxn__params_values_bytes(op);
    mxn_params *copy = mxp__alloc(bytes);
    if (copy == NULL) {
        return mxp__fail_memory("the parameters of an operator");
    }
    *copy =
        (mxn_params){.op = op, .input_count = inputs, .numpy_shape = numpy_shape, .bytes = bytes};
    mxp__refs_init(&copy->refs);
    memcpy(copy->values, values, op->params_bytes);
    return finish_copy(copy, params);
}

void mxn_params_retain(mxn_params *params)
{
    mxp__refs_take(&params->refs);
}

void mxn_params_release(mxn_params *params)
{
    if (params != NULL && mxp__refs_drop(&params->refs)) {
        mxn__gradient_free(mxp_atomic_own(&params->gradient));
        mxn_params_release(mxp_atomic_own(&params->other));
        params_free(params);
    }
}

const char *mxn_params_input_name(const mxn_params *params, uint32_t index, char buffer[64])
{
    const mxn_op *op = params->op;
    bool list = op->state->list;
    if (!list && index < op->named_inputs) {
        return op->input_names[op->def->name_of != NULL ? op->def->name_of(params->values, index)
                                                        : index];
    }
    snprintf(buffer, 64, "%s%u", list ? op->input_names[0] : "input", index);
    return buffer;
}

// Words of a declaration, which are few.
static bool word_of(const char *words, uint32_t index, char buffer[64])
{
    for (; index > 0 && *words != '\0'; index--) {
        words += strcspn(words, " ");
        words += *words == ' ';
    }
    snprintf(buffer, 64, "%.*s", (int)strcspn(words, " "), words);
    return buffer[0] != '\0';
}

const char *mxn_params_output_name(const mxn_params *params, uint32_t index, char buffer[64])
{
    const char *words = params->op->def->outputs;
    if (words == NULL || !word_of(words, index, buffer)) {
        bool alone = params->visible_count == 1 && index == 0;
        snprintf(buffer, 64, alone ? "output" : "output%u", index);
    }
    return buffer;
}

enum { MISSING_SHOWN = 8 };

int mxn_params_expect(const mxn_params *params, uint32_t inputs)
{
    if (params->input_count == inputs) {
        return 0;
    }
    mxp_strbuf missing = {0};
    char buffer[64];
    for (uint32_t i = inputs; i < params->input_count && i < inputs + MISSING_SHOWN; i++) {
        mxp__strbuf_printf(&missing, "%s%s", i > inputs ? ", " : " Missing: ",
                           mxn_params_input_name(params, i, buffer));
    }
    int error = mxp__fail(MXP_EINVAL, "Operator %s expects %u inputs, but got %u instead.%s",
                          params->op->name, params->input_count, inputs,
                          missing.length > 0 ? mxp__strbuf_text(&missing) : "");
    mxp__strbuf_fini(&missing);
    return error;
}

bool mxn_params_reads(const mxn_params *params, uint32_t output, uint32_t input)
{
    switch (params->op->def->reads) {
    case MXN_READS_ALL:
        return true;
    case MXN_READS_OTHER:
        return input == 0 || (output < 2 && input == 2 - output);
    default:
        return input == 0 && params->op->def->reads == MXN_READS_FIRST;
    }
}

bool mxn_params_inplace(const mxn_params *params, uint32_t output, uint32_t input)
{
    const mxn_op_def *def = params->op->def;
    if (def->inplace_of != NULL) {
        return def->inplace_of(params, output, input);
    }
    return output == 0 && input < 32 && (def->inplace >> input & 1u) != 0;
}

bool mxn_params_cuts(const mxn_params *params, bool training)
{
    const mxn_op_def *def = params->op->def;
    return def->cuts != NULL && def->cuts(params->values, training);
}

bool mxn_params_mutates(const mxn_params *params, uint32_t index)
{
    const mxn_op_def *def = params->op->def;
    if (def->mutates_of != NULL) {
        return def->mutates_of(params, index);
    }
    return index < 32 && (def->mutates >> index & 1u) != 0;
}

bool mxn_params_writes(const mxn_params *params, uint32_t index)
{
    return mxn_params_mutates(params, index) && (params->op->flags & MXN_OP_READS_STATES) == 0;
}

const char *mxn_params_input_init(const mxn_params *params, uint32_t index)
{
    const mxn_op_def *def = params->op->def;
    return def->init_of == NULL ? NULL : def->init_of(params->values, index);
}
