// SPDX-License-Identifier: Apache-2.0
// See remedies.h.
#include "profiler/analysis/causes/remedies.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/fail.h"

static const double twice_as_fast = 0.5;
static const uint64_t unknown_most = 100;  // one part in so many of the path may be unknown

static const char memory_for[] = "the replay of all steps";

// ---- whether it can be replayed ----------------------------------------------------------------
static bool has_gaps(const mxp_facts *facts, size_t first, size_t end)
{
    bool has = false;
    for (size_t i = first; i < end; i++) {
        has |= facts->steps->all[i].has_loss || facts->steps->all[i].has_pause;
    }
    return has;
}

static bool is_unknown(const mxp_facts *facts)
{
    uint64_t unknown_ns = 0;
    for (size_t i = 0; i < facts->rows.count; i++) {
        const mxp_path_row *row = &facts->rows.rows[i];
        unknown_ns += row->kind == MXP__PATH_UNKNOWN ? row->total_ns : 0;
    }
    return unknown_ns * unknown_most > facts->rows.total_ns || facts->rows.contradictions > 0;
}

static int check_exact(mxp_remedies *remedies)
{
    mxp_replayed replayed;
    int error = mxp__replay_run(&remedies->plan, &mxp__no_changes, &replayed);
    if (error == MXP_ENOTSUP) {
        remedies->state = MXP_REMEDIES_INEXACT;
        return MXP_OK;
    }
    if (error != MXP_OK) {
        return error;
    }
    bool is_exact = replayed.wrong_op == MXP__NO_OP;
    for (size_t i = 0; i < replayed.count; i++) {
        is_exact &= replayed.lengths_ns[i] == replayed.recorded_ns[i];
    }
    remedies->state = is_exact ? MXP_REMEDIES_EXACT : MXP_REMEDIES_INEXACT;
    mxp__replayed_fini(&replayed);
    return MXP_OK;
}

int mxp__remedies_open(const mxp_facts *facts, uint64_t limit_bytes, mxp_remedies *remedies)
{
    *remedies = (mxp_remedies){
        .facts = facts, .changes = mxp__no_changes, .tiny_host = 1, .program_host = 1};
    if (facts->count == 0 || facts->operators == 0) {
        remedies->state = MXP_REMEDIES_NO_OPERATORS;
        return MXP_OK;
    }
    const mxp_step_window *all = facts->steps->all;
    const size_t first = facts->at[0].place, end = facts->at[facts->count - 1].place + 1;
    remedies->first = first;
    remedies->state = has_gaps(facts, first, end) ? MXP_REMEDIES_LOSSES : MXP_REMEDIES_UNKNOWN;
    if (remedies->state == MXP_REMEDIES_LOSSES || is_unknown(facts)) {
        return MXP_OK;
    }
    int error =
        mxp__graph_load_waits(&facts->steps->index, all[first].begin_ns, all[end - 1].end_ns,
                              facts->steps->waits > 0, limit_bytes, &remedies->graph);
    if (error == MXP_ENOMEM) {
        remedies->state = MXP_REMEDIES_TOO_LARGE;
        return MXP_OK;
    }
    if (error == MXP_OK) {
        error = mxp__replay_plan_make(&remedies->graph, facts->steps, first, end, &remedies->plan);
    }
    if (error == MXP_OK) {
        error = check_exact(remedies);
    }
    if (error != MXP_OK) {
        mxp__remedies_fini(remedies);
    }
    return error;
}

void mxp__remedies_fini(mxp_remedies *remedies)
{
    const size_t names = remedies->facts == NULL ? 0 : remedies->facts->process->name_count;
    mxp__replay_plan_fini(&remedies->plan);
    mxp__graph_fini(&remedies->graph);
    mxp__free(remedies->by_name, names * sizeof *remedies->by_name);
    mxp__free(remedies->by_scope, names * sizeof *remedies->by_scope);
    mxp__free(remedies->no_wait, names * sizeof *remedies->no_wait);
    *remedies = (mxp_remedies){0};
}

// ---- changes -----------------------------------------------------------------------------------
bool mxp__remedy_exists(const mxp_cause *cause)
{
    // What is loaded beside the program already is not mended by that.
    return (cause->id == MXP_CAUSE_INPUT && !cause->waits_for_workers) ||
           cause->id == MXP_CAUSE_WAIT || cause->id == MXP_CAUSE_LAYER ||
           cause->id == MXP_CAUSE_PROGRAM || cause->id == MXP_CAUSE_TINY ||
           cause->id == MXP_CAUSE_ALLOCATION;
}

