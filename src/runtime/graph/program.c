// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/program.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/setting.h"

void mxn__program_fini(mxn_program *p)
{
    for (size_t i = 0; i < p->step_count; i++) {
        mxn_prepared_release(p->steps[i].call);
        mxn_fusion_release(p->steps[i].fusion);
    }
    mxp__free(p->values, p->value_capacity * sizeof *p->values);
    mxp__free(p->steps, p->step_capacity * sizeof *p->steps);
    mxp__free(p->operands, p->operand_capacity * sizeof *p->operands);
    mxp__free(p->tenants, p->tenant_capacity * sizeof *p->tenants);
    mxp__free(p->fused, p->fused_capacity * sizeof *p->fused);
    mxn__slots_fini(&p->slots);
    *p = (mxn_program){0};
}

static int grow(void *list, size_t *capacity, size_t needed, size_t bytes)
{
    return needed <= *capacity || mxp__grow(list, capacity, needed, bytes) == MXP_OK
               ? MXP_OK
               : mxp__fail_memory("a prepared graph");
}

int mxn__program_add_value(mxn_program *p, const mxn_program_value *value, uint32_t *id)
{
    int error = grow(&p->values, &p->value_capacity, p->value_count + 1, sizeof *p->values);
    if (error == MXP_OK) {
        p->values[p->value_count] = *value;
        *id = (uint32_t)p->value_count++;
    }
    return error;
}

// ---- steps ------------------------------------------------------------------------------------
static int fail_at(const mxn_graph_node *node, int error)
{
    const bool has_place = node != NULL && error != MXP_OK && error != MXP_ENOTSUP;
    return has_place ? mxn__graph_node_fail(node, error) : error;
}

// What is known of the operands before the call is prepared.
typedef struct operand_types {
    mxn_tensor_type *all;
    size_t bytes;
} operand_types;

static mxn_tensor_type type_of(const mxn_program *p, uint32_t id)
{
    const mxn_program_value *value = &p->values[id];
    return value->dtype == MXN_DTYPE_NONE ? (mxn_tensor_type){NULL, MXN_DTYPE_NONE}
                                          : (mxn_tensor_type){&value->shape, value->dtype};
}

static int find_types(const mxn_program *p, const mxn_program_call *call, operand_types *types)
{
    const mxn_params *params = call->params;
    types->bytes = ((size_t)params->input_count + params->output_count + 1) * sizeof *types->all;
    types->all = mxp__alloc(types->bytes);
    if (types->all == NULL) {
        return mxp__fail_memory("a prepared graph");
    }
    for (uint32_t i = 0; i < params->input_count; i++) {
        types->all[i] = type_of(p, call->inputs[i]);
    }
    for (uint32_t i = 0; i < params->output_count; i++) {
        mxn_tensor_type *type = &types->all[params->input_count + i];
        *type = (mxn_tensor_type){NULL, MXN_DTYPE_NONE};
        if (call->outputs[i] != MXN_NO_VALUE) {
            *type = type_of(p, call->outputs[i]);
        }
        if (type->shape == NULL && call->known_outputs != NULL) {
            *type = call->known_outputs[i];
        }
    }
    return MXP_OK;
}

static int prepare(const mxn_program *p, const mxn_program_form *form, const mxn_program_call *call,
                   mxn_prepared **prepared)
{
    operand_types types;
    int error = find_types(p, call, &types);
    if (error != MXP_OK) {
        return error;
    }
    error = mxn_prepare(&(mxn_signature){.params = call->params,
                                         .inputs = types.all,
                                         .outputs = types.all + call->params->input_count,
                                         .requests = call->requests,
                                         .context = form->context,
                                         .training = form->training},
                        prepared);
    mxp__free(types.all, types.bytes);
    return fail_at(call->node, error);
}

static int fill_output(mxn_program *p, const mxn_prepared *prepared, const mxn_program_call *call,
                       uint32_t index)
{
    const mxn_tensor_type type = mxn_prepared_output(prepared, index);
    mxn_program_value value = {.kind = MXN_VALUE_OWN, .dtype = type.dtype};
    if (call->outputs[index] != MXN_NO_VALUE) {
        mxn_program_value *there = &p->values[call->outputs[index]];
        mxn_shape_copy(&there->shape, type.shape);
        there->dtype = type.dtype;
        return MXP_OK;
    }
    mxn_shape_copy(&value.shape, type.shape);
    return call->requests != NULL && call->requests[index] == MXN_NULL
               ? MXP_OK
               : mxn__program_add_value(p, &value, &call->outputs[index]);
}

