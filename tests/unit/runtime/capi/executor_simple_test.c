// SPDX-License-Identifier: Apache-2.0
// Networks that are bound to arrays made for them: what shapes, types and requests give, what is
// shared with another executor or taken out of a buffer, and what is refused.
#include "cmocka_all.h"

#include <mxnet/c_api.h>
#include <string.h>

// bn(fc(data)); arguments data, w, fc_bias, gamma, beta; states mean, var.
static const char json[] =
    "{\"nodes\": ["
    "{\"op\": \"null\", \"name\": \"data\", \"inputs\": []},"
    "{\"op\": \"null\", \"name\": \"w\", \"inputs\": []},"
    "{\"op\": \"null\", \"name\": \"b\", \"inputs\": []},"
    "{\"op\": \"FullyConnected\", \"name\": \"fc\", \"attrs\": {\"num_hidden\": \"3\"},"
    " \"inputs\": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},"
    "{\"op\": \"null\", \"name\": \"gamma\", \"inputs\": []},"
    "{\"op\": \"null\", \"name\": \"beta\", \"inputs\": []},"
    "{\"op\": \"null\", \"name\": \"mean\", \"inputs\": []},"
    "{\"op\": \"null\", \"name\": \"var\", \"inputs\": []},"
    "{\"op\": \"BatchNorm\", \"name\": \"bn\","
    " \"inputs\": [[3, 0, 0], [4, 0, 0], [5, 0, 0], [6, 0, 0], [7, 0, 0]]}],"
    "\"arg_nodes\": [0, 1, 2, 4, 5, 6, 7], \"heads\": [[8, 0, 0]]}";

enum { ARGUMENTS = 5, STATES = 2, DATA = 0, WEIGHT = 1, BIAS = 2, NONE = -1 };

// What a test binds with, and what it gets.
typedef struct simple {
    const char *words[ARGUMENTS], *word_names[ARGUMENTS];
    mx_uint word_count;
    const char *shape_name;
    int rows, columns, type;  // type NONE: not said
    const char *shared_name;
    ExecutorHandle shared;
    int buffer_count;  // NONE: no buffer
    const char *buffer_names[1];
    NDArrayHandle buffer[1];
    mx_uint argument_count, state_count;
    NDArrayHandle *arguments, *gradients, *states, *updated;
    const char **updated_names;
    ExecutorHandle executor;
} simple;

static simple of_rows(int rows)
{
    return (simple){.words = {"write"},
                    .shape_name = "data",
                    .rows = rows,
                    .columns = 4,
                    .type = NONE,
                    .buffer_count = NONE};
}

static int bind_to(simple *s, bool wide)
{
    SymbolHandle symbol = NULL;
    const int sizes[] = {s->rows, s->columns};
    const int64_t wide_sizes[] = {s->rows, s->columns};
    const mx_uint firsts[] = {0, 2};
    const char *data = "data";
    assert_int_equal(MXSymbolCreateFromJSON(json, &symbol), 0);
    const char **names = s->word_names[0] != NULL ? s->word_names : NULL;
    int result =
        wide ? MXExecutorSimpleBindEx64(
                   symbol, 1, 0, 0, NULL, NULL, NULL, s->word_count, names, s->words, 1,
                   &s->shape_name, wide_sizes, firsts, s->type != NONE, &data, &s->type, 0, NULL,
                   NULL, s->shared_name != NULL, &s->shared_name, &s->buffer_count, s->buffer_names,
                   s->buffer, &s->updated_names, &s->updated, &s->argument_count, &s->arguments,
                   &s->gradients, &s->state_count, &s->states, s->shared, &s->executor)
             : MXExecutorSimpleBindEx(
                   symbol, 1, 0, 0, NULL, NULL, NULL, s->word_count, names, s->words, 1,
                   &s->shape_name, sizes, firsts, s->type != NONE, &data, &s->type, 0, NULL, NULL,
                   s->shared_name != NULL, &s->shared_name, &s->buffer_count, s->buffer_names,
                   s->buffer, &s->updated_names, &s->updated, &s->argument_count, &s->arguments,
                   &s->gradients, &s->state_count, &s->states, s->shared, &s->executor);
    assert_int_equal(MXSymbolFree(symbol), 0);
    return result;
}

