// SPDX-License-Identifier: Apache-2.0
// Every function of symbols, with good and with bad arguments.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <string.h>
#include <unistd.h>

#include "walk.h"

enum { TOO_MANY = 4 };  // more than its arguments

static SymbolHandle network, freed;  // fc(data), of three units
static const char file[] = "walk_symbol.json";

static SymbolHandle variable(const char *name)
{
    SymbolHandle made = NULL;
    assert_int_equal(MXSymbolCreateVariable(name, &made), 0);
    return made;
}

static AtomicSymbolCreator dense(void)
{
    OpHandle op = NULL;
    assert_int_equal(NNGetOpHandle("FullyConnected", &op), 0);
    return op;
}

static SymbolHandle units(const char *count)
{
    const char *key = "num_hidden";
    SymbolHandle made = NULL;
    assert_int_equal(MXSymbolCreateAtomicSymbol(dense(), 1, &key, &count, &made), 0);
    return made;
}

static int set_up(void **state)
{
    (void)state;
    SymbolHandle data = variable("data");
    network = units("3");
    freed = variable("freed");
    return MXSymbolCompose(network, "fc", 1, NULL, &data) | MXSymbolFree(data) |
           MXSymbolFree(freed);
}

static int tear_down(void **state)
{
    (void)state;
    unlink(file);
    return MXSymbolFree(network);
}

// Whether it has an output of this name; it is freed.
static bool has_output(SymbolHandle symbol, const char *wanted)
{
    mx_uint count = 0;
    const char **names = NULL;
    assert_int_equal(MXSymbolListOutputs(symbol, &count, &names), 0);
    bool found = false;
    for (mx_uint i = 0; i < count; i++) {
        found = found || strcmp(names[i], wanted) == 0;
    }
    assert_int_equal(MXSymbolFree(symbol), 0);
    return found;
}

// ---- making -----------------------------------------------------------------------------------
static void making(void **state)
{
    (void)state;
    const char *key = "num_hidden", *value = "3", *wrong = "many", *unknown = "num", *none = NULL;
    SymbolHandle out = NULL;
    GOOD(MXSymbolCreateAtomicSymbol, (dense(), 1, &key, &value, &out), MXSymbolFree(out) == 0);
    BAD_HANDLES(MXSymbolCreateAtomicSymbol, freed, (bad, 1, &key, &value, &out));
    BAD(MXSymbolCreateAtomicSymbol, (dense(), 1, &key, &wrong, &out));
    BAD(MXSymbolCreateAtomicSymbol, (dense(), 1, &unknown, &value, &out));
    BAD(MXSymbolCreateAtomicSymbol, (dense(), 0, NULL, NULL, &out));
    BAD(MXSymbolCreateAtomicSymbol, (dense(), 1, NULL, &value, &out));
    BAD(MXSymbolCreateAtomicSymbol, (dense(), 1, &key, &none, &out));
    BAD(MXSymbolCreateAtomicSymbol, (dense(), 1, &key, &value, NULL));
    GOOD(MXSymbolCreateVariable, ("x", &out), has_output(out, "x"));
    BAD(MXSymbolCreateVariable, (NULL, &out));
    BAD(MXSymbolCreateVariable, ("x", NULL));
    GOOD(MXSymbolCreateGroup, (1, &network, &out), has_output(out, "fc_output"));
    BAD_HANDLES(MXSymbolCreateGroup, freed, (1, &bad, &out));
    BAD(MXSymbolCreateGroup, (1, NULL, &out));
    BAD(MXSymbolCreateGroup, (1, &network, NULL));
    GOOD(MXSymbolCopy, (network, &out), has_output(out, "fc_output"));
    BAD_HANDLES(MXSymbolCopy, freed, (bad, &out));
    BAD(MXSymbolCopy, (network, NULL));
    GOOD(MXShallowCopySymbol, (network, &out), has_output(out, "fc_output"));
    BAD_HANDLES(MXShallowCopySymbol, freed, (bad, &out));
    BAD(MXShallowCopySymbol, (network, NULL));
}

