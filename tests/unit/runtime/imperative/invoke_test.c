// SPDX-License-Identifier: Apache-2.0
// Running an operator: what is checked before anything is pushed, how outputs come about, and what
// the record says.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <string.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "runtime/imperative/imperative.h"

static mxn_params *parse(const char *name, uint32_t inputs)
{
    const mxn_op *op = mxn_op_find(name);
    assert_non_null(op);
    mxn_params *params = NULL;
    assert_int_equal(mxn_params_parse(op, 0, NULL, NULL, inputs, false, &params), MXP_OK);
    return params;
}

static mxn_array *make(int64_t rows, int64_t columns, float first)
{
    const mxn_context cpu = {MXN_CPU, 0};
    const int64_t dims[] = {rows, columns};
    mxn_shape shape;
    assert_int_equal(mxn_shape_set(&shape, 2, dims, "the test's array"), MXP_OK);
    mxn_array *array = NULL;
    assert_int_equal(mxn_array_new(&shape, MXN_FLOAT32, cpu, NULL, false, &array), MXP_OK);
    float values[64];
    for (int i = 0; i < rows * columns; i++) {
        values[i] = first + (float)i;
    }
    assert_int_equal(mxn_array_copy_in(array, values, (uint64_t)(rows * columns)), MXP_OK);
    return array;
}

static int add(mxn_array *a, mxn_array *b, mxn_array **out, const uint32_t *request)
{
    mxn_params *params = parse("elemwise_add", 2);
    mxn_array *const inputs[] = {a, b};
    const mxn_invocation in = {
        .params = params, .inputs = inputs, .outputs = out, .requests = request};
    int error = mxn_invoke(&in);
    mxn_params_release(params);
    return error;
}

static void outputs_are_made(void **state)
{
    (void)state;
    mxn_array *a = make(2, 3, 1), *b = make(2, 3, 10), *out = NULL;
    assert_int_equal(add(a, b, &out, NULL), MXP_OK);
    float values[6];
    assert_int_equal(mxn_array_copy_out(out, values, 6), MXP_OK);
    for (int i = 0; i < 6; i++) {
        assert_true(values[i] == (float)(11 + 2 * i));
    }
    assert_int_equal(out->shape.ndim, 2);
    assert_int_equal(out->dtype, MXN_FLOAT32);
    mxn_array_release(a);
    mxn_array_release(b);
    mxn_array_release(out);
}

static void none_outputs_take_a_shape(void **state)
{
    (void)state;
    mxn_array *a = make(2, 2, 1), *out = NULL;
    assert_int_equal(mxn_array_new_none(&out), MXP_OK);
    mxn_array *same = out;
    assert_int_equal(add(a, a, &out, NULL), MXP_OK);
    assert_ptr_equal(out, same);
    float values[4];
    assert_int_equal(mxn_array_copy_out(out, values, 4), MXP_OK);
    assert_true(values[3] == 8);
    mxn_array_release(a);
    mxn_array_release(out);
}

static void an_output_may_be_an_input(void **state)
{
    (void)state;
    mxn_array *a = make(2, 2, 1), *b = make(2, 2, 5);
    assert_int_equal(add(a, b, &a, NULL), MXP_OK);
    float values[4];
    assert_int_equal(mxn_array_copy_out(a, values, 4), MXP_OK);
    assert_true(values[0] == 6 && values[3] == 12);
    mxn_array_release(a);
    mxn_array_release(b);
}

static void requests_add_and_leave_alone(void **state)
{
    (void)state;
    mxn_array *a = make(2, 2, 1), *out = make(2, 2, 100);
    const uint32_t adds = MXN_ADD, null = MXN_NULL;
    assert_int_equal(add(a, a, &out, &adds), MXP_OK);
    assert_int_equal(add(a, a, &out, &null), MXP_OK);
    float values[4];
    assert_int_equal(mxn_array_copy_out(out, values, 4), MXP_OK);
    assert_true(values[0] == 102 && values[3] == 111);
    mxn_array *absent = NULL;
    assert_int_equal(add(a, a, &absent, &null), MXP_OK);
    assert_null(absent);
    mxn_array_release(a);
    mxn_array_release(out);
}

