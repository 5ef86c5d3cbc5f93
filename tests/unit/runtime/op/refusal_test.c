// SPDX-License-Identifier: Apache-2.0
// Inputs that do not fit are an error that names operator, argument and value, whether that shows
// before the operation is pushed or inside it; the engine continues. A case is a line of the table.
#include <string.h>

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "op_run.h"

#define P(...) ((const char *const[]){__VA_ARGS__, NULL})

typedef struct refusal_case {
    const char *op;
    const char *const *parameters;
    const char *shapes;  // of the inputs: "2x3 1x3"; "-" is a scalar
    int dtype;
    double value;  // of all elements
    const char *texts[3];
} refusal_case;

static const refusal_case cases[] = {
#include "refusal_cases.def"
};

static uint32_t make_inputs(const refusal_case *c, mxn_array **inputs)
{
    uint32_t count = 0;
    double values[64];
    for (int i = 0; i < 64; i++) {
        values[i] = c->value;
    }
    for (const char *at = c->shapes; *at != '\0'; count++) {
        int64_t dims[MXN_DIMS_MAX];
        int ndim = 0;
        for (; *at != '\0' && *at != ' '; at++) {
            if (*at != 'x' && *at != '-') {
                dims[ndim++] = *at - '0';
            }
        }
        at += *at == ' ';
        inputs[count] = op_array(c->dtype, ndim, dims, values, 0);
    }
    return count;
}

static void what_does_not_fit_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mxn_array *inputs[OP_RUN_MAX], *outputs[OP_RUN_MAX] = {NULL};
        uint32_t count = make_inputs(&cases[i], inputs);
        if (op_run(cases[i].op, cases[i].parameters, count, inputs, outputs, MXN_WRITE) >= 0) {
            fail_msg("%s is not refused (case %u)", cases[i].op, (unsigned)i);
        }
        for (int k = 0; k < 3 && cases[i].texts[k] != NULL; k++) {
            if (strstr(mxp_last_error(), cases[i].texts[k]) == NULL) {
                fail_msg("the error says\n%s\nwithout '%s'", mxp_last_error(), cases[i].texts[k]);
            }
        }
        for (uint32_t k = 0; k < OP_RUN_MAX; k++) {
            mxn_array_release(k < count ? inputs[k] : NULL);
            mxn_array_release(outputs[k]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_fit_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
