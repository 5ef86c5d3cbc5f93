// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/schedule.h"

#include <assert.h>
#include <mxprof/record.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

typedef struct making {
    mxn_schedule *schedule;
    mxn_walk walk;
    uint32_t *first;  // of each node of the walk: the place of its first value
} making;

static uint32_t place_of(const making *of, const mxn_graph_output *output)
{
    return of->first[mxn__walk_place(&of->walk, output->node)] + output->index;
}

// ---- counts and memory ------------------------------------------------------------------------
static int count_nodes(making *of)
{
    mxn_schedule *schedule = of->schedule;
    for (size_t i = 0; i < of->walk.count; i++) {
        const mxn_graph_node *node = of->walk.nodes[i];
        if (node->op == NULL) {
            schedule->variable_count++;
            continue;
        }
        if (node->params == NULL || node->params->input_count != node->input_count) {
            return mxp__fail(MXP_EINVAL, "Operator %s (%s) has not been composed: it has no inputs",
                             node->name, node->op->name);
        }
        uint32_t outputs = mxn__graph_node_outputs(node);
        uint32_t most = outputs > node->input_count ? outputs : node->input_count;
        schedule->step_count++;
        schedule->operand_count += node->input_count;
        schedule->place_count += outputs;
        schedule->most = most > schedule->most ? most : schedule->most;
    }
    schedule->place_count += schedule->variable_count;
    return MXP_OK;
}

static void *list(size_t count, size_t size, bool *failed)
{
    void *made = mxp__alloc(count * size + 1);
    *failed |= made == NULL;
    return made;
}

static int take_memory(making *of)
{
    mxn_schedule *s = of->schedule;
    bool failed = false;
    s->variables = list(s->variable_count, sizeof *s->variables, &failed);
    s->steps = list(s->step_count, sizeof *s->steps, &failed);
    s->operands = list(s->operand_count, sizeof *s->operands, &failed);
    s->dead = list(s->place_count, sizeof *s->dead, &failed);
    s->outputs = list(s->output_count, sizeof *s->outputs, &failed);
    of->first = list(of->walk.count, sizeof *of->first, &failed);
    return failed ? mxp__fail_memory("the order of a graph") : MXP_OK;
}

void mxn__schedule_fini(mxn_schedule *s)
{
    mxp__free(s->variables, s->variable_count * sizeof *s->variables + 1);
    mxp__free(s->steps, s->step_count * sizeof *s->steps + 1);
    mxp__free(s->operands, s->operand_count * sizeof *s->operands + 1);
    mxp__free(s->dead, s->place_count * sizeof *s->dead + 1);
    mxp__free(s->outputs, s->output_count * sizeof *s->outputs + 1);
    *s = (mxn_schedule){0};
}

// ---- steps ------------------------------------------------------------------------------------
static uint32_t scope_of(const mxn_graph_node *node)
{
    const char *path = mxn__attributes_get(&node->attributes, "__profiler_scope__");
    return path == NULL || path[0] == '\0' ? 0 : mxp_scope_id(path);
}

static void fill_steps(making *of)
{
    mxn_schedule *s = of->schedule;
    uint32_t variable = 0, step = 0, operand = 0, place = s->variable_count;
    for (size_t i = 0; i < of->walk.count; i++) {
        const mxn_graph_node *node = of->walk.nodes[i];
        if (node->op == NULL) {
            s->variables[variable] = node;
            of->first[i] = variable++;
            continue;
        }
        of->first[i] = place;
        s->steps[step++] = (mxn_schedule_step){.node = node,
                                               .first_operand = operand,
                                               .first_output = place,
                                               .scope = scope_of(node),
                                               .name = mxn__graph_node_id(node)};
        for (uint32_t k = 0; k < node->input_count; k++) {
            s->operands[operand++] = place_of(of, &node->inputs[k]);
        }
        place += mxn__graph_node_outputs(node);
    }
    assert(place == s->place_count && operand == s->operand_count && "all places are taken");
}

static void fill_outputs(making *of, const mxn_symbol *symbol, bool *is_given)
{
    mxn_schedule *s = of->schedule;
    for (uint32_t i = 0; i < symbol->count; i++) {
        uint32_t place = place_of(of, &symbol->outputs[i]);
        bool is_copy = place < s->variable_count || is_given[place];
        is_given[place] = true;
        s->outputs[i] = (mxn_schedule_output){place, is_copy};
    }
}

// From the last step back: the first to meet a value is the last to take it.
static void fill_dead(mxn_schedule *s, bool *is_taken)
{
    for (uint32_t i = s->step_count; i-- > 0;) {
        mxn_schedule_step *step = &s->steps[i];
        step->first_dead = s->dead_count;
        uint32_t inputs = step->node->input_count;
        for (uint32_t k = 0; k < inputs + mxn__graph_node_outputs(step->node); k++) {
            uint32_t place =
                k < inputs ? s->operands[step->first_operand + k] : step->first_output + k - inputs;
            if (place >= s->variable_count && !is_taken[place]) {
                is_taken[place] = true;
                s->dead[s->dead_count++] = place;
            }
        }
        step->dead_count = s->dead_count - step->first_dead;
    }
}

static int fill(making *of, const mxn_symbol *symbol)
{
    bool *seen = mxp__alloc(of->schedule->place_count + 1);
    if (seen == NULL) {
        return mxp__fail_memory("the order of a graph");
    }
    fill_steps(of);
    fill_outputs(of, symbol, seen);
    fill_dead(of->schedule, seen);
    mxp__free(seen, of->schedule->place_count + 1);
    return MXP_OK;
}

int mxn__schedule_make(const mxn_symbol *symbol, mxn_schedule *schedule)
{
    *schedule = (mxn_schedule){.output_count = symbol->count};
    making of = {.schedule = schedule};
    int error = mxn__walk_make(symbol->outputs, symbol->count, &of.walk);
    if (error != MXP_OK) {
        *schedule = (mxn_schedule){0};
        return error;
    }
    error = count_nodes(&of);
    if (error == MXP_OK) {
        error = take_memory(&of);
    }
    if (error == MXP_OK) {
        error = fill(&of, symbol);
    }
    mxp__free(of.first, of.walk.count * sizeof *of.first + 1);
    mxn__walk_fini(&of.walk);
    if (error != MXP_OK) {
        mxn__schedule_fini(schedule);
    }
    return error;
}
