// SPDX-License-Identifier: Apache-2.0
// Plans carried out on a graph of texts, as a graph of symbols would: a value is the expression
// that it is computed by. So a test reads which operators ran, on what, in which order.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made_graph.h"
#include "runtime/diff/run.h"

enum { TEXT = 512 };

typedef struct text {
    int refs;
    char chars[TEXT];
} text;

static int live_texts;
static char gradients[MOST_NODES][TEXT];  // of variables, by number of the node

static text *text_of(const char *chars)
{
    text *t = calloc(1, sizeof *t);
    t->refs = 1;
    snprintf(t->chars, sizeof t->chars, "%s", chars);
    live_texts++;
    return t;
}

static void retain(void *value)
{
    ((text *)value)->refs++;
}

static void release(void *value)
{
    text *t = value;
    if (--t->refs == 0) {
        live_texts--;
        free(t);
    }
}

// ---- what the graph does ----------------------------------------------------------------------
typedef struct context {
    mxn_diff_run run;
    mxn_diff_plan plan;
    text *target;  // of each variable; null: none has one
    uint32_t request;  // of the target
    uint32_t steps, last_step;  // step `last_step` fails
    uint32_t unwanted;  // outputs with request MXN_NULL
} context;

static void append(char *to, const char *chars)
{
    strncat(to, chars, TEXT - 1 - strlen(to));
}

static void write_step(const mxn_diff_step *step, uint32_t output, char *to)
{
    append(to, step->params->op->name);
    if (step->params->output_count > 1) {
        snprintf(to + strlen(to), TEXT - strlen(to), ".%u", output);
    }
    for (uint32_t i = 0; i < step->params->input_count; i++) {
        append(to, i == 0 ? "(" : ",");
        append(to, ((const text *)step->inputs[i])->chars);
    }
    append(to, ")");
}

static int run_step(void *of, const mxn_diff_step *step)
{
    context *c = of;
    if (++c->steps == c->last_step) {
        return MXP_ENOMEM;
    }
    for (uint32_t i = 0; i < step->params->output_count; i++) {
        char chars[TEXT] = "";
        write_step(step, i, chars);
        text *to = step->outputs[i];
        if (step->requests[i] == MXN_NULL) {
            c->unwanted++;
        } else if (to == NULL) {
            step->outputs[i] = text_of(chars);
        } else {
            assert_int_equal(step->requests[i], c->request);
            snprintf(to->chars, sizeof to->chars, "%s", chars);
        }
    }
    return MXP_OK;
}

static int make_zeros(void *of, const mxn_diff_visit *visit, uint32_t output, void **value)
{
    (void)of;
    (void)visit;
    char chars[TEXT];
    snprintf(chars, sizeof chars, "zeros%u", output);
    *value = text_of(chars);
    return MXP_OK;
}

// Operands are "i0", "i1", "o0" of the node that they belong to, whose number follows.
static text saved[MOST_NODES];
static void *saved_value(void *of, const mxn_diff_visit *visit, const mxn_source *value)
{
    (void)of;
    text *t = &saved[3 * visit->number + (value->kind == MXN_FROM_OUTPUT ? 2 : value->index)];
    snprintf(t->chars, sizeof t->chars, "%c%u", value->kind == MXN_FROM_INPUT ? 'i' : 'o',
             value->index);
    return t;
}

static void *target_of(void *of, const mxn_diff_visit *visit, uint32_t output, uint32_t *request)
{
    const context *c = of;
    assert_int_equal(visit->pending[output].expected, 1);
    *request = c->request;
    return visit->params == NULL ? c->target : NULL;
}

static int reach(void *of, mxn_diff_visit *visit)
{
    const context *c = of;
    int error = visit->params == NULL ? mxn_diff_run_settle(&c->run, visit, 0) : MXP_OK;
    if (error == MXP_OK && visit->params == NULL) {
        assert_int_equal(visit->pending[0].count, 1);
        snprintf(gradients[visit->number], TEXT, "%s",
                 ((const text *)visit->pending[0].items[0])->chars);
    }
    return error;
}

static const mxn_diff_actions actions = {.run = run_step,
                                         .zeros = make_zeros,
                                         .saved = saved_value,
                                         .target = target_of,
                                         .reach = reach,
                                         .retain = retain};

// ---- runs -------------------------------------------------------------------------------------
static int setup_run(void **state)
{
    live_texts = 0;
    memset(gradients, 0, sizeof gradients);
    return setup(state);
}

// From a head whose gradient is "g". Afterwards nothing is left of the run.
static int run_from(context *c, made_node *head)
{
    assert_int_equal(make_plan(&head, 1, NULL, 0, &c->plan), MXP_OK);
    c->run = (mxn_diff_run){&c->plan, &actions, c};
    mxn_diff_contribute(mxn_diff_plan_visit(&c->plan, head), 0, text_of("g"));
    int error = mxn_diff_run_plan(&c->run);
    mxn_diff_plan_fini(&c->plan);
    assert_int_equal(live_texts, 0);
    return error;
}

static const char *gradient_of(const made_node *variable)
{
    return gradients[variable->number];
}

