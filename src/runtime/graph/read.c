// SPDX-License-Identifier: Apache-2.0
// A symbol from JSON, as MXNet of both lines writes it. The text is parsed by Jansson, which keeps
// to a depth, refuses duplicate members, and tells the byte where it fails. Then every
// node is checked before it is used: an input comes before its user, so no file makes a cycle.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/graph/node.h"

#ifdef MXN_WITH_JANSSON
#include <jansson.h>

enum { HIDDEN_KEYS_BARE = 900 };  // files of before this version have no underscores around them

typedef struct reading {
    json_t *root, *nodes;
    mxn_graph_node **made;  // as many as there are nodes; null: not yet
    size_t count;
    int64_t version;  // of MXNet; 0: not told
} reading;

// ---- members ----------------------------------------------------------------------------------
static int member(json_t *object, const char *where, const char *key, int type, json_t **value)
{
    *value = json_object_get(object, key);
    if (*value == NULL) {
        return mxp__fail(MXP_EINVAL, "JSON of a symbol: Missing field \"%s\" in %s", key, where);
    }
    if ((int)json_typeof(*value) != type) {
        return mxp__fail(MXP_EINVAL, "JSON of a symbol: field \"%s\" in %s has the wrong type", key,
                         where);
    }
    return MXP_OK;
}

// `words` are separated and surrounded by blanks.
static bool is_among(const char *key, const char *words)
{
    const size_t length = strlen(key);
    const char *at = strchr(key, ' ') != NULL || length == 0 ? NULL : strstr(words, key);
    while (at != NULL && (at[-1] != ' ' || at[length] != ' ')) {
        at = strstr(at + 1, key);
    }
    return at != NULL;
}

static int check_members(json_t *object, const char *where, const char *known)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (!is_among(key, known)) {
            return mxp__fail(MXP_EINVAL, "JSON of a symbol: Unknown field %s in %s; there are%s",
                             key, where, known);
        }
    }
    return MXP_OK;
}

// ---- outputs ----------------------------------------------------------------------------------
// [node, output] or [node, output, version] of a node that is made.
static int read_output(const reading *r, json_t *list, const char *user, mxn_graph_output *output)
{
    json_t *place = json_array_get(list, 0), *index = json_array_get(list, 1);
    if (!json_is_integer(place) || !json_is_integer(index) || json_array_size(list) > 3) {
        return mxp__fail(MXP_EINVAL,
                         "JSON of a symbol: %s: an output is written as [node, output] "
                         "or [node, output, version]",
                         user);
    }
    const json_int_t node = json_integer_value(place), number = json_integer_value(index);
    if (node < 0 || (uint64_t)node >= r->count) {
        return mxp__fail(MXP_EINVAL,
                         "JSON of a symbol: %s: node %" JSON_INTEGER_FORMAT
                         " is asked for, there are %zu",
                         user, node, r->count);
    }
    mxn_graph_node *from = r->made[node];
    if (from == NULL) {
        return mxp__fail(MXP_EINVAL,
                         "JSON of a symbol: %s: node %" JSON_INTEGER_FORMAT
                         " comes after it: an input comes before its user",
                         user, node);
    }
    const uint32_t outputs = mxn__graph_node_outputs(from);
    if (number < 0 || number >= (json_int_t)outputs) {
        return mxp__fail(MXP_EINVAL,
                         "JSON of a symbol: %s: output %" JSON_INTEGER_FORMAT
                         " of '%s' is asked for, there are %u",
                         user, number, from->name, outputs);
    }
    json_t *version = json_array_get(list, 2);
    *output = (mxn_graph_output){from, (uint32_t)number, (uint32_t)json_integer_value(version)};
    from->version =
        from->op == NULL && output->version > from->version ? output->version : from->version;
    return MXP_OK;
}

static int read_inputs(const reading *r, json_t *list, mxn_graph_node *node)
{
    const size_t count = json_array_size(list);
    if (node->op == NULL) {
        return count == 0 ? MXP_OK
                          : mxp__fail(MXP_EINVAL, "JSON of a symbol: %s: a variable has no inputs",
                                      node->name);
    }
    if (count != node->params->input_count) {
        return mxp__fail(MXP_EINVAL,
                         "JSON of a symbol: %s: operator %s takes %u inputs, %zu are given",
                         node->name, node->op->name, node->params->input_count, count);
    }
    mxn_graph_output *inputs = mxp__alloc(count * sizeof *inputs + 1);
    int error = inputs != NULL ? MXP_OK : mxp__fail_memory("the inputs of a node");
    for (size_t i = 0; i < count && error == MXP_OK; i++) {
        error = read_output(r, json_array_get(list, i), node->name, &inputs[i]);
    }
    if (error == MXP_OK) {
        error = mxn__graph_node_set_inputs(node, inputs, (uint32_t)count);
    }
    mxp__free(inputs, count * sizeof *inputs + 1);
    return error;
}

