// SPDX-License-Identifier: Apache-2.0
#include "sim_trace.h"

#include <mxprof/format.h>
#include <mxprof/record.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_source.h"
#include "sim_arena.h"

// A record to be written; those of a thread in the order of their ends, and as they came.
typedef struct entry {
    int64_t end_ns;
    size_t order;
    enum { AN_OP, A_PARENT, A_WAIT, A_SPAN, A_MARK } what;
    size_t at;
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->end_ns != y->end_ns) {
        return x->end_ns < y->end_ns ? -1 : 1;
    }
    return x->order < y->order ? -1 : 1;
}

uint32_t sim_trace_scope(mxp_source *source, uint32_t scope)
{
    char text[16];
    snprintf(text, sizeof text, "layer%u", scope);
    return scope == 0 ? 0 : fake_scope(source, fake_scope(source, 0, "net"), text);
}

static void make_names(mxp_source *source, uint32_t *names)
{
    static const char *const categories[SIM_NAME_END] = {[SIM_NAME_CALL] = "MXNET_C_API",
                                                         [SIM_NAME_WAIT_CALL] = "MXNET_C_API",
                                                         [SIM_NAME_WAIT_ALL_CALL] = "MXNET_C_API",
                                                         [SIM_NAME_INPUT] = "input",
                                                         [SIM_NAME_MEMORY] = "memory",
                                                         [SIM_NAME_COLLECTION] = "python",
                                                         [SIM_NAME_USER] = "mine"};
    for (uint32_t i = 1; i < SIM_NAME_END; i++) {
        const char *category = categories[i] != NULL ? categories[i] : "operator";
        names[i] = fake_span_name(source, category, sim_name(i));
    }
    names[0] = 0;
}

static uint32_t id_of(const sim_run *run, int op)
{
    return op == SIM_NONE ? 0 : run->ops[op].id;
}

static void write_op(mxp_source *source, const sim_run *run, const uint32_t *names, size_t at)
{
    const sim_ran *op = &run->ops[at];
    const sim_op *spec = op->op;
    bool is_parent = spec->kind == SIM_OP_BULK && op->parent == SIM_NONE;
    uint32_t flags = op->phase | op->queue << MXP_OP_QUEUE_SHIFT;
    const sim_ran *head = op->parent == SIM_NONE ? op : &run->ops[op->parent];
    flags |= head->woke ? MXP_OP_WOKE : 0;
    flags |= is_parent ? MXP_OP_BULK_PARENT : 0;
    flags |= spec->kind == SIM_OP_CUSTOM ? MXP_OP_ASYNC : 0;
    mxp_operator record = {.name = names[op->name],
                           .id = op->id,
                           .released_by = id_of(run, op->released_by),
                           .bulk_parent = id_of(run, op->parent),
                           .push_ticks = (uint64_t)op->push_ns,
                           .ready_ticks = (uint64_t)op->ready_ns,
                           .start_ticks = (uint64_t)op->start_ns,
                           .end_ticks = (uint64_t)op->end_ns,
                           .flags = flags,
                           .push_thread = op->push_thread,
                           .scope = sim_trace_scope(source, op->scope),
                           .variable_count = op->parent == SIM_NONE ? spec->var_count : 0};
    uint32_t vars[SIM_VARS_MAX];
    for (uint32_t i = 0; i < spec->var_count; i++) {
        vars[i] = spec->vars[i] + 1;  // 0 is none
    }
    record.variables = vars;
    bool hidden = op->name == SIM_NAME_CUSTOM || op->name == SIM_NAME_CUSTOM_WAIT;
    (hidden ? fake_hidden_operator : fake_operator)(source, op->thread, &record);
}

static void write_wait(mxp_source *source, const sim_run *run, const uint32_t *names, size_t at)
{
    const sim_waited *wait = &run->waits[at];
    // Who ended a wait for everything is not recorded.
    int ended_by = wait->what == MXP_WAIT_ALL ? SIM_NONE : wait->ended_by;
    fake_wait(source, wait->thread,
              &(fake_wait_record){.begin_ticks = (uint64_t)wait->begin_ns,
                                  .end_ticks = (uint64_t)wait->end_ns,
                                  .name = names[wait->name],
                                  .ended_by = id_of(run, ended_by),
                                  .variable = wait->var + 1,
                                  .what = wait->what,
                                  .flags = wait->flags});
}

