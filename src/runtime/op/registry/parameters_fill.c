// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/registry/parameters_fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/strbuf.h"
#include "runtime/op/registry/operator_state.h"
#include "runtime/op/registry/parameter_text.h"

enum { FIELDS_MAX = 64 };  // as many as `given` has bits

static bool is_hidden(const char *key)
{
    size_t length = strlen(key);
    return length > 4 && strncmp(key, "__", 2) == 0 && strcmp(key + length - 2, "__") == 0;
}

static bool is_called(const mxn_field *field, const char *key)
{
    return strcmp(field->name, key) == 0 ||
           (field->other_name != NULL && strcmp(field->other_name, key) == 0);
}

static const mxn_field *find_field(const mxn_op *op, const char *key)
{
    for (uint32_t i = 0; i < op->state->field_count; i++) {
        const mxn_field *field = &op->def->fields[i];
        if (field->kind != MXN_FIELD_INPUT && is_called(field, key)) {
            return field;
        }
    }
    return NULL;
}

static int fail_unknown(const mxn_op *op, const char *key)
{
    const char *words[FIELDS_MAX + 1] = {NULL};
    mxp_strbuf list = {0};
    for (uint32_t i = 0; i < op->state->field_count; i++) {
        words[i] = op->def->fields[i].name;
        mxp__strbuf_printf(&list, "%s : ", words[i]);
        mxn__field_type(&op->def->fields[i], &list);
        mxp__strbuf_putc(&list, '\n');
    }
    const char *closest = mxp__closest(key, words);
    int error =
        mxp__fail(MXP_EINVAL,
                  "Cannot find argument '%s', Possible Arguments:\n----------------\n%s, in "
                  "operator %s%s%s%s",
                  key, mxp__strbuf_text(&list), op->name, closest == NULL ? "" : "; did you mean '",
                  closest == NULL ? "" : closest, closest == NULL ? "" : "'?");
    mxp__strbuf_fini(&list);
    return error;
}

static int fail_missing(const mxn_op *op, const mxn_field *field)
{
    mxp_strbuf type = {0};
    mxn__field_type(field, &type);
    const char *text = mxp__strbuf_text(&type);
    const char *end = strstr(text, ", required");
    int error = mxp__fail(
        MXP_EINVAL, "Required parameter %s of %.*s is not presented, in operator %s", field->name,
        (int)(end == NULL ? strlen(text) : (size_t)(end - text)), text, op->name);
    mxp__strbuf_fini(&type);
    return error;
}

// ---- defaults ---------------------------------------------------------------------------------
// The struct with every default in it, and after it what does not fit there. Strings of defaults
// are those of the declaration.
static int make_defaults(const mxn_op *op, char *values)
{
    char *extra = values + mxn__params_values_bytes(op);
    for (uint32_t i = 0; i < op->state->field_count; i++) {
        const mxn_field *field = &op->def->fields[i];
        if (field->value == NULL || field->kind == MXN_FIELD_INPUT) {
            continue;
        }
        if (field->kind == MXN_FIELD_STRING) {
            memcpy(values + field->offset, &field->value, sizeof field->value);
            continue;
        }
        int error = mxn__field_parse(op, field, field->value, values, &extra);
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

static size_t defaults_bytes(const mxn_op *op)
{
    size_t bytes = mxn__params_values_bytes(op);
    for (uint32_t i = 0; i < op->state->field_count; i++) {
        const mxn_field *field = &op->def->fields[i];
        bytes += field->value == NULL || field->kind == MXN_FIELD_INPUT
                     ? 0
                     : mxn__field_extra(field, field->value);
    }
    return bytes;
}

static int fill_defaults(const mxn_op *op, void *values)
{
    if (op->params_bytes == 0) {
        return 0;
    }
    void *defaults = mxp_atomic_load_acquire(&op->state->defaults);
    if (defaults == NULL) {
        size_t bytes = defaults_bytes(op);
        char *made = mxp__alloc(bytes);
        if (made == NULL) {
            return mxp__fail_memory("default parameters");
        }
        int error = make_defaults(op, made);
        defaults = error == 0 ? mxn__publish(&op->state->defaults, made) : NULL;
        if (defaults != made) {
            mxp__free(made, bytes);
        }
        if (error != 0) {
            return error;
        }
    }
    memcpy(values, defaults, op->params_bytes);
    return 0;
}

// ---- what is given -----------------------------------------------------------------------------
size_t mxn__params_extra_bytes(const mxn_op *op, const mxn_pairs *given)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < given->count; i++) {
        const mxn_field *field = find_field(op, given->keys[i]);
        bytes += field == NULL ? 0 : mxn__field_extra(field, given->values[i]);
    }
    return bytes;
}

// The number of a list's inputs, where no field holds it.
static int parse_key(const mxn_op *op, const char *text, uint32_t *inputs)
{
    char *end;
    long count = strtol(text, &end, 10);
    if (end == text || *end != '\0' || count < 0 || count > MXN_OPERANDS_MAX) {
        return mxp__fail(
            MXP_EINVAL, "Invalid Parameter format for %s expect int but value='%s', in operator %s",
            op->def->key, text, op->name);
    }
    *inputs = (uint32_t)count;
    return 0;
}

