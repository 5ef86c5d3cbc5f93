// SPDX-License-Identifier: Apache-2.0
// Symbols: names, lists, parts, composition, attributes. Expected lists are what MXNet 1.9.1 gives.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/graph/graph.h"

// ---- making -----------------------------------------------------------------------------------
static mxn_symbol *variable(const char *name)
{
    mxn_symbol *symbol;
    assert_int_equal(mxn_symbol_variable(name, &symbol), 0);
    return symbol;
}

// `pairs`: key, value ..., null.
static mxn_symbol *operator_of(const char *op, const char *const *pairs)
{
    const char *keys[8], *values[8];
    uint32_t count = 0;
    for (; pairs != NULL && pairs[2 * count] != NULL; count++) {
        keys[count] = pairs[2 * count];
        values[count] = pairs[2 * count + 1];
    }
    mxn_symbol *symbol;
    assert_non_null(mxn_op_find(op));
    if (mxn_symbol_operator(mxn_op_find(op), count, keys, values, &symbol) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    return symbol;
}

#define PAIRS(...) ((const char *const[]){__VA_ARGS__, NULL})

// Frees the inputs, which the symbol has now. `inputs` ends with null.
static mxn_symbol *composed(mxn_symbol *symbol, const char *name, mxn_symbol *const *inputs)
{
    uint32_t count = 0;
    while (inputs[count] != NULL) {
        count++;
    }
    assert_int_equal(mxn_symbol_compose(symbol, name, &(mxn_inputs){count, NULL, inputs}), 0);
    for (uint32_t i = 0; i < count; i++) {
        mxn_symbol_free(inputs[i]);
    }
    return symbol;
}

#define INPUTS(...) ((mxn_symbol *const[]){__VA_ARGS__, NULL})

static mxn_symbol *dense(const char *name, const char *units, mxn_symbol *data)
{
    return composed(operator_of("FullyConnected", PAIRS("num_hidden", units)), name, INPUTS(data));
}

static int compose_by_name(mxn_symbol *symbol, const char *name, const char *key, mxn_symbol *input)
{
    return mxn_symbol_compose(symbol, name, &(mxn_inputs){1, &key, (mxn_symbol *const[]){input}});
}

// ---- asking -----------------------------------------------------------------------------------
static void assert_texts(const mxp_strbuf *texts, uint32_t count, const char *expected)
{
    char joined[1024] = "";
    const char *at = texts->data;
    for (uint32_t i = 0; i < count; i++, at += strlen(at) + 1) {
        strcat(joined, i > 0 ? " " : "");
        strcat(joined, at);
    }
    assert_string_equal(joined, expected);
}

static void assert_list(const mxn_symbol *symbol, int kind, const char *expected)
{
    mxp_strbuf names = {0};
    uint32_t count;
    assert_int_equal(mxn_symbol_list(symbol, kind, &names, &count), 0);
    assert_texts(&names, count, expected);
    mxp__strbuf_fini(&names);
}

static void assert_attributes(const mxn_symbol *symbol, bool deep, const char *expected)
{
    mxp_strbuf pairs = {0};
    uint32_t count;
    assert_int_equal(mxn_symbol_attributes(symbol, deep, &pairs, &count), 0);
    assert_texts(&pairs, 2 * count, expected);
    mxp__strbuf_fini(&pairs);
}

// ---- names ------------------------------------------------------------------------------------
static void missing_inputs_become_variables(void **state)
{
    (void)state;
    mxn_symbol *fc = dense("fc", "3", variable("x"));
    assert_list(fc, MXN_LIST_ARGUMENTS, "x fc_weight fc_bias");
    assert_list(fc, MXN_LIST_OUTPUTS, "fc_output");
    assert_string_equal(mxn_symbol_name(fc), "fc");
    mxn_symbol_free(fc);
    mxn_symbol *conv =
        composed(operator_of("Convolution", PAIRS("kernel", "(3, 3)", "num_filter", "2")), "conv",
                 INPUTS(NULL));
    assert_list(conv, MXN_LIST_ARGUMENTS, "conv_data conv_weight conv_bias");
    mxn_symbol_free(conv);
}

static void an_input_that_parameters_remove_is_not_made(void **state)
{
    (void)state;
    mxn_symbol *fc =
        composed(operator_of("FullyConnected", PAIRS("num_hidden", "3", "no_bias", "True")), "fc",
                 INPUTS(variable("x")));
    assert_list(fc, MXN_LIST_ARGUMENTS, "x fc_weight");
    mxn_symbol_free(fc);
}

static void inputs_by_name_stand_in_the_order_of_the_operator(void **state)
{
    (void)state;
    mxn_symbol *x = variable("x"), *w = variable("w"), *b = variable("b");
    mxn_symbol *fc = operator_of("FullyConnected", PAIRS("num_hidden", "3"));
    const char *keys[] = {"bias", "data", "weight"};
    mxn_symbol *const inputs[] = {b, x, w};
    assert_int_equal(mxn_symbol_compose(fc, "fc", &(mxn_inputs){3, keys, inputs}), 0);
    assert_list(fc, MXN_LIST_ARGUMENTS, "x w b");
    mxn_symbol_free(fc);
    mxn_symbol_free(x);
    mxn_symbol_free(w);
    mxn_symbol_free(b);
}

static void auxiliary_states_are_told_from_arguments(void **state)
{
    (void)state;
    mxn_symbol *norm = composed(operator_of("BatchNorm", NULL), "bn", INPUTS(variable("x")));
    assert_list(norm, MXN_LIST_ARGUMENTS, "x bn_gamma bn_beta");
    assert_list(norm, MXN_LIST_AUXILIARY, "bn_moving_mean bn_moving_var");
    assert_list(norm, MXN_LIST_INPUTS, "x bn_gamma bn_beta bn_moving_mean bn_moving_var");
    assert_list(norm, MXN_LIST_OUTPUTS, "bn_output");
    mxn_symbol_free(norm);
    norm = composed(operator_of("BatchNorm", PAIRS("output_mean_var", "True")), "bm",
                    INPUTS(variable("x")));
    assert_list(norm, MXN_LIST_OUTPUTS, "bm_output bm_mean bm_var");
    mxn_symbol_free(norm);
}

static void a_list_of_inputs_is_as_long_as_its_parameter_says(void **state)
{
    (void)state;
    mxn_symbol *join = composed(operator_of("Concat", PAIRS("dim", "1", "num_args", "3")), "cat",
                                INPUTS(variable("a"), variable("b"), variable("c")));
    assert_list(join, MXN_LIST_ARGUMENTS, "a b c");
    mxn_symbol_free(join);
}

// ---- parts ------------------------------------------------------------------------------------
static mxn_symbol *slices(void)
{
    mxn_symbol *cut = composed(operator_of("SliceChannel", PAIRS("axis", "1", "num_outputs", "3",
                                                                 "squeeze_axis", "False")),
                               "cut", INPUTS(variable("data")));
    mxn_symbol *outputs[3];
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(mxn_symbol_output(cut, i, &outputs[i]), 0);
    }
    mxn_symbol *twice = composed(operator_of("_mul_scalar", PAIRS("scalar", "2")), "_mulscalar0",
                                 INPUTS(outputs[0]));
    mxn_symbol *again;
    assert_int_equal(mxn_symbol_output(cut, 1, &again), 0);
    mxn_symbol *sum = composed(operator_of("elemwise_add", NULL), "_plus0", INPUTS(twice, again));
    mxn_symbol *stop = composed(operator_of("BlockGrad", NULL), "stop", INPUTS(outputs[1]));
    mxn_symbol *const parts[] = {outputs[2], sum, stop};
    mxn_symbol *group;
    assert_int_equal(mxn_symbol_group(3, parts, &group), 0);
    mxn_symbol_free(cut);
    for (uint32_t i = 0; i < 3; i++) {
        mxn_symbol_free(parts[i]);
    }
    return group;
}

