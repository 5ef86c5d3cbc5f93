// SPDX-License-Identifier: Apache-2.0
// The table of optimizers. A rule fills in the operator of an update; who has the arrays runs it.
#include "runtime/kvstore/update_rules.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>

#define PLACE(member) offsetof(mxn_kv_settings, member)
#define ARGUMENT(name_, kind_, value_)                                                    \
    {                                                                                     \
        .name = #name_, .kind = MXN_KV_##kind_, .offset = PLACE(name_), .value = (value_) \
    }
#define CALLED(name_, kind_, member, value_)                                               \
    {                                                                                      \
        .name = #name_, .kind = MXN_KV_##kind_, .offset = PLACE(member), .value = (value_) \
    }
#define UNSET ((double)NAN)

const mxn_kv_argument mxn__kv_common_arguments[] = {
    CALLED(learning_rate, OPTIONAL, lr, UNSET),
    ARGUMENT(wd, NUMBER, 0),
    ARGUMENT(rescale_grad, NUMBER, 1),
    ARGUMENT(clip_gradient, OPTIONAL, UNSET),
    ARGUMENT(begin_num_update, NUMBER, 0),
    ARGUMENT(multi_precision, FLAG, 0),
    CALLED(aggregate_num, OPTIONAL, unused, 0),
    CALLED(lazy_update, FLAG, unused, 0),
    {.name = NULL},
};

// ---- operators ---------------------------------------------------------------------------------
static char *new_value(mxn_kv_operation *operation, const char *key)
{
    assert(operation->count < MXN_KV_PAIRS);
    operation->keys[operation->count] = key;
    return operation->values[operation->count++];
}

void mxn__kv_operation_add(mxn_kv_operation *operation, const char *key, double value)
{
    snprintf(new_value(operation, key), MXN_KV_VALUE, "%.17g", value);
}

static void add_given(mxn_kv_operation *operation, const char *key, double value)
{
    if (!isnan(value)) {
        mxn__kv_operation_add(operation, key, value);
    }
}

static void add_list(mxn_kv_operation *operation, const char *key, double value)
{
    snprintf(new_value(operation, key), MXN_KV_VALUE, "[%.17g]", value);
}

static void begin_with(const char *name, const mxn_kv_settings *s, const mxn_kv_step *step,
                       mxn_kv_operation *operation)
{
    operation->name = name;
    operation->count = 0;
    mxn__kv_operation_add(operation, "lr", step->lr);
    mxn__kv_operation_add(operation, "wd", step->wd);
    mxn__kv_operation_add(operation, "rescale_grad", s->rescale_grad);
}

static void begin(const char *name, const mxn_kv_settings *s, const mxn_kv_step *step,
                  mxn_kv_operation *operation)
{
    begin_with(name, s, step, operation);
    add_given(operation, "clip_gradient", s->clip_gradient);
}

// ---- descent -----------------------------------------------------------------------------------
static uint32_t one_with_momentum(const mxn_kv_settings *s)
{
    return s->momentum != 0 ? 1 : 0;
}

static void descend(const char *name, const mxn_kv_settings *s, const mxn_kv_step *step,
                    mxn_kv_operation *operation)
{
    begin(name, s, step, operation);
    if (s->momentum != 0) {
        mxn__kv_operation_add(operation, "momentum", step->momentum);
    }
}

static void sgd(const mxn_kv_settings *s, const mxn_kv_step *step, mxn_kv_operation *operation)
{
    const char *plain = step->mixed ? "mp_sgd_update" : "sgd_update";
    const char *with_momentum = step->mixed ? "mp_sgd_mom_update" : "sgd_mom_update";
    descend(s->momentum != 0 ? with_momentum : plain, s, step, operation);
}

static void nag(const mxn_kv_settings *s, const mxn_kv_step *step, mxn_kv_operation *operation)
{
    const char *plain = step->mixed ? "mp_sgd_update" : "sgd_update";
    const char *with_momentum = step->mixed ? "mp_nag_mom_update" : "nag_mom_update";
    descend(s->momentum != 0 ? with_momentum : plain, s, step, operation);
}

