// SPDX-License-Identifier: Apache-2.0
// Shapes and types of networks. Expected ones are what MXNet 1.9.1 gives, but where less is known:
// then ours may know more.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/graph.h"

#define VARIABLE(name) "{\"op\": \"null\", \"name\": \"" name "\", \"inputs\": []}"
#define VARIABLE_OF(name, attributes) \
    "{\"op\": \"null\", \"name\": \"" name "\", \"attrs\": {" attributes "}, \"inputs\": []}"
#define OPERATOR(op, name, attributes, inputs)                             \
    "{\"op\": \"" op "\", \"name\": \"" name "\", \"attrs\": {" attributes \
    "}, \"inputs\": " inputs "}"
#define GRAPH(nodes, heads) "{\"nodes\": [" nodes "], \"arg_nodes\": [], \"heads\": " heads "}"

static mxn_symbol *network(const char *json)
{
    mxn_symbol *symbol;
    if (mxn_symbol_from_json(json, strlen(json), &symbol) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    return symbol;
}

// A dense layer, a normalisation and a loss, whose shapes follow from that of the data.
static const char *const classifier_nodes[] = {
    VARIABLE("data"),
    VARIABLE("w"),
    VARIABLE("b"),
    OPERATOR("FullyConnected", "fc", "\"num_hidden\": \"3\"", "[[0, 0, 0], [1, 0, 0], [2, 0, 0]]"),
    VARIABLE("gamma"),
    VARIABLE("beta"),
    VARIABLE("mean"),
    VARIABLE("var"),
    OPERATOR("BatchNorm", "bn", "\"axis\": \"1\"",
             "[[3, 0, 0], [4, 0, 0], [5, 0, 0], [6, 0, 1], [7, 0, 1]]"),
    VARIABLE("label"),
    OPERATOR("SoftmaxOutput", "softmax", "", "[[8, 0, 0], [9, 0, 0]]"),
};

static mxn_symbol *classifier(void)
{
    char nodes[2048] = "", json[4096];
    for (size_t i = 0; i < sizeof classifier_nodes / sizeof *classifier_nodes; i++) {
        size_t length = strlen(nodes);
        snprintf(nodes + length, sizeof nodes - length, "%s%s", i == 0 ? "" : ", ",
                 classifier_nodes[i]);
    }
    snprintf(json, sizeof json, GRAPH("%s", "[[10, 0, 0]]"), nodes);
    return network(json);
}

static mxn_symbol *sum(const char *left)
{
    char json[512];
    snprintf(json, sizeof json,
             GRAPH("%s, " VARIABLE("y") ", " OPERATOR("elemwise_add", "add", "",
                                                      "[[0, 0, 0], [1, 0, 0]]"),
                   "[[2, 0, 0]]"),
             left);
    return network(json);
}

static void assert_shapes(const mxn_inferred *inferred, const char *expected)
{
    char all[1024] = "", text[MXN_SHAPE_TEXT];
    const uint32_t count = inferred->arguments + inferred->outputs + inferred->auxiliary;
    for (uint32_t i = 0; i < count; i++) {
        const bool known = inferred->shapes[i].ndim >= 0;
        strcat(all, i == 0 ? "" : " ");
        strcat(all, known ? mxn_shape_text(&inferred->shapes[i], text) : "?");
    }
    assert_string_equal(all, expected);
}

static void infer_or_fail(const mxn_symbol *symbol, const mxn_known *known, mxn_inferred *inferred)
{
    if (mxn_symbol_infer(symbol, known, inferred) != 0) {
        fail_msg("%s", mxp_last_error());
    }
}

static void shapes_of_a_network_follow_from_its_data(void **state)
{
    (void)state;
    mxn_symbol *symbol = classifier();
    const char *key = "data";
    const mxn_shape data = {2, {4, 5}};
    mxn_inferred inferred;
    infer_or_fail(symbol, &(mxn_known){1, &key, &data, NULL}, &inferred);
    assert_shapes(&inferred, "[4,5] [3,5] [3] [3] [3] [4] [4,3] [3] [3]");
    assert_true(inferred.shapes_complete);
    assert_false(inferred.types_complete);
    mxn_inferred_fini(&inferred);
    infer_or_fail(symbol, &(mxn_known){1, NULL, &data, NULL}, &inferred);
    assert_shapes(&inferred, "[4,5] [3,5] [3] [3] [3] [4] [4,3] [3] [3]");
    mxn_inferred_fini(&inferred);
    mxn_symbol_free(symbol);
}

static void a_filter_follows_from_the_rank_of_images(void **state)
{
    (void)state;
    mxn_symbol *symbol =
        network(GRAPH(VARIABLE("x") ", " VARIABLE("w") ", " VARIABLE("b") ", " OPERATOR(
                          "Convolution", "conv", "\"kernel\": \"(5, 3)\", \"num_filter\": \"6\"",
                          "[[0, 0, 0], [1, 0, 0], [2, 0, 0]]"),
                      "[[3, 0, 0]]"));
    const char *key = "x";
    const mxn_shape images[] = {{4, {-1, -1, -1, -1}}, {4, {2, 3, -1, 9}}};
    mxn_inferred inferred;
    infer_or_fail(symbol, &(mxn_known){1, &key, &images[0], NULL}, &inferred);
    assert_shapes(&inferred, "[-1,-1,-1,-1] [6,-1,5,3] [6] [-1,6,-1,-1]");
    mxn_inferred_fini(&inferred);
    infer_or_fail(symbol, &(mxn_known){1, &key, &images[1], NULL}, &inferred);
    assert_shapes(&inferred, "[2,3,-1,9] [6,3,5,3] [6] [2,6,-1,7]");
    mxn_inferred_fini(&inferred);
    mxn_symbol_free(symbol);
}

static void types_are_inferred_without_shapes(void **state)
{
    (void)state;
    mxn_symbol *symbol = classifier();
    const char *key = "w";
    const int32_t type = MXN_FLOAT64;
    mxn_inferred inferred;
    infer_or_fail(symbol, &(mxn_known){1, &key, NULL, &type}, &inferred);
    assert_true(inferred.types_complete);
    assert_false(inferred.shapes_complete);
    for (uint32_t i = 0; i < inferred.arguments + inferred.outputs + inferred.auxiliary; i++) {
        assert_int_equal(inferred.types[i], MXN_FLOAT64);
    }
    mxn_inferred_fini(&inferred);
    mxn_symbol_free(symbol);
}

static void shapes_flow_backwards_and_parts_are_merged(void **state)
{
    (void)state;
    mxn_symbol *symbol = sum(VARIABLE("x"));
    const char *keys[] = {"x", "y"};
    const mxn_shape parts[] = {{2, {2, -1}}, {2, {-1, 3}}};
    mxn_inferred inferred;
    infer_or_fail(symbol, &(mxn_known){2, keys, parts, NULL}, &inferred);
    assert_shapes(&inferred, "[2,3] [2,3] [2,3]");
    mxn_inferred_fini(&inferred);
    infer_or_fail(symbol, &(mxn_known){1, &keys[1], parts, NULL}, &inferred);
    assert_shapes(&inferred, "[2,-1] [2,-1] [2,-1]");
    assert_false(inferred.shapes_complete);
    mxn_inferred_fini(&inferred);
    infer_or_fail(symbol, &(mxn_known){0}, &inferred);
    assert_shapes(&inferred, "? ? ?");
    mxn_inferred_fini(&inferred);
    mxn_symbol_free(symbol);
}

static void assert_shapes_of(const char *json, const mxn_known *known, const char *expected)
{
    mxn_symbol *symbol = network(json);
    mxn_inferred inferred;
    infer_or_fail(symbol, known, &inferred);
    assert_shapes(&inferred, expected);
    mxn_inferred_fini(&inferred);
    mxn_symbol_free(symbol);
}

static void sizes_that_an_operator_leaves_open_are_told_by_those_that_take_it(void **state)
{
    (void)state;
    const char *zeros =
        GRAPH(OPERATOR("_zeros", "z", "\"shape\": \"(2, 0)\"", "[]") ", " VARIABLE(
                  "x") ", " OPERATOR("elemwise_add", "add", "", "[[0, 0, 0], [1, 0, 0]]"),
              "[[2, 0, 0], [0, 0, 0]]");
    const char *state_of_a_cell = GRAPH(
        OPERATOR("_zeros", "z", "\"shape\": \"(0, 5)\"", "[]") ", " VARIABLE("w") ", " OPERATOR(
            "FullyConnected", "fc", "\"num_hidden\": \"3\", \"no_bias\": \"True\"",
            "[[0, 0, 0], [1, 0, 0]]") ", " VARIABLE("x") ", " OPERATOR("elemwise_add", "add", "",
                                                                       "[[2, 0, 0], [3, 0, 0]]"),
        "[[4, 0, 0], [0, 0, 0]]");
    const char *key = "x";
    const mxn_shape matrix = {2, {2, 3}};
    const mxn_known known = {1, &key, &matrix, NULL};
    assert_shapes_of(zeros, &(mxn_known){0}, "[2,-1] [2,-1] [2,-1]");
    assert_shapes_of(zeros, &known, "[2,3] [2,3] [2,3]");
    assert_shapes_of(state_of_a_cell, &known, "[3,5] [2,3] [2,3] [2,5]");
}

#define WEIGHT(name) VARIABLE_OF(name, "\"__shape__\": \"(4, 0)\"")
#define FLAT(name, of) OPERATOR("Reshape", name, "\"shape\": \"(-1,)\"", "[[" of ", 0, 0]]")

static void sizes_follow_from_how_many_elements_a_whole_has(void **state)
{
    (void)state;
#define JOINED(op)                                                                                 \
    GRAPH(WEIGHT("v") ", " WEIGHT("w") ", " FLAT("fv", "0") ", " FLAT("fw", "1") ", " VARIABLE(    \
              "b") ", " OPERATOR(op, "all",                                                        \
                                 "\"dim\": \"0\", \"num_args\": "                                  \
                                 "\"3\"",                                                          \
                                 "[[2, 0, 0], [3, 0, 0], "                                         \
                                 "[4, 0, 0]]") ", " VARIABLE("x") ", " OPERATOR("elemwise_add",    \
                                                                                "add", "",         \
                                                                                "[[5, 0, 0], [6, " \
                                                                                "0, 0]]"),         \
          "[[7, 0, 0]]")
    const char *keys[] = {"b", "x", "v"};
    const mxn_shape shapes[] = {{1, {6}}, {1, {30}}, {2, {4, 2}}};
    assert_shapes_of(JOINED("_rnn_param_concat"), &(mxn_known){2, keys, shapes, NULL},
                     "[4,3] [4,3] [6] [30] [30]");
    assert_shapes_of(JOINED("Concat"), &(mxn_known){2, keys, shapes, NULL},
                     "[4,-1] [4,-1] [6] [30] [30]");
    assert_shapes_of(JOINED("Concat"), &(mxn_known){3, keys, shapes, NULL},
                     "[4,2] [4,4] [6] [30] [30]");
}

static void what_a_variable_says_holds_unless_the_call_says_otherwise(void **state)
{
    (void)state;
    mxn_symbol *symbol = sum(VARIABLE_OF("x", "\"__shape__\": \"(2, 3)\", \"__dtype__\": \"1\""));
    const char *key = "x";
    const mxn_shape other = {2, {4, 5}};
    mxn_inferred inferred;
    infer_or_fail(symbol, &(mxn_known){0}, &inferred);
    assert_shapes(&inferred, "[2,3] [2,3] [2,3]");
    assert_int_equal(inferred.types[2], MXN_FLOAT64);
    mxn_inferred_fini(&inferred);
    infer_or_fail(symbol, &(mxn_known){1, &key, &other, NULL}, &inferred);
    assert_shapes(&inferred, "[4,5] [4,5] [4,5]");
    mxn_inferred_fini(&inferred);
    mxn_symbol_free(symbol);
    symbol = sum(VARIABLE_OF("x", "\"__shape__\": \"wide\""));
    assert_int_equal(mxn_symbol_infer(symbol, &(mxn_known){0}, &inferred), MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "variable 'x': its shape is 'wide'");
    mxn_symbol_free(symbol);
}

static void what_does_not_fit_names_the_node(void **state)
{
    (void)state;
    mxn_symbol *symbol = sum(VARIABLE("x"));
    const char *keys[] = {"x", "y"}, *nobody = "nobody";
    const mxn_shape shapes[] = {{2, {2, 3}}, {2, {3, 2}}, {1, {1}}};
    const int32_t types[] = {MXN_FLOAT32, MXN_FLOAT64};
    mxn_inferred inferred;
    assert_int_equal(mxn_symbol_infer(symbol, &(mxn_known){2, keys, shapes, NULL}, &inferred),
                     MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "Error in operator add: Operator elemwise_add: input 1 "
                                          "'rhs' has shape (3,2), it must be (2,3)");
    assert_null(inferred.shapes);
    assert_int_equal(mxn_symbol_infer(symbol, &(mxn_known){2, keys, NULL, types}, &inferred),
                     MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "Error in operator add: "));
    assert_int_equal(mxn_symbol_infer(symbol, &(mxn_known){1, &nobody, shapes, NULL}, &inferred),
                     MXP_EINVAL);
    assert_string_equal(mxp_last_error(),
                        "InferShapeKeyword argument name nobody not found.\nCandidate "
                        "arguments:\n\t[0]x\n\t[1]y\n");
    assert_int_equal(mxn_symbol_infer(symbol, &(mxn_known){3, NULL, shapes, NULL}, &inferred),
                     MXP_EINVAL);
    assert_string_equal(mxp_last_error(),
                        "3 shapes or types are given by position, the symbol has 2 arguments");
    mxn_symbol_free(symbol);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_of_a_network_follow_from_its_data),
        cmocka_unit_test(a_filter_follows_from_the_rank_of_images),
        cmocka_unit_test(types_are_inferred_without_shapes),
        cmocka_unit_test(shapes_flow_backwards_and_parts_are_merged),
        cmocka_unit_test(sizes_that_an_operator_leaves_open_are_told_by_those_that_take_it),
        cmocka_unit_test(sizes_follow_from_how_many_elements_a_whole_has),
        cmocka_unit_test(what_a_variable_says_holds_unless_the_call_says_otherwise),
        cmocka_unit_test(what_does_not_fit_names_the_node),
    };
    mxn_symbol *symbol;
    if (mxn_symbol_from_json("{}", 2, &symbol) == MXP_ENOTSUP) {
        print_message("skipped: this build has no Jansson\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
