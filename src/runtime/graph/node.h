// SPDX-License-Identifier: Apache-2.0
// Nodes of a network. Private to graph/.
#ifndef MXN_GRAPH_NODE_H
#define MXN_GRAPH_NODE_H

#include "base/id_map.h"
#include "base/refs.h"
#include "runtime/graph/graph.h"

typedef struct mxn_attribute {
    char *key, *value;
} mxn_attribute;

// Sorted by key.
typedef struct mxn_attributes {
    mxn_attribute *items;
    size_t count, capacity;
} mxn_attributes;

struct mxn_graph_node {
    mxp_refs refs;
    mxn_graph_node *next;  // of those that are being freed
    const mxn_op *op;  // null: a variable
    mxn_params *params;  // a reference; null: a variable
    char *name;
    mxn_attributes attributes;
    mxn_graph_output *inputs;  // with a reference each
    uint32_t input_count;
    uint32_t version;  // of a variable: how many operators write it
};

// ---- attributes -------------------------------------------------------------------------------
// 0 or MXP_ENOMEM with the detail set.
int mxn__attributes_set(mxn_attributes *attributes, const char *key, const char *value);
const char *mxn__attributes_get(const mxn_attributes *attributes, const char *key);
int mxn__attributes_copy(mxn_attributes *to, const mxn_attributes *from);  // `to` is empty
void mxn__attributes_fini(mxn_attributes *attributes);
// Without underscores, or null: the key is no hidden one. `bare` holds it.
enum { MXN_HIDDEN_KEY_BYTES = 32 };
const char *mxn__hidden_key_bare(const char *key, char bare[MXN_HIDDEN_KEY_BYTES]);
bool mxn__is_hidden_key(const char *bare);
const char *mxn__hidden_key(const char *bare, char key[MXN_HIDDEN_KEY_BYTES + 4]);

// ---- nodes ------------------------------------------------------------------------------------
// One reference. Null without memory, with the detail set.
mxn_graph_node *mxn__graph_node_new(const mxn_op *op, const char *name);
void mxn__graph_node_release(
    mxn_graph_node *node);  // null does nothing; however long the chain behind it
int mxn__graph_node_rename(mxn_graph_node *node, const char *name);
// Takes the place of its inputs; each gets a reference.
int mxn__graph_node_set_inputs(mxn_graph_node *node, const mxn_graph_output *inputs,
                               uint32_t count);
// Parses the attributes for so many inputs, or MXN_INPUTS_UNKNOWN.
int mxn__graph_node_parse(mxn_graph_node *node, uint32_t inputs);
// "Error in operator fc1: ..." before what the error line says.
int mxn__graph_node_fail(const mxn_graph_node *node, int error);
// The id of its name in the profiler's table, which lives as long as what was pushed may; 0: null,
// or without a name.
uint32_t mxn__graph_node_id(const mxn_graph_node *node);
uint32_t mxn__graph_node_visible(const mxn_graph_node *node);  // outputs
// "fc_output", "cut_output1", or a variable's own name.
static inline uint32_t mxn__graph_node_outputs(const mxn_graph_node *node)  // hidden ones, too
{
    return node->op == NULL ? 1 : node->params->output_count;
}
void mxn__graph_node_output_name(const mxn_graph_node *node, uint32_t index, mxp_strbuf *name);
// What a variable for this input is called behind the operator's name, and the keyword that gives
// it: "weight"; of a list "arg0", as in MXNet, whatever its documentation calls it.
const char *mxn__input_name(const mxn_params *params, uint32_t input, char buffer[64]);
// What monitors call it: the same, but "input0" of the operators that name none to them.
const char *mxn__input_told_name(const mxn_params *params, uint32_t input, char buffer[64]);

// ---- walks ------------------------------------------------------------------------------------
// The nodes behind outputs, each once and after its inputs. Borrowed.
typedef struct mxn_walk {
    mxn_graph_node **nodes;
    size_t count, capacity;
    mxp_id_map places;  // address of a node: its place
} mxn_walk;

int mxn__walk_make(const mxn_graph_output *outputs, uint32_t count, mxn_walk *walk);
void mxn__walk_fini(mxn_walk *walk);
bool mxn__walk_has(const mxn_walk *walk, const mxn_graph_node *node);
uint32_t mxn__walk_place(const mxn_walk *walk, const mxn_graph_node *node);  // one that it has

// Which of the nodes are variables of this kind (MXN_LIST_INPUTS to MXN_LIST_AUXILIARY).
int mxn__variables(const mxn_walk *walk, int kind, bool *listed);

// ---- symbols ----------------------------------------------------------------------------------
// A symbol with space for so many outputs, none yet. Null without memory, with the detail set.
mxn_symbol *mxn__symbol_new(size_t count);
void mxn__symbol_add(mxn_symbol *symbol, mxn_graph_node *node,
                     uint32_t index);  // takes a reference
mxn_graph_node *mxn__only_node(const mxn_symbol *symbol);  // that all outputs are of, or null

#endif