static void calls_take_gradients_and_operands(void **state)
{
    (void)state;
    made_node *x = variable(true), *y = variable(true);
    made_node *head = single("exp", pair("elemwise_mul", x, y));
    assert_int_equal(run_from(&(context){0}, head), MXP_OK);
    assert_string_equal(gradient_of(x), "_backward_mul.0(elemwise_mul(g,o0),i0,i1)");
    assert_string_equal(gradient_of(y), "_backward_mul.1(elemwise_mul(g,o0),i0,i1)");
}

static void calls_take_results_of_those_before(void **state)
{
    (void)state;
    made_node *g = variable(true), *x = variable(true);
    assert_int_equal(run_from(&(context){0}, pair("_backward_cos", g, x)), MXP_OK);
    assert_string_equal(gradient_of(g), "_backward_cos(g,i1)");
    assert_string_equal(gradient_of(x), "negative(_backward_sin(elemwise_mul(g,i0),i1))");
}

static void calls_that_nobody_needs_do_not_run(void **state)
{
    (void)state;
    made_node *g = variable(true);
    context c = {0};
    assert_int_equal(run_from(&c, pair("_backward_cos", g, NULL)), MXP_OK);
    assert_string_equal(gradient_of(g), "_backward_cos(g,i1)");
    assert_int_equal(c.steps, 1);
}

static void output_for_nobody_is_not_asked_for(void **state)
{
    (void)state;
    made_node *x = variable(true);
    context c = {0};
    assert_int_equal(run_from(&c, pair("elemwise_mul", NULL, x)), MXP_OK);
    assert_string_equal(gradient_of(x), "_backward_mul.1(g,i0,i1)");
    assert_int_equal(c.unwanted, 1);
}

static void output_without_contribution_has_zeros(void **state)
{
    (void)state;
    const char *const key = "num_outputs", *const value = "2";
    made_node *x = variable(true), *y = variable(false);
    assert_int_equal(
        mxn_params_parse(mxn_op_find("SliceChannel"), 1, &key, &value, 1, false, &y->params),
        MXP_OK);
    y->inputs[0].node = x;
    assert_int_equal(run_from(&(context){0}, y), MXP_OK);
    assert_string_equal(gradient_of(x), "_backward_SliceChannel(g,zeros1)");
}

// add_n of a few, one after the other from eight on.
static void contributions_are_summed_in_the_order_they_came(void **state)
{
    (void)state;
    made_node *x = variable(true), *at = pair("elemwise_sub", x, x);
    assert_int_equal(run_from(&(context){0}, at), MXP_OK);
    assert_string_equal(gradient_of(x), "add_n(_backward_sub.0(g),_backward_sub.1(g))");

    enum { USES = 8 };
    made_node *w = variable(true);
    at = w;
    for (int i = 1; i < USES; i++) {
        at = pair("elemwise_add", w, at);
    }
    assert_int_equal(run_from(&(context){0}, at), MXP_OK);
    static const char begin[] =
        "_grad_add(_grad_add(_grad_add(_grad_add(_grad_add(_grad_add(_grad_add("
        "_backward_add.0(g),_backward_add.0(_backward_add.1(g)))";
    assert_memory_equal(gradient_of(w), begin, sizeof begin - 1);
}

static void only_contribution_is_written_to_its_target(void **state)
{
    (void)state;
    text target = {.refs = 1};
    made_node *x = variable(true);
    context c = {.target = &target, .request = MXN_ADD};
    assert_int_equal(run_from(&c, single("negative", x)), MXP_OK);
    assert_string_equal(target.chars, "negative(g)");
    assert_int_equal(target.refs, 1);
}

static void one_of_several_contributions_is_not(void **state)
{
    (void)state;
    text target = {.refs = 1};
    made_node *x = variable(true);
    context c = {.target = &target, .request = MXN_WRITE};
    assert_int_equal(run_from(&c, pair("elemwise_add", x, x)), MXP_OK);
    assert_string_equal(target.chars, "");
    assert_string_equal(gradient_of(x), "add_n(_backward_add.0(g),_backward_add.1(g))");
}

static void failure_of_any_step_ends_the_run_and_leaves_nothing(void **state)
{
    (void)state;
    made_node *x = variable(true), *g = variable(true);
    made_node *head = pair("elemwise_add", pair("_backward_cos", g, x), single("exp", x));
    context whole = {0};
    assert_int_equal(run_from(&whole, head), MXP_OK);
    assert_true(whole.steps > 5);
    for (uint32_t i = 1; i <= whole.steps; i++) {
        context c = {.last_step = i};
        assert_int_equal(run_from(&c, head), MXP_ENOMEM);
        assert_int_equal(c.steps, i);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup_run, teardown)
    const struct CMUnitTest tests[] = {
        CASE(calls_take_gradients_and_operands),
        CASE(calls_take_results_of_those_before),
        CASE(calls_that_nobody_needs_do_not_run),
        CASE(output_for_nobody_is_not_asked_for),
        CASE(output_without_contribution_has_zeros),
        CASE(contributions_are_summed_in_the_order_they_came),
        CASE(only_contribution_is_written_to_its_target),
        CASE(one_of_several_contributions_is_not),
        CASE(failure_of_any_step_ends_the_run_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
