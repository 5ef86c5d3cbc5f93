// SPDX-License-Identifier: Apache-2.0
// What is read of the text of an optimizer, and what is refused.
#include "cmocka_all.h"

#include <math.h>
#include <mxprof/error.h>
#include <stdio.h>
#include <string.h>

#include "runtime/kvstore/optimizer_text.h"

static mxn_kv_optimizer *read_text(const char *text)
{
    mxn_kv_optimizer *optimizer = NULL;
    if (mxn__kv_optimizer_read(text, strlen(text), &optimizer) != MXP_OK) {
        fail_msg("%s: %s", text, mxp_last_error());
    }
    return optimizer;
}

static void assert_refused(const char *text, int error, const char *part)
{
    mxn_kv_optimizer *optimizer = NULL;
    assert_int_equal(mxn__kv_optimizer_read(text, strlen(text), &optimizer), error);
    assert_null(optimizer);
    if (strstr(mxp_last_error(), part) == NULL) {
        fail_msg("'%s' does not contain '%s'", mxp_last_error(), part);
    }
}

static void arguments_that_are_missing_have_the_defaults(void **state)
{
    (void)state;
    mxn_kv_optimizer *adam = read_text("{\"name\": \"Adam\"}");
    assert_true(adam->settings.lr == 0.001 && adam->settings.beta1 == 0.9);
    assert_true(adam->settings.rescale_grad == 1 && isnan(adam->settings.clip_gradient));
    mxn__kv_optimizer_free(adam);
    mxn_kv_optimizer *rmsprop = read_text("{\"name\": \"rmsprop\", \"args\": {\"gamma1\": 0.5, "
                                          "\"rho\": 0.25, \"gamma2\": null, \"centered\": true}}");
    assert_true(rmsprop->settings.rho == 0.5 && rmsprop->settings.momentum == 0.9);
    assert_true(rmsprop->settings.centered == 1 && isnan(rmsprop->settings.clip_weights));
    mxn__kv_optimizer_free(rmsprop);
}

static void a_schedule_takes_the_learning_rate(void **state)
{
    (void)state;
    mxn_kv_optimizer *sgd = read_text(
        "{\"name\": \"sgd\", \"args\": {\"learning_rate\": 0.5}, \"lr_scheduler\": {\"name\": "
        "\"MultiFactorScheduler\", \"args\": {\"step\": [2, 4], \"factor\": 0.5}}}");
    const double wanted[] = {0.5, 0.5, 0.5, 0.25, 0.25, 0.125};
    for (uint64_t i = 0; i < 6; i++) {
        assert_true(mxn__kv_schedule_rate(&sgd->schedule, i) == wanted[i]);
    }
    const char *change = "{\"set\": {\"learning_rate\": 1}}";
    assert_int_equal(mxn__kv_optimizer_set(sgd, change, strlen(change)), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "lr_scheduler sets the learning rate"));
    mxn__kv_optimizer_free(sgd);
}

static void keys_have_multipliers_or_names(void **state)
{
    (void)state;
    mxn_kv_optimizer *lars =
        read_text("{\"name\": \"lars\", \"lr_mult\": {\"0\": 2}, \"wd_mult\": {\"0\": 0.5}, "
                  "\"index\": {\"1\": \"a_gamma\", \"2\": \"a_bias\", \"3\": \"a_weight\"}}");
    const mxn_kv_of_key first = mxn__kv_optimizer_of_key(lars, "0");
    assert_true(first.lr_mult == 2 && first.wd_mult == 0.5 && first.follows_norms);
    assert_true(mxn__kv_optimizer_of_key(lars, "1").wd_mult == 0);
    assert_false(mxn__kv_optimizer_of_key(lars, "2").follows_norms);
    assert_true(mxn__kv_optimizer_of_key(lars, "3").wd_mult == 1);
    assert_false(mxn__kv_optimizer_of_key(lars, "x_beta").follows_norms);
    mxn__kv_optimizer_free(lars);
    mxn_kv_optimizer *sgd = read_text("{\"name\": \"sgd\", \"index\": {\"1\": \"a_gamma\"}}");
    assert_true(mxn__kv_optimizer_of_key(sgd, "1").wd_mult == 1);
    mxn__kv_optimizer_free(sgd);
}

