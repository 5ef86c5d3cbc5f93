// SPDX-License-Identifier: Apache-2.0
// Calls that are prepared once and run many times do what separate invocations do: the same values,
// the same records. What does not fit them is refused before anything is pushed.
#include <mxprof/error.h>
#include <string.h>

#include "live_events.h"
#include "prepared_calls.h"
#include "profiler/recorder/recorder.h"
#include "runtime/imperative/bound.h"
#include "runtime/imperative/thread_mode.h"

enum { RUNS = 5 };
static void many_runs_are_as_many_invocations(void **state)
{
    (void)state;
    static const char *const names[] = {"elemwise_add", "dot", "broadcast_maximum"};
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        mxn_prepared *prepared = prepare(names[n], NULL);
        for (int i = 0; i < RUNS; i++) {
            mxn_array *a = make(SIZE, SIZE, (float)i), *b = make(SIZE, SIZE, (float)(50 - 9 * i));
            mxn_array *out = make(SIZE, SIZE, -1), *expected = invoke(names[n], a, b);
            assert_int_equal(run(prepared, a, b, out), MXP_OK);
            same_values(out, expected);
            mxn_array_release(a);
            mxn_array_release(b);
            mxn_array_release(out);
            mxn_array_release(expected);
        }
        mxn_prepared_release(prepared);
    }
}

static void nothing_but_the_run_is_left_for_later(void **state)
{
    (void)state;
    mxn_prepared *prepared = prepare("dot", NULL);
    const mxn_tensor_type out = mxn_prepared_output(prepared, 0);
    const mxn_shape expected = shape_of(SIZE, SIZE);
    assert_true(mxn_shape_equal(out.shape, &expected));
    assert_int_equal(out.dtype, MXN_FLOAT32);
    mxn_array *a = make(SIZE, SIZE, 1), *b = make(SIZE, SIZE, 2), *to = make(SIZE, SIZE, 3);
    mxn_array *const inputs[] = {a, b};
    const mxn_binding binding = {.inputs = inputs, .outputs = &to};
    mxn_bound *bound = NULL;
    assert_int_equal(mxn_bind(prepared, &binding, &bound), MXP_OK);
    assert_ptr_equal(bound->job.outputs[0].shape, out.shape);  // inferred nowhere else
    assert_ptr_equal(bound->job.kernel, &prepared->kernel);
    assert_non_null(bound->job.kernel->run);
    mxn_bound_free(bound);  // not pushed after all
    mxn_array *untouched = make(SIZE, SIZE, 3);
    same_values(to, untouched);
    mxn_array_release(untouched);
    mxn_array_release(a);
    mxn_array_release(b);
    mxn_array_release(to);
    mxn_prepared_release(prepared);
}

// The kernel that was prepared runs, and none that is looked for.
static void the_run_takes_the_kernel_as_it_is(void **state)
{
    (void)state;
    mxn_prepared *prepared = prepare("elemwise_add", NULL);
    prepared->kernel.run = add_seven;
    mxn_array *a = make(SIZE, SIZE, 1), *out = make(SIZE, SIZE, 0), *seven = make(SIZE, SIZE, 8);
    assert_int_equal(run(prepared, a, a, out), MXP_OK);
    same_values(out, seven);
    prepared->kernel.threads = 999;  // it was chosen for more than there are now
    assert_int_equal(run(prepared, a, a, out), MXP_OK);
    mxn_array *sum = invoke("elemwise_add", a, a);
    same_values(out, sum);
    mxn_array_release(a);
    mxn_array_release(out);
    mxn_array_release(seven);
    mxn_array_release(sum);
    mxn_prepared_release(prepared);
}

// Their parameters say which shapes are NumPy's, not the thread that binds or runs.
static void the_numpy_switch_of_the_thread_changes_nothing(void **state)
{
    (void)state;
    mxn_params *params = parse("sum", 1), *numpy = NULL;
    assert_int_equal(mxn_params_under(params, true, &numpy), MXP_OK);
    const mxn_shape shape = shape_of(SIZE, SIZE);
    const mxn_tensor_type input = {&shape, MXN_FLOAT32};
    mxn_signature signature = {.params = params, .inputs = &input, .context = cpu};
    mxn_prepared *legacy = NULL, *scalar = NULL;
    mxn__mode.numpy_shape = true;
    assert_int_equal(mxn_prepare(&signature, &legacy), MXP_OK);
    mxn__mode.numpy_shape = false;
    signature.params = numpy;
    assert_int_equal(mxn_prepare(&signature, &scalar), MXP_OK);
    assert_int_equal(mxn_prepared_output(legacy, 0).shape->ndim, 1);
    assert_int_equal(mxn_prepared_output(scalar, 0).shape->ndim, 0);
    mxn_prepared_release(legacy);
    mxn_prepared_release(scalar);
    mxn_params_release(params);
}

static mxp_operator_view record(const live_events *live, const char *name, uint32_t index)
{
    const mxp_event *event = live_events_find(live, MXP_KIND_OPERATOR, name, index);
    assert_non_null(event);
    mxp_operator_view view;
    mxp__event_operator(event, &view);
    return view;
}

