// SPDX-License-Identifier: Apache-2.0
// What front ends are told about operators is what the original told them: operators.tsv has its
// answers (name, aliases, key, arguments) for the operators there are here. What they mean is said
// in words of our own.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxprof/error.h>

#include "base/strbuf.h"
#include "cmocka_all.h"
#include "op_run.h"
#include "runtime/op/registry/declare.h"

static void describe(const mxn_op *op, mxp_strbuf *line)
{
    const mxn_op_doc *doc = mxn_op_document(op);
    const char *const *names;
    uint32_t count = mxn_op_names(&names);
    assert_non_null(doc);
    mxp__strbuf_printf(line, "%s\t", op->name);
    const char *blank = "";
    for (uint32_t i = 0; i < count; i++) {
        if (mxn_op_find(names[i]) == op && strcmp(names[i], op->name) != 0) {
            mxp__strbuf_printf(line, "%s%s", blank, names[i]);
            blank = " ";
        }
    }
    mxp__strbuf_printf(line, "\t%s\t", doc->key_var_num_args);
    for (uint32_t i = 0; i < doc->count; i++) {
        mxp__strbuf_printf(line, "%s%s: %s", i == 0 ? "" : "; ", doc->names[i], doc->types[i]);
    }
}

static FILE *open_fixture(void)
{
    const char *source = getenv("MXPROF_SOURCE");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/unit/runtime/op/operators.tsv",
             source == NULL ? "." : source);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

// The lines of operators that the file lacks, as they are to be added.
static uint32_t print_missing(const bool *found)
{
    const mxn_op *ops;
    uint32_t count = mxn_op_list(&ops), missing = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!found[i]) {
            mxp_strbuf line = {0};
            describe(&ops[i], &line);
            print_error("+ %s\n", mxp__strbuf_text(&line));
            mxp__strbuf_fini(&line);
            missing++;
        }
    }
    return missing;
}

static void documentation_is_the_original_s(void **state)
{
    (void)state;
    static bool found[4096];
    FILE *file = open_fixture();
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#') {
            continue;
        }
        char name[128];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line, "\t"), line);
        const mxn_op *op = mxn_op_find(name);
        assert_non_null(op);
        mxp_strbuf here = {0};
        describe(op, &here);
        assert_string_equal(mxp__strbuf_text(&here), line);
        mxp__strbuf_fini(&here);
        assert_true(op->index < sizeof found);
        found[op->index] = true;
    }
    free(line);
    fclose(file);
    if (print_missing(found) > 0) {
        fail_msg(
            "operators.tsv lacks the lines above: scripts/update-expected operators adds them; of "
            "an operator that the original has they must say what it says");
    }
}

// Whether a text that front ends show is a sentence; says which is none.
static bool is_sentence(const char *op, const char *argument, const char *text)
{
    size_t length = strlen(text);
    bool begins =
        length > 0 && (isupper((unsigned char)text[0]) || isdigit((unsigned char)text[0]));
    bool has_words = strchr(text, ' ') != strrchr(text, ' ');
    if (begins && has_words && text[length - 1] == '.') {
        return true;
    }
    print_error("%s, %s: '%s' is no sentence\n", op, argument, text);
    return false;
}

static void every_argument_is_described(void **state)
{
    (void)state;
    const mxn_op *ops;
    uint32_t count = mxn_op_list(&ops), described = 0, lacking = 0;
    for (uint32_t i = 0; i < count; i++) {
        const mxn_op_doc *doc = mxn_op_document(&ops[i]);
        assert_non_null(doc);
        for (uint32_t k = 0; k < doc->count; k++, described++) {
            lacking += !is_sentence(ops[i].name, doc->names[k], doc->descriptions[k]);
        }
        if (strncmp(ops[i].name, "_backward", 9) != 0 && doc->count > 0) {
            lacking += !is_sentence(ops[i].name, "itself", doc->description);
        }
    }
    if (lacking > 0) {
        fail_msg("what arguments mean is in op/registry/argument_texts.def; what an operator "
                 "computes, in its declaration or in operator_texts.def");
    }
    assert_true(described > 500);
}

