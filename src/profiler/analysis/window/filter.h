// SPDX-License-Identifier: Apache-2.0
// Which records are chosen: by globs of names, scopes and threads, and by phases. Several of one
// kind are "or", the kinds are "and". It chooses rows; sums that rows are compared with are of all.
#ifndef MXP_ANALYSIS_FILTER_H
#define MXP_ANALYSIS_FILTER_H

#include "profiler/analysis/window/scope_tree.h"

typedef enum mxp_filter_kind {
    MXP_FILTER_NAME,
    MXP_FILTER_SCOPE,  // of the whole path; what is inside a chosen scope is chosen
    MXP_FILTER_THREAD,  // "thread 2" where it has no name, or its number
    MXP_FILTER_KINDS
} mxp_filter_kind;

// What is wanted. No globs of a kind: all.
typedef struct mxp_filter_wish {
    const char *const *globs[MXP_FILTER_KINDS];
    size_t counts[MXP_FILTER_KINDS];
    unsigned phases;  // 1 << MXP_PHASE_*; 0: all
} mxp_filter_wish;

// The answer for each id of a process. Null: all.
typedef struct mxp_filter {
    bool *chosen[MXP_FILTER_KINDS];  // by name id, name id of the scope, index of the thread
    size_t sizes[MXP_FILTER_KINDS];
    unsigned phases;
    // A kind of which nothing is chosen, and the glob; MXP_FILTER_KINDS: there is none.
    mxp_filter_kind empty_kind;
    const char *empty_glob;
} mxp_filter;

// MXP_ENOMEM. The filter is valid as long as the process.
int mxp__filter_make(const mxp_source *process, const mxp_filter_wish *wish, mxp_filter *filter);
void mxp__filter_fini(mxp_filter *filter);

static inline bool mxp__filter_takes_id(const mxp_filter *filter, mxp_filter_kind kind, uint32_t id)
{
    return filter->chosen[kind] == NULL || (id < filter->sizes[kind] && filter->chosen[kind][id]);
}

// `phase`: of operators, MXP_PHASE_NONE of all else.
static inline bool mxp__filter_takes(const mxp_filter *filter, uint32_t name, uint32_t scope,
                                     uint32_t thread, unsigned phase)
{
    return mxp__filter_takes_id(filter, MXP_FILTER_NAME, name) &&
           mxp__filter_takes_id(filter, MXP_FILTER_SCOPE, scope) &&
           mxp__filter_takes_id(filter, MXP_FILTER_THREAD, thread) &&
           (filter->phases == 0 || (filter->phases >> phase & 1) != 0);
}

enum { MXP_NEAREST = 5 };

// Appends the names, scopes or threads of the process that are most like `glob`, at most
// MXP_NEAREST, as "'conv0', 'conv1'". Nothing: there are none at all. MXP_ENOMEM.
int mxp__filter_nearest(const mxp_source *process, mxp_filter_kind kind, const char *glob,
                        mxp_strbuf *out);
// Appends the name of a thread, or "thread 2".
void mxp__thread_label(const mxp_source *process, uint32_t thread, mxp_strbuf *out);

#endif
