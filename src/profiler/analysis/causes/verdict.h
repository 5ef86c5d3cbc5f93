// SPDX-License-Identifier: Apache-2.0
// Which causes are told. A cause is told if its removal gains more than the noise: half the 95 %
// interval of the mean step, and 1 % of a step at least. The mean gain of all steps must be above
// it with an error of 5 % for all candidates together (Holm; a block bootstrap over the steps).
//
// Causes whose time is on the path come first, then those that are known from a replay, each with
// what it gains after the ones above it are mended. What is no time, growth and chains, comes last.
#ifndef MXP_CAUSES_VERDICT_H
#define MXP_CAUSES_VERDICT_H

#include "profiler/analysis/causes/remedies.h"

enum { MXP_VERDICT_STEPS_MIN = 5 };  // with fewer nothing is said of how steps vary

typedef struct mxp_verdict {
    size_t steps;
    double mean_ns, median_ns, p90_ns;
    bool has_noise;  // there are steps enough
    double noise_ns;
    bool is_noisy;  // noise is above 10 % of a step: nothing small can be told
    // Of the steps' time, by the process's CPU time and its threads' run delay; below 0: unknown.
    double cpu_share, delay_share;
    mxp_causes causes;  // those that are told come first, in their order
    size_t told;
    mxp_remedies_state replay;  // EXACT: gains of causes that can be replayed are from there
} mxp_verdict;

// Looks for all causes. MXP_ENOMEM.
int mxp__verdict_make(const mxp_facts *facts, uint64_t limit_bytes, mxp_verdict *verdict);
void mxp__verdict_fini(mxp_verdict *verdict);

// Mean, noise and lengths alone, of a series of steps.
int mxp__verdict_measure(const double *walls_ns, size_t count, mxp_verdict *verdict);
// Sets a cause's gain, its bounds and its doubt, not adjusted, from its series. MXP_ENOMEM.
int mxp__cause_weigh(mxp_cause *cause, size_t steps, double noise_ns);

#endif