static int make_factors(const mxp_remedies *remedies, double **factors)
{
    const size_t names = remedies->facts->process->name_count;
    if (*factors != NULL) {
        return MXP_OK;
    }
    *factors = mxp__alloc(names * sizeof **factors);
    if (*factors == NULL) {
        return mxp__fail_memory(memory_for);
    }
    for (size_t i = 0; i < names; i++) {
        (*factors)[i] = 1;
    }
    return MXP_OK;
}

// All scopes of a layer; of what is in no layer all operators of the name.
static int scale_layer(mxp_remedies *remedies, const mxp_cause *cause, double factor)
{
    const mxp_facts *facts = remedies->facts;
    const bool has_layer = cause->layer != 0;
    int error = make_factors(remedies, has_layer ? &remedies->by_scope : &remedies->by_name);
    if (error != MXP_OK) {
        return error;
    }
    if (!has_layer) {
        remedies->by_name[cause->places[0].name] = factor;
    }
    for (uint32_t id = 0; has_layer && id < facts->process->name_count; id++) {
        if (facts->node_of[id] != 0 &&
            mxp__scope_tree_within(&facts->scopes, facts->node_of[id], cause->layer)) {
            remedies->by_scope[id] = factor;
        }
    }
    remedies->changes.by_scope = remedies->by_scope;
    remedies->changes.by_name = remedies->by_name;
    return MXP_OK;
}

static int leave_out(mxp_remedies *remedies, const mxp_cause *cause, bool is_out)
{
    const size_t names = remedies->facts->process->name_count;
    if (remedies->no_wait == NULL) {
        remedies->no_wait = mxp__alloc(names * sizeof *remedies->no_wait);
        if (remedies->no_wait == NULL) {
            return mxp__fail_memory(memory_for);
        }
    }
    remedies->no_wait[cause->places[0].name] = is_out;
    remedies->changes.no_wait = remedies->no_wait;
    return MXP_OK;
}

// What an operator takes if its memory is in the pool.
static int64_t usual_ns(void *context, const mxp_graph *graph, uint32_t op)
{
    const mxp_facts *facts = context;
    const int64_t fresh_ns = mxp__facts_fresh_ns(facts, graph, op);
    const int64_t took_ns = graph->ops[op].end_ns - graph->ops[op].start_ns;
    return fresh_ns > 0 ? took_ns - fresh_ns : MXP__NS_NONE;
}

static int change(mxp_remedies *remedies, const mxp_cause *cause, bool is_mended)
{
    switch (cause->id) {
    case MXP_CAUSE_INPUT:
        remedies->changes.prefetch_input = is_mended;
        return MXP_OK;
    case MXP_CAUSE_PROGRAM:
        remedies->program_host = is_mended ? twice_as_fast : 1;
        remedies->changes.host = remedies->tiny_host * remedies->program_host;
        return MXP_OK;
    case MXP_CAUSE_TINY:
        remedies->tiny_host = is_mended ? 1 - cause->share : 1;
        remedies->changes.host = remedies->tiny_host * remedies->program_host;
        return MXP_OK;
    case MXP_CAUSE_ALLOCATION:
        remedies->changes.run_ns = is_mended ? usual_ns : NULL;
        remedies->changes.context = (void *)remedies->facts;
        return MXP_OK;
    case MXP_CAUSE_WAIT:
        return leave_out(remedies, cause, is_mended);
    default:
        assert(cause->id == MXP_CAUSE_LAYER && "there is a change for the cause");
        return scale_layer(remedies, cause, is_mended ? cause->factor : 1);
    }
}

int mxp__remedies_mend(mxp_remedies *remedies, const mxp_cause *cause)
{
    return change(remedies, cause, true);
}

int mxp__remedies_undo(mxp_remedies *remedies, const mxp_cause *cause)
{
    return change(remedies, cause, false);
}

int mxp__remedies_lengths(const mxp_remedies *remedies, double *lengths_ns)
{
    assert(remedies->state == MXP_REMEDIES_EXACT && "only what was exact is replayed");
    const mxp_facts *facts = remedies->facts;
    mxp_replayed replayed;
    int error = mxp__replay_run(&remedies->plan, &remedies->changes, &replayed);
    if (error != MXP_OK) {
        return error;
    }
    for (size_t i = 0; i < facts->count; i++) {
        lengths_ns[i] = (double)replayed.lengths_ns[facts->at[i].place - remedies->first];
    }
    mxp__replayed_fini(&replayed);
    return MXP_OK;
}
