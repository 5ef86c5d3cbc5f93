// SPDX-License-Identifier: Apache-2.0
// Symbols from JSON: what MXNet writes is read and written again byte for byte; what is wrong is an
// error that says where.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>

#include "runtime/graph/graph.h"

// `inputs` of the operator, `heads`, and more members behind.
#define GRAPH(node, heads, more)                                              \
    "{\"nodes\": [{\"op\": \"null\", \"name\": \"x\", \"inputs\": []}, " node \
    "], \"arg_nodes\": [0], \"node_row_ptr\": [0, 1, 2], \"heads\": " heads more "}"
#define NODE(inputs) "{\"op\": \"exp\", \"name\": \"e\", \"inputs\": " inputs "}"
#define ATTRS(attributes) \
    "{\"op\": \"exp\", \"name\": \"e\", " attributes ", \"inputs\": [[0, 0, 0]]}"
#define GOOD NODE("[[0, 0, 0]]")
#define HEADS "[[1, 0, 0]]"

static int read_json(const char *json, mxn_symbol **symbol)
{
    return mxn_symbol_from_json(json, strlen(json), symbol);
}

static void assert_same_again(const char *json)
{
    mxn_symbol *symbol;
    mxp_strbuf again = {0};
    if (read_json(json, &symbol) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    assert_int_equal(mxn_symbol_json(symbol, &again), 0);
    assert_string_equal(mxp__strbuf_text(&again), json);
    mxp__strbuf_fini(&again);
    mxn_symbol_free(symbol);
}

static void what_is_written_is_read_byte_for_byte(void **state)
{
    (void)state;
    assert_same_again(
        "{\n  \"nodes\": [\n"
        "    {\n      \"op\": \"null\", \n      \"name\": \"a\\\"b\\\\c\\nd\u00e4\", \n"
        "      \"attrs\": {\n        \"__lr_mult__\": \"0.5\", \n        \"mood\": \"calm\"\n"
        "      }, \n      \"inputs\": []\n    }, \n"
        "    {\n      \"op\": \"SliceChannel\", \n      \"name\": \"cut\", \n"
        "      \"attrs\": {\"num_outputs\": \"2\"}, \n      \"inputs\": [[0, 0, 0]]\n    }, \n"
        "    {\n      \"op\": \"elemwise_add\", \n      \"name\": \"sum\", \n"
        "      \"inputs\": [[1, 1, 0], [1, 0, 0]]\n    }\n"
        "  ], \n  \"arg_nodes\": [0], \n  \"node_row_ptr\": [0, 1, 3, 4], \n"
        "  \"heads\": [[2, 0, 0], [1, 0, 0]], \n"
        "  \"attrs\": {\"mxnet_version\": [\"int\", 10901]}\n}");
}

static const char *attribute_of(const char *json, const char *key)
{
    static char text[64];
    mxn_symbol *symbol;
    if (read_json(json, &symbol) != 0) {
        fail_msg("%s", mxp_last_error());
    }
    const char *value = mxn_symbol_attribute(symbol, key);
    snprintf(text, sizeof text, "%s", value != NULL ? value : "(none)");
    mxn_symbol_free(symbol);
    return text;
}

static void files_of_all_ages_are_read(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        GRAPH(ATTRS("\"attr\": {\"__lr_mult__\": \"3\"}"), HEADS, ""),
        GRAPH(ATTRS("\"attrs\": {\"__lr_mult__\": \"3\"}"), HEADS, ""),
        GRAPH(ATTRS("\"param\": {\"__lr_mult__\": \"3\"}"), HEADS, ""),
        GRAPH(ATTRS("\"attr\": {\"lr_mult\": \"3\"}"), HEADS,
              ", \"attrs\": {\"mxnet_version\": [\"int\", 800]}"),
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        assert_string_equal(attribute_of(kinds[i], "__lr_mult__"), "3");
    }
    // What 2.0 writes where there was no scope is not kept.
    assert_string_equal(
        attribute_of(GRAPH(ATTRS("\"attrs\": {\"__profiler_scope__\": \"<unk>:\"}"), HEADS, ""),
                     "__profiler_scope__"),
        "(none)");
    assert_string_equal(
        attribute_of(GRAPH(ATTRS("\"attrs\": {\"__profiler_scope__\": \"net:\"}"), HEADS, ""),
                     "__profiler_scope__"),
        "net:");
    assert_string_equal(attribute_of(GRAPH(NODE("[[0, 0]]"), "[[1, 0]]", ""), "a"), "(none)");
}

typedef struct wrong {
    const char *json, *error;
} wrong;

