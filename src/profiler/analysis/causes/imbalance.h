// SPDX-License-Identifier: Apache-2.0
// Several processes that do the same steps: the one with most to do keeps the others waiting.
#ifndef MXP_CAUSES_IMBALANCE_H
#define MXP_CAUSES_IMBALANCE_H

#include "profiler/analysis/causes/verdict.h"

// The steps of one process: their numbers, and what they took without communication.
typedef struct mxp_own_steps {
    uint32_t pid;
    const uint64_t *numbers;
    const double *own_ns;
    size_t count;
} mxp_own_steps;

typedef struct mxp_imbalance {
    size_t pairs;  // numbers that all processes have
    size_t slowest;  // the process that is the slowest most often
    size_t times;  // in how many of the pairs
    double doubt;  // sign test: probability of it being so often the slowest by chance
    double slowest_ns, others_ns;  // its mean own time, the mean of the others
    double noise_ns;  // of the mean of the longest
    // Its series is of the pairs: the longest less the mean of all. None where there are no pairs.
    mxp_causes causes;
} mxp_imbalance;

// Steps are paired by their numbers; of steps with the same number in a process the last counts.
// At least two processes. MXP_ENOMEM.
int mxp__imbalance_find(const mxp_own_steps *processes, size_t count, mxp_imbalance *imbalance);
void mxp__imbalance_fini(mxp_imbalance *imbalance);

#endif