static simple must_bind(simple s)
{
    if (bind_to(&s, false) != 0) {
        fail_msg("%s", MXGetLastError());
    }
    assert_int_equal(s.argument_count, ARGUMENTS);
    assert_int_equal(s.state_count, STATES);
    return s;
}

// The lists are those of the last bind: an executor is let go of before the next one unless its
// handles were copied.
static void copy_lists(const simple *s, NDArrayHandle all[2 * ARGUMENTS + STATES])
{
    memcpy(all, s->arguments, ARGUMENTS * sizeof *all);
    memcpy(all + ARGUMENTS, s->gradients, ARGUMENTS * sizeof *all);
    memcpy(all + 2 * (size_t)ARGUMENTS, s->states, STATES * sizeof *all);
}

static void let_go(ExecutorHandle executor, NDArrayHandle all[2 * ARGUMENTS + STATES])
{
    for (int i = 0; i < 2 * ARGUMENTS + STATES; i++) {
        assert_true(all[i] == NULL || MXNDArrayFree(all[i]) == 0);
    }
    assert_int_equal(MXExecutorFree(executor), 0);
}

static void assert_array(NDArrayHandle array, int rows, int columns, int type)
{
    int ndim, is;
    const int *shape;
    assert_int_equal(MXNDArrayGetShape(array, &ndim, &shape), 0);
    assert_int_equal(ndim, columns != 0 ? 2 : 1);
    assert_int_equal(shape[0], rows);
    assert_true(columns == 0 || shape[1] == columns);
    assert_int_equal(MXNDArrayGetDType(array, &is), 0);
    assert_int_equal(is, type);
}

static float first_of(NDArrayHandle array, int count)
{
    float values[64];
    assert_int_equal(MXNDArraySyncCopyToCPU(array, values, (size_t)count), 0);
    return values[0];
}

static void fill(NDArrayHandle array, int count, float value)
{
    float values[64];
    for (int i = 0; i < count; i++) {
        values[i] = value;
    }
    assert_int_equal(MXNDArraySyncCopyFromCPU(array, values, (size_t)count), 0);
}

static void assert_refused(simple s, const char *part)
{
    assert_int_equal(bind_to(&s, false), -1);
    assert_null(s.executor);
    if (strstr(MXGetLastError(), part) == NULL) {
        fail_msg("'%s' is not in '%s'", part, MXGetLastError());
    }
}

// ---- what works -------------------------------------------------------------------------------
static void arrays_are_zeros_of_what_follows_and_train(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        NDArrayHandle all[2 * ARGUMENTS + STATES];
        simple s = of_rows(2);
        assert_int_equal(bind_to(&s, wide), 0);
        copy_lists(&s, all);
        assert_array(all[DATA], 2, 4, 0);
        assert_array(all[WEIGHT], 3, 4, 0);
        assert_array(all[ARGUMENTS + WEIGHT], 3, 4, 0);
        assert_array(all[2 * ARGUMENTS], 3, 0, 0);
        for (int i = 1; i < 2 * ARGUMENTS + STATES; i++) {
            assert_true(first_of(all[i], i == WEIGHT || i == ARGUMENTS + WEIGHT ? 12
                                         : i == ARGUMENTS                       ? 8
                                                                                : 3) == 0);
        }
        fill(all[ARGUMENTS + 4], 3, 9);  // the gradient of beta: the number of rows
        assert_int_equal(MXExecutorForward(s.executor, 1), 0);
        assert_int_equal(MXExecutorBackward(s.executor, 0, NULL), 0);
        assert_true(first_of(all[ARGUMENTS + 4], 3) == 2);
        let_go(s.executor, all);
    }
}

static void a_type_that_is_said_is_that_of_all(void **state)
{
    (void)state;
    NDArrayHandle all[2 * ARGUMENTS + STATES];
    simple s = of_rows(2);
    s.type = 1;
    s = must_bind(s);
    copy_lists(&s, all);
    assert_array(all[WEIGHT], 3, 4, 1);
    let_go(s.executor, all);
}

