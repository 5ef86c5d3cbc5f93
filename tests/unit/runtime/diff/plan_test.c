// SPDX-License-Identifier: Apache-2.0
// Plans over nodes that are no tape: a few structs with operators on them. What a gradient is
// summed from is counted by hand; values are numbers of paths.
#include <stdlib.h>
#include <string.h>

#include "made_graph.h"

static uint32_t released;

static void release(void *value)
{
    released++;
    free(value);
}

static int setup_plan(void **state)
{
    released = 0;
    return setup(state);
}

static void plan_from(made_node *head, mxn_diff_plan *plan)
{
    assert_int_equal(make_plan(&head, 1, NULL, 0, plan), MXP_OK);
}

// ---- what a plan says -------------------------------------------------------------------------
static bool wanted(const mxn_diff_plan *plan, const made_node *node)
{
    const mxn_diff_visit *visit = mxn_diff_plan_visit(plan, node);
    return visit != NULL && visit->wanted;
}

static uint32_t expected(const mxn_diff_plan *plan, const made_node *node)
{
    return mxn_diff_plan_visit(plan, node)->pending[0].expected;
}

static void assert_order(const mxn_diff_plan *plan, uint32_t count, made_node *const *order)
{
    assert_int_equal(plan->count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_ptr_equal(mxn_diff_plan_at(plan, i)->node, order[i]);
    }
}

static void diamond_is_visited_newest_first_and_summed_from_both_sides(void **state)
{
    (void)state;
    made_node *x = variable(true), *a = single("relu", x), *b = single("negative", x);
    made_node *y = pair("elemwise_add", b, a);
    mxn_diff_plan plan;
    plan_from(y, &plan);
    assert_order(&plan, 4, (made_node *[]){y, b, a, x});
    assert_int_equal(expected(&plan, y), 1);
    assert_int_equal(expected(&plan, a), 1);
    assert_int_equal(expected(&plan, b), 1);
    assert_int_equal(expected(&plan, x), 2);
    mxn_diff_plan_fini(&plan);
}

static void branch_that_no_head_depends_on_is_not_visited(void **state)
{
    (void)state;
    made_node *x = variable(true), *a = single("relu", x), *unused = single("negative", x);
    mxn_diff_plan plan;
    plan_from(a, &plan);
    assert_order(&plan, 2, (made_node *[]){a, x});
    assert_null(mxn_diff_plan_visit(&plan, unused));
    assert_int_equal(expected(&plan, x), 1);
    mxn_diff_plan_fini(&plan);
}

static void heads_each_contribute_and_one_given_twice_does_so_twice(void **state)
{
    (void)state;
    made_node *x = variable(true), *a = single("relu", x), *b = single("negative", a);
    mxn_diff_plan plan;
    assert_int_equal(make_plan((made_node *[]){a, b, a}, 3, NULL, 0, &plan), MXP_OK);
    assert_order(&plan, 3, (made_node *[]){b, a, x});
    assert_int_equal(expected(&plan, b), 1);
    assert_int_equal(expected(&plan, a), 3);  // of b, and of two heads
    assert_int_equal(expected(&plan, x), 1);
    mxn_diff_plan_fini(&plan);
}

static void node_used_twice_gets_two_contributions(void **state)
{
    (void)state;
    made_node *x = variable(true), *y = pair("elemwise_mul", x, x);
    mxn_diff_plan plan;
    plan_from(y, &plan);
    assert_int_equal(plan.count, 2);
    assert_int_equal(expected(&plan, x), 2);
    assert_int_equal(y->checked_inputs, 3);
    mxn_diff_plan_fini(&plan);
}

