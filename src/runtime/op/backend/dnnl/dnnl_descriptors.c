// SPDX-License-Identifier: Apache-2.0
// Operation descriptors of oneDNN 2.x.
#include "runtime/op/backend/dnnl/dnnl_descriptors.h"

#include <string.h>

enum { CONVOLUTION = 1, PRODUCT, POOLING, RELU, SOFTMAX };
enum { AXES = 3, DIMS = AXES + 3 };

// ---- windows ----------------------------------------------------------------------------------
// The axes of a window, each as eight numbers; the key of what slides one.
typedef struct axis {
    int64_t in, out, kernel, stride, dilate, pad;
} axis;

// Leading axes that are not there are left out: the library has code of its own for fewer.
static int axes_of(const mxn_window *w, axis axes[AXES])
{
    int count = 0;
    for (int i = 0; i < AXES; i++) {
        const axis a = {w->in[i], w->out[i], w->kernel[i], w->stride[i], w->dilate[i], w->pad[i]};
        bool flat = a.in == 1 && a.out == 1 && a.kernel == 1 && a.pad == 0 && i < AXES - 2;
        if (count > 0 || !flat) {
            axes[count++] = a;
        }
    }
    return count;
}

static void put_axes(int64_t *numbers, const mxn_window *w)
{
    axis axes[AXES] = {{0}};
    int count = axes_of(w, axes);
    numbers[0] = count;
    memcpy(numbers + 1, axes, sizeof axes);
}

static int get_axes(const int64_t *numbers, axis axes[AXES])
{
    memcpy(axes, numbers + 1, AXES * sizeof *axes);
    return (int)numbers[0];
}

enum { AFTER_AXES = 1 + AXES * 6 };

// Row-major, or with dimension `last` moved to the end.
static dnnl_status_t plain_of(dnnl_memory_desc_t *plain, int ndim, const dnnl_dims_t dims,
                              int moved)
{
    dnnl_dims_t strides = {0};
    dnnl_dim_t step = 1;
    if (moved >= 0) {
        strides[moved] = step;
        step *= dims[moved];
    }
    for (int i = ndim - 1; i >= 0; i--) {
        if (i != moved) {
            strides[i] = step;
            step *= dims[i] > 0 ? dims[i] : 1;
        }
    }
    return dnnl_memory_desc_init_by_strides(plain, ndim, dims, dnnl_f32, strides);
}

static dnnl_status_t any_of(dnnl_memory_desc_t *any, const dnnl_memory_desc_t *plain)
{
    return dnnl_memory_desc_init_by_tag(any, plain->ndims, plain->dims, dnnl_f32,
                                        dnnl_format_tag_any);
}

// ---- convolution ------------------------------------------------------------------------------
enum { IMAGES = AFTER_AXES, FILTERS, CHANNELS, GROUPS, FLAGS };
_Static_assert((int)FLAGS < (int)MXN_PROBLEM_NUMBERS, "the key of a convolution fits");
enum { KIND_MASK = 3, HAS_BIAS = 4, CHANNELS_LAST = 8 };

void mxn__describe_convolution(mxn_problem_key *key, const mxn_conv *c, int kind)
{
    *key = (mxn_problem_key){.kind = CONVOLUTION};
    int64_t *numbers = key->numbers;
    put_axes(numbers, &c->window);
    numbers[IMAGES] = c->images;
    numbers[FILTERS] = c->filters;
    numbers[CHANNELS] = c->channels;
    numbers[GROUPS] = c->groups;
    numbers[FLAGS] = kind | (c->bias != NULL && kind != MXN_CONV_TO_DATA ? HAS_BIAS : 0) |
                     (c->channels_last ? CHANNELS_LAST : 0);
}

typedef struct conv_plan {
    dnnl_memory_desc_t data, weight, result, bias;  // any layout
    dnnl_dims_t strides, dilates, pads;
    int kind;
    bool has_bias;
} conv_plan;

