// SPDX-License-Identifier: Apache-2.0
// Convolution, Deconvolution and Pooling: gradients against differences, images with channels last
// against the same with channels first, values worked out by hand, and what is refused.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "op_run.h"

#define P(...) ((const char *const[]){__VA_ARGS__, NULL})
#define D(...) ((const int64_t[]){__VA_ARGS__})
#define V(...) ((const double[]){__VA_ARGS__})

static void check_gradient(const char *op, const char *const *params, uint32_t count,
                           mxn_array *const *inputs)
{
    op_check_gradient(op, params, count, inputs, (1u << count) - 1);
    for (uint32_t i = 0; i < count; i++) {
        mxn_array_release(inputs[i]);
    }
}

static mxn_array *made(int ndim, const int64_t *dims, uint64_t seed)
{
    return op_array(MXN_FLOAT64, ndim, dims, NULL, seed);
}

static void gradients_are_what_differences_say(void **state)
{
    (void)state;
    check_gradient(
        "Deconvolution",
        P("kernel", "(3,2)", "num_filter", "2", "stride", "(2,1)", "pad", "(1,0)", "adj", "(1,0)",
          "no_bias", "0"),
        3, (mxn_array *[]){made(4, D(2, 3, 3, 4), 1), made(4, D(3, 2, 3, 2), 2), made(1, D(2), 3)});
    check_gradient("Deconvolution",
                   P("kernel", "(3,)", "num_filter", "4", "num_group", "2", "dilate", "(2,)"), 2,
                   (mxn_array *[]){made(3, D(1, 4, 3), 1), made(3, D(4, 2, 3), 2)});
    check_gradient(
        "Convolution", P("kernel", "(2,2)", "num_filter", "2", "layout", "NHWC", "pad", "(1,0)"), 3,
        (mxn_array *[]){made(4, D(1, 3, 4, 2), 1), made(4, D(2, 2, 2, 2), 2), made(1, D(2), 3)});
    check_gradient("Convolution",
                   P("kernel", "(2,1,2)", "num_filter", "4", "num_group", "2", "no_bias", "1"), 2,
                   (mxn_array *[]){made(5, D(1, 4, 3, 2, 3), 1), made(5, D(4, 2, 2, 1, 2), 2)});
    const char *const *pools[] = {
        P("kernel", "(2,2)", "pool_type", "lp", "p_value", "1"),
        P("kernel", "(2,2)", "pool_type", "lp", "p_value", "2", "stride", "(2,2)"),
        P("kernel", "(3,2)", "pool_type", "lp", "p_value", "3", "pad", "(1,1)"),
        P("kernel", "(3,2)", "pool_type", "sum", "pooling_convention", "full", "stride", "(2,2)"),
        P("output_size", "(2,3)", "pool_type", "avg"),
        P("output_size", "(7,)", "pool_type", "avg"),
        P("kernel", "(2,2)", "layout", "NHWC", "pool_type", "max"),
        P("kernel", "(2,3)", "layout", "NHWC", "pool_type", "avg", "pad", "(1,1)",
          "count_include_pad", "0"),
    };
    for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
        check_gradient("Pooling", pools[i], 1, (mxn_array *[]){made(4, D(2, 5, 4, 3), i)});
    }
}

static void expect(const char *op, const char *const *params, uint32_t count,
                   mxn_array *const *inputs, const mxn_shape *shape, const double *values)
{
    mxn_array *out = NULL;
    if (op_run(op, params, count, inputs, &out, MXN_WRITE) != 0) {
        fail_msg("%s: %s", op, mxp_last_error());
    }
    assert_true(mxn_shape_equal(&out->shape, shape));
    double found[64];
    assert_true(mxn_array_size(out) <= 64);
    op_values(out, found);
    for (uint64_t i = 0; i < mxn_array_size(out); i++) {
        if (!(fabs(found[i] - values[i]) <= 1e-12)) {
            fail_msg("%s: element %llu is %.15g, not %.15g", op, (unsigned long long)i, found[i],
                     values[i]);
        }
    }
    mxn_array_release(out);
    for (uint32_t i = 0; i < count; i++) {
        mxn_array_release(inputs[i]);
    }
}