static void signum(const mxn_kv_settings *s, const mxn_kv_step *step, mxn_kv_operation *operation)
{
    descend(s->momentum != 0 ? "signum_update" : "signsgd_update", s, step, operation);
    if (s->momentum != 0) {
        mxn__kv_operation_add(operation, "wd_lh", s->wd_lh);
    }
}

// The rates are arrays, which who runs it makes.
static void lars(const mxn_kv_settings *s, const mxn_kv_step *step, mxn_kv_operation *operation)
{
    static const char *const names[2][2] = {
        {"preloaded_multi_sgd_update", "preloaded_multi_sgd_mom_update"},
        {"preloaded_multi_mp_sgd_update", "preloaded_multi_mp_sgd_mom_update"}};
    *operation = (mxn_kv_operation){.name = names[step->mixed][s->momentum != 0]};
    mxn__kv_operation_add(operation, "rescale_grad", s->rescale_grad);
    add_given(operation, "clip_gradient", s->clip_gradient);
    mxn__kv_operation_add(operation, "num_weights", 1);
    if (s->momentum != 0) {
        mxn__kv_operation_add(operation, "momentum", step->momentum);
    }
}

static const mxn_kv_argument sgd_arguments[] = {ARGUMENT(momentum, NUMBER, 0), {.name = NULL}};
static const mxn_kv_argument nag_arguments[] = {ARGUMENT(momentum, NUMBER, 0.9), {.name = NULL}};
static const mxn_kv_argument signum_arguments[] = {
    ARGUMENT(momentum, NUMBER, 0.9), ARGUMENT(wd_lh, NUMBER, 0), {.name = NULL}};
static const mxn_kv_argument lars_arguments[] = {
    ARGUMENT(momentum, NUMBER, 0),
    ARGUMENT(eta, NUMBER, 0.001),
    ARGUMENT(eps, NUMBER, 0),
    ARGUMENT(momentum_correction, FLAG, 1),
    {.name = NULL},
};

// ---- running means -----------------------------------------------------------------------------
static uint32_t two(const mxn_kv_settings *s)
{
    (void)s;
    return 2;
}

static uint32_t three(const mxn_kv_settings *s)
{
    (void)s;
    return 3;
}

static uint32_t three_if_centered(const mxn_kv_settings *s)
{
    return s->centered != 0 ? 3 : 1;
}

static void add_means(const mxn_kv_settings *s, mxn_kv_operation *operation)
{
    mxn__kv_operation_add(operation, "beta1", s->beta1);
    mxn__kv_operation_add(operation, "beta2", s->beta2);
    mxn__kv_operation_add(operation, "epsilon", s->epsilon);
}

static void adam(const mxn_kv_settings *s, const mxn_kv_step *step, mxn_kv_operation *operation)
{
    mxn_kv_step corrected = *step;
    corrected.lr *= sqrt(1 - pow(s->beta2, step->count)) / (1 - pow(s->beta1, step->count));
    begin("adam_update", s, &corrected, operation);
    add_means(s, operation);
}

static void ftml(const mxn_kv_settings *s, const mxn_kv_step *step, mxn_kv_operation *operation)
{
    begin_with("ftml_update", s, step, operation);
    add_given(operation, "clip_grad", s->clip_gradient);
    add_means(s, operation);
    mxn__kv_operation_add(operation, "t", step->count);
}

static void ftrl(const mxn_kv_settings *s, const mxn_kv_step *step, mxn_kv_operation *operation)
{
    begin("ftrl_update", s, step, operation);
    mxn__kv_operation_add(operation, "lamda1", s->lamda1);
    mxn__kv_operation_add(operation, "beta", s->beta);
}

static void rmsprop(const mxn_kv_settings *s, const mxn_kv_step *step, mxn_kv_operation *operation)
{
    begin(s->centered != 0 ? "rmspropalex_update" : "rmsprop_update", s, step, operation);
    mxn__kv_operation_add(operation, "rho", s->rho);
    mxn__kv_operation_add(operation, "epsilon", s->epsilon);
    add_given(operation, "clip_weights", s->clip_weights);
    if (s->centered != 0) {
        mxn__kv_operation_add(operation, "momentum", s->momentum);
    }
}

