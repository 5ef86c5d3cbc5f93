// SPDX-License-Identifier: Apache-2.0
// The longest chain of a step: operators each of which needs what the one before it wrote, or
// writes what the one before it used. It takes that long however many workers there are.
#include "base/alloc.h"
#include "base/fail.h"
#include "profiler/analysis/causes/facts_parts.h"

enum { NONE = -1 };

typedef struct chain_node {
    int64_t length_ns;  // of the longest chain that ends with it
    int64_t before;  // place of the node before it, or NONE
} chain_node;

// Nodes are places, plus 1; 0: there is none.
typedef struct variable {
    uint64_t key;
    uint64_t written;  // by the last one that wrote it
    uint64_t read;  // of those that read it since, the one with the longest chain
} variable;

typedef struct chain {
    const mxp_graph *graph;
    const uint32_t *ops;
    chain_node *nodes;
    mxp_id_map *variables;
} chain;

static void follow(chain *of, chain_node *node, uint64_t before)
{
    if (before != 0 && of->nodes[before - 1].length_ns > node->length_ns) {
        node->length_ns = of->nodes[before - 1].length_ns;
        node->before = (int64_t)before - 1;
    }
}

static uint64_t key_of(uint32_t use)
{
    return (uint64_t)(use & ~MXP_VARIABLE_WRITTEN) + 1;
}

// Null: MXP_ENOMEM.
static variable *take_use(chain *of, chain_node *node, uint32_t use)
{
    variable *known = mxp__id_map_add(of->variables, key_of(use));
    if (known == NULL) {
        mxp__fail_memory("the variables of a step");
        return NULL;
    }
    follow(of, node, known->written);
    if ((use & MXP_VARIABLE_WRITTEN) != 0) {
        follow(of, node, known->read);
    }
    return known;
}

static void leave_use(chain *of, size_t place, uint32_t use, variable *known)
{
    if ((use & MXP_VARIABLE_WRITTEN) != 0) {
        known->written = place + 1;
        known->read = 0;
    } else if (known->read == 0 ||
               of->nodes[known->read - 1].length_ns < of->nodes[place].length_ns) {
        known->read = place + 1;
    }
}

// Variables stay where they are until the map grows; those behind the first few are looked up anew.
static int take_op(chain *of, size_t place)
{
    enum { FEW = 8 };
    variable *known[FEW];
    const uint32_t op = of->ops[place];
    const mxp_graph_op *at = &of->graph->ops[op];
    const uint32_t uses = mxp__graph_use_count(of->graph, op);
    chain_node node = {.before = NONE};
    const char *const entries = of->variables->entries;
    for (uint32_t i = 0; i < uses; i++) {
        variable *var = take_use(of, &node, mxp__graph_use(of->graph, op, i));
        if (var == NULL) {
            return MXP_ENOMEM;
        }
        known[i < FEW ? i : FEW - 1] = var;
    }
    const bool has_grown = of->variables->entries != entries;
    node.length_ns += at->end_ns - at->start_ns;
    of->nodes[place] = node;
    for (uint32_t i = 0; i < uses; i++) {
        const uint32_t use = mxp__graph_use(of->graph, op, i);
        const bool is_known = !has_grown && i < FEW - 1;
        leave_use(of, place, use,
                  is_known ? known[i] : mxp__id_map_find(of->variables, key_of(use)));
    }
    return MXP_OK;
}

// The chain that ends with `last`, as a path.
static int keep_chain(mxp_facts *facts, const chain *of, size_t index, size_t last)
{
    mxp_path path = {0};
    int error = MXP_OK;
    for (int64_t at = (int64_t)last; at != NONE; at = of->nodes[at].before) {
        const mxp_graph_op *op = &of->graph->ops[of->ops[at]];
        if (mxp__grow(&path.pieces, &path.capacity, path.count + 1, sizeof *path.pieces) !=
            MXP_OK) {
            error = mxp__fail_memory("the longest chain");
            break;
        }
        path.pieces[path.count++] = (mxp_path_piece){.from_ns = op->start_ns,
                                                     .to_ns = op->end_ns,
                                                     .op = of->ops[at],
                                                     .thread = op->thread,
                                                     .kind = MXP__PATH_RUN};
    }
    if (error == MXP_OK) {
        error = mxp__path_rows_add(&facts->chains, of->graph, facts->at[index].place, &path);
    }
    mxp__path_fini(&path);
    return error;
}

int mxp__facts_take_chain(mxp_facts *facts, const mxp_graph *graph, size_t index,
                          const uint32_t *ops, size_t count, mxp_id_map *variables)
{
    chain of = {.graph = graph,
                .ops = ops,
                .nodes = mxp__alloc(count * sizeof *of.nodes),
                .variables = variables};
    variables->entry_bytes = sizeof(variable);
    mxp__id_map_clear(variables);
    int error = of.nodes == NULL ? mxp__fail_memory("the longest chain") : MXP_OK;
    size_t last = SIZE_MAX;
    for (size_t i = 0; error == MXP_OK && i < count; i++) {
        // Members of a bulk stand for nothing that the bulk does not.
        if (graph->ops[ops[i]].bulk_parent != 0) {
            continue;
        }
        error = take_op(&of, i);
        if (error == MXP_OK &&
            (last == SIZE_MAX || of.nodes[i].length_ns > of.nodes[last].length_ns)) {
            last = i;
        }
    }
    if (error == MXP_OK && last != SIZE_MAX) {
        facts->at[index].dependent_ns = (double)of.nodes[last].length_ns;
        error = keep_chain(facts, &of, index, last);
    }
    mxp__free(of.nodes, count * sizeof *of.nodes);
    return error;
}
