// SPDX-License-Identifier: Apache-2.0
// Runs operators. The gradient's calls are carried out here one after the other, as the tape would.
#include "op_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mxprof/error.h>

#include "cmocka_all.h"

static const mxn_context cpu = {MXN_CPU, 0};

mxn_array *op_array(int dtype, int ndim, const int64_t *dims, const double *values, uint64_t seed)
{
    mxn_shape shape;
    mxn_array *array;
    assert_int_equal(mxn_shape_set(&shape, ndim, dims, "test"), 0);
    assert_int_equal(mxn_array_new(&shape, dtype, cpu, NULL, false, &array), 0);
    uint64_t count = mxn_array_size(array);
    double *numbers = malloc((count + 1) * sizeof *numbers);
    for (uint64_t i = 0; i < count; i++) {
        double random = (double)((seed * 7919 + i * 104729 + 31) % 10007) / 10007;
        numbers[i] = values != NULL ? values[i] : 0.5 + random;
    }
    char *converted = malloc(count * mxn_dtype_size(dtype) + 1);
    mxn_cast(converted, dtype, numbers, MXN_FLOAT64, count);
    assert_int_equal(mxn_array_copy_in(array, converted, count), 0);
    free(converted);
    free(numbers);
    return array;
}

void op_values(const mxn_array *array, double *values)
{
    uint64_t count = mxn_array_size(array);
    void *data = malloc(count * mxn_dtype_size(array->dtype) + 1);
    assert_int_equal(mxn_array_copy_out(array, data, count), 0);
    mxn_cast(values, MXN_FLOAT64, data, array->dtype, count);
    free(data);
}

static int run_job(const mxn_run *run, void *job)
{
    return mxn_job_execute(job, run);
}

static int infer(const mxn_params *params, mxn_array *const *inputs, mxn_array **outputs)
{
    mxn_shape *in_shapes[OP_RUN_MAX], *out_shapes[OP_RUN_MAX], made[OP_RUN_MAX];
    int32_t in_types[OP_RUN_MAX], out_types[OP_RUN_MAX];
    for (uint32_t i = 0; i < params->input_count; i++) {
        in_shapes[i] = &inputs[i]->shape;
        in_types[i] = inputs[i]->dtype;
    }
    for (uint32_t i = 0; i < params->output_count; i++) {
        made[i].ndim = -1;
        out_shapes[i] = outputs[i] != NULL ? &outputs[i]->shape : &made[i];
        out_types[i] = outputs[i] != NULL ? outputs[i]->dtype : MXN_DTYPE_NONE;
    }
    int error = mxn_op_infer(params, in_shapes, in_types, out_shapes, out_types, NULL);
    for (uint32_t i = 0; error == 0 && i < params->output_count; i++) {
        if (outputs[i] == NULL) {
            error = mxn_array_new(&made[i], out_types[i], cpu, NULL, true, &outputs[i]);
        }
    }
    return error;
}

static int push_job(mxn_job *job)
{
    mxn_var *reads[OP_RUN_MAX], *writes[2 * OP_RUN_MAX + 2];
    uint32_t read_count = 0, write_count = 0;
    const mxn_params *params = job->params;
    for (uint32_t i = 0; i < params->input_count; i++) {
        mxn_var *var = job->inputs[i].memory.buffer->var;
        if (mxn_params_mutates(params, i)) {
            writes[write_count++] = var;
        } else {
            reads[read_count++] = var;
        }
    }
    for (uint32_t i = 0; i < params->output_count; i++) {
        writes[write_count++] = job->outputs[i].memory.buffer->var;
    }
    uint32_t needs = mxn_job_needs(job);
    if ((needs & MXN_NEEDS_WORKSPACE) != 0) {
        assert_int_equal(mxn_workspace_get(cpu, &job->thread_workspace), 0);
        writes[write_count++] = mxn_workspace_var(job->thread_workspace);
    }
    if ((needs & MXN_NEEDS_RANDOM) != 0) {
        assert_int_equal(mxn_random_get_parallel(cpu, &job->random), 0);
        writes[write_count++] = mxn_random_var(job->random);
    }
    mxn_vars_dedupe(reads, &read_count, writes, &write_count);
    const mxn_work work = {.function.sync = run_job,
                           .argument = job,
                           .reads = reads,
                           .writes = writes,
                           .read_count = read_count,
                           .write_count = write_count,
                           .name = mxn_op_record_name(params->op)};
    int error = mxn_push(&work);
    return error != 0 ? error : mxn_wait_all();
}

