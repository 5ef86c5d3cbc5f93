// SPDX-License-Identifier: Apache-2.0
// The catalogue: which tests there are.
#include "profiler/analysis/causes/cause.h"

#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/statistics/bootstrap.h"

const char *mxp__cause_name(mxp_cause_id id)
{
    static const char *const names[] = {
#define MXP_CAUSE_NAME(name, text) text,
        MXP_CAUSES(MXP_CAUSE_NAME)
#undef MXP_CAUSE_NAME
    };
    return names[id];
}

mxp_cause *mxp__causes_add(mxp_causes *causes, mxp_cause_id id, mxp_gain_kind gain)
{
    if (causes->count == MXP_CAUSES_MAX) {
        mxp__fail(MXP_ENOMEM, "more than %d causes", (int)MXP_CAUSES_MAX);
        return NULL;
    }
    mxp_cause *cause = &causes->all[causes->count];
    *cause = (mxp_cause){.id = id, .gain = gain};
    if (gain != MXP_GAIN_NONE) {
        cause->gains = mxp__alloc(causes->steps * sizeof *cause->gains);
        if (cause->gains == NULL) {
            mxp__fail_memory("the gain of each step");
            return NULL;
        }
    }
    causes->count++;
    return cause;
}

void mxp__causes_drop(mxp_causes *causes)
{
    mxp_cause *last = &causes->all[--causes->count];
    mxp__free(last->gains, causes->steps * sizeof *last->gains);
}

void mxp__cause_keep_place(mxp_cause *cause, mxp_cause_place place, double ns)
{
    size_t at = cause->place_count;
    for (; at > 0 && cause->place_ns[at - 1] < ns; at--) {
        if (at < MXP_CAUSE_PLACES) {
            cause->place_ns[at] = cause->place_ns[at - 1];
            cause->places[at] = cause->places[at - 1];
        }
    }
    if (at < MXP_CAUSE_PLACES) {
        cause->place_ns[at] = ns;
        cause->places[at] = place;
        cause->place_count += cause->place_count < MXP_CAUSE_PLACES;
    }
}

void mxp__causes_fini(mxp_causes *causes)
{
    while (causes->count > 0) {
        mxp__causes_drop(causes);
    }
}

int mxp__share_is_above(const mxp_facts *facts, const double *parts_ns, double share, bool *is)
{
    enum { STEPS_MIN = 5 };
    *is = false;
    if (facts->count < STEPS_MIN) {
        return MXP_OK;
    }
    double *shares = mxp__alloc(facts->count * sizeof *shares);
    if (shares == NULL) {
        return mxp__fail_memory("the shares of each step");
    }
    for (size_t i = 0; i < facts->count; i++) {
        const double wall_ns = facts->at[i].wall_ns;
        shares[i] = wall_ns > 0 ? parts_ns[i] / wall_ns : 0;
    }
    mxp_bootstrap bootstrap;
    int error = mxp__bootstrap_init(&bootstrap, shares, facts->count);
    if (error == MXP_OK) {
        *is = mxp__bootstrap_bound(&bootstrap, 0.025) > share;
        mxp__bootstrap_fini(&bootstrap);
    }
    mxp__free(shares, facts->count * sizeof *shares);
    return error;
}

int mxp__causes_find(const mxp_facts *facts, mxp_causes *causes)
{
    static mxp_cause_test *const tests[] = {
        mxp__find_input,     mxp__find_custom,    mxp__find_tiny,  mxp__find_allocation,
        mxp__find_first_run, mxp__find_recording, mxp__find_layer, mxp__find_program,
        mxp__find_chain,     mxp__find_growth};
    int error = MXP_OK;
    *causes = (mxp_causes){.steps = facts->count};
    for (size_t i = 0; error == MXP_OK && i < sizeof tests / sizeof tests[0]; i++) {
        error = tests[i](facts, causes);
    }
    return error;
}
