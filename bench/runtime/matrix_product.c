// SPDX-License-Identifier: Apache-2.0
// Products of matrices: operators of the runtime, and the same by direct calls of oneDNN's sgemm,
// which is loaded from where the system has it. Both on two threads; a batch is a handful of calls.
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/mxnet_library.h"
#include "runtime/runtime_side.h"

enum { CALLS = 4, INPUTS = 3 };

// c (m x n) = a (m x k) b (k x n); b may lie transposed, as the weight of a layer does.
typedef struct product {
    uint32_t m, n, k;
    const char *operator;
    uint32_t input_count;  // of the operator
} product;

static const product square = {1024, 1024, 1024, "dot", 2};
static const product layer = {256, 1024, 2048, "FullyConnected", 3};

static const product *now;
static float *values[INPUTS], *result;

static float *numbers(size_t count)
{
    float *made = malloc(count * sizeof *made);
    for (size_t i = 0; made != NULL && i < count; i++) {
        made[i] = (float)(i * 7919 % 1009) / 1009 - 0.5f;
    }
    if (made == NULL) {
        side_fail("no memory");
    }
    return made;
}

static void choose(const product *which)
{
    now = which;
    values[0] = numbers((size_t)now->m * now->k);
    values[1] = numbers((size_t)now->k * now->n);
    values[2] = numbers(now->n);
    result = numbers((size_t)now->m * now->n);
}

static bool has_weight(void)
{
    return now->input_count == INPUTS;
}

static double flops(void)
{
    return 2.0 * now->m * now->n * now->k;
}

// The first element against a plain sum.
static void check(float found, float bias)
{
    double sum = (double)bias;
    for (uint32_t i = 0; i < now->k; i++) {
        size_t at = has_weight() ? i : (size_t)i * now->n;
        sum += (double)values[0][i] * (double)values[1][at];
    }
    if (!((double)found > sum - 1e-2 && (double)found < sum + 1e-2)) {
        side_fail("a product of matrices is wrong");
    }
}

// ---- the runtime --------------------------------------------------------------------------------
static NDArrayHandle inputs[INPUTS];
static AtomicSymbolCreator creator;

static NDArrayHandle filled(const uint32_t *shape, uint32_t rank, const float *from)
{
    NDArrayHandle array = bench_mxnet_array(shape, rank);
    size_t count = rank == 1 ? shape[0] : (size_t)shape[0] * shape[1];
    bench_mxnet_check(mxnet.array_fill(array, from, count), "filling an array");
    return array;
}

static void prepare(const product *which)
{
    choose(which);
    const bool transposed = has_weight();
    const uint32_t a[] = {now->m, now->k}, bias[] = {now->n};
    const uint32_t b[] = {transposed ? now->n : now->k, transposed ? now->k : now->n};
    inputs[0] = filled(a, 2, values[0]);
    inputs[1] = filled(b, 2, values[1]);
    inputs[2] = filled(bias, 1, values[2]);
    creator = bench_mxnet_operator(now->operator);
}

static void prepare_square(void)
{
    prepare(&square);
}

static void prepare_layer(void)
{
    prepare(&layer);
}

static NDArrayHandle multiply(void)
{
    const char *key = "num_hidden", *value = "1024";
    const int *types;
    int count = 0;
    NDArrayHandle *out = NULL;
    bench_mxnet_check(mxnet.invoke(creator, (int)now->input_count, inputs, &count, &out,
                                   has_weight() ? 1 : 0, &key, &value, &types),
                      now->operator);
    return out[0];
}

static void batch(void)
{
    double begin = side_now_ns();
    for (int i = 0; i < CALLS; i++) {
        bench_mxnet_check(mxnet.array_free(multiply()), "freeing an array");
    }
    bench_mxnet_check(mxnet.wait_all(), "waiting for all");
    side_answer("ns", (side_now_ns() - begin) / CALLS / flops(), NULL, 0);
    NDArrayHandle again = multiply();
    bench_mxnet_check(mxnet.array_read(again, result, (size_t)now->m * now->n), "reading an array");
    bench_mxnet_check(mxnet.array_free(again), "freeing an array");
    check(result[0], has_weight() ? values[2][0] : 0);
}

const side_workload side_matrix_product[] = {{"product_square", prepare_square, batch},
                                             {"product_layer", prepare_layer, batch},
                                             {NULL, NULL, NULL}};

// ---- the library --------------------------------------------------------------------------------
typedef int (*sgemm_function)(char transposed_a, char transposed_b, int64_t m, int64_t n, int64_t k,
                              float alpha, const float *a, int64_t a_row, const float *b,
                              int64_t b_row, float beta, float *c, int64_t c_row);
static sgemm_function sgemm;

static void prepare_library(const product *which)
{
    choose(which);
    void *library = dlopen("libdnnl.so.2", RTLD_NOW);
    void *function = library == NULL ? NULL : dlsym(library, "dnnl_sgemm");
    if (function == NULL) {
        side_fail("oneDNN is not installed");
    }
    *(void **)&sgemm = function;
}

static void prepare_library_square(void)
{
    prepare_library(&square);
}

static void prepare_library_layer(void)
{
    prepare_library(&layer);
}

static void batch_library(void)
{
    const bool transposed = has_weight();
    const int64_t m = now->m, n = now->n, k = now->k;
    double begin = side_now_ns();
    for (int i = 0; i < CALLS; i++) {
        sgemm('N', transposed ? 'T' : 'N', m, n, k, 1, values[0], k, values[1], transposed ? k : n,
              0, result, n);
    }
    side_answer("ns", (side_now_ns() - begin) / CALLS / flops(), NULL, 0);
    check(result[0], 0);
}

const side_workload side_library_product[] = {
    {"library_square", prepare_library_square, batch_library},
    {"library_layer", prepare_library_layer, batch_library},
    {NULL, NULL, NULL}};