static void lamb(const mxn_kv_settings *s, const mxn_kv_step *step, mxn_kv_operation *operation)
{
    *operation =
        (mxn_kv_operation){.name = step->mixed ? "_multi_mp_lamb_update" : "_multi_lamb_update"};
    add_list(operation, "learning_rates", step->lr);
    add_list(operation, "wds", step->wd);
    add_list(operation, "step_count", step->count);
    add_means(s, operation);
    mxn__kv_operation_add(operation, "bias_correction", s->bias_correction);
    mxn__kv_operation_add(operation, "rescale_grad", s->rescale_grad);
    add_given(operation, "clip_gradient", s->clip_gradient);
    add_given(operation, "lower_bound", s->lower_bound);
    add_given(operation, "upper_bound", s->upper_bound);
}

static const mxn_kv_argument adam_arguments[] = {ARGUMENT(beta1, NUMBER, 0.9),
                                                 ARGUMENT(beta2, NUMBER, 0.999),
                                                 ARGUMENT(epsilon, NUMBER, 1e-8),
                                                 {.name = NULL}};
static const mxn_kv_argument ftml_arguments[] = {ARGUMENT(beta1, NUMBER, 0.6),
                                                 ARGUMENT(beta2, NUMBER, 0.999),
                                                 ARGUMENT(epsilon, NUMBER, 1e-8),
                                                 {.name = NULL}};
static const mxn_kv_argument ftrl_arguments[] = {
    ARGUMENT(lamda1, NUMBER, 0.01), ARGUMENT(beta, NUMBER, 1), {.name = NULL}};
static const mxn_kv_argument rmsprop_arguments[] = {
    ARGUMENT(rho, NUMBER, 0.9),
    ARGUMENT(momentum, NUMBER, 0.9),
    ARGUMENT(epsilon, NUMBER, 1e-8),
    ARGUMENT(centered, FLAG, 0),
    ARGUMENT(clip_weights, OPTIONAL, UNSET),
    CALLED(gamma1, ALIAS, rho, UNSET),
    CALLED(gamma2, ALIAS, momentum, UNSET),
    {.name = NULL},
};
static const mxn_kv_argument lamb_arguments[] = {
    ARGUMENT(beta1, NUMBER, 0.9),
    ARGUMENT(beta2, NUMBER, 0.999),
    ARGUMENT(epsilon, NUMBER, 1e-6),
    ARGUMENT(lower_bound, OPTIONAL, UNSET),
    ARGUMENT(upper_bound, OPTIONAL, UNSET),
    ARGUMENT(bias_correction, FLAG, 1),
    {.name = NULL},
};

// ---- the table ---------------------------------------------------------------------------------
static const mxn_kv_rule rules[] = {
    {"sgd", 0.1, sgd_arguments, true, true, false, false, one_with_momentum, sgd},
    {"nag", 0.1, nag_arguments, true, true, false, false, one_with_momentum, nag},
    {"lars", 0.1, lars_arguments, true, true, true, true, one_with_momentum, lars},
    {"signum", 0.01, signum_arguments, false, false, false, false, one_with_momentum, signum},
    {"adam", 0.001, adam_arguments, false, false, false, false, two, adam},
    {"rmsprop", 0.001, rmsprop_arguments, false, false, false, false, three_if_centered, rmsprop},
    {"ftrl", 0.1, ftrl_arguments, false, false, false, false, two, ftrl},
    {"ftml", 0.0025, ftml_arguments, false, false, false, false, three, ftml},
    {"lamb", 0.001, lamb_arguments, true, false, false, false, two, lamb},
};

enum { RULES = sizeof rules / sizeof rules[0] };

const mxn_kv_rule *mxn__kv_rule_at(uint32_t index)
{
    return index < RULES ? &rules[index] : NULL;
}

const mxn_kv_rule *mxn__kv_rule_find(const char *name)
{
    for (uint32_t i = 0; i < RULES; i++) {
        if (strcasecmp(rules[i].name, name) == 0) {
            return &rules[i];
        }
    }
    return NULL;
}
