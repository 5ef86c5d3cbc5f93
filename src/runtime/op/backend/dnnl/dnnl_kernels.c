// SPDX-License-Identifier: Apache-2.0
// The table of oneDNN's kernels. A job is taken if the library has fast code for all that it asks
// for.
#include "runtime/op/backend/dnnl/dnnl_descriptors.h"
#include "runtime/op/execute/kernel_choice.h"
#include "runtime/op/nn/activation.h"
#include "runtime/op/nn/softmax.h"

// ---- convolution ------------------------------------------------------------------------------

// The keys of a job's steps; whether there is a bias counts, not where.
static int conv_keys(const mxn_job *job, mxn_problem_key keys[2])
{
    mxn_conv c;
    mxn_conv_step steps[2];
    if (mxn__conv_describe(job, &c) != 0) {
        return 0;
    }
    int count = mxn__conv_steps(job, steps);
    for (int i = 0; i < count; i++) {
        c.bias = steps[i].with_bias ? &c : NULL;
        mxn__describe_convolution(&keys[i], &c, steps[i].kind);
    }
    return count;
}

static bool conv_takes(const mxn_job *job)
{
    mxn_problem_key keys[2];
    int count = job->inputs[0].dtype == MXN_FLOAT32 ? conv_keys(job, keys) : 0;
    bool takes = count > 0;
    for (int i = 0; i < count && takes; i++) {
        takes = mxn__problem_find(&keys[i], mxn__make_convolution, NULL);
    }
    return takes;
}

