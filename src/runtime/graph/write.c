// SPDX-License-Identifier: Apache-2.0
// A symbol as text: for people, and as the JSON that MXNet 1.9.1 writes, byte for byte.
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "runtime/graph/node.h"
#include "runtime/imperative/thread_mode.h"

enum { WRITTEN_VERSION = 10901 };  // of MXNet, whose format this is

static void put_string(mxp_strbuf *json, const char *text)
{
    mxp__json_string(json, text, strlen(text));
}

static void put_attributes(mxp_strbuf *json, const mxn_attributes *attributes)
{
    const bool lines = attributes->count > 1;
    mxp__strbuf_puts(json, "      \"attrs\": {");
    for (size_t i = 0; i < attributes->count; i++) {
        mxp__strbuf_puts(json, i > 0 ? ", " : "");
        mxp__strbuf_puts(json, lines ? "\n        " : "");
        put_string(json, attributes->items[i].key);
        mxp__strbuf_puts(json, ": ");
        put_string(json, attributes->items[i].value);
    }
    mxp__strbuf_puts(json, lines ? "\n      }, \n" : "}, \n");
}

// A list of more elements than this has a line for each.
enum { LINE_ELEMENTS = 10 };

static void put_comma(mxp_strbuf *json, size_t at, size_t count, const char *indent)
{
    mxp__strbuf_puts(json, at > 0 ? ", " : "");
    if (count > LINE_ELEMENTS) {
        mxp__strbuf_printf(json, "\n%s  ", indent);
    }
}

static void put_end(mxp_strbuf *json, size_t count, const char *indent)
{
    mxp__strbuf_printf(json, count > LINE_ELEMENTS ? "\n%s]" : "]", indent);
}

static void put_outputs(mxp_strbuf *json, const mxn_walk *walk, const mxn_graph_output *outputs,
                        uint32_t count, const char *indent)
{
    mxp__strbuf_putc(json, '[');
    for (uint32_t i = 0; i < count; i++) {
        put_comma(json, i, count, indent);
        mxp__strbuf_printf(json, "[%u, %u, %u]", mxn__walk_place(walk, outputs[i].node),
                           outputs[i].index, outputs[i].version);
    }
    put_end(json, count, indent);
}

static void put_node(mxp_strbuf *json, const mxn_walk *walk, const mxn_graph_node *node)
{
    mxp__strbuf_puts(json, "    {\n      \"op\": ");
    put_string(json, node->op == NULL ? "null" : node->op->name);
    mxp__strbuf_puts(json, ", \n      \"name\": ");
    put_string(json, node->name);
    mxp__strbuf_puts(json, ", \n");
    if (node->attributes.count > 0) {
        put_attributes(json, &node->attributes);
    }
    mxp__strbuf_puts(json, "      \"inputs\": ");
    put_outputs(json, walk, node->inputs, node->input_count, "      ");
    mxp__strbuf_puts(json, "\n    }");
}

static void put_variables(mxp_strbuf *json, const mxn_walk *walk)
{
    size_t count = 0, put = 0;
    for (size_t i = 0; i < walk->count; i++) {
        count += walk->nodes[i]->op == NULL;
    }
    mxp__strbuf_puts(json, "  \"arg_nodes\": [");
    for (size_t i = 0; i < walk->count; i++) {
        if (walk->nodes[i]->op == NULL) {
            put_comma(json, put++, count, "  ");
            mxp__strbuf_printf(json, "%zu", i);
        }
    }
    put_end(json, count, "  ");
    mxp__strbuf_puts(json, ", \n");
}

// As many outputs as MXNet counts, whose pooling for extremes keeps where they were, and whose RNN
// keeps nothing. Readers do not look at the numbers; a file is that of MXNet to the last byte.
static uint32_t counted_outputs(const mxn_graph_node *node)
{
    if (node->op != NULL && strcmp(node->op->name, "RNN") == 0) {
        return node->params->visible_count;
    }
    if (node->op != NULL && strcmp(node->op->name, "Pooling") == 0) {
        const char *type = mxn__attributes_get(&node->attributes, "pool_type");
        return type != NULL && strcmp(type, "avg") == 0 ? 1 : 2;
    }
    return mxn__graph_node_outputs(node);
}

