// SPDX-License-Identifier: Apache-2.0
// The walk-through of MXNet's profiling guide, in C: create an array, take its diagonal, sum it,
// wait, and look at what happened. Run it as `trace [DIRECTORY]`: it prints the table and leaves
// trace_profile.json there, for ui.perfetto.dev, and a list of memory. The program's thread and the
// engine's worker are rows of their own: operators run behind the calls that ask for them.
//
// The calls are those that MXNet's Python package makes for
//     a = mx.nd.array(np.linspace(1, 9, 9).reshape((3, 3)))
//     b = mx.nd.diag(a)
//     c = mx.nd.sum(b, -1)
//     mx.nd.waitall()
#include <limits.h>
#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { CPU = 1, FLOAT32 = 0, SIDE = 3, ELEMENTS = SIDE * SIDE };

static void check(int status)
{
    if (status != 0) {
        fprintf(stderr, "%s\n", MXGetLastError());
        exit(1);
    }
}

// ---- 1. the profiler --------------------------------------------------------------------------
static void configure(const char *directory)
{
    char path[PATH_MAX], memory[PATH_MAX];
    snprintf(path, sizeof(path), "%s/trace_profile.json", directory);
    snprintf(memory, sizeof(memory), "%s/trace_memory", directory);
    const char *const keys[] = {"profile_all", "aggregate_stats", "filename",
                                "gpu_memory_profile_filename_prefix"};
    const char *const values[] = {"True", "True", path, memory};
    check(MXSetProfilerConfig(4, keys, values));
}

// ---- 2. an array ------------------------------------------------------------------------------
// The Python package asks for the shape ten times on its way to the copy, and once more after the
// type; so does this, for the table to be the guide's.
static size_t ask_for_size(NDArrayHandle array)
{
    enum { QUESTIONS = 10 };
    int rank = 0, type = 0;
    const int64_t *shape = NULL;
    for (int i = 0; i < QUESTIONS; i++) {
        check(MXNDArrayGetShape64(array, &rank, &shape));
    }
    check(MXNDArrayGetDType(array, &type));
    check(MXNDArrayGetShape64(array, &rank, &shape));
    size_t size = 1;
    for (int i = 0; i < rank; i++) {
        size *= (size_t)shape[i];
    }
    return type == FLOAT32 ? size : 0;
}

static NDArrayHandle make_array(void)
{
    const int64_t shape[] = {SIDE, SIDE};
    NDArrayHandle array = NULL;
    check(MXNDArrayCreate64(shape, 2, CPU, 0, 0, FLOAT32, &array));
    float data[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) {
        data[i] = (float)(i + 1);
    }
    check(MXNDArraySyncCopyFromCPU(array, data, ask_for_size(array)));
    return array;
}

// ---- 3. operators -----------------------------------------------------------------------------
static NDArrayHandle run(const char *name, NDArrayHandle input, int num_params, const char **keys,
                         const char **values)
{
    OpHandle operator_handle = NULL;
    int num_outputs = 0;
    NDArrayHandle *outputs = NULL;
    check(NNGetOpHandle(name, &operator_handle));
    check(MXImperativeInvoke(operator_handle, 1, &input, &num_outputs, &outputs, num_params, keys,
                             values, NULL));
    return outputs[0];
}

int main(int argc, char **argv)
{
    configure(argc > 1 ? argv[1] : ".");
    check(MXSetProfilerState(1));

    const char *axis = "axis", *last = "-1";
    NDArrayHandle a = make_array();
    NDArrayHandle b = run("diag", a, 0, NULL, NULL);
    NDArrayHandle c = run("sum", b, 1, &axis, &last);
    check(MXNDArrayWaitAll());

    check(MXSetProfilerState(0));

    const char *table = NULL;
    check(MXAggregateProfileStatsPrint(&table, 0, 0, 0, 0));
    printf("%s\n", table);
    check(MXDumpProfile(1));

    float sum = 0;
    check(MXNDArraySyncCopyToCPU(c, &sum, 1));
    printf("The diagonal's sum is %g.\n", (double)sum);
    check(MXNDArrayFree(a));
    check(MXNDArrayFree(b));
    check(MXNDArrayFree(c));
    return sum == 1 + 5 + 9 ? 0 : 1;
}
