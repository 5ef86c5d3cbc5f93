// SPDX-License-Identifier: Apache-2.0
// Every gradient is what differences say, in float64, over several parameter sets and shapes: size
// 1, empty, views with an offset. Another operator is another line of the table;
// one that has a gradient and no line is named, and gradient_exempt.def says why it may lack it.
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"
#include "op_run.h"
#include "runtime/op/registry/declare.h"

#define P(...) ((const char *const[]){__VA_ARGS__, NULL})
enum { ALL = -1 };

typedef struct gradient_case {
    const char *op;
    const char *const *parameters;
    const char *shapes;  // of the inputs: "2x3 1x3"; "-" is a scalar
    int mask;  // inputs with a gradient
} gradient_case;

static const gradient_case cases[] = {
#include "gradient_cases.def"
};

static const gradient_case second_cases[] = {
#include "second_gradient_cases.def"
};

// "2x0x3" to dimensions; moves on behind the blank.
static int read_shape(const char **text, int64_t *dims)
{
    int ndim = 0;
    while (**text != '\0' && **text != ' ') {
        if (**text == '-' || **text == 'x') {
            ++*text;
            continue;
        }
        char *end;
        dims[ndim++] = strtoll(*text, &end, 10);
        *text = end;
    }
    *text += **text == ' ';
    return ndim;
}

// A view that begins in the middle of other values, so that offsets are not forgotten.
static mxn_array *offset_view(int ndim, const int64_t *dims, uint64_t seed, mxn_array **whole)
{
    mxn_shape shape;
    assert_int_equal(mxn_shape_set(&shape, ndim, dims, "test"), 0);
    int64_t count = (int64_t)mxn_shape_size(&shape);
    mxn_array *part, *view;
    *whole = op_array(MXN_FLOAT64, 1, (const int64_t[]){count + 5}, NULL, seed);
    assert_int_equal(mxn_array_slice(*whole, 3, (uint64_t)count + 3, &part), 0);
    assert_int_equal(mxn_array_view(part, &shape, MXN_FLOAT64, &view), 0);
    mxn_array_release(part);
    return view;
}

typedef struct offset_inputs {
    uint32_t count;
    mxn_array *views[OP_RUN_MAX], *wholes[OP_RUN_MAX];
} offset_inputs;

static void make_inputs(const gradient_case *c, uint64_t seed, offset_inputs *in)
{
    in->count = 0;
    for (const char *at = c->shapes; *at != '\0'; in->count++) {
        int64_t dims[MXN_DIMS_MAX];
        int ndim = read_shape(&at, dims);
        in->views[in->count] = offset_view(ndim, dims, seed + in->count, &in->wholes[in->count]);
    }
}

static void release_inputs(offset_inputs *in)
{
    for (uint32_t k = 0; k < in->count; k++) {
        mxn_array_release(in->views[k]);
        mxn_array_release(in->wholes[k]);
    }
}

static void gradients_are_what_differences_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        offset_inputs in;
        make_inputs(&cases[i], i * 3, &in);
        op_check_gradient(cases[i].op, cases[i].parameters, in.count, in.views,
                          (uint32_t)cases[i].mask);
        release_inputs(&in);
    }
}

static void gradients_of_gradients_are_what_differences_say(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof second_cases / sizeof second_cases[0]; i++) {
        offset_inputs in;
        make_inputs(&second_cases[i], i * 3, &in);
        op_check_second_gradient(second_cases[i].op, second_cases[i].parameters, in.count,
                                 in.views);
        release_inputs(&in);
    }
}

// Operators with a gradient that are not in the table, with the reason.
static const char *const exempt[] = {
#define EXEMPT(op, reason) op,
#include "gradient_exempt.def"
#undef EXEMPT
};

static bool has_gradient(const mxn_op_def *def)
{
    bool is_one = (def->flags & MXN_OP_BACKWARD) != 0 || strncmp(def->name, "_backward", 9) == 0;
    bool is_zero = def->gradient != NULL && def->gradient[0].op == NULL;
    return !is_one && !is_zero && (def->gradient != NULL || def->gradient_of != NULL);
}

static bool is_exempt(const mxn_op *op)
{
    for (size_t i = 0; i < sizeof exempt / sizeof exempt[0]; i++) {
        if (strcmp(exempt[i], op->name) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_case(const mxn_op *op)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (mxn_op_find(cases[i].op) == op) {
            return true;
        }
    }
    return false;
}

static void every_operator_with_a_gradient_has_a_case(void **state)
{
    (void)state;
    const mxn_op *ops;
    uint32_t count = mxn_op_list(&ops), wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!has_gradient(ops[i].def)) {
            continue;
        }
        if (!has_case(&ops[i]) && !is_exempt(&ops[i])) {
            print_error("gradient_cases.def lacks    {\"%s\", NULL, \"2x3\", ALL},\n", ops[i].name);
            wrong++;
        }
        if (has_case(&ops[i]) && is_exempt(&ops[i])) {
            print_error("gradient_exempt.def has %s, which has a case\n", ops[i].name);
            wrong++;
        }
    }
    for (size_t i = 0; i < sizeof exempt / sizeof exempt[0]; i++) {
        assert_non_null(mxn_op_find(exempt[i]));
    }
    assert_int_equal(wrong, 0);
}

static void every_gradient_names_operators_that_exist(void **state)
{
    (void)state;
    const mxn_op *ops;
    uint32_t count = mxn_op_list(&ops);
    assert_true(count > 100);
    for (uint32_t i = 0; i < count; i++) {
        mxn_params *params;
        const mxn_gradient *gradient;
        if (mxn_params_parse(&ops[i], 0, NULL, NULL, 2, false, &params) != 0) {
            continue;  // has required parameters: the table above has it
        }
        int error = mxn_params_gradient(params, &gradient);
        if (error != 0 && error != MXP_ENOTSUP) {
            fail_msg("%s: %s", ops[i].name, mxp_last_error());
        }
        mxn_params_release(params);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator_with_a_gradient_has_a_case),
        cmocka_unit_test(every_gradient_names_operators_that_exist),
        cmocka_unit_test(gradients_are_what_differences_say),
        cmocka_unit_test(gradients_of_gradients_are_what_differences_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