static int fill_given(const mxn_op *op, const mxn_pairs *given, mxn_params *params, char *extra,
                      uint64_t *seen)
{
    for (uint32_t i = 0; i < given->count; i++) {
        const char *key = given->keys[i];
        const mxn_field *field = find_field(op, key);
        int error = 0;
        if (field != NULL) {
            *seen |= 1ull << (field - op->def->fields);
            error = mxn__field_parse(op, field, given->values[i], params->values, &extra);
        } else if (op->def->key != NULL && strcmp(key, op->def->key) == 0) {
            error = parse_key(op, given->values[i], &params->input_count);
        } else if (op->def->make == NULL && !is_hidden(key)) {
            error = fail_unknown(op, key);
        }
        if (error != 0) {
            return error;
        }
    }
    return 0;
}

// The field that counts the inputs is what is at hand, if it was not given.
static void fill_key(const mxn_op *op, mxn_params *params, uint64_t *seen)
{
    const mxn_field *field = op->def->key == NULL ? NULL : find_field(op, op->def->key);
    if (field == NULL) {
        return;
    }
    uint64_t bit = 1ull << (field - op->def->fields);
    int32_t count = (int32_t)params->input_count;
    if ((*seen & bit) == 0 && params->input_count != MXN_INPUTS_UNKNOWN) {
        memcpy(params->values + field->offset, &count, sizeof count);
        *seen |= bit;
    } else if ((*seen & bit) != 0) {
        memcpy(&count, params->values + field->offset, sizeof count);
        params->input_count = (uint32_t)count;
    }
}

static int check_required(const mxn_op *op, uint64_t seen)
{
    for (uint32_t i = 0; i < op->state->field_count; i++) {
        const mxn_field *field = &op->def->fields[i];
        if (field->value == NULL && field->kind != MXN_FIELD_INPUT && (seen >> i & 1u) == 0) {
            return fail_missing(op, field);
        }
    }
    return 0;
}

// ---- what follows from it ----------------------------------------------------------------------
static int parse_context(const mxn_op *op, const char *text, mxn_context *context)
{
    static const struct {
        const char *name;
        int32_t type;
    } types[] = {{"cpu_pinned", MXN_CPU_PINNED},
                 {"cpu_shared", MXN_CPU_SHARED},
                 {"cpu", MXN_CPU},
                 {"gpu", MXN_GPU}};
    *context = (mxn_context){0, 0};
    if (*text == '\0') {
        return 0;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t length = strlen(types[i].name);
        if (strncmp(text, types[i].name, length) != 0) {
            continue;
        }
        int id = 0, end = 0;
        bool numbered = sscanf(text + length, "(%d)%n", &id, &end) == 1 && end > 0 &&
                        text[length + (size_t)end] == '\0';
        if (numbered || text[length] == '\0') {
            *context = (mxn_context){types[i].type, numbered ? id : 0};
            return mxn_context_check(*context);
        }
    }
    return mxp__fail(MXP_EINVAL,
                     "Invalid context string '%s', in operator %s: use cpu(0), cpu_pinned(0) or "
                     "cpu_shared(0)",
                     text, op->name);
}

static int fill_context(const mxn_op *op, mxn_params *params)
{
    if (op->state->context_field < 0) {
        return 0;
    }
    const char *text;
    memcpy(&text, params->values + op->def->fields[op->state->context_field].offset, sizeof text);
    return parse_context(op, text, &params->context);
}

int mxn__params_fill_counts(const mxn_op *op, mxn_params *params)
{
    const mxn_op_def *def = op->def;
    if (def->inputs_of != NULL) {
        params->input_count = def->inputs_of(params->values);
    } else if (!op->state->list && def->key == NULL) {
        params->input_count = def->input_count != 0 ? def->input_count : op->named_inputs;
    }
    params->output_count = def->output_count != 0 ? def->output_count : 1;
    if (def->outputs_of != NULL) {
        params->output_count = def->outputs_of(params->values);
    }
    params->visible_count =
        def->visible_of != NULL ? def->visible_of(params->values) : params->output_count;
    uint32_t inputs = params->input_count;
    if ((inputs != MXN_INPUTS_UNKNOWN && inputs > MXN_OPERANDS_MAX) ||
        params->output_count > MXN_OPERANDS_MAX) {
        return mxp__fail(MXP_EINVAL,
                         "operator %s with %u inputs and %u outputs: at most %d of each", op->name,
                         inputs, params->output_count, MXN_OPERANDS_MAX);
    }
    return 0;
}

// What the operator itself says of its values, and makes of them.
static int check_and_make(const mxn_op *op, const mxn_pairs *given, mxn_params *params)
{
    int error = op->def->check == NULL ? 0 : op->def->check(op, params->values);
    if (error != 0 || op->def->make == NULL) {
        return error;
    }
    return op->def->make(params, given->count, given->keys, given->values);
}

int mxn__params_fill(const mxn_op *op, const mxn_pairs *given, mxn_params *params)
{
    uint64_t seen = 0;
    char *extra = (char *)params->values + mxn__params_values_bytes(op);
    int error = fill_defaults(op, params->values);
    if (error != 0) {
        return error;
    }
    error = fill_given(op, given, params, extra, &seen);
    if (error != 0) {
        return error;
    }
    fill_key(op, params, &seen);
    error = check_required(op, seen);
    if (error != 0) {
        return error;
    }
    error = check_and_make(op, given, params);
    if (error != 0) {
        return error;
    }
    error = fill_context(op, params);
    if (error != 0) {
        return error;
    }
    return mxn__params_fill_counts(op, params);
}