static void assert_gradients(simple s, const char *expected)
{
    NDArrayHandle all[2 * ARGUMENTS + STATES];
    s = must_bind(s);
    copy_lists(&s, all);
    for (int i = 0; i < ARGUMENTS; i++) {
        assert_int_equal(all[ARGUMENTS + i] != NULL, expected[i] == '1');
    }
    let_go(s.executor, all);
}

static void requests_are_one_word_a_list_or_by_name(void **state)
{
    (void)state;
    simple s = of_rows(2);
    assert_gradients(s, "11111");
    s.words[0] = "null";
    assert_gradients(s, "00000");
    s = of_rows(2);
    s.word_count = ARGUMENTS;
    for (int i = 0; i < ARGUMENTS; i++) {
        s.words[i] = i % 2 == 0 ? "add" : "null";
    }
    assert_gradients(s, "10101");
    s.word_count = 1;
    s.word_names[0] = "w";
    assert_gradients(s, "01000");
}

static void arguments_are_shared_by_name_and_states_with_them(void **state)
{
    (void)state;
    NDArrayHandle first[2 * ARGUMENTS + STATES], second[2 * ARGUMENTS + STATES];
    simple a = must_bind(of_rows(2)), b = of_rows(3);
    copy_lists(&a, first);
    b.shared = a.executor;
    b.shared_name = "w";
    b = must_bind(b);
    copy_lists(&b, second);
    fill(first[WEIGHT], 12, 5);
    fill(first[ARGUMENTS + WEIGHT], 12, 6);
    fill(first[BIAS], 3, 7);
    fill(first[2 * ARGUMENTS], 3, 8);
    assert_true(first_of(second[WEIGHT], 12) == 5);
    assert_true(first_of(second[ARGUMENTS + WEIGHT], 12) == 6);
    assert_true(first_of(second[BIAS], 3) == 0);
    assert_true(first_of(second[2 * ARGUMENTS], 3) == 8);
    simple wrong = of_rows(3);
    wrong.shared = a.executor;
    wrong.shared_name = "data";
    assert_refused(wrong, "no argument 'data' of the same shape");
    let_go(a.executor, first);
    let_go(b.executor, second);
}

static void arrays_of_the_buffer_are_used_if_large_enough(void **state)
{
    (void)state;
    NDArrayHandle all[2 * ARGUMENTS + STATES];
    const mx_uint shape[] = {4, 4};
    for (int rows = 3; rows <= 5; rows += 2) {
        simple s = of_rows(rows);
        assert_int_equal(MXNDArrayCreateEx(shape, 2, 1, 0, 0, 0, &s.buffer[0]), 0);
        fill(s.buffer[0], 16, 4);
        s.buffer_count = 1;
        s.buffer_names[0] = "data";
        s = must_bind(s);
        copy_lists(&s, all);
        assert_array(all[DATA], rows, 4, 0);
        assert_true(first_of(all[DATA], rows * 4) == (rows == 3 ? 4 : 0));
        assert_int_equal(s.buffer_count, ARGUMENTS);
        assert_string_equal(s.updated_names[0], "data");
        assert_string_equal(s.updated_names[1], "w");
        assert_array(s.updated[0], rows == 3 ? 4 : 5, 4, 0);
        for (int i = 0; i < ARGUMENTS; i++) {
            assert_int_equal(MXNDArrayFree(s.updated[i]), 0);
        }
        assert_int_equal(MXNDArrayFree(s.buffer[0]), 0);
        let_go(s.executor, all);
    }
}

// ---- reshaping --------------------------------------------------------------------------------
static int reshape(simple *s, ExecutorHandle old, int partial, int up_sizing)
{
    const int sizes[] = {s->rows, s->columns};
    const mx_uint firsts[] = {0, 2};
    s->executor = NULL;
    return MXExecutorReshapeEx(partial, up_sizing, 1, 0, 0, NULL, NULL, NULL, 1, &s->shape_name,
                               sizes, firsts, &s->argument_count, &s->arguments, &s->gradients,
                               &s->state_count, &s->states, old, &s->executor);
}

static void assert_reshape_refused(ExecutorHandle old, simple s, int partial, const char *part)
{
    assert_int_equal(reshape(&s, old, partial, 0), -1);
    assert_null(s.executor);
    if (strstr(MXGetLastError(), part) == NULL) {
        fail_msg("'%s' is not in '%s'", part, MXGetLastError());
    }
}

