// SPDX-License-Identifier: Apache-2.0
// BatchNorm beyond its result: what inference takes, when and how the moving statistics move, and
// the mean and inverse deviation it shows.
#include <math.h>

#include "cmocka_all.h"
#include "op_run.h"

#define D(...) ((const int64_t[]){__VA_ARGS__})
#define V(...) ((const double[]){__VA_ARGS__})

enum { INPUTS = 5, BACKWARD_INPUTS = 7 };

typedef struct fixture {
    mxn_params *forward;
    mxn_array *inputs[INPUTS], *outputs[3];
} fixture;

// Two channels: 1, 3 and 10, 30; their means 2 and 20, their variances 1 and 100.
static void set_up(fixture *f, const char *key, const char *value)
{
    const char *keys[] = {"eps", "momentum", key}, *values[] = {"0", "0.75", value};
    const mxn_op *op;
    assert_int_equal(mxn_op_require("BatchNorm", &op), 0);
    assert_int_equal(
        mxn_params_parse(op, key == NULL ? 2 : 3, keys, values, INPUTS, false, &f->forward), 0);
    f->inputs[0] = op_array(MXN_FLOAT32, 2, D(2, 2), V(1, 10, 3, 30), 0);
    f->inputs[1] = op_array(MXN_FLOAT32, 1, D(2), V(1, 1), 0);
    f->inputs[2] = op_array(MXN_FLOAT32, 1, D(2), V(0, 0), 0);
    f->inputs[3] = op_array(MXN_FLOAT32, 1, D(2), V(1, 2), 0);
    f->inputs[4] = op_array(MXN_FLOAT32, 1, D(2), V(4, 16), 0);
    for (int i = 0; i < 3; i++) {
        f->outputs[i] = NULL;
    }
}

static void tear_down(fixture *f)
{
    for (int i = 0; i < INPUTS; i++) {
        mxn_array_release(f->inputs[i]);
    }
    for (int i = 0; i < 3; i++) {
        mxn_array_release(f->outputs[i]);
    }
    mxn_params_release(f->forward);
}

static void expect(const mxn_array *array, const double *wanted)
{
    double values[4];
    op_values(array, values);
    for (uint64_t i = 0; i < mxn_array_size(array); i++) {
        if (fabs(values[i] - wanted[i]) > 1e-6 * (1 + fabs(wanted[i]))) {
            fail_msg("element %u is %.9g, it must be %.9g", (unsigned)i, values[i], wanted[i]);
        }
    }
}

static void run_backward(fixture *f, bool training)
{
    const mxn_gradient *gradient;
    assert_int_equal(mxn_params_gradient(f->forward, &gradient), 0);
    assert_int_equal(gradient->count, 1);
    mxn_params *params = gradient->calls[0].params;
    assert_true(mxn_params_mutates(params, 5) && mxn_params_mutates(params, 6));
    mxn_array *head = op_array(MXN_FLOAT32, 2, D(2, 2), V(1, 2, 3, 4), 0);
    mxn_array *takes[BACKWARD_INPUTS] = {head,          f->inputs[0], f->inputs[1], f->outputs[1],
                                         f->outputs[2], f->inputs[3], f->inputs[4]};
    mxn_array *gives[3];
    for (int i = 0; i < 3; i++) {
        gives[i] =
            op_array(MXN_FLOAT32, f->inputs[i]->shape.ndim, f->inputs[i]->shape.dims, NULL, 1);
    }
    assert_int_equal(op_run_params(params, takes, gives, MXN_WRITE, training), 0);
    expect(gives[2], V(4, 6));
    for (int i = 0; i < 3; i++) {
        mxn_array_release(gives[i]);
    }
    mxn_array_release(head);
}

static void training_takes_the_batch_and_shows_it(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, "output_mean_var", "True");
    assert_int_equal(f.forward->visible_count, 3);
    assert_int_equal(op_run_params(f.forward, f.inputs, f.outputs, MXN_WRITE, true), 0);
    expect(f.outputs[0], V(-1, -1, 1, 1));
    expect(f.outputs[1], V(2, 20));
    expect(f.outputs[2], V(1, 0.1));
    tear_down(&f);
}

static void inference_takes_the_moving_statistics(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, NULL, NULL);
    assert_int_equal(f.forward->visible_count, 1);
    assert_int_equal(op_run_params(f.forward, f.inputs, f.outputs, MXN_WRITE, false), 0);
    expect(f.outputs[0], V(0, 2, 1, 7));
    expect(f.outputs[2], V(0.5, 0.25));
    run_backward(&f, false);
    expect(f.inputs[3], V(1, 2));
    expect(f.inputs[4], V(4, 16));
    tear_down(&f);
}

static void moving_statistics_move_in_backward(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, NULL, NULL);
    assert_int_equal(op_run_params(f.forward, f.inputs, f.outputs, MXN_WRITE, true), 0);
    expect(f.inputs[3], V(1, 2));
    run_backward(&f, true);
    expect(f.inputs[3], V(0.75 * 1 + 0.25 * 2, 0.75 * 2 + 0.25 * 20));
    expect(f.inputs[4], V(0.75 * 4 + 0.25 * 1, 0.75 * 16 + 0.25 * 100));
    tear_down(&f);
}

static void global_statistics_stay(void **state)
{
    (void)state;
    fixture f;
    set_up(&f, "use_global_stats", "True");
    assert_int_equal(op_run_params(f.forward, f.inputs, f.outputs, MXN_WRITE, true), 0);
    expect(f.outputs[0], V(0, 2, 1, 7));
    run_backward(&f, true);
    expect(f.inputs[3], V(1, 2));
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_takes_the_batch_and_shows_it),
        cmocka_unit_test(inference_takes_the_moving_statistics),
        cmocka_unit_test(moving_statistics_move_in_backward),
        cmocka_unit_test(global_statistics_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
