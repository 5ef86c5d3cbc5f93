// SPDX-License-Identifier: Apache-2.0
// Folder runtime/op/subgraph: networks in an operator's place.
//
// The family of networks that stand for one operator. They have no kernels and infer nothing: the
// network makes its outputs.
#include "runtime/op/subgraph.h"

#include "base/fail.h"
#include "runtime/op/registry/declare.h"
#include "runtime/op/registry/gradient.h"

typedef struct subgraph_params {
    mxn_subgraph *graph;
    uint32_t inputs, outputs;
} subgraph_params;

// None to parse; one list, so that the gradient shares the struct.
static const mxn_field fields[] = {{0}};

static subgraph_params *params_of(const mxn_direct_call *call)
{
    return (subgraph_params *)(void *)call->params->values;
}

static uint32_t inputs_of(const void *params)
{
    return ((const subgraph_params *)params)->inputs;
}

static uint32_t outputs_of(const void *params)
{
    return ((const subgraph_params *)params)->outputs;
}

static void share(void *values)
{
    mxn_subgraph *graph = ((subgraph_params *)values)->graph;
    graph->retain(graph);
}

static void release(void *values)
{
    mxn_subgraph *graph = ((subgraph_params *)values)->graph;
    if (graph != NULL) {
        graph->release(graph);
    }
}

static int forward(const mxn_direct_call *call)
{
    mxn_subgraph *graph = params_of(call)->graph;
    return graph->forward(graph, call);
}

static int backward(const mxn_direct_call *call)
{
    mxn_subgraph *graph = params_of(call)->graph;
    return graph->backward(graph, call);
}

static int refuse(mxn_params *params, uint32_t count, const char *const *keys,
                  const char *const *values)
{
    (void)count;
    (void)keys;
    (void)values;
    return mxp__fail(MXP_ENOTSUP, "Operator %s is made by MXCreateCachedOp only", params->op->name);
}

int mxn_subgraph_params(mxn_subgraph *graph, uint32_t inputs, uint32_t outputs, bool numpy_shape,
                        mxn_params **params)
{
    const subgraph_params values = {graph, inputs, outputs};
    const mxn_op *op = NULL;
    int error = mxn_op_require("_CachedOp", &op);
    return error != MXP_OK ? error : mxn__params_of(op, &values, inputs, numpy_shape, params);
}

static const mxn_op_def table[] = {
    {
        .name = "_CachedOp",
        .description = "A network that is called like one operator.",
        .flags = MXN_OP_DIRECT | MXN_OP_STATE | MXN_OP_SILENT,
        .fields = fields,
        .params_bytes = sizeof(subgraph_params),
        .make = refuse,
        .share = share,
        .release = release,
        .inputs_of = inputs_of,
        .outputs_of = outputs_of,
        .gradient = MXN_GRADIENT({.op = "_backward_CachedOp", .takes = "g*"}),
        .direct = forward,
    },
    {
        .name = "_backward_CachedOp",
        .description = "The gradients of a network that is called like one operator.",
        .flags = MXN_OP_DIRECT | MXN_OP_STATE | MXN_OP_ADDS | MXN_OP_BACKWARD |
                 MXN_OP_SPARSE_HEADS | MXN_OP_SILENT,
        .fields = fields,
        .params_bytes = sizeof(subgraph_params),
        .make = refuse,
        .share = share,
        .release = release,
        .inputs_of = outputs_of,
        .outputs_of = inputs_of,
        .direct = backward,
    },
};

MXN_FAMILY(subgraph, table);