static const wrong wrongs[] = {
    {"", "JSON of a symbol, byte 0: '[' or '{' expected near end of file"},
    {"3", "JSON of a symbol, byte 1: '[' or '{' expected near '3'"},
    {"[]", "JSON of a symbol: it is no object"},
    {"{}", "JSON of a symbol: Missing field \"nodes\" in the symbol"},
    {GRAPH(GOOD, HEADS, "") "xyz", "JSON of a symbol, byte 175: end of file expected near 'xyz'"},
    {"{\"nodes\": [], \"nodes\": []}",
     "JSON of a symbol, byte 21: duplicate object key near '\"nodes\"'"},
    {"{\"nodes\": [], \"arg_nodes\": [], \"heads\": []}",
     "JSON of a symbol: it has no heads, and needs at least one"},
    {GRAPH(GOOD, HEADS, ", \"mood\": 1"),
     "JSON of a symbol: Unknown field mood in the symbol; there are nodes arg_nodes node_row_ptr "
     "heads attrs "},
    {GRAPH(GOOD, "[[7, 0, 0]]", ""), "JSON of a symbol: heads: node 7 is asked for, there are 2"},
    {GRAPH(GOOD, "[[-1, 0, 0]]", ""), "JSON of a symbol: heads: node -1 is asked for, there are 2"},
    {GRAPH(GOOD, "[[1, 5, 0]]", ""),
     "JSON of a symbol: heads: output 5 of 'e' is asked for, there are 1"},
    {GRAPH(GOOD, "[[1]]", ""),
     "JSON of a symbol: heads: an output is written as [node, output] or [node, output, version]"},
    {GRAPH(NODE("[[1, 0, 0]]"), HEADS, ""),
     "JSON of a symbol: e: node 1 comes after it: an input comes before its user"},
    {GRAPH(NODE("[]"), HEADS, ""), "JSON of a symbol: e: operator exp takes 1 inputs, 0 are given"},
    {GRAPH(NODE("[[0, 0, 0], [0, 0, 0]]"), HEADS, ""),
     "JSON of a symbol: e: operator exp takes 1 inputs, 2 are given"},
    {GRAPH(NODE("[[0, 0, 0]], \"control_deps\": [1]"), HEADS, ""),
     "JSON of a symbol: e: control_deps has 1, which is no node before it"},
    {GRAPH("{\"op\": \"null\", \"name\": \"v\", \"inputs\": [[0, 0, 0]]}", HEADS, ""),
     "JSON of a symbol: v: a variable has no inputs"},
    {GRAPH("{\"op\": \"nobody\", \"name\": \"e\", \"inputs\": []}", HEADS, ""),
     "Failed loading Op e of type nobody: Operator nobody is not registered"},
    {GRAPH("{\"op\": \"exp\", \"inputs\": []}", HEADS, ""),
     "JSON of a symbol: Missing field \"name\" in node 1"},
    {GRAPH("{\"op\": 3, \"name\": \"e\", \"inputs\": []}", HEADS, ""),
     "JSON of a symbol: field \"op\" in node 1 has the wrong type"},
    {GRAPH(ATTRS("\"attrs\": {\"a\": 3}"), HEADS, ""),
     "JSON of a symbol: e: attribute a is no string"},
    {GRAPH(ATTRS("\"attrs attr\": {}"), HEADS, ""),
     "JSON of a symbol: Unknown field attrs attr in node 1; there are op name inputs attrs attr "
     "param "
     "backward_source_id control_deps subgraphs "},
    {GRAPH(GOOD, HEADS, ", \"attrs\": {\"mxnet_version\": [\"str\", \"new\"]}"),
     "JSON of a symbol: mxnet_version is not a number"},
    {"{\"nodes\": [{\"op\": \"exp\", \"name\": \"e\", \"inputs\": [[0, 0, 0]]}], \"arg_nodes\": [],"
     " \"heads\": [[0, 0, 0]]}",
     "JSON of a symbol: e: node 0 comes after it: an input comes before its user"},
};

static void what_is_wrong_is_an_error_that_says_where(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof wrongs[0]; i++) {
        mxn_symbol *symbol = (mxn_symbol *)1;
        assert_int_equal(read_json(wrongs[i].json, &symbol), MXP_EINVAL);
        assert_null(symbol);
        assert_string_equal(mxp_last_error(), wrongs[i].error);
    }
}

static void parameters_are_named_with_their_node(void **state)
{
    (void)state;
    mxn_symbol *symbol;
    assert_int_equal(read_json(GRAPH(ATTRS("\"attrs\": {\"nobody\": \"3\"}"), HEADS, ""), &symbol),
                     MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "Error in operator e: "));
    assert_non_null(strstr(mxp_last_error(), "nobody"));
}

static void nesting_has_a_bound(void **state)
{
    (void)state;
    static char deep[100001];
    memset(deep, '[', sizeof deep - 1);
    mxn_symbol *symbol;
    assert_int_equal(read_json(deep, &symbol), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "maximum parsing depth"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_byte_for_byte),
        cmocka_unit_test(files_of_all_ages_are_read),
        cmocka_unit_test(what_is_wrong_is_an_error_that_says_where),
        cmocka_unit_test(parameters_are_named_with_their_node),
        cmocka_unit_test(nesting_has_a_bound),
    };
    mxn_symbol *symbol;
    if (read_json("{}", &symbol) == MXP_ENOTSUP) {
        print_message("skipped: this build has no Jansson\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