// Where the outputs of each node begin among those of all.
static void put_rows(mxp_strbuf *json, const mxn_walk *walk)
{
    uint64_t row = 0;
    mxp__strbuf_puts(json, "  \"node_row_ptr\": [");
    for (size_t i = 0; i <= walk->count; i++) {
        put_comma(json, i, walk->count + 1, "  ");
        mxp__strbuf_printf(json, "%llu", (unsigned long long)row);
        row += i < walk->count ? counted_outputs(walk->nodes[i]) : 0;
    }
    put_end(json, walk->count + 1, "  ");
    mxp__strbuf_puts(json, ", \n");
}

static void put_version(mxp_strbuf *json)
{
    mxp__strbuf_puts(json, mxn_numpy_shape() ? ", \n  \"attrs\": {\n    \"is_np_shape\": [\"int\", "
                                               "1], \n    "
                                             : ", \n  \"attrs\": {");
    mxp__strbuf_printf(json, "\"mxnet_version\": [\"int\", %d]", WRITTEN_VERSION);
    mxp__strbuf_puts(json, mxn_numpy_shape() ? "\n  }\n}" : "}\n}");
}

int mxn_symbol_json(const mxn_symbol *symbol, mxp_strbuf *json)
{
    mxn_walk walk;
    int error = mxn__walk_make(symbol->outputs, symbol->count, &walk);
    if (error != MXP_OK) {
        return error;
    }
    mxp__strbuf_puts(json, "{\n  \"nodes\": [");
    for (size_t i = 0; i < walk.count; i++) {
        mxp__strbuf_puts(json, i > 0 ? ", \n" : "\n");
        put_node(json, &walk, walk.nodes[i]);
    }
    mxp__strbuf_puts(json, "\n  ], \n");
    put_variables(json, &walk);
    put_rows(json, &walk);
    mxp__strbuf_puts(json, "  \"heads\": ");
    put_outputs(json, &walk, symbol->outputs, symbol->count, "  ");
    put_version(json);
    mxn__walk_fini(&walk);
    return json->failed ? mxp__fail_memory("the JSON of a symbol") : MXP_OK;
}

// ---- for people -------------------------------------------------------------------------------
static void describe_inputs(mxp_strbuf *text, const mxn_graph_node *node)
{
    for (uint32_t i = 0; i < node->input_count; i++) {
        const mxn_graph_output *input = &node->inputs[i];
        mxp__strbuf_printf(text, "\targ[%u]=%s(%u)", i, input->node->name, input->index);
        if (input->node->op == NULL) {
            mxp__strbuf_printf(text, " version=%u", input->version);
        }
        mxp__strbuf_putc(text, '\n');
    }
}

static void describe_node(mxp_strbuf *text, const mxn_graph_node *node)
{
    if (node->op == NULL) {
        mxp__strbuf_printf(text, "Variable:%s\n", node->name);
        return;
    }
    mxp__strbuf_printf(text, "--------------------\nOp:%s, Name=%s\nInputs:\n", node->op->name,
                       node->name);
    describe_inputs(text, node);
    mxp__strbuf_puts(text, node->attributes.count > 0 ? "Attrs:\n" : "");
    for (size_t i = 0; i < node->attributes.count; i++) {
        mxp__strbuf_printf(text, "\t%s=%s\n", node->attributes.items[i].key,
                           node->attributes.items[i].value);
    }
}

int mxn_symbol_describe(const mxn_symbol *symbol, mxp_strbuf *text)
{
    mxn_walk walk;
    int error = mxn__walk_make(symbol->outputs, symbol->count, &walk);
    if (error != MXP_OK) {
        return error;
    }
    mxp__strbuf_puts(text, "Symbol Outputs:\n");
    for (uint32_t i = 0; i < symbol->count; i++) {
        mxp__strbuf_printf(text, "\toutput[%u]=%s(%u)\n", i, symbol->outputs[i].node->name,
                           symbol->outputs[i].index);
    }
    for (size_t i = 0; i < walk.count; i++) {
        describe_node(text, walk.nodes[i]);
    }
    mxn__walk_fini(&walk);
    return text->failed ? mxp__fail_memory("the description of a symbol") : MXP_OK;
}