static void values_are_asked_for_only_where_a_wanted_gradient_reads_them(void **state)
{
    (void)state;
    made_node *x = variable(true), *y = pair("elemwise_mul", x, NULL);
    mxn_diff_plan plan;
    plan_from(y, &plan);
    const mxn_diff_visit *visit = mxn_diff_plan_visit(&plan, y);
    assert_ptr_equal(mxn_diff_input_wanted(&plan, visit, 0), mxn_diff_plan_visit(&plan, x));
    assert_null(mxn_diff_input_wanted(&plan, visit, 1));
    assert_int_equal(expected(&plan, x), 1);
    assert_int_equal(y->checked_inputs, 2);  // d(x * c) = c: x itself is not read
    mxn_diff_plan_fini(&plan);

    y->check_error = MXP_ESTATE;
    assert_int_equal(make_plan(&y, 1, NULL, 0, &plan), MXP_ESTATE);
    assert_int_equal(plan.count, 0);
}

static void variable_that_is_no_target_is_visited_and_not_wanted(void **state)
{
    (void)state;
    made_node *x = variable(false), *z = variable(true), *a = single("relu", x);
    made_node *y = pair("elemwise_add", a, z);
    mxn_diff_plan plan;
    plan_from(y, &plan);
    assert_true(wanted(&plan, y) && wanted(&plan, z));
    assert_false(wanted(&plan, a) || wanted(&plan, x));
    assert_int_equal(expected(&plan, a), 0);
    assert_false(mxn_diff_plan_visit(&plan, a)->live);
    mxn_diff_plan_fini(&plan);

    z->target = false;
    assert_int_equal(make_plan(&y, 1, NULL, 0, &plan), MXP_EINVAL);
    assert_int_equal(plan.count, 0);
}

static void nothing_goes_back_through_a_comparison(void **state)
{
    (void)state;
    made_node *x = variable(true), *c = pair("broadcast_greater", x, x);
    made_node *y = pair("elemwise_mul", c, x);
    mxn_diff_plan plan;
    plan_from(y, &plan);
    assert_false(wanted(&plan, c));
    assert_int_equal(expected(&plan, x), 1);
    mxn_diff_plan_fini(&plan);
}

static void gradients_asked_for_are_the_only_ones(void **state)
{
    (void)state;
    made_node *x = variable(true), *a = single("relu", x), *y = single("negative", a);
    mxn_diff_plan plan;
    assert_int_equal(make_plan(&y, 1, (made_node *[]){a}, 1, &plan), MXP_OK);
    assert_true(wanted(&plan, y) && wanted(&plan, a));
    assert_false(wanted(&plan, x));
    assert_false(mxn_diff_plan_visit(&plan, a)->passes);
    assert_int_equal(mxn_diff_plan_visit(&plan, a)->asked, 1);
    mxn_diff_plan_fini(&plan);
}

static void asking_twice_or_for_what_no_head_depends_on_is_refused(void **state)
{
    (void)state;
    made_node *x = variable(true), *other = variable(true), *y = single("relu", x);
    mxn_diff_plan plan;
    assert_int_equal(make_plan(&y, 1, (made_node *[]){x, x}, 2, &plan), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "variables 1 and 2 are the same"));
    assert_int_equal(make_plan(&y, 1, (made_node *[]){x, other}, 2, &plan), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "2-th variable"));
    assert_int_equal(plan.count, 0);
}

static void operator_without_gradient_is_refused_only_on_the_way(void **state)
{
    (void)state;
    const char *const key = "lr", *const value = "1";
    made_node *x = variable(true), *y = variable(false);
    assert_int_equal(
        mxn_params_parse(mxn_op_find("sgd_update"), 1, &key, &value, 2, false, &y->params), MXP_OK);
    y->inputs[0].node = x;
    mxn_diff_plan plan;
    assert_int_equal(make_plan(&y, 1, NULL, 0, &plan), MXP_ENOTSUP);
    assert_non_null(strstr(mxp_last_error(), "sgd_update"));
    assert_int_equal(plan.count, 0);
    assert_int_equal(make_plan(&y, 1, (made_node *[]){y}, 1, &plan), MXP_OK);
    mxn_diff_plan_fini(&plan);
}

// ---- carrying one out -------------------------------------------------------------------------
static void *number(uint64_t value)
{
    uint64_t *made_value = malloc(sizeof *made_value);
    *made_value = value;
    return made_value;
}