static void composing(void **state)
{
    (void)state;
    SymbolHandle first = units("2"), second = units("2"), x = variable("x");
    const char *data = "data", *wrong = "date", *none = NULL;
    GOOD(MXSymbolCompose, (first, "first", 1, &data, &x), true);
    BAD_HANDLES(MXSymbolCompose, freed, (bad, "y", 1, &data, &x));
    BAD_HANDLES(MXSymbolCompose, freed, (second, "y", 1, &data, &bad));
    BAD(MXSymbolCompose, (second, "y", 1, &wrong, &x));
    BAD(MXSymbolCompose, (second, "y", 1, &none, &x));
    BAD(MXSymbolCompose, (second, "y", 1, NULL, NULL));
    SymbolHandle many[] = {x, x, x, x};
    BAD(MXSymbolCompose, (second, "y", 4, NULL, many));
    GOOD(MXSymbolFree, (first), true);
    BAD_HANDLES(MXSymbolFree, first, (bad));
    GOOD(NNSymbolFree, (second), true);
    BAD_HANDLES(NNSymbolFree, second, (bad));
    assert_int_equal(MXSymbolFree(x), 0);
}

// ---- files ------------------------------------------------------------------------------------
static void files(void **state)
{
    (void)state;
    SymbolHandle out = NULL;
    const char *text = NULL;
    GOOD(MXSymbolSaveToFile, (network, file), true);
    BAD_HANDLES(MXSymbolSaveToFile, freed, (bad, file));
    BAD(MXSymbolSaveToFile, (network, NULL));
    BAD(MXSymbolSaveToFile, (network, "/nowhere/walk"));
    GOOD(MXSymbolCreateFromFile, (file, &out), has_output(out, "fc_output"));
    BAD(MXSymbolCreateFromFile, (NULL, &out));
    BAD(MXSymbolCreateFromFile, ("/nowhere/walk", &out));
    BAD(MXSymbolCreateFromFile, (file, NULL));
    GOOD(MXSymbolPrint, (network, &text), strstr(text, "fc") != NULL);
    BAD_HANDLES(MXSymbolPrint, freed, (bad, &text));
    BAD(MXSymbolPrint, (network, NULL));
    GOOD(MXSymbolSaveToJSON, (network, &text), text[0] == '{');
    BAD_HANDLES(MXSymbolSaveToJSON, freed, (bad, &text));
    BAD(MXSymbolSaveToJSON, (network, NULL));
    assert_int_equal(MXSymbolSaveToJSON(network, &text), 0);
    GOOD(MXSymbolCreateFromJSON, (text, &out), has_output(out, "fc_output"));
    BAD(MXSymbolCreateFromJSON, (NULL, &out));
    BAD(MXSymbolCreateFromJSON, ("", &out));
    BAD(MXSymbolCreateFromJSON, ("{\"nodes\": [", &out));
    BAD(MXSymbolCreateFromJSON, (text, NULL));
}

static void passes(void **state)
{
    (void)state;
    SymbolHandle out = NULL;
    GOOD(MXSymbolRemoveAmpCast, (network, &out), has_output(out, "fc_output"));
    BAD_HANDLES(MXSymbolRemoveAmpCast, freed, (bad, &out));
    BAD(MXSymbolRemoveAmpCast, (network, NULL));
    ONLY_BAD(MXGenBackendSubgraph, (network, "nobody", &out));
    BAD_HANDLES(MXGenBackendSubgraph, freed, (bad, "nobody", &out));
    BAD(MXGenBackendSubgraph, (network, NULL, &out));
#define NOTHING                                                                               \
    0, NULL, 0, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, true, \
        NULL, NULL, NULL, NULL, NULL, NULL
    ONLY_BAD(MXOptimizeForBackend, (network, "nobody", 1, &out, NOTHING));
    BAD_HANDLES(MXOptimizeForBackend, freed, (bad, "nobody", 1, &out, NOTHING));
    BAD(MXOptimizeForBackend, (network, NULL, 1, &out, NOTHING));
}

// ---- parts and names --------------------------------------------------------------------------
#define PART(function, wanted)                                      \
    do {                                                            \
        SymbolHandle part = NULL;                                   \
        GOOD(function, (network, &part), has_output(part, wanted)); \
        BAD_HANDLES(function, freed, (bad, &part));                 \
        BAD(function, (network, NULL));                             \
    } while (0)

#define LIST(function, wanted_count, wanted_first)                                        \
    do {                                                                                  \
        mx_uint count = 99;                                                               \
        const char **names = NULL;                                                        \
        GOOD(function, (network, &count, &names),                                         \
             count == (wanted_count) && (count == 0 || !strcmp(names[0], wanted_first))); \
        BAD_HANDLES(function, freed, (bad, &count, &names));                              \
        BAD(function, (network, NULL, &names));                                           \
        BAD(function, (network, &count, NULL));                                           \
    } while (0)