static int append(mxn_program *p, mxn_prepared *prepared, const mxn_program_call *call)
{
    const mxn_params *params = call->params;
    const size_t operands = (size_t)params->input_count + params->output_count;
    int error = grow(&p->steps, &p->step_capacity, p->step_count + 1, sizeof *p->steps);
    if (error == MXP_OK) {
        error = grow(&p->operands, &p->operand_capacity, p->operand_count + operands + 1,
                     sizeof *p->operands);
    }
    for (uint32_t i = 0; i < params->output_count && error == MXP_OK; i++) {
        error = fill_output(p, prepared, call, i);
    }
    if (error != MXP_OK) {
        return error;
    }
    uint32_t *at = p->operands + p->operand_count;
    memcpy(at, call->inputs, params->input_count * sizeof *at);
    memcpy(at + params->input_count, call->outputs, params->output_count * sizeof *at);
    p->steps[p->step_count++] = (mxn_program_step){.call = prepared,
                                                   .params = call->params,
                                                   .node = call->node,
                                                   .scope = call->scope,
                                                   .name = mxn__graph_node_id(call->node),
                                                   .run_count = 1,
                                                   .first_operand = (uint32_t)p->operand_count};
    p->operand_count += operands;
    return MXP_OK;
}

// The state of a run belongs to that run alone; arrays of another device are another program's.
static int check_operator(const mxn_program_form *form, const mxn_params *params)
{
    const bool moves = params->context.type != 0 && params->input_count == 0 &&
                       !mxn_context_equal(params->context, form->context);
    if (!moves && (params->op->flags & MXN_OP_STATE) == 0) {
        return MXP_OK;
    }
    return mxp__fail(MXP_ENOTSUP, "Operator %s cannot be prepared: %s", params->op->name,
                     moves ? "it is on another device" : "its runs have a state");
}

int mxn__program_add_step(mxn_program *p, const mxn_program_form *form,
                          const mxn_program_call *call)
{
    mxn_prepared *prepared = NULL;
    int error = check_operator(form, call->params);
    if (error == MXP_OK) {
        error = prepare(p, form, call, &prepared);
    }
    if (error == MXP_OK) {
        error = append(p, prepared, call);
    }
    if (error != MXP_OK) {
        mxn_prepared_release(prepared);
    }
    return error;
}

// ---- memory -----------------------------------------------------------------------------------
static uint64_t shares = 1, goes_in_place = 1;
static pthread_once_t settings_once = PTHREAD_ONCE_INIT;

// MXNet's switches, for looking for faults: what is ill-formed changes nothing.
static void read_settings(void)
{
    enum { LARGEST = 1 << 20 };
    if (mxp__setting_read("NNVM_EXEC_MATCH_RANGE", 1, 0, LARGEST, &shares) != MXP_OK) {
        shares = 1;
    }
    if (mxp__setting_read("MXNET_EXEC_ENABLE_INPLACE", 1, 0, 1, &goes_in_place) != MXP_OK) {
        goes_in_place = 1;
    }
}

typedef struct planning {
    mxn_program *program;
    uint32_t first_step;
    uint32_t *last;  // of each value: the last step that has it as an operand
} planning;

static uint64_t bytes_of(const mxn_program_value *value)
{
    enum { LEAST = 64 };  // also of a value without elements
    const uint64_t bytes = mxn_shape_size(&value->shape) * mxn_dtype_size(value->dtype);
    return bytes == 0 ? LEAST : (bytes + LEAST - 1) / LEAST * LEAST;
}

static void find_last(const planning *of)
{
    const mxn_program *p = of->program;
    for (size_t i = 0; i < p->step_count; i++) {
        const mxn_params *params = p->steps[i].params;
        const uint32_t *operands = mxn__step_inputs(p, i);
        for (uint32_t k = 0; k < params->input_count + params->output_count; k++) {
            if (operands[k] != MXN_NO_VALUE && p->values[operands[k]].kind == MXN_VALUE_OWN) {
                of->last[operands[k]] =
                    p->values[operands[k]].is_kept ? MXN_FOREVER : of->first_step + (uint32_t)i;
            }
        }
    }
}

