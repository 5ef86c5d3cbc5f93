// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/fusion.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { STEPS_MAX = 32, VALUES_MAX = 128 };

// Steps in a row that are becoming one.
typedef struct group {
    const mxn_program *program;
    const mxn_program_form *form;
    size_t first, count;
    bool is_pointwise;
    uint32_t result;  // of one that is not: the value that the next step has to take
    const mxn_shape *shape;  // of pointwise steps' values
    uint32_t values[VALUES_MAX];
    uint32_t value_count;
} group;

static const mxn_program_value *value_of(const mxn_program *p, uint32_t id)
{
    return &p->values[id];
}

static uint32_t operand_count(const mxn_params *params)
{
    return params->input_count + params->output_count;
}

// ---- which steps -------------------------------------------------------------------------------
static bool is_real(const mxn_program_value *value)
{
    return (value->dtype == MXN_FLOAT32 || value->dtype == MXN_FLOAT64) &&
           mxn_shape_size(&value->shape) > 0;
}

static bool has_real_operands(const mxn_program *p, size_t step)
{
    const uint32_t *operands = mxn__step_inputs(p, step);
    bool real = true;
    for (uint32_t i = 0; i < operand_count(p->steps[step].params); i++) {
        real = real && (operands[i] == MXN_NO_VALUE || is_real(value_of(p, operands[i])));
    }
    return real && !mxn_prepared_adds(p->steps[step].call);
}

static bool is_pointwise(const mxn_program *p, size_t step, const mxn_shape *shape)
{
    const mxn_params *params = p->steps[step].params;
    const uint32_t *operands = mxn__step_inputs(p, step);
    bool fits = (params->op->flags & MXN_OP_POINTWISE) != 0 && has_real_operands(p, step);
    for (uint32_t i = 0; i < operand_count(params) && fits; i++) {
        fits =
            operands[i] == MXN_NO_VALUE || mxn_shape_equal(&value_of(p, operands[i])->shape, shape);
    }
    return fits;
}

// One whose results may be computed for a part of the batch.
static bool cuts(const group *g, size_t step)
{
    const mxn_program *p = g->program;
    const mxn_params *params = p->steps[step].params;
    if (params->input_count == 0 || !mxn_params_cuts(params, g->form->training) ||
        !has_real_operands(p, step)) {
        return false;
    }
    const uint32_t *inputs = mxn__step_inputs(p, step), *outputs = mxn__step_outputs(p, step);
    for (uint32_t i = 0; i < params->output_count; i++) {
        if (outputs[i] == MXN_NO_VALUE) {
            return false;
        }
    }
    const mxn_shape *data = &value_of(p, inputs[0])->shape, *out = &value_of(p, outputs[0])->shape;
    return data->ndim >= 2 && out->ndim >= 2 && data->dims[0] == out->dims[0];
}

// Of those, one whose other inputs are of a number a channel.
static bool is_normalisation(const group *g, size_t step)
{
    const mxn_program *p = g->program;
    const uint32_t *inputs = mxn__step_inputs(p, step);
    bool normalises = cuts(g, step);
    for (uint32_t i = 1; i < p->steps[step].params->input_count; i++) {
        normalises = normalises && value_of(p, inputs[i])->shape.ndim == 1;
    }
    return normalises;
}

static bool takes(const mxn_program *p, size_t step, uint32_t value)
{
    const uint32_t *inputs = mxn__step_inputs(p, step);
    for (uint32_t i = 0; i < p->steps[step].params->input_count; i++) {
        if (inputs[i] == value) {
            return true;
        }
    }
    return false;
}

static const mxn_shape *first_shape(const mxn_program *p, size_t step)
{
    const uint32_t *operands = mxn__step_inputs(p, step);
    return p->steps[step].params->input_count > 0 ? &value_of(p, operands[0])->shape : NULL;
}

static bool begins(group *g, size_t step)
{
    const mxn_program *p = g->program;
    g->first = step;
    g->count = 1;
    g->is_pointwise = false;
    if (cuts(g, step)) {
        g->result = mxn__step_outputs(p, step)[0];
        g->shape = &value_of(p, g->result)->shape;
        return true;
    }
    g->shape = first_shape(p, step);
    g->is_pointwise = g->shape != NULL && is_pointwise(p, step, g->shape);
    return g->is_pointwise;
}