static void parts(void **state)
{
    (void)state;
    mx_uint outputs = 0;
    SymbolHandle out = NULL;
    PART(MXSymbolGetInternals, "fc_weight");
    PART(MXSymbolGetChildren, "data");
    GOOD(MXSymbolGetOutput, (network, 0, &out), has_output(out, "fc_output"));
    BAD_HANDLES(MXSymbolGetOutput, freed, (bad, 0, &out));
    BAD(MXSymbolGetOutput, (network, 1, &out));
    BAD(MXSymbolGetOutput, (network, 0, NULL));
    GOOD(MXSymbolGetNumOutputs, (network, &outputs), outputs == 1);
    BAD_HANDLES(MXSymbolGetNumOutputs, freed, (bad, &outputs));
    BAD(MXSymbolGetNumOutputs, (network, NULL));
    LIST(MXSymbolListArguments, 3, "data");
    LIST(MXSymbolListOutputs, 1, "fc_output");
    LIST(MXSymbolListAuxiliaryStates, 0, "");
    LIST(MXSymbolListAttr, 3, "fc_weight$num_hidden");
    LIST(MXSymbolListAttrShallow, 1, "num_hidden");
}

static void attributes(void **state)
{
    (void)state;
    const char *text = NULL;
    int success = -1;
    SymbolHandle x = variable("x");
    GOOD(MXSymbolGetName, (network, &text, &success), success == 1 && strcmp(text, "fc") == 0);
    BAD_HANDLES(MXSymbolGetName, freed, (bad, &text, &success));
    BAD(MXSymbolGetName, (network, NULL, &success));
    BAD(MXSymbolGetName, (network, &text, NULL));
    GOOD(MXSymbolSetAttr, (x, "kind", "input"), true);
    BAD_HANDLES(MXSymbolSetAttr, freed, (bad, "kind", "input"));
    BAD(MXSymbolSetAttr, (x, NULL, "input"));
    BAD(MXSymbolSetAttr, (x, "kind", NULL));
    GOOD(MXSymbolGetAttr, (x, "kind", &text, &success), success && strcmp(text, "input") == 0);
    GOOD(MXSymbolGetAttr, (x, "colour", &text, &success), !success);
    BAD_HANDLES(MXSymbolGetAttr, freed, (bad, "kind", &text, &success));
    BAD(MXSymbolGetAttr, (x, NULL, &text, &success));
    BAD(MXSymbolGetAttr, (x, "kind", NULL, &success));
    BAD(MXSymbolGetAttr, (x, "kind", &text, NULL));
    assert_int_equal(MXSymbolFree(x), 0);
}

// ---- inference --------------------------------------------------------------------------------
// The four lists that come out, with or without the last of them.
#define SHAPES(last)                                                                             \
    &counts[0], &ranks[0], &shapes[0], &counts[1], &ranks[1], &shapes[1], &counts[2], &ranks[2], \
        last

#define INFER(function, count_type, begin_type, size_type)                                      \
    do {                                                                                        \
        const begin_type begins[TOO_MANY + 1] = {0, 2, 2, 2, 2}, back[] = {2, 0};               \
        const size_type sizes[] = {4, 5};                                                       \
        const char *name = "data", *wrong = "date", *none = NULL;                               \
        count_type counts[3];                                                                   \
        const int *ranks[3];                                                                    \
        const size_type **shapes[3];                                                            \
        int complete = -1;                                                                      \
        GOOD(function, (network, 1, &name, begins, sizes, SHAPES(&shapes[2]), &complete),       \
             complete &&counts[0] == 3 && shapes[0][1][1] == 5 && shapes[1][0][0] == 4);        \
        BAD_HANDLES(function, freed,                                                            \
                    (bad, 1, &name, begins, sizes, SHAPES(&shapes[2]), &complete));             \
        BAD(function, (network, 1, &wrong, begins, sizes, SHAPES(&shapes[2]), &complete));      \
        BAD(function, (network, 1, &none, begins, sizes, SHAPES(&shapes[2]), &complete));       \
        BAD(function, (network, TOO_MANY, NULL, begins, sizes, SHAPES(&shapes[2]), &complete)); \
        BAD(function, (network, 1, &name, back, sizes, SHAPES(&shapes[2]), &complete));         \
        BAD(function, (network, 1, &name, NULL, sizes, SHAPES(&shapes[2]), &complete));         \
        BAD(function, (network, 1, &name, begins, NULL, SHAPES(&shapes[2]), &complete));        \
        BAD(function, (network, 1, &name, begins, sizes, SHAPES(NULL), &complete));             \
        BAD(function, (network, 1, &name, begins, sizes, SHAPES(&shapes[2]), NULL));            \
    } while (0)

