// SPDX-License-Identifier: Apache-2.0
// Rules that only a programmer can break, broken on purpose: a debug build ends at once and names
// the rule. Other builds check none of them.
#include "broken_rule.h"
#include "cmocka_all.h"

#ifdef NDEBUG
int main(void)
{
    return 77;  // skipped
}
#else
#include "runtime/engine/push.h"
#include "runtime/engine/variable.h"
#include "runtime/op/execute/kernel_choice.h"
#include "runtime/op/registry/declare.h"
#include "runtime/tensor/tensor.h"

// ---- the engine -------------------------------------------------------------------------------

static void number_without_lock(void)
{
    mxn__operation_id_locked();
}

static void what_needs_a_lock_is_not_called_without(void **state)
{
    (void)state;
    expect_abort(number_without_lock, "mxn__spin_is_held(&mxn__engine.push_lock)");
}

static void complete_second_write(void)
{
    mxn_var *var = mxn_var_new();
    mxp_atomic_set(&var->issued, 2 * MXN__DONE_WRITE);
    const mxn_use second = {.var = (uintptr_t)var | 1, .ticket = MXN__DONE_WRITE};
    mxn__use_complete(&second);
}

static void complete_what_was_not_pushed(void)
{
    const mxn_use use = {.var = (uintptr_t)mxn_var_new()};
    mxn__use_complete(&use);
}

static void uses_complete_in_their_turn(void **state)
{
    (void)state;
    expect_abort(complete_second_write, "a use completes out of its turn");
    expect_abort(complete_what_was_not_pushed, "a use completes out of its turn");
}

// ---- references -------------------------------------------------------------------------------

static void release_twice(void)
{
    mxn_array *array;
    if (mxn_array_new_none(&array) == 0) {
        mxn_array_release(array);
        mxn_array_release(array);
    }
}

static void no_more_references_are_dropped_than_taken(void **state)
{
    (void)state;
    expect_abort(release_twice, "more references are dropped than were taken");
}

// ---- operators --------------------------------------------------------------------------------

static void add_misspelt_row(void)
{
    const mxn_op *ops;
    mxn_op_list(&ops);
    const mxn_kernel_entry row = {.op = "FullyConected"};
    const mxn_kernel_table table = {&row, 1};
    mxn__registry_check_kernels(MXN_KERNEL_OWN, &table);
}

static void a_kernel_is_an_operator_s(void **state)
{
    (void)state;
    expect_abort(add_misspelt_row, "the row of a kernel names no operator");
}

static void differentiate(const mxn_gradient_step *steps)
{
    mxn_op op = *mxn_op_find("relu");
    mxn_op_def def = *op.def;
    def.gradient = steps;
    op.def = &def;
    mxn_params *params;
    const mxn_gradient *gradient;
    if (mxn_params_parse(&op, 0, NULL, NULL, 1, false, &params) == 0) {
        mxn_params_gradient(params, &gradient);
    }
}

static void take_second_input(void)
{
    differentiate(MXN_GRADIENT({.op = "_backward_relu", .takes = "g0 i1"}));
}

static void give_second_input(void)
{
    differentiate(MXN_GRADIENT({.op = "_backward_relu", .takes = "g0 o0", .gives = "1"}));
}

static void a_gradient_speaks_of_inputs_and_outputs_that_are_there(void **state)
{
    (void)state;
    expect_abort(take_second_input, "a step of a gradient takes what is not there");
    expect_abort(give_second_input, "a step of a gradient gives one of an input that is not there");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_needs_a_lock_is_not_called_without),
        cmocka_unit_test(uses_complete_in_their_turn),
        cmocka_unit_test(no_more_references_are_dropped_than_taken),
        cmocka_unit_test(a_kernel_is_an_operator_s),
        cmocka_unit_test(a_gradient_speaks_of_inputs_and_outputs_that_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
