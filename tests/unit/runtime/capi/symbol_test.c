// SPDX-License-Identifier: Apache-2.0
// Symbols through MXNet's C functions: handles, lists, files, and what they refuse.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static AtomicSymbolCreator creator_of(const char *name)
{
    OpHandle op = NULL;
    assert_int_equal(NNGetOpHandle(name, &op), 0);
    return op;
}

static SymbolHandle variable(const char *name)
{
    SymbolHandle symbol = NULL;
    assert_int_equal(MXSymbolCreateVariable(name, &symbol), 0);
    return symbol;
}

static SymbolHandle dense(void)
{
    const char *key = "num_hidden", *value = "3";
    SymbolHandle fc = NULL, x = variable("x");
    assert_int_equal(MXSymbolCreateAtomicSymbol(creator_of("FullyConnected"), 1, &key, &value, &fc),
                     0);
    assert_int_equal(MXSymbolCompose(fc, "fc", 1, NULL, &x), 0);
    assert_int_equal(MXSymbolFree(x), 0);
    return fc;
}

static void assert_refused(int result, const char *part)
{
    assert_int_equal(result, -1);
    if (strstr(MXGetLastError(), part) == NULL) {
        fail_msg("'%s' is not in '%s'", part, MXGetLastError());
    }
}

// ---- what works -------------------------------------------------------------------------------
static void lists_and_texts_are_those_of_the_network(void **state)
{
    (void)state;
    SymbolHandle fc = dense();
    mx_uint count;
    const char **names, *text;
    int found;
    assert_int_equal(MXSymbolListArguments(fc, &count, &names), 0);
    assert_int_equal(count, 3);
    assert_string_equal(names[0], "x");
    assert_string_equal(names[2], "fc_bias");
    assert_int_equal(MXSymbolListOutputs(fc, &count, &names), 0);
    assert_int_equal(count, 1);
    assert_string_equal(names[0], "fc_output");
    assert_int_equal(MXSymbolListAuxiliaryStates(fc, &count, &names), 0);
    assert_int_equal(count, 0);
    assert_int_equal(NNSymbolListInputNames(fc, 0, &count, &names), 0);
    assert_int_equal(count, 3);
    assert_int_equal(MXSymbolGetName(fc, &text, &found), 0);
    assert_true(found);
    assert_string_equal(text, "fc");
    assert_int_equal(MXSymbolGetAttr(fc, "nobody", &text, &found), 0);
    assert_false(found);
    assert_null(text);
    assert_int_equal(MXSymbolSetAttr(fc, "lr_mult", "2"), 0);
    assert_int_equal(MXSymbolListAttrShallow(fc, &count, &names), 0);
    assert_int_equal(count, 3);
    assert_string_equal(names[0], "__lr_mult__");
    assert_string_equal(names[1], "2");
    assert_int_equal(MXSymbolPrint(fc, &text), 0);
    assert_non_null(strstr(text, "Op:FullyConnected, Name=fc\n"));
    assert_int_equal(MXSymbolFree(fc), 0);
}

static void parts_have_handles_of_their_own(void **state)
{
    (void)state;
    SymbolHandle fc = dense(), internals, output, children, none, copy, group;
    mx_uint count;
    assert_int_equal(MXSymbolGetInternals(fc, &internals), 0);
    assert_int_equal(MXSymbolGetNumOutputs(internals, &count), 0);
    assert_int_equal(count, 4);
    assert_int_equal(MXSymbolGetOutput(internals, 0, &output), 0);
    assert_int_equal(MXSymbolGetChildren(output, &none), 0);
    assert_null(none);
    assert_int_equal(MXSymbolGetChildren(fc, &children), 0);
    assert_int_equal(MXShallowCopySymbol(fc, &copy), 0);
    SymbolHandle both[] = {fc, output};
    assert_int_equal(MXSymbolCreateGroup(2, both, &group), 0);
    assert_int_equal(MXSymbolFree(fc), 0);
    assert_int_equal(MXSymbolGetNumOutputs(group, &count), 0);
    assert_int_equal(count, 2);
    SymbolHandle all[] = {internals, output, children, copy, group};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_int_equal(MXSymbolFree(all[i]), 0);
    }
}

static void a_file_gives_the_same_symbol(void **state)
{
    (void)state;
    SymbolHandle fc = dense(), again;
    const char *json;
    char before[4096];
    assert_int_equal(MXSymbolSaveToJSON(fc, &json), 0);
    snprintf(before, sizeof before, "%s", json);
    assert_int_equal(MXSymbolSaveToFile(fc, "symbol.json"), 0);
    const int result = MXSymbolCreateFromFile("symbol.json", &again);
    unlink("symbol.json");
    if (result != 0 && strstr(MXGetLastError(), "without Jansson") != NULL) {
        MXSymbolFree(fc);
        skip();
    }
    assert_int_equal(result, 0);
    assert_int_equal(MXSymbolSaveToJSON(again, &json), 0);
    assert_string_equal(json, before);
    MXSymbolFree(again);
    MXSymbolFree(fc);
}

static void a_failed_save_leaves_the_file_that_was_there(void **state)
{
    (void)state;
    SymbolHandle fc = dense();
    struct stat status;
    assert_refused(MXSymbolSaveToFile(fc, "no-such-folder/symbol.json"), "no-such-folder");
    assert_int_equal(mkdir("symbols", 0700), 0);
    assert_refused(MXSymbolSaveToFile(fc, "symbols"), "symbols");
    assert_int_equal(stat("symbols", &status), 0);
    assert_true(S_ISDIR(status.st_mode));
    rmdir("symbols");
    MXSymbolFree(fc);
}