static dnnl_status_t plan_convolution(const mxn_problem_key *key, conv_plan *c,
                                      mxn_problem_plan *plan)
{
    const int64_t *n = key->numbers;
    axis axes[AXES];
    int count = get_axes(n, axes), group = n[GROUPS] > 1 ? 1 : 0;
    bool last = (n[FLAGS] & CHANNELS_LAST) != 0;
    c->kind = (int)(n[FLAGS] & KIND_MASK);
    c->has_bias = (n[FLAGS] & HAS_BIAS) != 0;
    dnnl_dims_t data = {n[IMAGES], n[CHANNELS] * n[GROUPS]}, result = {n[IMAGES], n[FILTERS]};
    dnnl_dims_t weight = {n[GROUPS], n[FILTERS], n[CHANNELS]}, bias = {n[FILTERS]};
    weight[group] = n[FILTERS] / n[GROUPS];
    weight[group + 1] = n[CHANNELS];
    for (int i = 0; i < count; i++) {
        data[2 + i] = axes[i].in;
        result[2 + i] = axes[i].out;
        weight[group + 2 + i] = axes[i].kernel;
        c->strides[i] = axes[i].stride;
        c->dilates[i] = axes[i].dilate - 1;
        c->pads[i] = axes[i].pad;
    }
    mxn_problem_argument *a = plan->arguments;
    plan->count = c->has_bias ? 4 : 3;
    dnnl_status_t status = plain_of(&a[0].plain, count + 2, data, last ? 1 : -1);
    status =
        status ? status : plain_of(&a[1].plain, group + count + 2, weight, last ? group + 1 : -1);
    status = status ? status : plain_of(&a[2].plain, count + 2, result, last ? 1 : -1);
    status = status ? status : plain_of(&a[3].plain, 1, bias, -1);
    status = status ? status : any_of(&c->data, &a[0].plain);
    status = status ? status : any_of(&c->weight, &a[1].plain);
    status = status ? status : any_of(&c->result, &a[2].plain);
    c->bias = a[3].plain;
    return status;
}

// The gradients' descriptions want to see the forward's.
static dnnl_status_t hint_of(const conv_plan *c, dnnl_engine_t engine, dnnl_primitive_desc_t *hint)
{
    dnnl_convolution_desc_t forward;
    dnnl_status_t status = dnnl_dilated_convolution_forward_desc_init(
        &forward, dnnl_forward_training, dnnl_convolution_direct, &c->data, &c->weight, NULL,
        &c->result, c->strides, c->dilates, c->pads, c->pads);
    return status ? status : dnnl_primitive_desc_create(hint, &forward, NULL, engine, NULL);
}

static dnnl_status_t describe_gradient(const conv_plan *c, dnnl_engine_t engine,
                                       const_dnnl_primitive_attr_t attributes,
                                       dnnl_primitive_desc_t *made)
{
    dnnl_convolution_desc_t back;
    dnnl_primitive_desc_t hint;
    dnnl_status_t status = hint_of(c, engine, &hint);
    if (status != dnnl_success) {
        return status;
    }
    status = c->kind == MXN_CONV_TO_DATA ? dnnl_dilated_convolution_backward_data_desc_init(
                                               &back, dnnl_convolution_direct, &c->data, &c->weight,
                                               &c->result, c->strides, c->dilates, c->pads, c->pads)
                                         : dnnl_dilated_convolution_backward_weights_desc_init(
                                               &back, dnnl_convolution_direct, &c->data, &c->weight,
                                               c->has_bias ? &c->bias : NULL, &c->result,
                                               c->strides, c->dilates, c->pads, c->pads);
    status = status ? status : dnnl_primitive_desc_create(made, &back, attributes, engine, hint);
    dnnl_primitive_desc_destroy(hint);
    return status;
}

static void name_arguments(const conv_plan *c, mxn_problem_argument *a)
{
    bool to_data = c->kind == MXN_CONV_TO_DATA, to_weight = c->kind == MXN_CONV_TO_WEIGHT;
    a[0].what = to_data ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC;
    a[1].what = to_weight ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS;
    a[2].what = to_data || to_weight ? DNNL_ARG_DIFF_DST : DNNL_ARG_DST;
    a[3].what = to_weight ? DNNL_ARG_DIFF_BIAS : DNNL_ARG_BIAS;
    a[0].written = to_data;
    a[1].written = a[3].written = to_weight;
    a[2].written = c->kind == MXN_CONV_FORWARD;
}