int op_run_params(mxn_params *params, mxn_array *const *inputs, mxn_array **outputs,
                  uint32_t request, bool training)
{
    mxn_operand in[OP_RUN_MAX] = {0}, out[OP_RUN_MAX] = {0};
    assert_true(params->input_count <= OP_RUN_MAX && params->output_count <= OP_RUN_MAX);
    int error = infer(params, inputs, outputs);
    if (error != 0) {
        return error;
    }
    for (uint32_t i = 0; i < params->input_count; i++) {
        in[i] = (mxn_operand){.memory = mxn_array_memory(inputs[i]),
                              .shape = &inputs[i]->shape,
                              .dtype = inputs[i]->dtype};
    }
    for (uint32_t i = 0; i < params->output_count; i++) {
        out[i] = (mxn_operand){.memory = mxn_array_memory(outputs[i]),
                               .shape = &outputs[i]->shape,
                               .dtype = outputs[i]->dtype,
                               .request = request};
    }
    mxn_job job = {.params = params, .inputs = in, .outputs = out, .training = training};
    return push_job(&job);
}

static int parse(const char *name, const char *const *parameters, uint32_t count,
                 mxn_params **params)
{
    const char *keys[OP_RUN_MAX], *values[OP_RUN_MAX];
    uint32_t pairs = 0;
    for (; parameters != NULL && parameters[2 * pairs] != NULL; pairs++) {
        keys[pairs] = parameters[2 * pairs];
        values[pairs] = parameters[2 * pairs + 1];
    }
    const mxn_op *op;
    int error = mxn_op_require(name, &op);
    error = error != 0 ? error : mxn_params_parse(op, pairs, keys, values, count, false, params);
    return error != 0 ? error : mxn_params_expect(*params, count);
}

int op_run(const char *name, const char *const *parameters, uint32_t count,
           mxn_array *const *inputs, mxn_array **outputs, uint32_t request)
{
    mxn_params *params = NULL;
    int error = parse(name, parameters, count, &params);
    error = error != 0 ? error : op_run_params(params, inputs, outputs, request, true);
    mxn_params_release(params);
    return error;
}

// ---- gradients ----------------------------------------------------------------------------------
typedef struct check {
    mxn_params *params;
    mxn_array *const *inputs;
    mxn_array *outputs[OP_RUN_MAX], *heads[OP_RUN_MAX];
    mxn_array *results[4 * OP_RUN_MAX];
    mxn_array *gradients[OP_RUN_MAX];  // of the inputs; not owned
} check;

static mxn_array *source_of(const check *c, const mxn_source *source)
{
    mxn_array *const *lists[] = {c->heads, c->inputs, c->outputs, c->results};
    return lists[source->kind][source->index];
}

static void run_gradient(check *c)
{
    const mxn_gradient *gradient;
    uint32_t results = 0;
    assert_int_equal(mxn_params_gradient(c->params, &gradient), 0);
    for (uint32_t k = 0; k < gradient->count; k++) {
        const mxn_gradient_call *call = &gradient->calls[k];
        mxn_array *takes[OP_RUN_MAX], **gives = c->results + results;
        for (uint32_t i = 0; i < call->params->input_count; i++) {
            takes[i] = source_of(c, &call->takes[i]);
        }
        bool backward = (call->params->op->flags & MXN_OP_BACKWARD) != 0;
        for (uint32_t i = 0; i < call->params->output_count; i++) {
            int32_t input = call->gives[i];
            assert_true(!backward || input >= 0);
            gives[i] = backward ? op_array(c->inputs[input]->dtype, c->inputs[input]->shape.ndim,
                                           c->inputs[input]->shape.dims, NULL, 9)
                                : NULL;
        }
        int error = op_run_params(call->params, takes, gives, MXN_WRITE, true);
        if (error != 0) {
            fail_msg("%s: %s", call->params->op->name, mxp_last_error());
        }
        for (uint32_t i = 0; i < call->params->output_count; i++) {
            if (call->gives[i] >= 0) {
                c->gradients[call->gives[i]] = gives[i];
            }
        }
        results += call->params->output_count;
    }
}

// The heads times the outputs, with the inputs as they are.
static double loss_of(check *c)
{
    double loss = 0;
    assert_int_equal(op_run_params(c->params, c->inputs, c->outputs, MXN_WRITE, true), 0);
    for (uint32_t i = 0; i < c->params->visible_count; i++) {
        uint64_t count = mxn_array_size(c->outputs[i]);
        double *out = malloc((count + 1) * sizeof *out), *head = malloc((count + 1) * sizeof *head);
        op_values(c->outputs[i], out);
        op_values(c->heads[i], head);
        for (uint64_t k = 0; k < count; k++) {
            loss += out[k] * head[k];
        }
        free(out);
        free(head);
    }
    return loss;
}

