// SPDX-License-Identifier: Apache-2.0
// The same values, rounded to float32, go both ways. Inputs are views into larger arrays, so that
// they begin anywhere in memory.
#include "kernel_check.h"

#include <math.h>
#include <stdlib.h>

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "op_run.h"

enum { CALLS = 4 };

typedef struct side {  // the run in one type
    int32_t dtype;
    mxn_array *inputs[OP_RUN_MAX], *outputs[OP_RUN_MAX], *heads[OP_RUN_MAX];
    mxn_array *results[CALLS * OP_RUN_MAX];
} side;

static mxn_array *array_of(int32_t dtype, const mxn_shape *shape, uint64_t seed, uint64_t offset)
{
    uint64_t count = mxn_shape_size(shape);
    double *values = malloc((count + offset + 1) * sizeof *values);
    for (uint64_t i = 0; i < count + offset; i++) {
        uint64_t mixed = ((i - offset) * 2654435761u + seed * 40503u + 12345u) * 2246822519u;
        values[i] = (double)(float)((double)(mixed >> 16 & 0xffff) / 32768 - 1);
    }
    const int64_t dims[] = {(int64_t)(count + offset)};
    mxn_array *whole = op_array(dtype, 1, dims, values, 0), *part, *view;
    free(values);
    assert_int_equal(mxn_array_slice(whole, offset, count + offset, &part), 0);
    assert_int_equal(mxn_array_view(part, shape, dtype, &view), 0);
    mxn_array_release(whole);
    mxn_array_release(part);
    return view;
}

static void set_up(side *s, const kernel_case *one, mxn_params *params, uint64_t offset)
{
    mxn_shape shapes[OP_RUN_MAX], made[OP_RUN_MAX], *ins[OP_RUN_MAX], *outs[OP_RUN_MAX];
    int32_t in_types[OP_RUN_MAX], out_types[OP_RUN_MAX];
    for (uint32_t i = 0; i < params->input_count; i++) {
        shapes[i].ndim = -1;
        ins[i] = &shapes[i];
        in_types[i] = s->dtype;
    }
    for (uint32_t i = 0; i < params->output_count; i++) {
        made[i].ndim = -1;
        outs[i] = &made[i];
        out_types[i] = MXN_DTYPE_NONE;
    }
    assert_int_equal(mxn_shape_set(&shapes[0], one->ndim, one->dims, "test"), 0);
    if (mxn_op_infer(params, ins, in_types, outs, out_types, NULL) != 0) {
        fail_msg("%s: %s", one->op, mxp_last_error());
    }
    for (uint32_t i = 0; i < params->input_count; i++) {
        s->inputs[i] = array_of(s->dtype, &shapes[i], i + 1, offset);
    }
    for (uint32_t i = 0; i < params->output_count; i++) {
        s->outputs[i] = array_of(s->dtype, &made[i], 20 + i, offset);
        s->heads[i] = array_of(s->dtype, &made[i], 40 + i, offset);
    }
}

static void run(mxn_params *params, mxn_array *const *inputs, mxn_array **outputs, uint32_t request)
{
    if (op_run_params(params, inputs, outputs, request, true) != 0) {
        fail_msg("%s: %s", params->op->name, mxp_last_error());
    }
}

static mxn_array *source_of(const side *s, const mxn_source *source)
{
    mxn_array *const *lists[] = {s->heads, s->inputs, s->outputs, s->results};
    return lists[source->kind][source->index];
}

static void run_gradient(side *s, mxn_params *params, uint64_t offset)
{
    const mxn_gradient *gradient;
    assert_int_equal(mxn_params_gradient(params, &gradient), 0);
    uint32_t results = 0;
    for (uint32_t k = 0; k < gradient->count; k++) {
        const mxn_gradient_call *call = &gradient->calls[k];
        mxn_array *takes[OP_RUN_MAX];
        for (uint32_t i = 0; i < call->params->input_count; i++) {
            takes[i] = source_of(s, &call->takes[i]);
        }
        for (uint32_t i = 0; i < call->params->output_count; i++) {
            s->results[results + i] =
                array_of(s->dtype, &s->inputs[call->gives[i]]->shape, 60 + i, offset);
        }
        run(call->params, takes, s->results + results, MXN_WRITE);
        run(call->params, takes, s->results + results, MXN_ADD);
        results += call->params->output_count;
    }
}

static void compare(const kernel_case *one, const char *what, const mxn_array *fast,
                    const mxn_array *plain)
{
    uint64_t count = mxn_array_size(plain);
    assert_int_equal(mxn_array_size(fast), count);
    double *a = malloc((count + 1) * sizeof *a), *b = malloc((count + 1) * sizeof *b), most = 1;
    op_values(fast, a);
    op_values(plain, b);
    for (uint64_t i = 0; i < count; i++) {
        most = fabs(b[i]) > most ? fabs(b[i]) : most;
    }
    const double tolerance = (one->tolerance > 0 ? one->tolerance : 1e-5) * most;
    for (uint64_t i = 0; i < count; i++) {
        if (!(fabs(a[i] - b[i]) <= tolerance)) {
            fail_msg("%s (%s): %s, element %llu is %.9g, the reference has %.9g", one->op,
                     one->params != NULL ? one->params[1] : "", what, (unsigned long long)i, a[i],
                     b[i]);
        }
    }
    free(a);
    free(b);
}

static void release(mxn_array **arrays, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mxn_array_release(arrays[i]);
    }
}

static mxn_params *parse(const kernel_case *one)
{
    const char *keys[OP_RUN_MAX], *values[OP_RUN_MAX];
    uint32_t pairs = 0;
    for (; one->params != NULL && one->params[2 * pairs] != NULL; pairs++) {
        keys[pairs] = one->params[2 * pairs];
        values[pairs] = one->params[2 * pairs + 1];
    }
    mxn_params *params;
    const mxn_op *op = mxn_op_find(one->op);
    assert_non_null(op);
    if (mxn_params_parse(op, pairs, keys, values, MXN_INPUTS_UNKNOWN, false, &params) != 0) {
        fail_msg("%s: %s", one->op, mxp_last_error());
    }
    return params;
}

void kernel_check(const kernel_case *one)
{
    mxn_params *params = parse(one);
    for (uint64_t offset = 0; offset < 2; offset++) {
        side sides[2] = {{.dtype = MXN_FLOAT32}, {.dtype = MXN_FLOAT64}};
        for (int i = 0; i < 2; i++) {
            side *s = &sides[i];
            set_up(s, one, params, offset);
            run(params, s->inputs, s->outputs, MXN_WRITE);
            run(params, s->inputs, s->outputs, MXN_ADD);
            run_gradient(s, params, offset);
        }
        for (uint32_t i = 0; i < params->output_count; i++) {
            compare(one, "output", sides[0].outputs[i], sides[1].outputs[i]);
        }
        for (int i = 0; i < CALLS * OP_RUN_MAX && sides[0].results[i] != NULL; i++) {
            compare(one, "gradient", sides[0].results[i], sides[1].results[i]);
        }
        for (int i = 0; i < 2; i++) {
            release(sides[i].inputs, OP_RUN_MAX);
            release(sides[i].outputs, OP_RUN_MAX);
            release(sides[i].heads, OP_RUN_MAX);
            release(sides[i].results, (size_t)CALLS * OP_RUN_MAX);
        }
    }
    mxn_params_release(params);
}