static void a_change_is_whole_or_nothing(void **state)
{
    (void)state;
    mxn_kv_optimizer *sgd = read_text("{\"name\": \"sgd\", \"lr_mult\": {\"0\": 2}}");
    const char *bad = "{\"set\": {\"learning_rate\": 7, \"wd\": \"x\"}, \"lr_mult\": {\"0\": 3}}";
    assert_int_equal(mxn__kv_optimizer_set(sgd, bad, strlen(bad)), MXP_EINVAL);
    assert_true(sgd->settings.lr == 0.1);
    assert_true(mxn__kv_optimizer_of_key(sgd, "0").lr_mult == 2);
    const char *good = "{\"set\": {\"learning_rate\": 7}, \"lr_mult\": {\"0\": 3}}";
    assert_int_equal(mxn__kv_text_kind(good, strlen(good)), MXN_KV_TEXT_CHANGE);
    assert_int_equal(mxn__kv_optimizer_set(sgd, good, strlen(good)), MXP_OK);
    assert_true(sgd->settings.lr == 7 && sgd->settings.wd == 0);
    assert_true(mxn__kv_optimizer_of_key(sgd, "0").lr_mult == 3);
    mxn__kv_optimizer_free(sgd);
}

static void what_is_wrong_is_named(void **state)
{
    (void)state;
    assert_refused("", MXP_EINVAL, "byte");
    assert_refused("[]", MXP_EINVAL, "it must be an object");
    assert_refused("{}", MXP_EINVAL, "must have a \"name\"");
    assert_refused("{\"name\": \"mine\"}", MXP_ENOTSUP, "no optimizer \"mine\" is built in; there");
    assert_refused("{\"name\": \"sgd\", \"code\": 1}", MXP_EINVAL, "no member \"code\"");
    assert_refused("{\"name\": \"sgd\", \"name\": \"sgd\"}", MXP_EINVAL, "duplicate");
    assert_refused("{\"name\": \"sgd\", \"args\": {\"beta1\": 1}}", MXP_EINVAL,
                   "sgd has no argument \"beta1\"; there are learning_rate, wd,");
    assert_refused("{\"name\": \"sgd\", \"args\": {\"wd\": null}}", MXP_EINVAL,
                   "\"wd\" of sgd must be a number");
    assert_refused("{\"name\": \"sgd\", \"args\": {\"wd\": 1e999}}", MXP_EINVAL, "overflow");
    assert_refused("{\"name\": \"sgd\", \"args\": {\"begin_num_update\": -1}}", MXP_EINVAL,
                   "must not be negative");
    assert_refused("{\"name\": \"sgd\", \"lr_mult\": {\"0\": \"a\"}}", MXP_EINVAL,
                   "\"lr_mult\": \"0\" must be a number");
    assert_refused("{\"name\": \"sgd\", \"lr_scheduler\": {\"name\": \"FactorScheduler\"}}",
                   MXP_EINVAL, "\"step\" is missing");
    assert_refused("{\"name\": \"sgd\", \"lr_scheduler\": {\"name\": \"os.system\"}}", MXP_ENOTSUP,
                   "no schedule \"os.system\"");
    assert_refused("[[[[[[[[[[[[[[[[[", MXP_EINVAL, "byte 16 is more than 16 levels deep");
}

static void a_text_has_an_end(void **state)
{
    (void)state;
    static char text[MXN_KV_TEXT_BYTES + 1];
    memset(text, ' ', sizeof text - 1);
    static const char name[] = "{\"name\": \"sgd\"}";
    memcpy(text, name, sizeof name - 1);
    assert_refused(text, MXP_EINVAL, "it has 1048576 bytes; at most 1048575 are read");
    text[MXN_KV_TEXT_BYTES - 1] = '\0';
    mxn__kv_optimizer_free(read_text(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_that_are_missing_have_the_defaults),
        cmocka_unit_test(a_schedule_takes_the_learning_rate),
        cmocka_unit_test(keys_have_multipliers_or_names),
        cmocka_unit_test(a_change_is_whole_or_nothing),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(a_text_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