// What runs before it: nodes that there are. Their order in the file says the same, so it is not
// kept.
static int check_dependencies(const reading *r, json_t *object, const char *user)
{
    const json_t *list = json_object_get(object, "control_deps");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *place = json_array_get(list, i);
        const json_int_t at = json_is_integer(place) ? json_integer_value(place) : -1;
        if (at < 0 || (uint64_t)at >= r->count || r->made[at] == NULL) {
            return mxp__fail(MXP_EINVAL,
                             "JSON of a symbol: %s: control_deps has %" JSON_INTEGER_FORMAT
                             ", which is no node before it",
                             user, at);
        }
    }
    return MXP_OK;
}

// ---- attributes -------------------------------------------------------------------------------
static int read_attribute(const reading *r, mxn_graph_node *node, const char *key, json_t *value)
{
    char hidden[MXN_HIDDEN_KEY_BYTES + 4];
    if (!json_is_string(value)) {
        return mxp__fail(MXP_EINVAL, "JSON of a symbol: %s: attribute %s is no string", node->name,
                         key);
    }
    const char *text = json_string_value(value);
    if (strcmp(key, "__profiler_scope__") == 0 && strcmp(text, "<unk>:") == 0) {
        return MXP_OK;  // what 2.0 writes on every node that was made outside of a scope
    }
    if (r->version > 0 && r->version < HIDDEN_KEYS_BARE && mxn__is_hidden_key(key)) {
        key = mxn__hidden_key(key, hidden);
    }
    return mxn__attributes_set(&node->attributes, key, text);
}

// Files of different ages have them as "attr", "attrs" or "param", or as two of these.
static int read_attributes(const reading *r, json_t *object, mxn_graph_node *node)
{
    static const char *const kinds[] = {"param", "attr", "attrs"};
    const json_t *newest = json_object_get(object, "attrs");
    int error = MXP_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && error == MXP_OK; i++) {
        json_t *attributes = json_object_get(object, kinds[i]), *value;
        const char *key;
        if (attributes == NULL || (newest != NULL && i == 1)) {
            continue;
        }
        if (!json_is_object(attributes)) {
            return mxp__fail(MXP_EINVAL, "JSON of a symbol: %s: \"%s\" is no object", node->name,
                             kinds[i]);
        }
        json_object_foreach(attributes, key, value)
        {
            error = error == MXP_OK ? read_attribute(r, node, key, value) : error;
        }
    }
    return error;
}

// ---- nodes ------------------------------------------------------------------------------------
#define NODE_FIELDS " op name inputs attrs attr param backward_source_id control_deps subgraphs "

static int find_operator(const char *op, const char *name, const mxn_op **found)
{
    *found = NULL;
    if (strcmp(op, "null") == 0) {
        return MXP_OK;
    }
    *found = mxn_op_find(op);
    return *found != NULL ? MXP_OK
                          : mxp__fail(MXP_EINVAL,
                                      "Failed loading Op %s of type %s: Operator %s is not "
                                      "registered",
                                      name, op, op);
}

static int read_members(json_t *object, const char *where, json_t **op, json_t **name,
                        json_t **inputs)
{
    if (!json_is_object(object)) {
        return mxp__fail(MXP_EINVAL, "JSON of a symbol: %s is no object", where);
    }
    int error = check_members(object, where, NODE_FIELDS);
    if (error == MXP_OK) {
        error = member(object, where, "op", JSON_STRING, op);
    }
    if (error == MXP_OK) {
        error = member(object, where, "name", JSON_STRING, name);
    }
    return error == MXP_OK ? member(object, where, "inputs", JSON_ARRAY, inputs) : error;
}

static int fill_node(const reading *r, json_t *object, json_t *inputs, mxn_graph_node *node)
{
    int error = check_dependencies(r, object, node->name);
    if (error == MXP_OK) {
        error = read_attributes(r, object, node);
    }
    if (error == MXP_OK && node->op != NULL) {
        error = mxn__graph_node_parse(node, (uint32_t)json_array_size(inputs));
    }
    return error == MXP_OK ? read_inputs(r, inputs, node) : error;
}

static int read_node(reading *r, size_t place)
{
    json_t *object = json_array_get(r->nodes, place), *op, *name, *inputs;
    const mxn_op *found = NULL;
    char where[32];
    snprintf(where, sizeof where, "node %zu", place);
    int error = read_members(object, where, &op, &name, &inputs);
    if (error == MXP_OK) {
        error = find_operator(json_string_value(op), json_string_value(name), &found);
    }
    if (error != MXP_OK) {
        return error;
    }
    mxn_graph_node *node = mxn__graph_node_new(found, json_string_value(name));
    error = node != NULL ? fill_node(r, object, inputs, node) : MXP_ENOMEM;
    if (error != MXP_OK) {
        mxn__graph_node_release(node);
        return error;
    }
    r->made[place] = node;
    return MXP_OK;
}

