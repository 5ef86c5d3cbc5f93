// SPDX-License-Identifier: Apache-2.0
// What steps take once causes are mended: the steps are replayed with the changes of all causes
// that were mended so far. Nothing is said unless the replay without a change is exact.
#ifndef MXP_CAUSES_REMEDIES_H
#define MXP_CAUSES_REMEDIES_H

#include "profiler/analysis/causes/cause.h"
#include "profiler/analysis/replay/replay.h"

typedef enum mxp_remedies_state {
    MXP_REMEDIES_EXACT,
    MXP_REMEDIES_NO_OPERATORS,
    MXP_REMEDIES_LOSSES,  // records were lost, or recording paused, between the steps
    MXP_REMEDIES_UNKNOWN,  // more than 1 % of the path has no record
    MXP_REMEDIES_TOO_LARGE,  // the steps do not fit into memory at once
    MXP_REMEDIES_INEXACT,  // without a change the steps came out otherwise than recorded
} mxp_remedies_state;

typedef struct mxp_remedies {
    const mxp_facts *facts;
    mxp_remedies_state state;
    mxp_graph graph;
    mxp_replay_plan plan;
    size_t first;  // place of the plan's first step
    // What is mended.
    mxp_changes changes;
    double *by_name, *by_scope;  // null, or of all names
    bool *no_wait;
    double tiny_host, program_host;  // factors of what the program does
} mxp_remedies;

// The facts outlive the remedies. What cannot be replayed is a state. MXP_ENOMEM.
int mxp__remedies_open(const mxp_facts *facts, uint64_t limit_bytes, mxp_remedies *remedies);
void mxp__remedies_fini(mxp_remedies *remedies);

// Whether there is a change for the cause: input, waits, tiny operators, memory, a layer, the
// program.
bool mxp__remedy_exists(const mxp_cause *cause);
// Mends the cause besides those that are; or takes its mending back. MXP_ENOMEM.
int mxp__remedies_mend(mxp_remedies *remedies, const mxp_cause *cause);
int mxp__remedies_undo(mxp_remedies *remedies, const mxp_cause *cause);
// Lengths of the chosen steps with all that is mended, ns. MXP_ENOMEM.
int mxp__remedies_lengths(const mxp_remedies *remedies, double *lengths_ns);

// Adds the calls in which the steps' thread waited as candidates. MXP_ENOMEM.
int mxp__find_waits(const mxp_remedies *remedies, mxp_causes *causes);

#endif