static void check_input(check *c, uint32_t index, bool expected)
{
    const double step = 1e-5;
    mxn_array *input = c->inputs[index];
    uint64_t count = mxn_array_size(input);
    double *values = malloc((count + 1) * sizeof *values);
    double *found = calloc(count + 1, sizeof *found);
    op_values(input, values);
    if (c->gradients[index] != NULL) {
        assert_true(mxn_shape_equal(&c->gradients[index]->shape, &input->shape));
        op_values(c->gradients[index], found);
    }
    for (uint64_t i = 0; i < count; i++) {
        double wanted = 0, kept = values[i];
        if (expected) {
            values[i] = kept + step;
            assert_int_equal(mxn_array_copy_in(input, values, count), 0);
            double above = loss_of(c);
            values[i] = kept - step;
            assert_int_equal(mxn_array_copy_in(input, values, count), 0);
            wanted = (above - loss_of(c)) / (2 * step);
            values[i] = kept;
            assert_int_equal(mxn_array_copy_in(input, values, count), 0);
        }
        if (!(fabs(found[i] - wanted) <= 1e-6 * (1 + fabs(wanted)))) {
            fail_msg("%s: gradient of input %u, element %llu is %.9g, it must be %.9g",
                     c->params->op->name, index, (unsigned long long)i, found[i], wanted);
        }
    }
    free(values);
    free(found);
}

// Of operators whose outputs are there already. Takes over the parameters and the outputs.
static void check_all(check *c, uint32_t count, uint32_t mask)
{
    for (uint32_t i = 0; i < c->params->output_count; i++) {
        c->heads[i] = op_array(c->outputs[i]->dtype, c->outputs[i]->shape.ndim,
                               c->outputs[i]->shape.dims, NULL, 40 + i);
    }
    run_gradient(c);
    for (uint32_t i = 0; i < count; i++) {
        check_input(c, i, (mask >> i & 1u) != 0);
    }
    for (uint32_t i = 0; i < 4 * OP_RUN_MAX; i++) {
        mxn_array_release(c->results[i]);
    }
    for (uint32_t i = 0; i < c->params->output_count; i++) {
        mxn_array_release(c->outputs[i]);
        mxn_array_release(c->heads[i]);
    }
    mxn_params_release(c->params);
}

void op_check_gradient(const char *name, const char *const *parameters, uint32_t count,
                       mxn_array *const *inputs, uint32_t mask)
{
    check c = {.inputs = inputs};
    if (parse(name, parameters, count, &c.params) != 0 ||
        op_run_params(c.params, inputs, c.outputs, MXN_WRITE, true) != 0) {
        fail_msg("%s: %s", name, mxp_last_error());
    }
    check_all(&c, count, mask);
}

static mxn_array *like(const mxn_array *array, uint64_t seed)
{
    return op_array(array->dtype, array->shape.ndim, array->shape.dims, NULL, seed);
}

void op_check_second_gradient(const char *name, const char *const *parameters, uint32_t count,
                              mxn_array *const *inputs)
{
    check first = {.inputs = inputs};
    const mxn_gradient *gradient;
    if (parse(name, parameters, count, &first.params) != 0 ||
        op_run_params(first.params, inputs, first.outputs, MXN_WRITE, true) != 0) {
        fail_msg("%s: %s", name, mxp_last_error());
    }
    assert_int_equal(mxn_params_gradient(first.params, &gradient), 0);
    assert_int_equal(gradient->count, 1);
    const mxn_gradient_call *call = &gradient->calls[0];
    for (uint32_t i = 0; i < first.params->output_count; i++) {
        first.heads[i] = like(first.outputs[i], 70 + i);
    }
    mxn_array *takes[OP_RUN_MAX];
    for (uint32_t i = 0; i < call->params->input_count; i++) {
        takes[i] = source_of(&first, &call->takes[i]);
    }
    check second = {.params = call->params, .inputs = takes};
    mxn_params_retain(call->params);
    for (uint32_t i = 0; i < call->params->output_count; i++) {
        second.outputs[i] = like(inputs[call->gives[i]], 80 + i);
    }
    assert_int_equal(op_run_params(second.params, takes, second.outputs, MXN_WRITE, true), 0);
    check_all(&second, call->params->input_count, UINT32_MAX);
    for (uint32_t i = 0; i < first.params->output_count; i++) {
        mxn_array_release(first.outputs[i]);
        mxn_array_release(first.heads[i]);
    }
    mxn_params_release(first.params);
}