// Whether nothing but this input of the step needs the memory any more.
static bool is_leaving(const planning *of, size_t step, uint32_t input)
{
    const mxn_program *p = of->program;
    const uint32_t *inputs = mxn__step_inputs(p, step);
    const uint32_t id = inputs[input], at = of->first_step + (uint32_t)step;
    const mxn_program_value *value = &p->values[id];
    if (value->kind != MXN_VALUE_OWN || of->last[id] != at ||
        p->tenants[value->tenant].last != at) {
        return false;
    }
    for (uint32_t i = 0; i < p->steps[step].params->input_count; i++) {
        if (i != input && p->values[inputs[i]].kind == MXN_VALUE_OWN &&
            p->values[inputs[i]].tenant == value->tenant) {
            return false;
        }
    }
    return true;
}

// The tenant of an input whose memory an output may take over, or MXN_NO_SLOT.
static uint32_t find_predecessor(const planning *of, size_t step, uint32_t output)
{
    const mxn_program *p = of->program;
    const mxn_params *params = p->steps[step].params;
    const mxn_program_value *value = &p->values[mxn__step_outputs(p, step)[output]];
    for (uint32_t i = 0; i < params->input_count; i++) {
        const mxn_program_value *input = &p->values[mxn__step_inputs(p, step)[i]];
        if (mxn_params_inplace(params, output, i) && is_leaving(of, step, i) &&
            p->tenants[input->tenant].bytes == bytes_of(value)) {
            return input->tenant;
        }
    }
    return MXN_NO_SLOT;
}

static int find_tenant(const planning *of, size_t step, uint32_t output)
{
    mxn_program *p = of->program;
    const uint32_t id = mxn__step_outputs(p, step)[output];
    const uint32_t at = of->first_step + (uint32_t)step, last = of->last[id];
    const bool may_follow = last > at && goes_in_place != 0;
    const uint32_t before = may_follow ? find_predecessor(of, step, output) : MXN_NO_SLOT;
    if (before != MXN_NO_SLOT) {
        p->tenants[before].last = last;
        p->values[id].tenant = before;
        return MXP_OK;
    }
    int error = grow(&p->tenants, &p->tenant_capacity, p->tenant_count + 1, sizeof *p->tenants);
    if (error == MXP_OK) {
        // Who never goes shares with nobody.
        p->tenants[p->tenant_count] = (mxn_tenant){bytes_of(&p->values[id]), shares != 0 ? at : 0,
                                                   shares != 0 ? last : MXN_FOREVER, MXN_NO_SLOT};
        p->values[id].tenant = (uint32_t)p->tenant_count++;
        p->values[id].is_first = !mxn_prepared_adds(p->steps[step].call);
    }
    return error;
}

static int find_tenants(const planning *of)
{
    const mxn_program *p = of->program;
    int error = MXP_OK;
    for (size_t i = 0; i < p->step_count; i++) {
        for (uint32_t k = 0; k < p->steps[i].params->output_count && error == MXP_OK; k++) {
            const uint32_t id = mxn__step_outputs(p, i)[k];
            if (id != MXN_NO_VALUE && p->values[id].kind == MXN_VALUE_OWN) {
                error = find_tenant(of, i, k);
            }
        }
    }
    return error;
}

// Steps that run as one go through their values piece by piece: what any of them needs, all do.
static void widen(const planning *of, size_t first_tenant)
{
    mxn_program *p = of->program;
    for (size_t i = 0; i < p->step_count; i += p->steps[i].run_count) {
        const uint32_t begin = of->first_step + (uint32_t)i, count = p->steps[i].run_count;
        const uint32_t end = begin + count - 1;
        for (size_t t = first_tenant; t < p->tenant_count && count > 1; t++) {
            mxn_tenant *tenant = &p->tenants[t];
            if (tenant->first > begin && tenant->first <= end) {
                tenant->first = begin;
            }
            if (tenant->last >= begin && tenant->last < end) {
                tenant->last = end;
            }
        }
    }
}

int mxn__program_plan_memory(mxn_program *p, uint32_t first_step)
{
    pthread_once(&settings_once, read_settings);
    planning of = {p, first_step, mxp__alloc(p->value_count * sizeof *of.last + 1)};
    if (of.last == NULL) {
        return mxp__fail_memory("the memory plan of a graph");
    }
    find_last(&of);
    const size_t before = p->tenant_count;
    int error = find_tenants(&of);
    for (size_t i = 0; i < before; i++) {
        assert(p->tenants[i].slot != MXN_NO_SLOT && "the forward has its memory");
    }
    widen(&of, before);
    if (error == MXP_OK) {
        error = mxn__memory_plan(p->tenants, p->tenant_count, &p->slots);
    }
    mxp__free(of.last, p->value_count * sizeof *of.last + 1);
    return error;
}