static void values_are_those_worked_out_by_hand(void **state)
{
    (void)state;
    // Each number times the kernel, two apart, the overlapping ones added; one zero at the end.
    expect("Deconvolution", P("kernel", "(3,)", "num_filter", "1", "stride", "(2,)", "adj", "(1,)"),
           2,
           (mxn_array *[]){op_array(MXN_FLOAT64, 3, D(1, 1, 2), V(1, 10), 0),
                           op_array(MXN_FLOAT64, 3, D(1, 1, 3), V(1, 2, 3), 0)},
           &(mxn_shape){.ndim = 3, .dims = {1, 1, 6}}, V(1, 2, 13, 20, 30, 0));
    // The same cut to 4: the odd one of the two too many goes at the begin.
    expect("Deconvolution",
           P("kernel", "(3,)", "num_filter", "1", "stride", "(2,)", "target_shape", "(4,)"), 2,
           (mxn_array *[]){op_array(MXN_FLOAT64, 3, D(1, 1, 2), V(1, 10), 0),
                           op_array(MXN_FLOAT64, 3, D(1, 1, 3), V(1, 2, 3), 0)},
           &(mxn_shape){.ndim = 3, .dims = {1, 1, 4}}, V(2, 13, 20, 30));
    // Thirds of five: 0-1, 1-3, 3-4.
    expect("Pooling", P("output_size", "3", "pool_type", "avg"), 1,
           (mxn_array *[]){op_array(MXN_FLOAT64, 3, D(1, 1, 5), V(1, 3, 5, 7, 11), 0)},
           &(mxn_shape){.ndim = 3, .dims = {1, 1, 3}}, V(2, 5, 9));
    expect("Pooling", P("kernel", "(2,)", "pool_type", "lp", "p_value", "2", "stride", "(2,)"), 1,
           (mxn_array *[]){op_array(MXN_FLOAT64, 3, D(1, 1, 4), V(3, 4, 5, 12), 0)},
           &(mxn_shape){.ndim = 3, .dims = {1, 1, 2}}, V(5, 13));
    expect("Pooling",
           P("kernel", "(3,)", "stride", "(2,)", "pooling_convention", "same", "pool_type", "sum"),
           1, (mxn_array *[]){op_array(MXN_FLOAT64, 3, D(1, 1, 5), V(1, 2, 3, 4, 5), 0)},
           &(mxn_shape){.ndim = 3, .dims = {1, 1, 3}}, V(6, 12, 5));
    expect("Pooling", P("kernel", "(2,)", "stride", "(3,)", "pooling_convention", "full"), 1,
           (mxn_array *[]){op_array(MXN_FLOAT64, 3, D(1, 1, 6), V(1, 2, 9, 4, 3, 8), 0)},
           &(mxn_shape){.ndim = 3, .dims = {1, 1, 3}}, V(2, 4, -1.7976931348623157e308));
    expect("Pooling", P("global_pool", "1", "layout", "NWC", "pool_type", "avg"), 1,
           (mxn_array *[]){op_array(MXN_FLOAT64, 3, D(1, 2, 2), V(1, 10, 3, 20), 0)},
           &(mxn_shape){.ndim = 3, .dims = {1, 1, 2}}, V(2, 15));
}

// The same convolution of images turned inside out.
static void channels_may_be_last(void **state)
{
    (void)state;
    mxn_array *planar[] = {made(4, D(2, 3, 5, 4), 1), made(4, D(4, 3, 3, 2), 2), made(1, D(4), 3)};
    mxn_array *last[] = {NULL, NULL, planar[2]}, *out = NULL, *turned = NULL, *again = NULL;
    const char *const *axes = P("axes", "(0,2,3,1)");
    assert_int_equal(op_run("transpose", axes, 1, &planar[0], &last[0], MXN_WRITE), 0);
    assert_int_equal(op_run("transpose", axes, 1, &planar[1], &last[1], MXN_WRITE), 0);
    const char *const *conv = P("kernel", "(3,2)", "num_filter", "4", "pad", "(1,0)");
    const char *const *conv_last =
        P("kernel", "(3,2)", "num_filter", "4", "pad", "(1,0)", "layout", "NHWC");
    assert_int_equal(op_run("Convolution", conv, 3, planar, &out, MXN_WRITE), 0);
    assert_int_equal(op_run("Convolution", conv_last, 3, last, &turned, MXN_WRITE), 0);
    assert_int_equal(op_run("transpose", P("axes", "(0,3,1,2)"), 1, &turned, &again, MXN_WRITE), 0);
    assert_true(mxn_shape_equal(&out->shape, &again->shape));
    double a[256], b[256];
    assert_true(mxn_array_size(out) <= 256);
    op_values(out, a);
    op_values(again, b);
    for (uint64_t i = 0; i < mxn_array_size(out); i++) {
        assert_true(fabs(a[i] - b[i]) < 1e-12);
    }
    mxn_array *all[] = {planar[0], planar[1], planar[2], last[0], last[1], out, turned, again};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mxn_array_release(all[i]);
    }
}

static void refused(const char *op, const char *const *params, const char *why)
{
    mxn_array *inputs[] = {made(4, D(1, 2, 5, 5), 1), NULL}, *out = NULL;
    bool pools = strcmp(op, "Pooling") == 0;
    inputs[1] = pools ? NULL : made(4, D(2, 2, 2, 2), 2);
    assert_int_equal(op_run(op, params, pools ? 1 : 2, inputs, &out, MXN_WRITE), MXP_EINVAL);
    if (strstr(mxp_last_error(), why) == NULL) {
        fail_msg("%s: %s", op, mxp_last_error());
    }
    mxn_array_release(inputs[0]);
    mxn_array_release(inputs[1]);
    mxn_array_release(out);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    refused("Pooling", P("kernel", "(2,2)", "pool_type", "lp"), "p_value=1, 2 or 3");
    refused("Pooling", P("kernel", "(2,2)", "pool_type", "lp", "p_value", "4"), "p_value");
    refused("Pooling", P("kernel", "(2,2)", "pooling_convention", "same"), "one dimension");
    refused("Pooling", P("output_size", "(2,2)", "pool_type", "max"), "pool_type='avg'");
    refused("Pooling", P("output_size", "(2,2,2)", "pool_type", "avg"), "output_size");
    refused("Pooling", P("output_size", "0", "pool_type", "avg"), "the least is 1");
    refused("Pooling", P("kernel", "(7,7)"), "does not fit");
    refused("Convolution", P("kernel", "(6,6)", "num_filter", "2", "no_bias", "1"), "exceeds");
    refused("Convolution",
            P("kernel", "(2,2)", "num_filter", "3", "num_group", "2", "no_bias", "1"),
            "no multiple of num_group");
    refused("Deconvolution", P("kernel", "(2,2)", "num_filter", "2", "adj", "(1,1)"),
            "below stride 1");
    refused("Deconvolution", P("kernel", "(2,2)", "num_filter", "2", "target_shape", "(9,9)"),
            "the most is 6");
    refused("Deconvolution", P("kernel", "(2,2)", "num_filter", "2", "adj", "(0,)"),
            "as long as kernel");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_what_differences_say),
        cmocka_unit_test(values_are_those_worked_out_by_hand),
        cmocka_unit_test(channels_may_be_last),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
