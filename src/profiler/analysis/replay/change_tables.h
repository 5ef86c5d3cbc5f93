// SPDX-License-Identifier: Apache-2.0
// A set of changes as tables by name id, as a replay takes them. For what_if.c only.
#ifndef MXP_ANALYSIS_CHANGE_TABLES_H
#define MXP_ANALYSIS_CHANGE_TABLES_H

#include "profiler/analysis/replay/what_if.h"

typedef struct mxp_change_tables {
    mxp_changes changes;
    double *by_name, *by_scope, *by_call;
    bool *no_wait;
    // Ceilings of operators of these names, and of those in these scopes. Null: of none.
    const mxp_ceilings **roof_of_name, **roof_of_scope;
    uint64_t roofless;  // asked for, and not known
    uint32_t bulk;  // of MXP_CHANGE_BULK, 0: none
    bool *pushes;  // calls that push and have their factor, of the graphs so far
    uint32_t names;
} mxp_change_tables;

// The tables stay where they are, for the changes point to them.
// MXP_EINVAL where a glob fits nothing, with the nearest names as detail; MXP_ENOMEM.
int mxp__change_tables_make(const mxp_source *process, const mxp_change_set *set,
                            mxp_change_tables *tables);
// Bulks are known by what the graph has: the calls that push. MXP_ENOMEM.
int mxp__change_tables_for(mxp_change_tables *tables, const mxp_graph *graph);
void mxp__change_tables_fini(mxp_change_tables *tables);

#endif
