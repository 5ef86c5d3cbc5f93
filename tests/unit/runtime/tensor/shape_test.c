// SPDX-License-Identifier: Apache-2.0
// Shapes: what is refused, sizes, texts, and all the codes of Reshape in both directions.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>

#include "random.h"
#include "runtime/tensor/shape.h"

static mxn_shape shape_of(int ndim, const int64_t *dims)
{
    mxn_shape shape;
    assert_int_equal(mxn_shape_set(&shape, ndim, dims, "shape"), MXP_OK);
    return shape;
}

#define SHAPE(...) \
    shape_of((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

static void sizes_of_known_and_unknown_shapes(void **state)
{
    (void)state;
    mxn_shape scalar = shape_of(0, NULL), none = shape_of(-1, NULL);
    mxn_shape matrix = SHAPE(3, 4), empty = SHAPE(0, 3), partial = SHAPE(2, -1);
    assert_int_equal(mxn_shape_size(&scalar), 1);
    assert_int_equal(mxn_shape_size(&none), 0);
    assert_int_equal(mxn_shape_size(&matrix), 12);
    assert_int_equal(mxn_shape_size(&empty), 0);
    assert_int_equal(mxn_shape_size(&partial), 0);
    assert_true(mxn_shape_known(&scalar) && mxn_shape_known(&matrix) && mxn_shape_known(&empty));
    assert_false(mxn_shape_known(&none) || mxn_shape_known(&partial));
    assert_true(mxn_shape_equal(&none, &none));
    assert_false(mxn_shape_equal(&matrix, &empty));
    assert_false(mxn_shape_equal(&matrix, &scalar));
}

static void texts(void **state)
{
    (void)state;
    char text[MXN_SHAPE_TEXT];
    mxn_shape scalar = shape_of(0, NULL), none = shape_of(-1, NULL);
    mxn_shape vector = SHAPE(3), matrix = SHAPE(3, 4);
    assert_string_equal(mxn_shape_tuple(&scalar, text), "()");
    assert_string_equal(mxn_shape_tuple(&vector, text), "(3,)");
    assert_string_equal(mxn_shape_tuple(&matrix, text), "(3,4)");
    assert_string_equal(mxn_shape_text(&vector, text), "[3]");
    assert_string_equal(mxn_shape_text(&none, text), "None");
    int64_t dims[MXN_DIMS_MAX];
    for (int i = 0; i < MXN_DIMS_MAX; i++) {
        dims[i] = i == 0 ? INT64_C(1) << 61 : 1;
    }
    mxn_shape longest = shape_of(MXN_DIMS_MAX, dims);
    assert_int_equal(strlen(mxn_shape_tuple(&longest, text)), 2 + 19 + 15 * 2);
}

static void bad_shapes_are_refused(void **state)
{
    (void)state;
    mxn_shape shape;
    assert_int_equal(mxn_shape_set(&shape, 17, (int64_t[17]){0}, "shape of x"), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "shape of x has 17 dimensions"));
    assert_int_equal(mxn_shape_set(&shape, -2, NULL, "s"), MXP_EINVAL);
    assert_int_equal(mxn_shape_set(&shape, 1, NULL, "s"), MXP_EINVAL);
    assert_int_equal(mxn_shape_set(&shape, 2, (int64_t[]){2, -2}, "s"), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "dimension 1 is -2"));
    assert_int_equal(mxn_shape_set(&shape, 2, (int64_t[]){INT64_C(1) << 40, 1 << 30}, "s"),
                     MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "too many elements"));
    // A dimension of 0 hides no product that wraps: NumPy refuses this too.
    assert_int_equal(mxn_shape_set(&shape, 3, (int64_t[]){INT64_C(1) << 40, 1 << 30, 0}, "s"),
                     MXP_EINVAL);
    assert_int_equal(mxn_shape_set(&shape, 2, (int64_t[]){INT64_C(1) << 62, 0}, "s"), MXP_OK);
    assert_int_equal(mxn_shape_set32(&shape, 2, (uint32_t[]){UINT32_MAX, 2}, "s"), MXP_OK);
    assert_int_equal(mxn_shape_size(&shape), UINT64_C(2) * UINT32_MAX);
}

typedef struct reshape_case {
    int ndim;
    int64_t dims[5];
    int count;
    int64_t codes[6];
    bool reverse;
    const char *result;  // text of the shape, or a part of the error
} reshape_case;

