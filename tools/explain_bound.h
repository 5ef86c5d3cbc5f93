// SPDX-License-Identifier: Apache-2.0
// What is said of the ways between the processes of a job, and of its owners: which of them bounds
// its communication.
#ifndef MXP_TOOLS_EXPLAIN_BOUND_H
#define MXP_TOOLS_EXPLAIN_BOUND_H

#include "explain_ranks.h"

// A row of an owner, if the process has rounds. `waits` lives until the bounds are made.
// MXP_ENOMEM.
int mxp__explain_owner_add(mxp_explain_ranks *ranks, const mxp_rank_waits *waits, const char *name,
                           bool is_apart);
// Owners are all there, and in their order. MXP_ENOMEM.
int mxp__explain_bound_make(mxp_explain_ranks *ranks, const mxp_rank *workers, size_t count);

void mxp__explain_bound_put(const mxp_explain_ranks *ranks, const mxp_screen *screen,
                            mxp_strbuf *out);
void mxp__explain_bound_json(const mxp_explain_ranks *ranks, mxp_json *json);  // as members

#endif
