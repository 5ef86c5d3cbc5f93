// SPDX-License-Identifier: Apache-2.0
// MXNET_CPU_KERNELS: who is asked, in which order, what happens when a kernel declines, and values
// that are none. The variable is read once, so each answer is a child's.
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mxprof/error.h>

#include "cmocka_all.h"
#include "op_run.h"
#include "runtime/op/execute/kernel_choice.h"

// ---- which operators have kernels ---------------------------------------------------------------
typedef struct kernel_row {
    const char *op;
    bool has[MXN_KERNEL_KINDS];
} kernel_row;

static const kernel_row kernel_rows[] = {
#define KERNELS(name, own, dnnl) {#name, {[MXN_KERNEL_OWN] = own, [MXN_KERNEL_DNNL] = dnnl}},
#include "kernel_rows.def"
#undef KERNELS
};

static const kernel_row *row_of(const char *op)
{
    static const kernel_row none;
    for (size_t i = 0; i < sizeof kernel_rows / sizeof kernel_rows[0]; i++) {
        if (strcmp(kernel_rows[i].op, op) == 0) {
            return &kernel_rows[i];
        }
    }
    return &none;
}

// Whether the build has this backend.
static bool is_built(int kind)
{
    return mxn__kernel_table(kind) != NULL;
}

static void each_operator_has_the_kernels_that_are_listed(void **state)
{
    (void)state;
    uint32_t found[MXN_KERNEL_KINDS] = {0};
    const mxn_op *ops;
    const uint32_t count = mxn_op_list(&ops);
    int wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (int kind = 0; kind < MXN_KERNEL_KINDS; kind++) {
            bool has = mxn__kernel_find(kind, ops[i].name) != NULL;
            found[kind] += has;
            if (has != (is_built(kind) && row_of(ops[i].name)->has[kind])) {
                print_error(
                    "%s has %s kernel of %s: was that meant? kernel_rows.def says otherwise\n",
                    ops[i].name, has ? "a" : "no", kind == MXN_KERNEL_OWN ? "our own" : "oneDNN");
                wrong++;
            }
        }
    }
    assert_int_equal(wrong, 0);
    for (int kind = 0; kind < MXN_KERNEL_KINDS; kind++) {
        const mxn_kernel_table *table = mxn__kernel_table(kind);
        assert_int_equal(found[kind], table == NULL ? 0 : table->count);  // each row has its own
    }
}

enum { NO_CHOICE = MXN_KERNEL_KINDS, SOMETHING_ELSE };

static int size = 9;  // of the images, square ones

// Which kind would run Convolution for an input of this type and layout.
static int chosen_kind(int dtype, const char *layout)
{
    const mxn_op *op = mxn_op_find("Convolution");
    const char *const keys[] = {"kernel", "num_filter", "no_bias", "layout"};
    const char *const values[] = {"(3,3)", "8", "1", layout};
    mxn_params *params;
    if (mxn_params_parse(op, 4, keys, values, 2, false, &params) != 0) {
        return SOMETHING_ELSE;
    }
    bool last = strcmp(layout, "NHWC") == 0;
    const mxn_shape data = {.ndim = 4, .dims = {2, last ? size : 4, size, last ? 4 : size}};
    const mxn_shape weight = {.ndim = 4, .dims = {8, last ? 3 : 4, 3, last ? 4 : 3}};
    const mxn_shape result = {.ndim = 4,
                              .dims = {2, last ? size - 2 : 8, size - 2, last ? 8 : size - 2}};
    mxn_operand inputs[] = {{.shape = &data, .dtype = dtype}, {.shape = &weight, .dtype = dtype}};
    mxn_operand outputs[] = {{.shape = &result, .dtype = dtype}};
    const mxn_job job = {.params = params, .inputs = inputs, .outputs = outputs};
    mxn_kernel_choice choice;
    int kind = NO_CHOICE;
    if (mxn__kernel_choose(&job, &choice) == 0) {
        kind = SOMETHING_ELSE;
        for (int i = 0; i < MXN_KERNEL_KINDS; i++) {
            const mxn_kernel_entry *entry = mxn__kernel_find(i, "Convolution");
            kind = entry != NULL && entry->run == choice.run ? i : kind;
        }
        kind = choice.run == op->def->forward ? MXN_KERNEL_REF : kind;
    }
    mxn_params_release(params);
    return kind;
}

static void set(const char *variable, const char *value)
{
    if (value == NULL) {
        unsetenv(variable);
    } else {
        setenv(variable, value, 1);
    }
}

