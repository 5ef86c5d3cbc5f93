// SPDX-License-Identifier: Apache-2.0
// Why a worker is the last: what the waits, the steps' ends and the run delay tell of it. Private
// to the folder.
#ifndef MXP_RANKS_STRAGGLER_KIND_H
#define MXP_RANKS_STRAGGLER_KIND_H

#include "profiler/analysis/ranks/step_waits.h"

// For each worker the place of the first one of its host.
void mxp__group_by_host(const mxp_rank *ranks, size_t count, size_t *groups);
// Whether every worker of a group takes so much longer, without communication, than the median of
// the others.
bool mxp__all_are_longer(const mxp_step_waits *waits, size_t group, const mxp_rank_row *rows,
                         double least_ns);

// Sets found->kind, and what is known for it, of the named one. `series` has room for all steps.
void mxp__straggler_explain(const mxp_step_waits *waits, double *series, mxp_stragglers *found);

#endif