static void smaller_shapes_are_parts_of_the_arrays_and_larger_ones_are_new(void **state)
{
    (void)state;
    NDArrayHandle old[2 * ARGUMENTS + STATES], all[2 * ARGUMENTS + STATES];
    simple a = must_bind(of_rows(4));
    copy_lists(&a, old);
    fill(old[DATA], 16, 4);
    fill(old[WEIGHT], 12, 5);
    for (int rows = 2; rows <= 6; rows += 4) {
        simple b = of_rows(rows);
        assert_int_equal(reshape(&b, a.executor, 0, 1), 0);
        copy_lists(&b, all);
        assert_array(all[DATA], rows, 4, 0);
        assert_array(all[ARGUMENTS + DATA], rows, 4, 0);
        assert_true(first_of(all[DATA], 4 * rows) == (rows == 2 ? 4 : 0));
        assert_true(first_of(all[WEIGHT], 12) == 5);
        fill(all[ARGUMENTS + 4], 3, 9);
        assert_int_equal(MXExecutorForward(b.executor, 1), 0);
        assert_int_equal(MXExecutorBackward(b.executor, 0, NULL), 0);
        assert_true(first_of(old[ARGUMENTS + 4], 3) == (float)rows);  // shared
        let_go(b.executor, all);
    }
    assert_int_equal(MXExecutorForward(a.executor, 0), 0);
    let_go(a.executor, old);
}

static void changes_that_were_not_asked_for_are_refused(void **state)
{
    (void)state;
    NDArrayHandle old[2 * ARGUMENTS + STATES], all[2 * ARGUMENTS + STATES];
    simple a = must_bind(of_rows(4)), other = of_rows(4);
    copy_lists(&a, old);
    assert_reshape_refused(a.executor, of_rows(5), 0, "New shape of arg: data is larger");
    other.columns = 3;
    assert_reshape_refused(a.executor, other, 0, "Shape of unspecifie arg: w changed");
    assert_int_equal(reshape(&other, a.executor, 1, 0), 0);
    copy_lists(&other, all);
    assert_array(all[WEIGHT], 3, 3, 0);
    let_go(other.executor, all);
    other.shape_name = "nobody";
    assert_reshape_refused(a.executor, other, 1, "no argument 'nobody'");
    assert_reshape_refused(NULL, of_rows(2), 0, "shared_exec");
    let_go(a.executor, old);
    assert_reshape_refused(a.executor, of_rows(2), 0, "freed");
}

// ---- refusals ---------------------------------------------------------------------------------
static void names_words_and_shapes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    simple s = of_rows(2);
    s.shape_name = "nobody";
    assert_refused(s, "no argument 'nobody'");
    s.shape_name = "w";
    assert_refused(s, "Please consider providing them as inputs: data: ");
    s = of_rows(2);
    s.words[0] = "always";
    assert_refused(s, "grad_req is 'always'");
    s.words[0] = "write";
    s.word_count = 2;
    assert_refused(s, "2 gradient requests are given for 5 arguments");
    s.word_names[0] = "w";
    s.word_names[1] = "x";
    assert_refused(s, "no argument 'x'");
    s = of_rows(2);
    s.type = 99;
    assert_refused(s, "99");
    s = of_rows(2);
    s.buffer_count = 1;
    s.buffer_names[0] = "data";
    assert_refused(s, "shared_buffer_handle_list");
    s = of_rows(2);
    s.shared = &s;
    assert_refused(s, "executor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_zeros_of_what_follows_and_train),
        cmocka_unit_test(a_type_that_is_said_is_that_of_all),
        cmocka_unit_test(requests_are_one_word_a_list_or_by_name),
        cmocka_unit_test(arguments_are_shared_by_name_and_states_with_them),
        cmocka_unit_test(arrays_of_the_buffer_are_used_if_large_enough),
        cmocka_unit_test(smaller_shapes_are_parts_of_the_arrays_and_larger_ones_are_new),
        cmocka_unit_test(changes_that_were_not_asked_for_are_refused),
        cmocka_unit_test(names_words_and_shapes_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