// Of a batch's parts only the chain of results: other values may be written by steps before.
static bool goes_on(group *g, size_t step)
{
    const mxn_program *p = g->program;
    if (g->is_pointwise) {
        return is_pointwise(p, step, g->shape);
    }
    if (!takes(p, step, g->result)) {
        return false;
    }
    const bool normalises = is_normalisation(g, step) &&
                            mxn__step_inputs(p, step)[0] == g->result &&
                            mxn_shape_equal(first_shape(p, step), g->shape);
    if (!normalises && !is_pointwise(p, step, g->shape)) {
        return false;
    }
    g->result = mxn__step_outputs(p, step)[0];
    return g->result != MXN_NO_VALUE;
}

// ---- their values ------------------------------------------------------------------------------
// The value's place in the group, or where it would be.
static uint32_t place_of(const group *g, uint32_t id)
{
    uint32_t place = 0;
    while (place < g->value_count && g->values[place] != id) {
        place++;
    }
    return place;
}

static bool collect_values(group *g)
{
    const mxn_program *p = g->program;
    g->value_count = 0;
    for (size_t i = g->first; i < g->first + g->count; i++) {
        const uint32_t *operands = mxn__step_inputs(p, i);
        for (uint32_t k = 0; k < operand_count(p->steps[i].params); k++) {
            if (operands[k] == MXN_NO_VALUE || place_of(g, operands[k]) < g->value_count) {
                continue;
            }
            if (g->value_count == VALUES_MAX) {
                return false;
            }
            g->values[g->value_count++] = operands[k];
        }
    }
    return true;
}

// Whether the steps alone see the value: `last` is of each value the last step that has it.
static bool is_inner(const group *g, uint32_t id, const uint32_t *last)
{
    const mxn_program *p = g->program;
    const mxn_program_value *value = value_of(p, id);
    bool is_made = false;
    for (size_t i = g->first; i < g->first + g->count; i++) {
        const uint32_t outputs = g->is_pointwise ? p->steps[i].params->output_count : 1;
        for (uint32_t k = 0; k < outputs; k++) {
            is_made = is_made || mxn__step_outputs(p, i)[k] == id;
        }
    }
    return is_made && value->kind == MXN_VALUE_OWN && !value->is_kept &&
           last[id] < g->first + g->count;
}

// Whether a value that is not pointwise steps' is gone through by parts of the batch.
static bool is_cut(const group *g, uint32_t id)
{
    const mxn_program *p = g->program;
    if (g->is_pointwise || id == mxn__step_inputs(p, g->first)[0]) {
        return true;
    }
    for (size_t i = g->first; i < g->first + g->count; i++) {
        const bool is_result = mxn__step_outputs(p, i)[0] == id;
        const bool is_pointwise = (p->steps[i].params->op->flags & MXN_OP_POINTWISE) != 0;
        if (is_result || (is_pointwise && takes(p, i, id))) {
            return true;
        }
    }
    return false;
}

// Whether a value is gone through by parts of the batch, and there as a whole too.
static bool is_torn(const group *g)
{
    const mxn_program *p = g->program;
    for (size_t i = g->first; i < g->first + g->count; i++) {
        const mxn_params *params = p->steps[i].params;
        for (uint32_t k = 1; k < operand_count(params); k++) {
            const bool is_whole =
                (params->op->flags & MXN_OP_POINTWISE) == 0 && k != params->input_count;
            if (is_whole && is_cut(g, mxn__step_inputs(p, i)[k])) {
                return true;
            }
        }
    }
    return false;
}

// ---- making -----------------------------------------------------------------------------------
typedef struct making {
    mxn_fused_value values[VALUES_MAX];
    mxn_fused_call calls[STEPS_MAX];
    mxn_prepared *prepared[STEPS_MAX];
    uint32_t scopes[STEPS_MAX];
    uint32_t *places;  // of all operands
} making;

static void describe(const group *g, const uint32_t *last, making *m)
{
    const mxn_program *p = g->program;
    uint32_t *at = m->places;
    for (uint32_t i = 0; i < g->value_count; i++) {
        const mxn_program_value *value = value_of(p, g->values[i]);
        const uint8_t kind = is_inner(g, g->values[i], last) ? MXN_FUSED_INNER
                             : is_cut(g, g->values[i])       ? MXN_FUSED_CUT
                                                             : MXN_FUSED_WHOLE;
        m->values[i] = (mxn_fused_value){&value->shape, value->dtype, kind};
    }
    for (size_t i = 0; i < g->count; i++) {
        const mxn_program_step *step = &p->steps[g->first + i];
        const uint32_t *operands = mxn__step_inputs(p, g->first + i);
        m->calls[i] = (mxn_fused_call){step->params, at};
        m->prepared[i] = step->call;
        m->scopes[i] = step->scope;
        for (uint32_t k = 0; k < operand_count(step->params); k++) {
            *at++ = operands[k] == MXN_NO_VALUE ? MXN_FUSED_NONE : place_of(g, operands[k]);
        }
    }
}