static void shapes_are_inferred_in_both_widths(void **state)
{
    (void)state;
    SymbolHandle fc = dense();
    const char *key = "x";
    const mx_uint first[] = {0, 2};
    const int sizes[] = {4, 5};
    const int64_t first64[] = {0, 2}, sizes64[] = {4, 5};
    mx_uint in, out, aux;
    size_t in64, out64, aux64;
    const int *in_rank, *out_rank, *aux_rank, **in_data, **out_data, **aux_data;
    const int64_t **in_data64, **out_data64, **aux_data64;
    int complete;
    assert_int_equal(MXSymbolInferShape(fc, 1, &key, first, sizes, &in, &in_rank, &in_data, &out,
                                        &out_rank, &out_data, &aux, &aux_rank, &aux_data,
                                        &complete),
                     0);
    assert_true(complete);
    assert_int_equal(in, 3);
    assert_int_equal(in_rank[1], 2);
    assert_int_equal(in_data[1][0], 3);
    assert_int_equal(in_data[1][1], 5);
    assert_int_equal(out, 1);
    assert_int_equal(out_data[0][1], 3);
    assert_int_equal(aux, 0);
    assert_int_equal(MXSymbolInferShape64(fc, 1, &key, first64, sizes64, &in64, &in_rank,
                                          &in_data64, &out64, &out_rank, &out_data64, &aux64,
                                          &aux_rank, &aux_data64, &complete),
                     0);
    assert_int_equal(in64, 3);
    assert_int_equal(in_data64[1][1], 5);
    assert_int_equal(out_data64[0][0], 4);
    assert_int_equal(MXSymbolInferShape(fc, 0, NULL, first, sizes, &in, &in_rank, &in_data, &out,
                                        &out_rank, &out_data, &aux, &aux_rank, &aux_data,
                                        &complete),
                     0);
    assert_false(complete);
    assert_int_equal(MXSymbolInferShapePartial(fc, 0, NULL, first, sizes, &in, &in_rank, &in_data,
                                               &out, &out_rank, &out_data, &aux, &aux_rank,
                                               &aux_data, &complete),
                     0);
    assert_true(complete);  // it is all that is known
    assert_int_equal(in_rank[0], 0);
    MXSymbolFree(fc);
}

// ---- what is refused --------------------------------------------------------------------------
static void handles_that_are_none_are_refused(void **state)
{
    (void)state;
    SymbolHandle fc = dense(), other;
    mx_uint count;
    int on_the_stack = 0;
    assert_int_equal(MXSymbolFree(fc), 0);
    assert_refused(MXSymbolFree(fc), "is a symbol that has been freed");
    assert_refused(MXSymbolGetNumOutputs(fc, &count), "is a symbol that has been freed");
    assert_refused(MXSymbolCopy(&on_the_stack, &other), "is no handle of a symbol");
    assert_refused(MXSymbolFree(NULL), "is a null handle");
    assert_refused(NNSymbolFree(NULL), "is a null handle");
    SymbolHandle again = dense();
    assert_true(again != fc);  // a slot is used again with another handle
    MXSymbolFree(again);
}

static void missing_arguments_are_refused(void **state)
{
    (void)state;
    SymbolHandle fc = dense(), out;
    mx_uint count;
    const char *text, **texts, *null = NULL;
    int found;
    assert_refused(MXSymbolCreateVariable(NULL, &out), "name");
    assert_refused(MXSymbolCreateVariable("x", NULL), "out");
    assert_refused(MXSymbolCreateAtomicSymbol(creator_of("exp"), 1, NULL, NULL, &out), "keys");
    assert_refused(MXSymbolCreateAtomicSymbol(creator_of("exp"), 1, &null, &null, &out), "keys");
    assert_refused(MXSymbolCreateAtomicSymbol(&count, 0, NULL, NULL, &out), "operator");
    assert_refused(MXSymbolCreateGroup(1, NULL, &out), "symbols");
    assert_refused(MXSymbolCompose(fc, NULL, 1, NULL, NULL), "symbols");
    assert_refused(MXSymbolGetName(fc, &text, NULL), "success");
    assert_refused(MXSymbolGetAttr(fc, NULL, &text, &found), "key");
    assert_refused(MXSymbolSetAttr(fc, "a", NULL), "value");
    assert_refused(MXSymbolListArguments(fc, NULL, &texts), "out_size");
    assert_refused(MXSymbolListOutputs(fc, &count, NULL), "out");
    assert_refused(NNSymbolListInputNames(fc, 3, &count, &texts), "option is 3");
    assert_refused(MXSymbolCreateFromJSON(NULL, &out), "json");
    assert_refused(MXSymbolCreateFromFile("nobody.json", &out), "nobody.json");
    assert_refused(MXSymbolSaveToFile(fc, NULL), "fname");
    MXSymbolFree(fc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_texts_are_those_of_the_network),
        cmocka_unit_test(parts_have_handles_of_their_own),
        cmocka_unit_test(a_file_gives_the_same_symbol),
        cmocka_unit_test(a_failed_save_leaves_the_file_that_was_there),
        cmocka_unit_test(shapes_are_inferred_in_both_widths),
        cmocka_unit_test(handles_that_are_none_are_refused),
        cmocka_unit_test(missing_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