static void limits_of_numbers_are_in_their_descriptions(void **state)
{
    (void)state;
    const mxn_op_doc *doc = mxn_op_document(mxn_op_find("Convolution"));
    for (uint32_t k = 0; k < doc->count; k++) {
        if (strcmp(doc->names[k], "num_group") == 0) {
            assert_non_null(strstr(doc->descriptions[k], " From 1 to 100000."));
        }
        if (strcmp(doc->names[k], "kernel") == 0) {
            assert_string_equal(doc->descriptions[k],
                                "The size of the window, one number for each axis of space.");
        }
    }
    doc = mxn_op_document(mxn_op_find("one_hot"));
    assert_string_equal(doc->names[1], "depth");
    assert_string_equal(doc->descriptions[1], "How long a row is. At least 0.");
}

// Front ends give types to what operators return by the first words.
static void what_always_is_one_array_is_said_to_be(void **state)
{
    (void)state;
    const char *several =
        " BatchNorm _contrib_SyncBatchNorm Custom GroupNorm LayerNorm LeakyReLU RNN SliceChannel "
        "_CustomFunction "
        "_multi_lamb_update _multi_mp_lamb_update _split_v2 "
        "multi_mp_sgd_mom_update multi_mp_sgd_update multi_sgd_mom_update multi_sgd_update "
        "preloaded_multi_mp_sgd_mom_update preloaded_multi_mp_sgd_update "
        "preloaded_multi_sgd_mom_update preloaded_multi_sgd_update topk _np_atleast_1d "
        "_np_atleast_2d _np_atleast_3d ";
    const mxn_op *ops;
    uint32_t count = mxn_op_list(&ops), found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *returns = strstr(mxn_op_document(&ops[i])->description, "\n\nReturns: ");
        char word[64];
        snprintf(word, sizeof word, " %s ", ops[i].name);
        bool varies = strstr(several, word) != NULL;
        if (returns != NULL) {
            assert_true(!varies || ops[i].def->outputs_of != NULL ||
                        ops[i].def->visible_of != NULL);
            found += varies;
            if (varies == (strncmp(returns, "\n\nReturns: An array", 19) == 0)) {
                fail_msg("%s gives %s: '%s'", ops[i].name, varies ? "several" : "one", returns);
            }
        }
    }
    assert_int_equal(found, 24);
}

static void names_are_sorted_and_no_two_alike(void **state)
{
    (void)state;
    const char *const *names;
    uint32_t count = mxn_op_names(&names);
    assert_true(count > 250);
    for (uint32_t i = 1; i < count; i++) {
        assert_true(strcmp(names[i - 1], names[i]) < 0);
    }
}

static void alias_is_the_same_operator(void **state)
{
    (void)state;
    assert_ptr_equal(mxn_op_find("flatten"), mxn_op_find("Flatten"));
    assert_string_equal(mxn_op_find("_npx_fully_connected")->name, "FullyConnected");
    assert_null(mxn_op_find("no_such_operator"));
    assert_null(mxn_op_find(NULL));
}

static void handles_are_checked(void **state)
{
    (void)state;
    const mxn_op *op = mxn_op_find("dot");
    assert_int_equal(mxn_op_check(op), 0);
    assert_int_equal(mxn_op_check(NULL), MXP_EHANDLE);
    assert_int_equal(mxn_op_check((const char *)op + 1), MXP_EHANDLE);
    assert_int_equal(mxn_op_check(state), MXP_EHANDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documentation_is_the_original_s),
        cmocka_unit_test(every_argument_is_described),
        cmocka_unit_test(limits_of_numbers_are_in_their_descriptions),
        cmocka_unit_test(what_always_is_one_array_is_said_to_be),
        cmocka_unit_test(names_are_sorted_and_no_two_alike),
        cmocka_unit_test(alias_is_the_same_operator),
        cmocka_unit_test(handles_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