// Results are the original's (1.9.1).
static const reshape_case cases[] = {
    {2, {2, 3}, 1, {6}, false, "(6,)"},
    {2, {2, 3}, 2, {3, -1}, false, "(3,2)"},
    {2, {2, 3}, 2, {0, -1}, false, "(2,3)"},
    {3, {2, 3, 4}, 2, {4, -1}, false, "(4,6)"},
    {3, {2, 3, 4}, 3, {6, 1, -1}, false, "(6,1,4)"},
    {3, {2, 3, 4}, 2, {0, -2}, false, "(2,3,4)"},
    {3, {2, 3, 4}, 3, {-2, 1, 1}, false, "(2,3,4,1,1)"},
    {3, {2, 3, 4}, 2, {-3, 4}, false, "(6,4)"},
    {4, {2, 3, 4, 5}, 2, {-3, -3}, false, "(6,20)"},
    {3, {2, 3, 4}, 2, {0, -3}, false, "(2,12)"},
    {3, {2, 3, 4}, 2, {-3, -2}, false, "(6,4)"},
    {3, {2, 3, 4}, 4, {-4, 1, 2, -2}, false, "(1,2,3,4)"},
    {3, {2, 3, 4}, 5, {2, -4, -1, 3, -2}, false, "(2,1,3,4)"},
    {3, {8, 3, 3}, 3, {-4, -1, 2}, false, "(4,2)"},
    {3, {10, 5, 4}, 2, {-1, 0}, false, "(40,5)"},
    {3, {10, 5, 4}, 2, {-1, 0}, true, "(50,4)"},
    {4, {8, 3, 3, 3}, 4, {0, -4, -1, 3}, false, "(8,1,3)"},
    {2, {1, 6}, 4, {-4, 1, 1, -1}, false, "(1,1,6)"},  // documented; the original forgets the -1
    {3, {2, 3, 4}, 2, {-1, -1}, false, "only one dimension"},
    {2, {2, 3}, 2, {4, -1}, false, "whole number"},
    {1, {2}, 2, {0, 0}, false, "does not have"},
    {1, {2}, 1, {-3}, false, "-3 needs two"},
    {1, {6}, 2, {-4, 2}, false, "-4 needs two numbers"},
    {1, {6}, 3, {-4, 4, -1}, false, "do not make up"},
    {1, {6}, 3, {-4, -1, -1}, false, "only one can be inferred"},
    {1, {6}, 3, {-4, 0, -1}, false, "do not make up"},
    {1, {6}, 1, {-5}, false, "mean nothing"},
    {2, {0, 3}, 2, {-1, 3}, false, "(0,3)"},
    {2, {0, 3}, 2, {0, -1}, false, "(0,0)"},
    {0, {0}, 1, {-1}, false, "(1,)"},
};

static void codes_of_reshape(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const reshape_case *at = &cases[i];
        mxn_shape shape = shape_of(at->ndim, at->dims), result;
        char text[MXN_SHAPE_TEXT];
        int error = mxn_shape_infer_reshape(&shape, at->count, at->codes, at->reverse, &result);
        const char *found = error == MXP_OK ? mxn_shape_tuple(&result, text) : mxp_last_error();
        bool right = error == MXP_OK ? strcmp(found, at->result) == 0
                                     : error == MXP_EINVAL && strstr(found, at->result) != NULL;
        if (!right) {
            fail_msg("case %zu: found %s, expected %s", i, found, at->result);
        }
    }
    mxn_shape unknown = shape_of(-1, NULL), result;
    assert_int_equal(mxn_shape_infer_reshape(&unknown, 1, (int64_t[]){1}, false, &result),
                     MXP_EINVAL);
    assert_int_equal(mxn_shape_infer_reshape(&unknown, -1, NULL, false, &result), MXP_EINVAL);
}

// Whatever the codes: an answer is a legal shape, and without a plain number it keeps the size.
static void any_codes_give_a_legal_shape_or_an_error(void **state)
{
    (void)state;
    uint64_t random = 3;
    int answers = 0;
    for (int i = 0; i < 200000; i++) {
        int64_t dims[5], codes[24];
        int ndim = (int)random_below(&random, 6), count = (int)random_below(&random, 24);
        for (int d = 0; d < ndim; d++) {
            dims[d] = (int64_t)random_below(&random, 5) << random_below(&random, 12);
        }
        for (int c = 0; c < count; c++) {
            codes[c] = (int64_t)random_below(&random, 9) - 5;
            codes[c] = random_below(&random, 100) == 0 ? INT64_MAX : codes[c];
        }
        mxn_shape shape = shape_of(ndim, dims), result, checked;
        if (mxn_shape_infer_reshape(&shape, count, codes, i % 2 == 0, &result) == MXP_OK) {
            assert_int_equal(mxn_shape_set(&checked, result.ndim, result.dims, "result"), MXP_OK);
            assert_true(mxn_shape_known(&result));
            answers++;
        }
    }
    assert_true(answers > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_known_and_unknown_shapes),
        cmocka_unit_test(texts),
        cmocka_unit_test(bad_shapes_are_refused),
        cmocka_unit_test(codes_of_reshape),
        cmocka_unit_test(any_codes_give_a_legal_shape_or_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