// A product's first operand is best gone through as a whole.
static bool is_whole(const group *g)
{
    const mxn_shape *data = first_shape(g->program, g->first);
    return !g->is_pointwise && data->ndim < 3;
}

static int make_fusion(const group *g, const making *m, mxn_fusion **fusion)
{
    const mxn_fusion_form form = {.fused = {.values = m->values,
                                            .calls = m->calls,
                                            .value_count = g->value_count,
                                            .call_count = (uint32_t)g->count,
                                            .is_pointwise = g->is_pointwise,
                                            .is_whole = is_whole(g),
                                            .training = g->form->training},
                                  .prepared = m->prepared,
                                  .scopes = m->scopes,
                                  .context = g->form->context};
    return mxn_fusion_make(&form, fusion);
}

static int list_values(mxn_program *p, const group *g, const making *m)
{
    mxn_program_step *step = &p->steps[g->first];
    const size_t needed = p->fused_count + g->value_count;
    if (needed > p->fused_capacity &&
        mxp__grow(&p->fused, &p->fused_capacity, needed, sizeof *p->fused) != MXP_OK) {
        return mxp__fail_memory("a prepared graph");
    }
    memcpy(p->fused + p->fused_count, g->values, g->value_count * sizeof *g->values);
    step->first_fused = (uint32_t)p->fused_count;
    step->fused_count = g->value_count;
    step->run_count = (uint32_t)g->count;
    p->fused_count = needed;
    for (uint32_t i = 0; i < g->value_count; i++) {
        if (m->values[i].kind == MXN_FUSED_INNER) {
            p->values[g->values[i]].kind = MXN_VALUE_INNER;
        }
    }
    return MXP_OK;
}

static int fuse_group(mxn_program *p, const group *g, const uint32_t *last)
{
    size_t operands = 0;
    for (size_t i = 0; i < g->count; i++) {
        operands += operand_count(p->steps[g->first + i].params);
    }
    const size_t bytes = sizeof(making) + operands * sizeof(uint32_t);
    making *m = mxp__alloc(bytes);
    if (m == NULL) {
        return mxp__fail_memory("a prepared graph");
    }
    m->places = (uint32_t *)(m + 1);
    describe(g, last, m);
    int error = make_fusion(g, m, &p->steps[g->first].fusion);
    if (error == MXP_OK) {
        error = list_values(p, g, m);
    }
    mxp__free(m, bytes);
    return error;
}

// ---- all of it --------------------------------------------------------------------------------
static bool is_on;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_setting(void)
{
    const char *backend = getenv("MXNET_SUBGRAPH_BACKEND");
    is_on = backend != NULL && *backend != '\0' && strcmp(backend, "NONE") != 0;
}

static void find_last(const mxn_program *p, uint32_t *last)
{
    for (size_t i = 0; i < p->step_count; i++) {
        const uint32_t *operands = mxn__step_inputs(p, i);
        for (uint32_t k = 0; k < operand_count(p->steps[i].params); k++) {
            if (operands[k] != MXN_NO_VALUE) {
                last[operands[k]] = (uint32_t)i;
            }
        }
    }
}

static int fuse_all(mxn_program *p, const mxn_program_form *form, const uint32_t *last)
{
    group g = {.program = p, .form = form};
    int error = MXP_OK;
    for (size_t i = 0; i < p->step_count && error == MXP_OK; i += g.count) {
        g.count = 1;
        if (!begins(&g, i)) {
            continue;
        }
        while (i + g.count < p->step_count && g.count < STEPS_MAX && goes_on(&g, i + g.count)) {
            g.count++;
        }
        if (g.count > 1 && collect_values(&g) && !is_torn(&g)) {
            error = fuse_group(p, &g, last);
        }
    }
    return error;
}

int mxn__program_fuse(mxn_program *p, const mxn_program_form *form)
{
    pthread_once(&once, read_setting);
    if (!is_on) {
        return MXP_OK;
    }
    const size_t bytes = p->value_count * sizeof(uint32_t) + 1;
    uint32_t *last = mxp__alloc(bytes);
    if (last == NULL) {
        return mxp__fail_memory("a prepared graph");
    }
    find_last(p, last);
    int error = fuse_all(p, form, last);
    mxp__free(last, bytes);
    return error;
}