static void its_records_are_those_of_invocations(void **state)
{
    (void)state;
    mxn_prepared *prepared = prepare("dot", NULL);
    mxn_array *a = make(SIZE, SIZE, 1), *b = make(SIZE, SIZE, 2), *out = make(SIZE, SIZE, 3);
    assert_int_equal(mxn_wait_all(), MXP_OK);
    mxp__recorder_start(MXP_CLASS_ALL, 0);
    mxp_scope_push("layer1");
    mxn_array *invoked = invoke("dot", a, b);
    assert_int_equal(mxn_wait_all(), MXP_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(prepared, a, b, out), MXP_OK);
        assert_int_equal(mxn_wait_all(), MXP_OK);
    }
    mxp_scope_pop();
    mxp__recorder_stop(1);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    const mxp_operator_view expected = record(&live, "dot", 0);
    assert_int_equal(expected.shape, mxp_string("float32[12,12],float32[12,12]->float32[12,12]"));
    for (uint32_t i = 1; i <= 2; i++) {
        const mxp_operator_view is = record(&live, "dot", i);
        assert_int_equal(is.shape, expected.shape);
        assert_int_equal(is.scope, expected.scope);
        assert_int_equal(is.device, expected.device);
        assert_int_equal(is.variable_count, expected.variable_count);
        assert_true(is.flops == 2.0F * SIZE * VALUES && is.flops == expected.flops);
        assert_true(is.bytes == 3.0F * VALUES * sizeof(float) && is.bytes == expected.bytes);
    }
    live_events_free(&live);
    mxn_array_release(a);
    mxn_array_release(b);
    mxn_array_release(out);
    mxn_array_release(invoked);
    mxn_prepared_release(prepared);
}

static void what_does_not_fit_is_refused_at_the_binding(void **state)
{
    (void)state;
    mxn_prepared *prepared = prepare("elemwise_add", NULL);
    mxn_array *a = make(SIZE, SIZE, 1), *wide = make(2, SIZE, 1), *none = NULL;
    assert_int_equal(mxn_array_new_none(&none), MXP_OK);
    assert_int_equal(mxn_wait_all(), MXP_OK);
    mxn_engine_counts before, after;
    mxn_engine_counts_get(&before);
    assert_int_equal(run(prepared, a, wide, a), MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "Operator elemwise_add: input 1 is float32[2,12], but "
                                          "the call was prepared for float32[12,12]");
    assert_int_equal(run(prepared, a, a, wide), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "output 0 is float32[2,12]"));
    assert_int_equal(run(prepared, none, a, a), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "input 0 is missing or has no shape yet"));
    assert_int_equal(run(prepared, a, a, NULL), MXP_EINVAL);
    mxn_engine_counts_get(&after);
    assert_int_equal(after.pushed - before.pushed, 0);
    assert_int_equal(run(prepared, a, a, a), MXP_OK);  // still usable, and in place
    mxn_array_release(a);
    mxn_array_release(wide);
    mxn_array_release(none);
    mxn_prepared_release(prepared);
}

static void what_inference_refuses_cannot_be_prepared(void **state)
{
    (void)state;
    mxn_params *params = parse("elemwise_add", 2);
    const mxn_shape left = shape_of(2, 3), right = shape_of(3, 2);
    const mxn_tensor_type inputs[] = {{&left, MXN_FLOAT32}, {&right, MXN_FLOAT32}};
    mxn_signature signature = {.params = params, .inputs = inputs, .context = cpu};
    mxn_prepared *prepared = NULL;
    assert_int_equal(mxn_prepare(&signature, &prepared), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "elemwise_add"));
    signature.context.type = MXN_GPU;
    assert_int_equal(mxn_prepare(&signature, &prepared), MXP_EINVAL);
    mxn_params_release(params);
    signature = (mxn_signature){.params = parse("_copyto", 1), .inputs = inputs, .context = cpu};
    assert_int_equal(mxn_prepare(&signature, &prepared), MXP_ENOTSUP);
    assert_null(prepared);
    mxn_params_release(signature.params);
}

static void requests_belong_to_the_prepared_call(void **state)
{
    (void)state;
    uint32_t request = MXN_ADD;
    mxn_prepared *adds = prepare("elemwise_add", &request);
    request = MXN_NULL;  // it has kept its own
    mxn_prepared *leaves = prepare("elemwise_add", &request);
    mxn_array *a = make(SIZE, SIZE, 1), *out = make(SIZE, SIZE, 0);
    assert_int_equal(run(adds, a, a, out), MXP_OK);
    assert_int_equal(run(leaves, a, a, NULL), MXP_OK);
    float values[VALUES];
    assert_int_equal(mxn_array_copy_out(out, values, VALUES), MXP_OK);
    assert_true(values[0] == 2 && values[10] == 32);
    mxn_array_release(a);
    mxn_array_release(out);
    mxn_prepared_release(adds);
    mxn_prepared_release(leaves);
}

static void it_may_go_before_its_runs_are_over(void **state)
{
    (void)state;
    mxn_prepared *prepared = prepare("dot", NULL);
    mxn_array *a = make(SIZE, SIZE, 1), *out = make(SIZE, SIZE, 0);
    mxn_array *expected = invoke("dot", a, a);
    for (int i = 0; i < RUNS; i++) {
        assert_int_equal(run(prepared, a, a, out), MXP_OK);
    }
    mxn_prepared_release(prepared);
    mxn_array_release(a);
    same_values(out, expected);
    mxn_array_release(out);
    mxn_array_release(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_runs_are_as_many_invocations),
        cmocka_unit_test(nothing_but_the_run_is_left_for_later),
        cmocka_unit_test(the_run_takes_the_kernel_as_it_is),
        cmocka_unit_test(the_numpy_switch_of_the_thread_changes_nothing),
        cmocka_unit_test(its_records_are_those_of_invocations),
        cmocka_unit_test(what_does_not_fit_is_refused_at_the_binding),
        cmocka_unit_test(what_inference_refuses_cannot_be_prepared),
        cmocka_unit_test(requests_belong_to_the_prepared_call),
        cmocka_unit_test(it_may_go_before_its_runs_are_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