static void wrong_shapes_push_nothing(void **state)
{
    (void)state;
    mxn_array *a = make(2, 3, 1), *b = make(3, 2, 1), *out = NULL;
    mxn_engine_counts before, after;
    assert_int_equal(mxn_wait_all(), MXP_OK);
    mxn_engine_counts_get(&before);
    assert_int_equal(add(a, b, &out, NULL), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "elemwise_add"));
    assert_non_null(strstr(mxp_last_error(), "(2,3)"));
    assert_null(out);
    mxn_array *small = make(1, 2, 0);
    assert_int_equal(add(a, a, &small, NULL), MXP_EINVAL);
    mxn_engine_counts_get(&after);
    assert_int_equal(after.pushed - before.pushed, 0);
    assert_int_equal(add(a, a, &out, NULL), MXP_OK);  // still usable
    mxn_array_release(a);
    mxn_array_release(b);
    mxn_array_release(out);
    mxn_array_release(small);
}

static void inputs_are_checked(void **state)
{
    (void)state;
    mxn_params *params = parse("elemwise_add", 2);
    mxn_array *a = make(1, 1, 1), *none = NULL;
    assert_int_equal(mxn_array_new_none(&none), MXP_OK);
    void *one[] = {a}, *with_none[] = {a, none}, *with_null[] = {a, NULL};
    assert_int_equal(mxn_invoke_check_inputs(params, 1, one), MXP_EINVAL);
    assert_string_equal(mxp_last_error(),
                        "Operator elemwise_add expects 2 inputs, but got 1 instead. Missing: rhs");
    assert_int_equal(mxn_invoke_check_inputs(params, 2, with_none), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "input 1 (rhs)"));
    assert_int_equal(mxn_invoke_check_inputs(params, 2, with_null), MXP_EHANDLE);
    assert_non_null(strstr(mxp_last_error(), "elemwise_add"));
    mxn_array_release(a);
    mxn_array_release(none);
    mxn_params_release(params);
}

static int copy_to(mxn_array *from, mxn_array **to, uint32_t request, uint32_t scope)
{
    mxn_params *params = parse("_copyto", 1);
    const mxn_invocation in = {
        .params = params, .inputs = &from, .outputs = to, .requests = &request, .scope = scope};
    int error = mxn_invoke(&in);
    mxn_params_release(params);
    return error;
}

// Operators that push others in their stead.
static void requests_reach_operators_without_an_operation(void **state)
{
    (void)state;
    mxn_array *from = make(1, 2, 5), *to = make(1, 2, 0), *unmade = NULL;
    float values[2];
    assert_int_equal(copy_to(from, &to, MXN_NULL, 0), MXP_OK);
    assert_int_equal(copy_to(from, &unmade, MXN_NULL, 0), MXP_OK);
    assert_null(unmade);
    assert_int_equal(copy_to(from, &to, MXN_ADD, 0), MXP_ENOTSUP);
    assert_string_equal(mxp_last_error(), "Operator _copyto cannot add to output 0");
    assert_int_equal(copy_to(from, &unmade, MXN_ADD, 0), MXP_ENOTSUP);
    assert_null(unmade);
    assert_int_equal(mxn_array_copy_out(to, values, 2), MXP_OK);
    assert_true(values[0] == 0 && values[1] == 1);
    assert_int_equal(copy_to(from, &to, MXN_WRITE, 0), MXP_OK);
    assert_int_equal(mxn_array_copy_out(to, values, 2), MXP_OK);
    assert_true(values[0] == 5 && values[1] == 6);
    mxn_array_release(from);
    mxn_array_release(to);
}

static void scope_reaches_operators_without_an_operation(void **state)
{
    (void)state;
    mxn_array *from = make(1, 2, 5), *to = make(1, 2, 0);
    mxp_scope_push("block1");
    const uint32_t scope = mxp_scope_current();
    mxp_scope_pop();
    assert_int_equal(mxn_wait_all(), MXP_OK);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    assert_int_equal(copy_to(from, &to, MXN_WRITE, scope), MXP_OK);
    assert_int_equal(mxn_wait_all(), MXP_OK);
    mxp__recorder_stop(1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_event *event = live_events_find(&live, MXP_KIND_OPERATOR, "CopyCPU2CPU", 0);
    assert_non_null(event);
    mxp_operator_view view;
    mxp__event_operator(event, &view);
    assert_int_equal(view.scope, scope);
    live_events_free(&live);
    mxn_array_release(from);
    mxn_array_release(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outputs_are_made),
        cmocka_unit_test(none_outputs_take_a_shape),
        cmocka_unit_test(an_output_may_be_an_input),
        cmocka_unit_test(requests_add_and_leave_alone),
        cmocka_unit_test(wrong_shapes_push_nothing),
        cmocka_unit_test(inputs_are_checked),
        cmocka_unit_test(requests_reach_operators_without_an_operation),
        cmocka_unit_test(scope_reaches_operators_without_an_operation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
