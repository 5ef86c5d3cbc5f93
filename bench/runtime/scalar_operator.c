// SPDX-License-Identifier: Apache-2.0
// A small operator through the C ABI, as a front end calls it: parameters as text, a new array for
// the result, which is freed. A batch ends with a wait for all.
#include <stddef.h>

#include "runtime/mxnet_library.h"
#include "runtime/runtime_side.h"

enum { BATCH = 5000 };

static NDArrayHandle array;
static AtomicSymbolCreator plus_scalar;

static void prepare(void)
{
    const uint32_t shape[] = {4};
    const float values[] = {1, 2, 3, 4};
    array = bench_mxnet_array(shape, 1);
    bench_mxnet_check(mxnet.array_fill(array, values, 4), "filling an array");
    plus_scalar = bench_mxnet_operator("_plus_scalar");
}

static NDArrayHandle add_one(void)
{
    const char *keys[] = {"scalar"}, *values[] = {"1"};
    const int *types;
    int count = 0;
    NDArrayHandle *out = NULL;
    bench_mxnet_check(mxnet.invoke(plus_scalar, 1, &array, &count, &out, 1, keys, values, &types),
                      "_plus_scalar");
    return out[0];
}

static void check_result(void)
{
    float result[4];
    NDArrayHandle sum = add_one();
    bench_mxnet_check(mxnet.array_read(sum, result, 4), "reading an array");
    bench_mxnet_check(mxnet.array_free(sum), "freeing an array");
    if (result[0] != 2 || result[3] != 5) {
        side_fail("_plus_scalar: wrong result");
    }
}

static void batch(void)
{
    double begin = side_now_ns();
    for (int i = 0; i < BATCH; i++) {
        bench_mxnet_check(mxnet.array_free(add_one()), "freeing an array");
    }
    bench_mxnet_check(mxnet.wait_all(), "waiting for all");
    side_answer("ns", (side_now_ns() - begin) / BATCH, NULL, 0);
    check_result();
}

const side_workload side_scalar_operator[] = {{"plus_scalar", prepare, batch}, {NULL, NULL, NULL}};