static void shapes_of_symbols(void **state)
{
    (void)state;
    INFER(MXSymbolInferShape, mx_uint, mx_uint, int);
    INFER(MXSymbolInferShapeEx, mx_uint, mx_uint, int);
    INFER(MXSymbolInferShapePartial, mx_uint, mx_uint, int);
    INFER(MXSymbolInferShapePartialEx, mx_uint, mx_uint, int);
    INFER(MXSymbolInferShape64, size_t, int64_t, int64_t);
    INFER(MXSymbolInferShapeEx64, size_t, int64_t, int64_t);
    INFER(MXSymbolInferShapePartial64, size_t, int64_t, int64_t);
    INFER(MXSymbolInferShapePartialEx64, size_t, int64_t, int64_t);
}

#define TYPES(last) &counts[0], &types[0], &counts[1], &types[1], &counts[2], last

#define INFER_TYPE(function)                                                                     \
    do {                                                                                         \
        const char *name = "data", *wrong = "date";                                              \
        const int types_given[TOO_MANY] = {1, 1, 1, 1}, no_type = 77, *types[3];                 \
        mx_uint counts[3];                                                                       \
        int complete = -1;                                                                       \
        GOOD(function, (network, 1, &name, types_given, TYPES(&types[2]), &complete),            \
             complete &&counts[0] == 3 && types[0][1] == 1 && types[1][0] == 1);                 \
        BAD_HANDLES(function, freed, (bad, 1, &name, types_given, TYPES(&types[2]), &complete)); \
        BAD(function, (network, 1, &wrong, types_given, TYPES(&types[2]), &complete));           \
        BAD(function, (network, TOO_MANY, NULL, types_given, TYPES(&types[2]), &complete));      \
        BAD(function, (network, 1, &name, &no_type, TYPES(&types[2]), &complete));               \
        BAD(function, (network, 1, &name, NULL, TYPES(&types[2]), &complete));                   \
        BAD(function, (network, 1, &name, types_given, TYPES(NULL), &complete));                 \
        BAD(function, (network, 1, &name, types_given, TYPES(&types[2]), NULL));                 \
    } while (0)

static void types_of_symbols(void **state)
{
    (void)state;
    INFER_TYPE(MXSymbolInferType);
    INFER_TYPE(MXSymbolInferTypePartial);
}

// ---- the graph library's ----------------------------------------------------------------------
static void graph_library(void **state)
{
    (void)state;
    OpHandle op = NULL;
    mx_uint count = 0, outputs = 0;
    const char *name, *about, **names, **types, **texts;
    GOOD(NNListAllOpNames, (&count, &names), count > 100 && names[1] != NULL);
    BAD(NNListAllOpNames, (NULL, &names));
    BAD(NNListAllOpNames, (&count, NULL));
    GOOD(NNGetOpHandle, ("FullyConnected", &op), op != NULL);
    BAD(NNGetOpHandle, ("nothing", &op));
    BAD(NNGetOpHandle, (NULL, &op));
    BAD(NNGetOpHandle, ("FullyConnected", NULL));
    GOOD(NNGetOpInfo, (op, &name, &about, &count, &names, &types, &texts, NULL), count == 6);
    BAD_HANDLES(NNGetOpInfo, freed, (bad, &name, &about, &count, &names, &types, &texts, NULL));
    BAD(NNGetOpInfo, (op, NULL, &about, &count, &names, &types, &texts, NULL));
    GOOD(NNSymbolListInputNames, (network, 0, &outputs, &names), outputs == 3);
    BAD_HANDLES(NNSymbolListInputNames, freed, (bad, 0, &outputs, &names));
    BAD(NNSymbolListInputNames, (network, 3, &outputs, &names));
    BAD(NNSymbolListInputNames, (network, -1, &outputs, &names));
    BAD(NNSymbolListInputNames, (network, 0, NULL, &names));
    BAD(NNSymbolListInputNames, (network, 0, &outputs, NULL));
}

static void all_were_called(void **state)
{
    (void)state;
    walk_complete("mxnet/c_api_symbol.h");
    walk_complete("nnvm/c_api.h");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(making),
        cmocka_unit_test(composing),
        cmocka_unit_test(files),
        cmocka_unit_test(passes),
        cmocka_unit_test(parts),
        cmocka_unit_test(attributes),
        cmocka_unit_test(shapes_of_symbols),
        cmocka_unit_test(types_of_symbols),
        cmocka_unit_test(graph_library),
        cmocka_unit_test(all_were_called),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
