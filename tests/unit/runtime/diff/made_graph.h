// SPDX-License-Identifier: Apache-2.0
// A graph that is no tape: a few structs with operators on them, for tests of plans. Variables are
// nodes without parameters.
#ifndef TEST_MADE_GRAPH_H
#define TEST_MADE_GRAPH_H

#include "cmocka_all.h"

#include <mxprof/error.h>

#include "runtime/diff/diff.h"

enum { MOST_NODES = 256, MOST_INPUTS = 2 };

typedef struct made_node {
    uint64_t number;
    mxn_params *params;
    mxn_diff_entry inputs[MOST_INPUTS];
    bool target;
    uint32_t checked_inputs, checked_outputs;  // bits: which values a plan asked for
    int check_error;
} made_node;

static made_node nodes[MOST_NODES];
static uint32_t node_count;

// Of a contribution: the test's own.
static void release(void *value);

static uint64_t number_of(const void *node)
{
    return ((const made_node *)node)->number;
}

static mxn_params *params_of(const void *node)
{
    return ((const made_node *)node)->params;
}

static mxn_diff_entry input_of(const void *node, uint32_t index)
{
    return ((const made_node *)node)->inputs[index];
}

static bool is_target(const void *node)
{
    return ((const made_node *)node)->target;
}

static int check_value(const void *of, const mxn_source *value)
{
    made_node *node = (made_node *)of;
    if (value->kind == MXN_FROM_INPUT) {
        node->checked_inputs |= 1u << value->index;
    } else {
        node->checked_outputs |= 1u << value->index;
    }
    return node->check_error;
}

static const mxn_diff_nodes made = {.number = number_of,
                                    .params = params_of,
                                    .input = input_of,
                                    .is_target = is_target,
                                    .check_value = check_value,
                                    .release = release};

// ---- making graphs ----------------------------------------------------------------------------
static made_node *variable(bool target)
{
    made_node *node = &nodes[node_count++];
    *node = (made_node){.number = node_count, .target = target};
    return node;
}

// Null inputs: nothing to differentiate.
static made_node *operator_of(const char *name, uint32_t inputs, made_node *a, made_node *b)
{
    made_node *node = variable(false);
    assert_int_equal(
        mxn_params_parse(mxn_op_find(name), 0, NULL, NULL, inputs, false, &node->params), MXP_OK);
    node->inputs[0].node = a;
    node->inputs[1].node = b;
    return node;
}

static made_node *pair(const char *name, made_node *a, made_node *b)
{
    return operator_of(name, 2, a, b);
}

static made_node *single(const char *name, made_node *a)
{
    return operator_of(name, 1, a, NULL);
}

static int setup(void **state)
{
    (void)state;
    node_count = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < node_count; i++) {
        mxn_params_release(nodes[i].params);
    }
    return 0;
}

static int make_plan(made_node *const *heads, uint32_t head_count, made_node *const *asked,
                     uint32_t asked_count, mxn_diff_plan *plan)
{
    mxn_diff_entry from[4] = {0}, to[4] = {0};
    for (uint32_t i = 0; i < head_count; i++) {
        from[i].node = heads[i];
    }
    for (uint32_t i = 0; i < asked_count; i++) {
        to[i].node = asked[i];
    }
    const mxn_diff_request request = {.nodes = &made,
                                      .heads = from,
                                      .head_count = head_count,
                                      .asked = to,
                                      .asked_count = asked_count};
    return mxn_diff_plan_make(&request, plan);
}

#endif