static void parts_of_a_group(void **state)
{
    (void)state;
    mxn_symbol *group = slices(), *internals, *children, *grandchildren, *none;
    assert_list(group, MXN_LIST_OUTPUTS, "cut_output2 _plus0_output stop_output");
    assert_null(mxn_symbol_name(group));
    assert_int_equal(mxn_symbol_internals(group, &internals), 0);
    assert_list(internals, MXN_LIST_OUTPUTS,
                "data cut_output0 cut_output1 cut_output2 _mulscalar0_output _plus0_output "
                "stop_output");
    assert_int_equal(mxn_symbol_children(group, &children), 0);
    assert_list(children, MXN_LIST_OUTPUTS, "data _mulscalar0_output cut_output1 cut_output1");
    assert_int_equal(mxn_symbol_children(children, &grandchildren), 0);
    assert_list(grandchildren, MXN_LIST_OUTPUTS, "cut_output0 data");
    mxn_symbol *x = variable("x");
    assert_int_equal(mxn_symbol_children(x, &none), 0);
    assert_null(none);
    assert_int_equal(mxn_symbol_output(group, 3, &none), MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "output 3 is asked for of a symbol that has 3");
    mxn_symbol_free(x);
    mxn_symbol_free(grandchildren);
    mxn_symbol_free(children);
    mxn_symbol_free(internals);
    mxn_symbol_free(group);
}