static void write_entry(mxp_source *source, const sim_run *run, const uint32_t *names,
                        const entry *each)
{
    if (each->what == AN_OP || each->what == A_PARENT) {
        write_op(source, run, names, each->at);
    } else if (each->what == A_WAIT) {
        write_wait(source, run, names, each->at);
    } else if (each->what == A_SPAN) {
        const sim_spanned *span = &run->spans[each->at];
        fake_span(source, span->thread, names[span->name], (uint64_t)span->begin_ns,
                  (uint64_t)span->end_ns);
    } else {
        const sim_marked *mark = &run->marks[each->at];
        fake_meta(source, mark->thread, mark->kind, 0, (uint64_t)mark->at_ns, mark->value);
    }
}

static bool is_paused_at(const sim_run *run, int64_t ns)
{
    bool paused = false;
    for (size_t i = 0; i < run->mark_count && run->marks[i].at_ns <= ns; i++) {
        if (run->marks[i].kind == MXP_META_STATE) {
            paused = run->marks[i].value == 2;
        }
    }
    return paused;
}

static size_t entries_of(const sim_run *run, uint32_t thread, entry *entries)
{
    size_t count = 0;
    for (size_t i = 0; i < run->op_count; i++) {
        const sim_ran *op = &run->ops[i];
        // What runs inside is written first, a bulk behind its members.
        bool is_parent = op->op->kind == SIM_OP_BULK && op->parent == SIM_NONE;
        if (op->thread == thread && !op->is_unrecorded) {
            entries[count++] = (entry){.end_ns = op->end_ns,
                                       .order = is_parent ? 1000000 + i : i,
                                       .what = is_parent ? A_PARENT : AN_OP,
                                       .at = i};
        }
    }
    for (size_t i = 0; i < run->wait_count; i++) {
        if (run->waits[i].thread == thread && !run->waits[i].is_unrecorded) {
            entries[count++] = (entry){
                .end_ns = run->waits[i].end_ns, .order = 2000000 + i, .what = A_WAIT, .at = i};
        }
    }
    for (size_t i = 0; i < run->span_count; i++) {
        if (run->spans[i].thread == thread && !run->spans[i].is_unrecorded) {
            entries[count++] = (entry){
                .end_ns = run->spans[i].end_ns, .order = 3000000 + i, .what = A_SPAN, .at = i};
        }
    }
    for (size_t i = 0; i < run->mark_count; i++) {
        const sim_marked *mark = &run->marks[i];
        if (mark->thread == thread &&
            (mark->kind == MXP_META_STATE || !is_paused_at(run, mark->at_ns))) {
            entries[count++] =
                (entry){.end_ns = mark->at_ns, .order = 4000000 + i, .what = A_MARK, .at = i};
        }
    }
    return count;
}

static void write_losses(mxp_source *source, const sim_run *run, uint32_t thread)
{
    mxp_loss_entry loss = {.thread = thread, .reason = 1};
    for (size_t i = 0; i < run->op_count; i++) {
        const sim_ran *op = &run->ops[i];
        if (!op->is_unrecorded || op->thread != thread || is_paused_at(run, op->end_ns)) {
            continue;
        }
        uint64_t at = (uint64_t)op->end_ns;
        loss.from_ticks = loss.count == 0 || at < loss.from_ticks ? at : loss.from_ticks;
        loss.to_ticks = at > loss.to_ticks ? at : loss.to_ticks;
        loss.count++;
    }
    if (loss.count > 0) {
        fake_loss(source, &loss);
        fake_thread_entry(source, thread)->lost = loss.count;
    }
}

mxp_source *sim_trace(const sim_run *run, uint32_t *names)
{
    mxp_source *source = fake_source_create();
    make_names(source, names);
    for (uint32_t i = 0; i < run->thread_count; i++) {
        fake_thread(source, run->threads[i].name);
        fake_thread_entry(source, i)->start_ticks = (uint64_t)run->threads[i].start_ns;
    }
    size_t most = run->op_count + run->wait_count + run->span_count + run->mark_count;
    entry *entries = sim_alloc(most * sizeof *entries);
    for (uint32_t thread = 0; thread < run->thread_count; thread++) {
        size_t count = entries_of(run, thread, entries);
        qsort(entries, count, sizeof *entries, compare_entries);
        for (size_t i = 0; i < count; i++) {
            write_entry(source, run, names, &entries[i]);
        }
        write_losses(source, run, thread);
    }
    free(entries);
    return source;
}
