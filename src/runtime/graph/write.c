// SPDX-License-Identifier: Apache-2.0
// A symbol as text: for people, and as the JSON that MXNet 1.9.1 writes, byte for byte.
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "runtime/graph/node.h"

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

static void put_outputs(mxp_strbuf *json, const mxn_walk *walk, const mxn_graph_output *outputs,
                        uint32_t count)
{
    mxp__strbuf_putc(json, '[');
    for (uint32_t i = 0; i < count; i++) {
        mxp__strbuf_printf(json, "%s[%u, %u, 0]", i > 0 ? ", " : "",
                           mxn__walk_place(walk, outputs[i].node), outputs[i].index);
    }
    mxp__strbuf_putc(json, ']');
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
    put_outputs(json, walk, node->inputs, node->input_count);
    mxp__strbuf_puts(json, "\n    }");
}

// Numbers of the variables, then where the outputs of each node begin among those of all.
static void put_numbers(mxp_strbuf *json, const mxn_walk *walk)
{
    const char *comma = "";
    uint64_t row = 0;
    mxp__strbuf_puts(json, "  \"arg_nodes\": [");
    for (size_t i = 0; i < walk->count; i++) {
        if (walk->nodes[i]->op == NULL) {
            mxp__strbuf_printf(json, "%s%zu", comma, i);
            comma = ", ";
        }
    }
    mxp__strbuf_puts(json, "], \n  \"node_row_ptr\": [0");
    for (size_t i = 0; i < walk->count; i++) {
        const mxn_graph_node *node = walk->nodes[i];
        row += node->op == NULL ? 1 : node->params->output_count;
        mxp__strbuf_printf(json, ", %llu", (unsigned long long)row);
    }
    mxp__strbuf_puts(json, "], \n");
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
    put_numbers(json, &walk);
    mxp__strbuf_puts(json, "  \"heads\": ");
    put_outputs(json, &walk, symbol->outputs, symbol->count);
    mxp__strbuf_printf(json, ", \n  \"attrs\": {\"mxnet_version\": [\"int\", %d]}\n}",
                       WRITTEN_VERSION);
    mxn__walk_fini(&walk);
    return json->failed ? mxp__fail_memory("the JSON of a symbol") : MXP_OK;
}

// ---- for people -------------------------------------------------------------------------------
static void describe_inputs(mxp_strbuf *text, const mxn_graph_node *node)
{
    for (uint32_t i = 0; i < node->input_count; i++) {
        const mxn_graph_node *input = node->inputs[i].node;
        mxp__strbuf_printf(text, "\targ[%u]=%s(%u)%s\n", i, input->name, node->inputs[i].index,
                           input->op == NULL ? " version=0" : "");
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