static void json_is_what_the_original_writes(void **state)
{
    (void)state;
    static const char expected[] =
        "{\n"
        "  \"nodes\": [\n"
        "    {\n      \"op\": \"null\", \n      \"name\": \"data\", \n      \"inputs\": []\n    }, "
        "\n"
        "    {\n      \"op\": \"SliceChannel\", \n      \"name\": \"cut\", \n"
        "      \"attrs\": {\n        \"axis\": \"1\", \n        \"num_outputs\": \"3\", \n"
        "        \"squeeze_axis\": \"False\"\n      }, \n"
        "      \"inputs\": [[0, 0, 0]]\n    }, \n"
        "    {\n      \"op\": \"_mul_scalar\", \n      \"name\": \"_mulscalar0\", \n"
        "      \"attrs\": {\"scalar\": \"2\"}, \n      \"inputs\": [[1, 0, 0]]\n    }, \n"
        "    {\n      \"op\": \"elemwise_add\", \n      \"name\": \"_plus0\", \n"
        "      \"inputs\": [[2, 0, 0], [1, 1, 0]]\n    }, \n"
        "    {\n      \"op\": \"BlockGrad\", \n      \"name\": \"stop\", \n"
        "      \"inputs\": [[1, 1, 0]]\n    }\n"
        "  ], \n"
        "  \"arg_nodes\": [0], \n"
        "  \"node_row_ptr\": [0, 1, 4, 5, 6, 7], \n"
        "  \"heads\": [[1, 2, 0], [3, 0, 0], [4, 0, 0]], \n"
        "  \"attrs\": {\"mxnet_version\": [\"int\", 10901]}\n"
        "}";
    mxn_symbol *group = slices();
    mxp_strbuf json = {0};
    assert_int_equal(mxn_symbol_json(group, &json), 0);
    assert_string_equal(mxp__strbuf_text(&json), expected);
    mxp__strbuf_fini(&json);
    mxn_symbol_free(group);
}

static void a_copy_has_nodes_of_its_own(void **state)
{
    (void)state;
    mxn_symbol *group = slices(), *copy;
    assert_int_equal(mxn_symbol_copy(group, &copy), 0);
    mxp_strbuf before = {0}, after = {0};
    assert_int_equal(mxn_symbol_json(group, &before), 0);
    mxn_symbol *other = variable("other");
    assert_int_equal(compose_by_name(copy, NULL, "data", other), 0);
    assert_list(copy, MXN_LIST_ARGUMENTS, "other");
    assert_int_equal(mxn_symbol_json(group, &after), 0);
    assert_string_equal(mxp__strbuf_text(&after), mxp__strbuf_text(&before));
    mxp__strbuf_fini(&before);
    mxp__strbuf_fini(&after);
    mxn_symbol_free(other);
    mxn_symbol_free(copy);
    mxn_symbol_free(group);
}