static int kind_in_child(const char *kernels, const char *verbose, int dtype, const char *layout)
{
    pid_t child = fork();
    if (child == 0) {
        set("MXNET_CPU_KERNELS", kernels);
        set("ONEDNN_VERBOSE", NULL);
        set("DNNL_VERBOSE", verbose);
        _exit(chosen_kind(dtype, layout));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static bool has_library(void)
{
    return mxn__kernel_find(MXN_KERNEL_DNNL, "Convolution") != NULL;
}

static void value_says_who_computes(void **state)
{
    (void)state;
    int library = has_library() ? MXN_KERNEL_DNNL : MXN_KERNEL_OWN;
    assert_int_equal(kind_in_child(NULL, NULL, MXN_FLOAT32, "NCHW"), MXN_KERNEL_OWN);
    assert_int_equal(kind_in_child("", NULL, MXN_FLOAT32, "NCHW"), MXN_KERNEL_OWN);
    assert_int_equal(kind_in_child("auto", NULL, MXN_FLOAT32, "NCHW"), MXN_KERNEL_OWN);
    assert_int_equal(kind_in_child("own", NULL, MXN_FLOAT32, "NCHW"), MXN_KERNEL_OWN);
    assert_int_equal(kind_in_child("ref", NULL, MXN_FLOAT32, "NCHW"), MXN_KERNEL_REF);
    assert_int_equal(kind_in_child("dnnl", NULL, MXN_FLOAT32, "NCHW"),
                     has_library() ? library : NO_CHOICE);
}

static void log_of_the_library_shows_the_library(void **state)
{
    (void)state;
    int library = has_library() ? MXN_KERNEL_DNNL : MXN_KERNEL_OWN;
    assert_int_equal(kind_in_child("auto", "1", MXN_FLOAT32, "NCHW"), library);
    assert_int_equal(kind_in_child(NULL, "2", MXN_FLOAT32, "NCHW"), library);
    assert_int_equal(kind_in_child(NULL, "0", MXN_FLOAT32, "NCHW"), MXN_KERNEL_OWN);
    assert_int_equal(kind_in_child("own", "1", MXN_FLOAT32, "NCHW"), MXN_KERNEL_OWN);
}

static void job_that_is_declined_goes_to_the_next(void **state)
{
    (void)state;
    assert_int_equal(kind_in_child("auto", NULL, MXN_FLOAT64, "NCHW"), MXN_KERNEL_REF);
    assert_int_equal(kind_in_child("own", NULL, MXN_FLOAT32, "NHWC"), MXN_KERNEL_REF);
    assert_int_equal(kind_in_child("own", NULL, MXN_FLOAT16, "NCHW"), MXN_KERNEL_REF);
}

// A result of 4 x 4 fills a quarter of our kernel's tile, one of 5 x 5 more.
static void convolution_to_a_small_plane_goes_to_the_library(void **state)
{
    (void)state;
    const int library = has_library() ? MXN_KERNEL_DNNL : MXN_KERNEL_OWN;
    size = 6;
    assert_int_equal(kind_in_child("auto", NULL, MXN_FLOAT32, "NCHW"), library);
    assert_int_equal(kind_in_child("own", NULL, MXN_FLOAT32, "NCHW"), MXN_KERNEL_OWN);
    size = 4;
    assert_int_equal(kind_in_child(NULL, NULL, MXN_FLOAT32, "NCHW"), library);
    size = 7;
    assert_int_equal(kind_in_child("auto", NULL, MXN_FLOAT32, "NCHW"), MXN_KERNEL_OWN);
    size = 9;
}

static void unknown_value_fails_every_execution(void **state)
{
    (void)state;
    assert_int_equal(kind_in_child("fast", NULL, MXN_FLOAT32, "NCHW"), NO_CHOICE);
    setenv("MXNET_CPU_KERNELS", "fast", 1);
    mxn_array *in = op_array(MXN_FLOAT32, 1, (const int64_t[]){2}, NULL, 1), *out = NULL;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(op_run("exp", NULL, 1, &in, &out, MXN_WRITE), MXP_EVALUE);
        assert_non_null(strstr(mxp_last_error(), "MXNET_CPU_KERNELS=fast"));
        assert_non_null(strstr(mxp_last_error(), "auto, dnnl, own or ref"));
    }
    assert_int_equal(mxn_kernels_check(), MXP_EVALUE);
    mxn_array_release(in);
    mxn_array_release(out);
}

static void every_kernel_is_one_of_an_operator(void **state)
{
    (void)state;
    const mxn_kernel_table *table = &mxn__kernels_own;
    for (uint32_t i = 0; i < table->count; i++) {
        const mxn_op *op = mxn_op_find(table->entries[i].op);
        assert_non_null(op);
        assert_string_equal(op->name, table->entries[i].op);
        assert_ptr_equal(mxn__kernel_find(MXN_KERNEL_OWN, op->name), &table->entries[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operator_has_the_kernels_that_are_listed),
        cmocka_unit_test(every_kernel_is_one_of_an_operator),
        cmocka_unit_test(value_says_who_computes),
        cmocka_unit_test(log_of_the_library_shows_the_library),
        cmocka_unit_test(job_that_is_declined_goes_to_the_next),
        cmocka_unit_test(convolution_to_a_small_plane_goes_to_the_library),
        cmocka_unit_test(unknown_value_fails_every_execution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