static uint64_t conv_workspace(const mxn_job *job)
{
    mxn_problem_key keys[2];
    uint64_t most = 0;
    int count = conv_keys(job, keys);
    for (int i = 0; i < count; i++) {
        uint64_t bytes = 0;
        mxn__problem_find(&keys[i], mxn__make_convolution, &bytes);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static int convolve(mxn_job *job, const mxn_conv *c, int kind)
{
    mxn_problem_key key;
    mxn__describe_convolution(&key, c, kind);
    const mxn_problem_run run = {
        .data = {c->data, c->weight, c->result, c->bias},
        .weight = kind != MXN_CONV_TO_WEIGHT ? &c->weight_ref : NULL,
        .weight_index = 1,
        .workspace = job->workspace,
    };
    return mxn__problem_run(&key, mxn__make_convolution, &run);
}

static int conv_run(mxn_job *job)
{
    return mxn__conv_run(job, convolve);
}

// ---- products ---------------------------------------------------------------------------------

static bool product_takes(const mxn_job *job)
{
    bool takes = job->outputs[0].dtype == MXN_FLOAT32;
    for (uint32_t i = 0; i < job->params->input_count; i++) {
        takes = takes && job->inputs[i].dtype == MXN_FLOAT32 &&
                mxn_shape_size(job->inputs[i].shape) > 0;
    }
    return takes;
}

// Matrices go as they lie.
static int multiply(const mxn_job *job, int32_t dtype, const mxn_product *p)
{
    (void)dtype;
    mxn_problem_key key;
    mxn__describe_product(&key, p);
    const mxn_problem_run run = {.data = {(void *)p->a, (void *)p->b, p->c},
                                 .workspace = job->workspace};
    return mxn__problem_run(&key, mxn__make_product, &run);
}

#define PRODUCT_RUN(name, with)     \
    static int name(mxn_job *job)   \
    {                               \
        return with(job, multiply); \
    }
PRODUCT_RUN(dot, mxn__dot_run)
PRODUCT_RUN(dot_back, mxn__dot_run_back)
PRODUCT_RUN(batch_dot, mxn__batch_dot_run)
PRODUCT_RUN(fully_connected, mxn__fully_connected_run)
PRODUCT_RUN(fully_connected_back, mxn__fully_connected_run_back)

// ---- one array to another ---------------------------------------------------------------------

static bool pool_key(const mxn_job *job, mxn_problem_key *key)
{
    mxn_pool pool;
    if (mxn__pool_describe(job, &pool) != 0 || pool.dtype != MXN_FLOAT32 || pool.adaptive ||
        (pool.kind != MXN_POOL_MAX && pool.kind != MXN_POOL_AVG)) {
        return false;
    }
    mxn__describe_pooling(key, &pool);
    return true;
}

static bool relu_key(const mxn_job *job, mxn_problem_key *key)
{
    if (!mxn__activation_is_relu(job->params) || job->outputs[0].dtype != MXN_FLOAT32) {
        return false;
    }
    bool backward = (job->params->op->flags & MXN_OP_BACKWARD) != 0;
    mxn__describe_relu(key, (int64_t)mxn_shape_size(job->outputs[0].shape), backward);
    return true;
}

static bool softmax_key(const mxn_job *job, mxn_problem_key *key)
{
    int64_t sizes[3];
    if (!mxn__softmax_describe(job, sizes) || job->outputs[0].dtype != MXN_FLOAT32 ||
        job->inputs[0].dtype != MXN_FLOAT32) {
        return false;
    }
    mxn__describe_softmax(key, sizes);
    return true;
}

#define ONE_PROBLEM(name)                                                                 \
    static bool name##_takes(const mxn_job *job)                                          \
    {                                                                                     \
        mxn_problem_key key;                                                              \
        return name##_key(job, &key) && mxn__problem_find(&key, mxn__make_##name, NULL);  \
    }                                                                                     \
    static uint64_t name##_workspace(const mxn_job *job)                                  \
    {                                                                                     \
        mxn_problem_key key;                                                              \
        uint64_t bytes = 0;                                                               \
        if (name##_key(job, &key)) {                                                      \
            mxn__problem_find(&key, mxn__make_##name, &bytes);                            \
        }                                                                                 \
        return bytes;                                                                     \
    }                                                                                     \
    static int name##_run(mxn_job *job)                                                   \
    {                                                                                     \
        mxn_problem_key key;                                                              \
        name##_key(job, &key);                                                            \
        const mxn_problem_run run = {.data = {job->inputs[0].data, job->outputs[0].data}, \
                                     .workspace = job->workspace};                        \
        return mxn__problem_run(&key, mxn__make_##name, &run);                            \
    }
ONE_PROBLEM(pool)
ONE_PROBLEM(relu)
ONE_PROBLEM(softmax)

// Inputs: gradient, result, data.
static int relu_back_run(mxn_job *job)
{
    mxn_problem_key key;
    relu_key(job, &key);
    const mxn_problem_run run = {
        .data = {job->inputs[0].data, job->inputs[1].data, job->outputs[0].data},
        .workspace = job->workspace};
    return mxn__problem_run(&key, mxn__make_relu, &run);
}

// ---- the table --------------------------------------------------------------------------------
#define CONVOLUTION(op)                          \
    {                                            \
        op, conv_takes, conv_workspace, conv_run \
    }
#define PRODUCT(op, run)             \
    {                                \
        op, product_takes, NULL, run \
    }

static const mxn_kernel_entry entries[] = {
    {"Activation", relu_takes, relu_workspace, relu_run},
    {"_backward_Activation", relu_takes, relu_workspace, relu_back_run},
    CONVOLUTION("Convolution"),
    CONVOLUTION("_backward_Convolution"),
    CONVOLUTION("Deconvolution"),
    CONVOLUTION("_backward_Deconvolution"),
    PRODUCT("FullyConnected", fully_connected),
    PRODUCT("_backward_FullyConnected", fully_connected_back),
    PRODUCT("batch_dot", batch_dot),
    PRODUCT("dot", dot),
    PRODUCT("_backward_dot", dot_back),
    PRODUCT("_np_dot", dot),
    PRODUCT("_backward_np_dot", dot_back),
    PRODUCT("_npi_dot", dot),
    PRODUCT("_backward_npi_dot", dot_back),
    PRODUCT("_npi_matmul", dot),
    PRODUCT("_backward_np_matmul", dot_back),
    {"Pooling", pool_takes, pool_workspace, pool_run},
    {"softmax", softmax_takes, softmax_workspace, softmax_run},
};

const mxn_kernel_table mxn__kernels_dnnl = {entries, sizeof entries / sizeof *entries};