// ---- the whole --------------------------------------------------------------------------------
static int read_version(reading *r)
{
    json_t *attributes = json_object_get(r->root, "attrs");
    json_t *pair = attributes != NULL ? json_object_get(attributes, "mxnet_version") : NULL;
    if (attributes != NULL && !json_is_object(attributes)) {
        return mxp__fail(MXP_EINVAL, "JSON of a symbol: \"attrs\" is no object");
    }
    if (pair == NULL) {
        return MXP_OK;
    }
    if (!json_is_integer(json_array_get(pair, 1))) {
        return mxp__fail(MXP_EINVAL, "JSON of a symbol: mxnet_version is not a number");
    }
    r->version = json_integer_value(json_array_get(pair, 1));
    return MXP_OK;
}

// They say what the nodes say; a file in which they do not was damaged.
static int check_variables(const reading *r, json_t *places)
{
    for (size_t i = 0; i < json_array_size(places); i++) {
        json_t *place = json_array_get(places, i);
        const json_int_t at = json_is_integer(place) ? json_integer_value(place) : -1;
        if (at < 0 || (uint64_t)at >= r->count || r->made[at]->op != NULL) {
            return mxp__fail(
                MXP_EINVAL, "JSON of a symbol: arg_nodes has %" JSON_INTEGER_FORMAT ", which is %s",
                at, at < 0 || (uint64_t)at >= r->count ? "no node" : "no variable");
        }
    }
    return MXP_OK;
}

static int read_heads(const reading *r, json_t *heads, mxn_symbol **symbol)
{
    const size_t count = json_array_size(heads);
    if (count == 0) {
        return mxp__fail(MXP_EINVAL, "JSON of a symbol: it has no heads, and needs at least one");
    }
    *symbol = mxn__symbol_new(count);
    int error = *symbol != NULL ? MXP_OK : MXP_ENOMEM;
    for (size_t i = 0; i < count && error == MXP_OK; i++) {
        mxn_graph_output output;
        error = read_output(r, json_array_get(heads, i), "heads", &output);
        if (error == MXP_OK) {
            mxn__symbol_add(*symbol, output.node, output.index);
        }
    }
    if (error != MXP_OK) {
        mxn_symbol_free(*symbol);
        *symbol = NULL;
    }
    return error;
}

static int read_root(reading *r, json_t **variables, json_t **heads)
{
    static const char where[] = "the symbol";
    if (!json_is_object(r->root)) {
        return mxp__fail(MXP_EINVAL, "JSON of a symbol: it is no object");
    }
    int error = check_members(r->root, where, " nodes arg_nodes node_row_ptr heads attrs ");
    if (error == MXP_OK) {
        error = member(r->root, where, "nodes", JSON_ARRAY, &r->nodes);
    }
    if (error == MXP_OK) {
        error = member(r->root, where, "arg_nodes", JSON_ARRAY, variables);
    }
    if (error == MXP_OK) {
        error = member(r->root, where, "heads", JSON_ARRAY, heads);
    }
    return error == MXP_OK ? read_version(r) : error;
}

static int read_symbol(reading *r, mxn_symbol **symbol)
{
    json_t *variables, *heads;
    int error = read_root(r, &variables, &heads);
    if (error != MXP_OK) {
        return error;
    }
    r->count = json_array_size(r->nodes);
    r->made = mxp__alloc(r->count * sizeof *r->made + 1);
    error = r->made != NULL ? MXP_OK : mxp__fail_memory("the nodes of a symbol");
    for (size_t i = 0; i < r->count && error == MXP_OK; i++) {
        error = read_node(r, i);
    }
    if (error == MXP_OK) {
        error = check_variables(r, variables);
    }
    if (error == MXP_OK) {
        error = read_heads(r, heads, symbol);
    }
    for (size_t i = 0; r->made != NULL && i < r->count; i++) {
        mxn__graph_node_release(r->made[i]);
    }
    mxp__free(r->made, r->count * sizeof *r->made + 1);
    return error;
}

int mxn_symbol_from_json(const char *json, size_t length, mxn_symbol **symbol)
{
    json_error_t error;
    reading r = {.root = json_loadb(json, length, JSON_REJECT_DUPLICATES, &error)};
    *symbol = NULL;
    if (r.root == NULL) {
        return mxp__fail(MXP_EINVAL, "JSON of a symbol, byte %d: %s", error.position, error.text);
    }
    int result = read_symbol(&r, symbol);
    json_decref(r.root);
    return result;
}
#else
int mxn_symbol_from_json(const char *json, size_t length, mxn_symbol **symbol)
{
    (void)json;
    (void)length;
    *symbol = NULL;
    return mxp__fail(MXP_ENOTSUP, "this library was built without Jansson, which reads the JSON of "
                                  "symbols");
}
#endif