// ---- composition ------------------------------------------------------------------------------
static void variables_of_a_network_are_replaced_by_name(void **state)
{
    (void)state;
    mxn_symbol *act = composed(operator_of("Activation", PAIRS("act_type", "relu")), "act",
                               INPUTS(variable("p")));
    mxn_symbol *fc = dense("fc", "2", variable("x"));
    assert_int_equal(compose_by_name(act, "joined", "p", fc), 0);
    assert_list(act, MXN_LIST_ARGUMENTS, "x fc_weight fc_bias");
    assert_list(act, MXN_LIST_OUTPUTS, "joined_output");
    assert_int_equal(compose_by_name(act, NULL, "nobody", fc), MXP_EINVAL);
    assert_string_equal(mxp_last_error(),
                        "Symbol.ComposeKeyword argument name nobody not found.\nCandidate "
                        "arguments:\n\t[0]x\n\t[1]fc_weight\n\t[2]fc_bias\n");
    mxn_symbol_free(fc);
    mxn_symbol_free(act);
}

static void a_symbol_is_never_its_own_input(void **state)
{
    (void)state;
    mxn_symbol *e = composed(operator_of("exp", NULL), "e", INPUTS(variable("p")));
    assert_int_equal(compose_by_name(e, NULL, "p", e), MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "'e' would be an input of itself");
    mxn_symbol *same;
    assert_int_equal(mxn_symbol_output(e, 0, &same), 0);
    mxn_symbol *l = composed(operator_of("log", NULL), "l", INPUTS(same));
    assert_int_equal(compose_by_name(e, NULL, "p", l), MXP_EINVAL);
    assert_list(e, MXN_LIST_ARGUMENTS, "p");
    mxn_symbol_free(l);
    mxn_symbol_free(e);
}

static void a_refused_composition_changes_nothing(void **state)
{
    (void)state;
    mxn_symbol *x = variable("x"), *y = variable("y");
    mxn_symbol *const both[] = {x, y};
    mxn_symbol *e = operator_of("exp", NULL);
    assert_int_equal(mxn_symbol_compose(e, "e", &(mxn_inputs){2, NULL, both}), MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "Operator exp takes 1 inputs, 2 are given");
    assert_int_equal(compose_by_name(e, "e", "nobody", x), MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "Operator exp: keyword argument name nobody not found");
    const char *twice[] = {"data", "data"};
    assert_int_equal(mxn_symbol_compose(e, "e", &(mxn_inputs){2, twice, both}), MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "Operator exp: input 'data' is given twice");
    mxn_symbol *group;
    assert_int_equal(mxn_symbol_group(2, both, &group), 0);
    mxn_symbol *const grouped[] = {group};
    assert_int_equal(mxn_symbol_compose(e, "e", &(mxn_inputs){1, NULL, grouped}), MXP_EINVAL);
    assert_string_equal(mxp_last_error(), "Argument 0 is a tuple, single value is required: it has "
                                          "2 outputs");
    mxn_symbol *const one[] = {y};
    assert_int_equal(mxn_symbol_compose(e, "e", &(mxn_inputs){1, NULL, one}), 0);
    assert_list(e, MXN_LIST_ARGUMENTS, "y");
    mxn_symbol_free(group);
    mxn_symbol_free(e);
    mxn_symbol_free(x);
    mxn_symbol_free(y);
}

static void a_long_chain_is_walked_and_freed_without_recursion(void **state)
{
    (void)state;
    enum { LENGTH = 200000 };
    mxn_symbol *chain = variable("x"), *copy;
    for (int i = 0; i < LENGTH; i++) {
        chain = composed(operator_of("exp", NULL), "e", INPUTS(chain));
    }
    assert_list(chain, MXN_LIST_ARGUMENTS, "x");
    assert_int_equal(mxn_symbol_copy(chain, &copy), 0);
    mxn_symbol_free(chain);
    assert_list(copy, MXN_LIST_ARGUMENTS, "x");
    mxn_symbol_free(copy);
}

