// SPDX-License-Identifier: Apache-2.0
// Kinds of spans: what a span is called, its category, scope, phase and form, as one small number.
// Equal kinds of several processes are one. With each kind the durations of its spans.
#ifndef MXP_TOOLS_PAGE_KINDS_H
#define MXP_TOOLS_PAGE_KINDS_H

#include "profiler/analysis/time/samples.h"
#include "profiler/analysis/window/scope_tree.h"
#include "profiler/trace/source.h"

enum { MXP_PAGE_KINDS_MAX = 65535 };  // and one for all others

typedef enum mxp_page_form {
    MXP_FORM_SPAN,
    MXP_FORM_OPERATOR,
    MXP_FORM_IDLE,  // an operator that does no work of a step, or only what those in it do
    MXP_FORM_WAIT,
    MXP_FORM_ASYNC,  // tasks and frames
    MXP_FORM_INSTANT,
    MXP_FORMS
} mxp_page_form;

typedef struct mxp_page_kind {
    uint32_t name, category, scope;  // in `texts`
    uint8_t phase, form;
    uint64_t count, total_ns, least_ns;
    mxp_samples durations;
} mxp_page_kind;

// Begins as zeros.
typedef struct mxp_page_kinds {
    mxp_texts texts;
    mxp_page_kind *all;
    size_t count, capacity;
    mxp_id_map known;  // by their texts
    // Of the process at hand, by its name ids; mxp__page_kinds_next clears them.
    const mxp_source *process;
    mxp_scope_tree scopes;  // of all processes
    uint32_t *node_of;  // scopes of the process at hand
    uint32_t *plain;  // of MXP_FORM_SPAN and MXP_FORM_ASYNC: kind + 1
    mxp_id_map near;  // of the others
    uint64_t cut_names;  // longer than MXP_PAGE_NAME_MAX
} mxp_page_kinds;

enum { MXP_PAGE_NAME_MAX = 65536 };  // bytes of a name in a page

// What is asked for next is of this process, which outlives the asking. MXP_ENOMEM.
int mxp__page_kinds_next(mxp_page_kinds *kinds, const mxp_source *process);
// The number of a kind: of name and scope ids of the process. MXP_ENOMEM.
int mxp__page_kind_of(mxp_page_kinds *kinds, uint32_t name, uint32_t scope, uint8_t phase,
                      mxp_page_form form, uint32_t *kind);
// Counts a span. MXP_ENOMEM.
int mxp__page_kind_count(mxp_page_kinds *kinds, uint32_t kind, uint64_t duration_ns);
void mxp__page_kinds_fini(mxp_page_kinds *kinds);

#endif