MXN_DESCRIBER(convolution)
{
    conv_plan c;
    dnnl_status_t status = plan_convolution(key, &c, plan);
    if (status != dnnl_success) {
        return status;
    }
    name_arguments(&c, plan->arguments);
    if (c.kind != MXN_CONV_FORWARD) {
        return describe_gradient(&c, engine, attributes, &plan->primitive);
    }
    dnnl_convolution_desc_t forward;
    status = dnnl_dilated_convolution_forward_desc_init(
        &forward, dnnl_forward_training, dnnl_convolution_direct, &c.data, &c.weight,
        c.has_bias ? &c.bias : NULL, &c.result, c.strides, c.dilates, c.pads, c.pads);
    return status
               ? status
               : dnnl_primitive_desc_create(&plan->primitive, &forward, attributes, engine, NULL);
}

// ---- products ---------------------------------------------------------------------------------
void mxn__describe_product(mxn_problem_key *key, const mxn_product *p)
{
    *key = (mxn_problem_key){
        .kind = PRODUCT, .numbers = {p->m, p->n, p->k, p->a_transposed, p->b_transposed, p->adds}};
}

static dnnl_status_t matrix(dnnl_memory_desc_t *to, int64_t rows, int64_t columns, bool transposed)
{
    const dnnl_dims_t dims = {rows, columns};
    const dnnl_dims_t strides = {transposed ? 1 : columns, transposed ? rows : 1};
    return dnnl_memory_desc_init_by_strides(to, 2, dims, dnnl_f32, strides);
}

static dnnl_status_t add_to_result(dnnl_primitive_attr_t attributes)
{
    dnnl_post_ops_t sum = NULL;
    dnnl_status_t status = dnnl_post_ops_create(&sum);
    status = status ? status : dnnl_post_ops_append_sum(sum, 1);
    status = status ? status : dnnl_primitive_attr_set_post_ops(attributes, sum);
    dnnl_post_ops_destroy(sum);
    return status;
}

// With attributes of its own: a scratchpad of the library's, because a job's products are not known
// when its workspace is measured.
MXN_DESCRIBER(product)
{
    const int64_t *n = key->numbers;
    mxn_problem_argument *a = plan->arguments;
    plan->count = 3;
    dnnl_status_t status = matrix(&a[0].plain, n[0], n[2], n[3] != 0);
    status = status ? status : matrix(&a[1].plain, n[2], n[1], n[4] != 0);
    status = status ? status : matrix(&a[2].plain, n[0], n[1], false);
    a[0].what = DNNL_ARG_SRC;
    a[1].what = DNNL_ARG_WEIGHTS;
    a[2].what = DNNL_ARG_DST;
    a[2].written = true;
    dnnl_matmul_desc_t product;
    status = status ? status
                    : dnnl_matmul_desc_init(&product, &a[0].plain, &a[1].plain, NULL, &a[2].plain);
    (void)attributes;
    dnnl_primitive_attr_t own = NULL;
    status = status ? status : dnnl_primitive_attr_create(&own);
    if (status == dnnl_success && n[5] != 0) {
        status = add_to_result(own);
    }
    status =
        status ? status : dnnl_primitive_desc_create(&plan->primitive, &product, own, engine, NULL);
    dnnl_primitive_attr_destroy(own);
    return status;
}

// ---- pooling ----------------------------------------------------------------------------------
enum { POOL_IMAGES = AFTER_AXES, POOL_CHANNELS, POOL_KIND, POOL_LAST };

void mxn__describe_pooling(mxn_problem_key *key, const mxn_pool *p)
{
    *key = (mxn_problem_key){.kind = POOLING};
    put_axes(key->numbers, &p->window);
    key->numbers[POOL_IMAGES] = p->images;
    key->numbers[POOL_CHANNELS] = p->channels;
    key->numbers[POOL_KIND] = p->kind == MXN_POOL_MAX ? dnnl_pooling_max
                              : p->counts_pad         ? dnnl_pooling_avg_include_padding
                                                      : dnnl_pooling_avg_exclude_padding;
    key->numbers[POOL_LAST] = p->channels_last;
}

