// SPDX-License-Identifier: Apache-2.0
// Folder runtime/graph: networks of operators that are described before they run.
//
//   node     a variable, or an operator with its parameters and where its inputs come from
//   output   output `index` of a node: what an input comes from
//   symbol   a list of outputs: what programs hold. Symbols have nodes in common: a copy alone
//            (mxn_symbol_copy) has nodes of its own
//
// An operator is made without inputs and composed once: then it has them all. What is composed
// later replaces variables.
//
// Ownership: a symbol holds its nodes, a node those of its inputs. Names and attributes are copied.
// Thread rule: symbols that have nodes in common belong to one thread at a time.
// Errors: 0 or a negative MXP_E code with the detail set, which names node and operator; then the
// symbol is as it was.
#ifndef MXN_GRAPH_GRAPH_H
#define MXN_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "runtime/op/op.h"

typedef struct mxn_graph_node mxn_graph_node;

typedef struct mxn_graph_output {
    mxn_graph_node *node;
    uint32_t index;
    uint32_t
        version;  // of an input: how many operators had been told to write the variable by then
} mxn_graph_output;

typedef struct mxn_symbol {
    uint32_t count, capacity;  // capacity: private
    mxn_graph_output outputs[];
} mxn_symbol;

// ---- making -----------------------------------------------------------------------------------
int mxn_symbol_variable(const char *name, mxn_symbol **symbol);
// An operator that is to be composed. Keys that programs know without underscores ("lr_mult",
// "ctx_group" ...) become "__lr_mult__"; other keys with underscores at both ends are attributes.
// MXP_EINVAL as mxn_params_parse, whose input count may be unknown.
int mxn_symbol_operator(const mxn_op *op, uint32_t count, const char *const *keys,
                        const char *const *values, mxn_symbol **symbol);
// All outputs of all symbols.
int mxn_symbol_group(uint32_t count, mxn_symbol *const *symbols, mxn_symbol **group);
int mxn_symbol_copy(const mxn_symbol *symbol, mxn_symbol **copy);
void mxn_symbol_free(mxn_symbol *symbol);  // null does nothing

// Inputs by position (keys null) or by name, each a symbol of one output.
typedef struct mxn_inputs {
    uint32_t count;
    const char *const *keys;
    mxn_symbol *const *symbols;
} mxn_inputs;

// An operator that has no inputs yet gets them; those that are missing become variables
// `name_input`, with the operator's attributes. In any other symbol the variables of these names
// are replaced, by name only. `name`: of the first output's node; null or "": as it is.
// MXP_EINVAL: too many, an unknown or ambiguous name, or the symbol would be its own input.
int mxn_symbol_compose(mxn_symbol *symbol, const char *name, const mxn_inputs *inputs);

// ---- parts ------------------------------------------------------------------------------------
int mxn_symbol_output(const mxn_symbol *symbol, uint32_t index, mxn_symbol **output);
// The visible outputs of all nodes, each after those of its inputs.
int mxn_symbol_internals(const mxn_symbol *symbol, mxn_symbol **internals);
// What the inputs of its nodes come from. Null in *children: there are none.
int mxn_symbol_children(const mxn_symbol *symbol, mxn_symbol **children);

// ---- names ------------------------------------------------------------------------------------
enum {
    MXN_LIST_INPUTS = 0,  // all variables, each after those that inputs before it need
    MXN_LIST_ARGUMENTS = 1,  // those that no operator writes
    MXN_LIST_AUXILIARY = 2,  // those that one does
    MXN_LIST_OUTPUTS = 3,
    MXN_LIST_KINDS = 4
};
// Appends the names, each ended by a zero byte, and counts them.
int mxn_symbol_list(const mxn_symbol *symbol, int kind, mxp_strbuf *names, uint32_t *count);
// Of the one node that all outputs are of, else null.
const char *mxn_symbol_name(const mxn_symbol *symbol);

// ---- attributes -------------------------------------------------------------------------------
// Of the one node that all outputs are of; null where there is no such node or attribute. Keys
// without underscores find hidden ones too.
const char *mxn_symbol_attribute(const mxn_symbol *symbol, const char *key);
// MXP_EINVAL: outputs are of several nodes, or the operator's parameters with it are wrong.
int mxn_symbol_set_attribute(mxn_symbol *symbol, const char *key, const char *value);
// Appends key, value, key ... each ended by a zero byte, and counts the pairs. Hidden keys come
// twice, with underscores and without. They are those of the first output's node; `deep`: of all
// nodes, keys as "node$key".
int mxn_symbol_attributes(const mxn_symbol *symbol, bool deep, mxp_strbuf *pairs, uint32_t *count);

// ---- inference --------------------------------------------------------------------------------
// What is known of arguments. Unknown: rank -1, dimension -1, MXN_DTYPE_NONE.
typedef struct mxn_known {
    uint32_t count;
    const char *const *keys;  // null: the first arguments, in order
    const mxn_shape *shapes;  // null: none are known
    const int32_t *types;  // likewise
} mxn_known;

// Of arguments, then outputs, then auxiliary states, in the order of their lists.
typedef struct mxn_inferred {
    uint32_t arguments, outputs, auxiliary;
    mxn_shape *shapes;
    int32_t *types;
    bool shapes_complete, types_complete;  // also of all between
} mxn_inferred;

// Forwards and backwards until nothing more comes out. What a variable says itself ("__shape__",
// "__dtype__") holds unless the call says otherwise. MXP_EINVAL: an unknown name, too many, or
// shapes or types that do not fit: the error names the node. Then *inferred is empty.
int mxn_symbol_infer(const mxn_symbol *symbol, const mxn_known *known, mxn_inferred *inferred);
void mxn_inferred_fini(mxn_inferred *inferred);  // an empty one is fine

// ---- text -------------------------------------------------------------------------------------
int mxn_symbol_describe(const mxn_symbol *symbol, mxp_strbuf *text);  // for people
// As MXNet 1.9.1 writes it, which also says whether this thread has NumPy's shapes.
int mxn_symbol_json(const mxn_symbol *symbol, mxp_strbuf *json);
// MXP_EINVAL: no JSON (with the byte), a field missing or unknown, an unknown operator, wrong
// parameters, an input that is not there or comes after its user. MXP_ENOTSUP: a build without
// Jansson.
int mxn_symbol_from_json(const char *json, size_t length, mxn_symbol **symbol);
// The same with a file. MXP_EIO.
int mxn_symbol_save(const mxn_symbol *symbol, const char *path);
int mxn_symbol_load(const char *path, mxn_symbol **symbol);

#endif
