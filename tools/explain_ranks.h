// SPDX-License-Identifier: Apache-2.0
// The part of `explain` that looks across the workers of a job: who waited for whom, and what the
// one that all wait for does longer than the others.
#ifndef MXP_TOOLS_EXPLAIN_RANKS_H
#define MXP_TOOLS_EXPLAIN_RANKS_H

#include "explain_view.h"
#include "profiler/analysis/clocks/one_clock.h"
#include "profiler/analysis/ranks/absent.h"
#include "profiler/analysis/ranks/bound.h"
#include "profiler/analysis/ranks/straggler.h"

typedef struct mxp_rank_owner {
    const char *name;
    uint64_t rounds;
    double busy_ns;  // of its rounds: adding, or from the last arrival to the last answer
    double spread_ns;  // from the first arrival to the last one
    bool is_apart;  // no worker is in its process
    const mxp_rank_waits *waits;  // null when all is made
} mxp_rank_owner;

typedef struct mxp_rank_key {
    uint64_t key;
    char name[64];
    uint64_t waits, bytes;
    double waited_ns;  // of all workers together
} mxp_rank_key;

typedef struct mxp_explain_ranks {
    mxp_stragglers found;
    mxp_absent_rank absent;  // whom they wait for beside those
    const char **names;  // of the workers, in the order of found.rows
    size_t name_count;  // room for so many
    mxp_rank_owner *owners;
    size_t owner_count, owner_capacity;
    mxp_rank_key *keys;  // those waited for longest first
    size_t key_count, key_capacity;
    const mxp_explained *shown;  // the named worker, or the one that was waited for most
    const char *shown_name;
    // Of the named worker: what takes longer than in the median of the others, "" nothing does.
    char longer[160];
    char host[65];  // of the named worker
    bool is_input;  // it is the loading of its input
    double longer_ns;  // a step
    mxp_bounds bounds;  // links are the workers, owners are `owners`
    char probed[32];  // whom the shown link's probe went to
} mxp_explain_ranks;

// *ranks is null where fewer than two workers tell what they waited for. MXP_ENOMEM, or an error of
// a source.
int mxp__explain_ranks_make(const mxp_explain_view *view, const mxp_one_clock *clocks,
                            uint64_t limit_bytes, mxp_explain_ranks **ranks);
void mxp__explain_ranks_free(mxp_explain_ranks *ranks);  // null is fine

void mxp__explain_ranks_put(const mxp_explain_ranks *ranks, const mxp_screen *screen,
                            mxp_strbuf *out);
// Its verdict alone: who keeps the others waiting, what bounds the job.
void mxp__explain_ranks_say(const mxp_explain_ranks *ranks, const mxp_screen *screen,
                            mxp_strbuf *out);
// Its tables alone, without a verdict: workers, owners, and keys, those waited for longest first.
void mxp__ranks_tables_put(const mxp_explain_ranks *ranks, const mxp_screen *screen,
                           mxp_strbuf *out);
void mxp__ranks_tables_json(const mxp_explain_ranks *ranks, mxp_json *json);  // as members

// The same as the member "between_ranks".
void mxp__explain_ranks_json(const mxp_explain_ranks *ranks, mxp_json *json);

#endif