MXN_DESCRIBER(pool)
{
    const int64_t *n = key->numbers;
    axis axes[AXES];
    int count = get_axes(n, axes), moved = n[POOL_LAST] != 0 ? 1 : -1;
    dnnl_dims_t data = {n[POOL_IMAGES], n[POOL_CHANNELS]};
    dnnl_dims_t result = {n[POOL_IMAGES], n[POOL_CHANNELS]}, strides, kernel, pads;
    for (int i = 0; i < count; i++) {
        data[2 + i] = axes[i].in;
        result[2 + i] = axes[i].out;
        strides[i] = axes[i].stride;
        kernel[i] = axes[i].kernel;
        pads[i] = axes[i].pad;
    }
    mxn_problem_argument *a = plan->arguments;
    plan->count = 2;
    a[0].what = DNNL_ARG_SRC;
    a[1].what = DNNL_ARG_DST;
    a[1].written = true;
    dnnl_pooling_desc_t pool;
    dnnl_status_t status = plain_of(&a[0].plain, count + 2, data, moved);
    status = status ? status : plain_of(&a[1].plain, count + 2, result, moved);
    status = status ? status
                    : dnnl_pooling_forward_desc_init(&pool, dnnl_forward_inference,
                                                     (dnnl_alg_kind_t)n[POOL_KIND], &a[0].plain,
                                                     &a[1].plain, strides, kernel, pads, pads);
    return status ? status
                  : dnnl_primitive_desc_create(&plan->primitive, &pool, attributes, engine, NULL);
}

// ---- along memory -----------------------------------------------------------------------------
void mxn__describe_relu(mxn_problem_key *key, int64_t count, bool backward)
{
    *key = (mxn_problem_key){.kind = RELU, .numbers = {count, backward}};
}

MXN_DESCRIBER(relu)
{
    const dnnl_dims_t dims = {key->numbers[0]};
    const bool backward = key->numbers[1] != 0;
    mxn_problem_argument *a = plan->arguments;
    plan->count = backward ? 3 : 2;
    for (int i = 0; i < 3; i++) {
        plain_of(&a[i].plain, 1, dims, -1);
    }
    a[0].what = backward ? DNNL_ARG_DIFF_DST : DNNL_ARG_SRC;
    a[1].what = DNNL_ARG_DST;
    a[2].what = DNNL_ARG_DIFF_SRC;
    a[backward ? 2 : 1].written = true;
    dnnl_eltwise_desc_t relu;
    dnnl_alg_kind_t kind = dnnl_eltwise_relu_use_dst_for_bwd;
    dnnl_primitive_desc_t hint = NULL;
    dnnl_status_t status =
        dnnl_eltwise_forward_desc_init(&relu, dnnl_forward_training, kind, &a[0].plain, 0, 0);
    if (!backward) {
        return status
                   ? status
                   : dnnl_primitive_desc_create(&plan->primitive, &relu, attributes, engine, NULL);
    }
    status = status ? status : dnnl_primitive_desc_create(&hint, &relu, NULL, engine, NULL);
    status = status ? status
                    : dnnl_eltwise_backward_desc_init(&relu, kind, &a[0].plain, &a[1].plain, 0, 0);
    status = status ? status
                    : dnnl_primitive_desc_create(&plan->primitive, &relu, attributes, engine, hint);
    dnnl_primitive_desc_destroy(hint);
    return status;
}

void mxn__describe_softmax(mxn_problem_key *key, const int64_t sizes[3])
{
    *key = (mxn_problem_key){.kind = SOFTMAX, .numbers = {sizes[0], sizes[1], sizes[2]}};
}

MXN_DESCRIBER(softmax)
{
    const int64_t *n = key->numbers;
    const dnnl_dims_t dims = {n[0], n[1], n[2]};
    mxn_problem_argument *a = plan->arguments;
    plan->count = 2;
    a[0].what = DNNL_ARG_SRC;
    a[1].what = DNNL_ARG_DST;
    a[1].written = true;
    dnnl_status_t status = plain_of(&a[0].plain, 3, dims, -1);
    a[1].plain = a[0].plain;
    dnnl_softmax_v2_desc_t softmax;
    status = status ? status
                    : dnnl_softmax_v2_forward_desc_init(&softmax, dnnl_forward_inference,
                                                        dnnl_softmax_accurate, &a[0].plain,
                                                        &a[1].plain, 1);
    return status
               ? status
               : dnnl_primitive_desc_create(&plan->primitive, &softmax, attributes, engine, NULL);
}
