// SPDX-License-Identifier: Apache-2.0
// There are several workers, and each operator needs what the one before it wrote.
#include "profiler/analysis/causes/cause.h"

#include "base/alloc.h"
#include "base/fail.h"

static const double chain_share = 0.9;  // of a step
static const double chain_width = 1.2;

static void take_links(const mxp_facts *facts, mxp_cause *cause)
{
    for (size_t i = 0; i < facts->chains.count; i++) {
        const mxp_path_row *row = &facts->chains.rows[i];
        const double ns = (double)row->total_ns / (double)facts->count;
        mxp__cause_keep_place(cause, (mxp_cause_place){.name = row->name, .scope = row->scope}, ns);
    }
}

static int is_sure(const mxp_facts *facts, bool *is_most)
{
    double *chain_ns = mxp__alloc(facts->count * sizeof *chain_ns);
    if (chain_ns == NULL) {
        return mxp__fail_memory("the chain of each step");
    }
    for (size_t i = 0; i < facts->count; i++) {
        chain_ns[i] = facts->at[i].dependent_ns;
    }
    int error = mxp__share_is_above(facts, chain_ns, chain_share, is_most);
    mxp__free(chain_ns, facts->count * sizeof *chain_ns);
    return error;
}

int mxp__find_chain(const mxp_facts *facts, mxp_causes *causes)
{
    double wall_ns = 0, run_ns = 0, chain_ns = 0;
    for (size_t i = 0; i < facts->count; i++) {
        wall_ns += facts->at[i].wall_ns;
        run_ns += facts->at[i].run_ns;
        chain_ns += facts->at[i].dependent_ns;
    }
    if (facts->workers < 2 || chain_ns <= chain_share * wall_ns ||
        run_ns >= chain_width * chain_ns) {
        return MXP_OK;
    }
    bool is_most;
    int error = is_sure(facts, &is_most);
    if (error != MXP_OK || !is_most) {
        return error;
    }
    mxp_cause *cause = mxp__causes_add(causes, MXP_CAUSE_CHAIN, MXP_GAIN_NONE);
    if (cause == NULL) {
        return MXP_ENOMEM;
    }
    cause->share = chain_ns / wall_ns;
    cause->width = run_ns / chain_ns;
    cause->workers = facts->workers;
    cause->steps = facts->count;
    take_links(facts, cause);
    return MXP_OK;
}