static uint64_t sum_of(const mxn_diff_plan *plan, mxn_diff_visit *visit)
{
    mxn_diff_pending *pending = &visit->pending[0];
    uint64_t sum = 0;
    assert_int_equal(pending->count, pending->expected);
    for (uint32_t i = 0; i < pending->count; i++) {
        sum += *(uint64_t *)pending->items[i];
    }
    mxn_diff_settle(plan, pending, number(sum));
    assert_int_equal(pending->count, 1);
    return sum;
}

static void give(const mxn_diff_plan *plan, const mxn_diff_visit *visit, uint64_t value)
{
    for (uint32_t i = 0; visit->passes && i < visit->gradient->count; i++) {
        const mxn_gradient_call *call = &visit->gradient->calls[i];
        for (uint32_t j = 0; visit->needed[i] && j < call->params->output_count; j++) {
            const uint32_t input = (uint32_t)call->gives[j];
            mxn_diff_visit *to =
                call->gives[j] < 0 ? NULL : mxn_diff_input_wanted(plan, visit, input);
            if (to != NULL) {
                mxn_diff_contribute(to, mxn_diff_input_index(plan, visit, input), number(value));
            }
        }
    }
}

static void contributions_follow_every_path(void **state)
{
    (void)state;
    enum { STEPS = 40, HALF_STEPS = 60 };
    made_node *x = variable(true), *at = x;
    for (uint32_t i = 0; i < STEPS; i++) {  // twice as many paths
        at = pair("elemwise_add", at, at);
    }
    for (uint32_t i = 0; i < HALF_STEPS; i++) {  // as many paths as before, and one
        at = pair("elemwise_add", single("relu", at), x);
    }
    mxn_diff_plan plan;
    plan_from(at, &plan);
    mxn_diff_contribute(mxn_diff_plan_visit(&plan, at), 0, number(1));
    uint64_t paths = 0;
    for (size_t i = 0; i < plan.count; i++) {
        mxn_diff_visit *visit = mxn_diff_plan_at(&plan, i);
        paths = sum_of(&plan, visit);
        give(&plan, visit, paths);
        mxn_diff_release(&plan, visit);
    }
    assert_int_equal(paths, ((uint64_t)1 << STEPS) + HALF_STEPS);
    mxn_diff_plan_fini(&plan);
}

static void contributions_that_nobody_took_go_with_the_plan(void **state)
{
    (void)state;
    made_node *x = variable(true), *y = pair("elemwise_add", x, x);
    mxn_diff_plan plan;
    plan_from(y, &plan);
    mxn_diff_contribute(mxn_diff_plan_visit(&plan, y), 0, number(1));
    mxn_diff_contribute(mxn_diff_plan_visit(&plan, x), 0, number(1));
    mxn_diff_contribute(mxn_diff_plan_visit(&plan, x), 0, number(1));
    mxn_diff_release(&plan, mxn_diff_plan_visit(&plan, y));
    assert_int_equal(released, 1);
    mxn_diff_plan_fini(&plan);
    assert_int_equal(released, 3);
    mxn_diff_plan_fini(&plan);
    assert_int_equal(released, 3);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup_plan, teardown)
    const struct CMUnitTest tests[] = {
        CASE(diamond_is_visited_newest_first_and_summed_from_both_sides),
        CASE(branch_that_no_head_depends_on_is_not_visited),
        CASE(heads_each_contribute_and_one_given_twice_does_so_twice),
        CASE(node_used_twice_gets_two_contributions),
        CASE(values_are_asked_for_only_where_a_wanted_gradient_reads_them),
        CASE(variable_that_is_no_target_is_visited_and_not_wanted),
        CASE(nothing_goes_back_through_a_comparison),
        CASE(gradients_asked_for_are_the_only_ones),
        CASE(asking_twice_or_for_what_no_head_depends_on_is_refused),
        CASE(operator_without_gradient_is_refused_only_on_the_way),
        CASE(contributions_follow_every_path),
        CASE(contributions_that_nobody_took_go_with_the_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