// ---- attributes -------------------------------------------------------------------------------
static void hidden_keys_are_found_with_and_without_underscores(void **state)
{
    (void)state;
    mxn_symbol *fc = composed(
        operator_of("FullyConnected", PAIRS("num_hidden", "2", "lr_mult", "3", "__mood__", "calm")),
        "f", INPUTS(variable("x")));
    assert_attributes(fc, false, "__lr_mult__ 3 lr_mult 3 __mood__ calm num_hidden 2");
    assert_string_equal(mxn_symbol_attribute(fc, "lr_mult"), "3");
    assert_string_equal(mxn_symbol_attribute(fc, "__lr_mult__"), "3");
    assert_null(mxn_symbol_attribute(fc, "mood"));
    assert_attributes(fc, true,
                      "f_weight$__lr_mult__ 3 f_weight$lr_mult 3 f_weight$__mood__ calm "
                      "f_weight$num_hidden 2 f_bias$__lr_mult__ 3 f_bias$lr_mult 3 "
                      "f_bias$__mood__ calm f_bias$num_hidden 2 f$__lr_mult__ 3 f$lr_mult 3 "
                      "f$__mood__ calm f$num_hidden 2");
    mxn_symbol_free(fc);
}

static void a_parameter_that_is_set_is_parsed(void **state)
{
    (void)state;
    mxn_symbol *fc = dense("f", "2", variable("x"));
    assert_int_equal(mxn_symbol_set_attribute(fc, "num_hidden", "5"), 0);
    assert_string_equal(mxn_symbol_attribute(fc, "num_hidden"), "5");
    assert_int_equal(mxn_symbol_set_attribute(fc, "num_hidden", "many"), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "Error in operator f: "));
    assert_string_equal(mxn_symbol_attribute(fc, "num_hidden"), "5");
    mxn_symbol_free(fc);
    mxn_symbol *group = slices();
    assert_int_equal(mxn_symbol_set_attribute(group, "__mood__", "calm"), MXP_EINVAL);
    mxn_symbol_free(group);
}

static void wrong_parameters_are_refused_at_once(void **state)
{
    (void)state;
    const char *key = "weight_lr_mult", *value = "7";
    mxn_symbol *symbol;
    const mxn_op *op = mxn_op_find("FullyConnected");
    assert_int_equal(mxn_symbol_operator(op, 0, NULL, NULL, &symbol), MXP_EINVAL);
    assert_null(symbol);
    assert_int_equal(mxn_symbol_operator(op, 1, &key, &value, &symbol), MXP_EINVAL);
    assert_string_equal(mxp_last_error(),
                        "setting variable attributes with weight_lr_mult is deprecated; instead "
                        "use\nw = Variable(lr_mult=7)\nsym = YourSymbolName(weight=w)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_inputs_become_variables),
        cmocka_unit_test(an_input_that_parameters_remove_is_not_made),
        cmocka_unit_test(inputs_by_name_stand_in_the_order_of_the_operator),
        cmocka_unit_test(auxiliary_states_are_told_from_arguments),
        cmocka_unit_test(a_list_of_inputs_is_as_long_as_its_parameter_says),
        cmocka_unit_test(parts_of_a_group),
        cmocka_unit_test(json_is_what_the_original_writes),
        cmocka_unit_test(a_copy_has_nodes_of_its_own),
        cmocka_unit_test(variables_of_a_network_are_replaced_by_name),
        cmocka_unit_test(a_symbol_is_never_its_own_input),
        cmocka_unit_test(a_refused_composition_changes_nothing),
        cmocka_unit_test(a_long_chain_is_walked_and_freed_without_recursion),
        cmocka_unit_test(hidden_keys_are_found_with_and_without_underscores),
        cmocka_unit_test(a_parameter_that_is_set_is_parsed),
        cmocka_unit_test(wrong_parameters_are_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
