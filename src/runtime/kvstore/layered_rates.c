// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/layered_rates.h"

#include "base/fail.h"
#include "runtime/imperative/imperative.h"

double mxn__kv_layered_momentum(mxn_kv_layered_rates *layered, const mxn_kv_settings *settings,
                                double rate, uint64_t updates)
{
    if (layered->updates != updates) {
        layered->rate_before = layered->updates == 0 ? rate : layered->rate;
        layered->rate = rate;
        layered->updates = updates;
    }
    const bool follows = settings->momentum_correction != 0 && layered->rate_before != 0;
    return settings->momentum * (follows ? layered->rate / layered->rate_before : 1);
}

static int invoke(const mxn_kv_operation *operation, uint32_t count, mxn_array *const *inputs,
                  mxn_array **output)
{
    const char *values[MXN_KV_PAIRS];
    for (uint32_t i = 0; i < operation->count; i++) {
        values[i] = operation->values[i];
    }
    const mxn_op *op = NULL;
    mxn_params *params = NULL;
    int error = mxn_op_require(operation->name, &op);
    error = error == MXP_OK ? mxn_params_parse(op, operation->count, operation->keys, values, count,
                                               true, &params)
                            : error;
    if (error == MXP_OK) {
        const mxn_invocation invocation = {.params = params, .inputs = inputs, .outputs = output};
        error = mxn_invoke(&invocation);
    }
    mxn_params_release(params);
    return error;
}

static int sum_of_squares(mxn_array *array, mxn_array **sum)
{
    mxn_kv_operation operation = {.name = "multi_sum_sq"};
    mxn__kv_operation_add(&operation, "num_arrays", 1);
    return invoke(&operation, 1, &array, sum);
}

static int one_number(const mxn_array *like, double number, mxn_array **array)
{
    const mxn_shape one = {.ndim = 1, .dims = {1}};
    const float value = (float)number;
    int error = mxn_array_new(&one, MXN_FLOAT32, mxn_array_context(like), NULL, false, array);
    return error == MXP_OK ? mxn_array_copy_in(*array, &value, 1) : error;
}

static int scale(const mxn_kv_settings *settings, mxn_array *gradient, mxn_array *weight,
                 mxn_array *rates, mxn_array *decays)
{
    mxn_kv_operation operation = {.name = "multi_lars"};
    mxn_array *of_weight = NULL, *of_gradient = NULL;
    mxn__kv_operation_add(&operation, "eta", settings->eta);
    mxn__kv_operation_add(&operation, "eps", settings->eps);
    mxn__kv_operation_add(&operation, "rescale_grad", settings->rescale_grad);
    int error = sum_of_squares(weight, &of_weight);
    error = error == MXP_OK ? sum_of_squares(gradient, &of_gradient) : error;
    if (error == MXP_OK) {
        mxn_array *const inputs[] = {rates, of_weight, of_gradient, decays};
        error = invoke(&operation, 4, inputs, &rates);
    }
    mxn_array_release(of_weight);
    mxn_array_release(of_gradient);
    return error;
}

int mxn__kv_layered_rates_make(const mxn_kv_settings *settings, const mxn_kv_step *step,
                               bool follows_norms, mxn_array *gradient, mxn_array *weight,
                               mxn_array **rates, mxn_array **decays)
{
    int error = one_number(weight, step->lr, rates);
    error = error == MXP_OK ? one_number(weight, step->wd, decays) : error;
    return error == MXP_OK && follows_norms ? scale(settings, gradient, weight, *rates, *decays)
                                            : error;
}
