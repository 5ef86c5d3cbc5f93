// SPDX-License-Identifier: Apache-2.0
// Operations that do nothing, pushed by one thread: what the engine itself costs. A batch is as
// many as the recorder of the original still takes at its best rate, so that all comparisons have
// the same length, and ends with a wait for all.
#include <stdlib.h>

#include "runtime/mxnet_library.h"
#include "runtime/runtime_side.h"

enum { VARIABLES = 64, BATCH = 60000, WAITS = 500 };

static NDArrayHandle array[VARIABLES];

static void nothing(void *context, void *argument)
{
    (void)context;
    (void)argument;
}

static void make_arrays(void)
{
    const uint32_t shape[] = {1};
    for (int i = 0; i < VARIABLES; i++) {
        array[i] = bench_mxnet_array(shape, 1);
    }
}

static void push_in_turn(int number)
{
    bench_mxnet_push(nothing, NULL, NULL, 0, &array[number % VARIABLES], 1);
}

static void push_chain(int number)
{
    (void)number;
    bench_mxnet_push(nothing, NULL, NULL, 0, &array[0], 1);
}

// Reads what the two operations before it have written.
static void push_three(int number)
{
    NDArrayHandle read[] = {array[(number + 62) % VARIABLES], array[(number + 63) % VARIABLES]};
    bench_mxnet_push(nothing, NULL, read, 2, &array[number % VARIABLES], 1);
}

static void run_batch(void (*push)(int))
{
    double begin = side_now_ns();
    for (int i = 0; i < BATCH; i++) {
        push(i);
    }
    bench_mxnet_check(mxnet.wait_all(), "waiting for all");
    side_answer("ns", (side_now_ns() - begin) / BATCH, NULL, 0);
}

static void batch_in_turn(void)
{
    run_batch(push_in_turn);
}

static void batch_chain(void)
{
    run_batch(push_chain);
}

static void batch_three(void)
{
    run_batch(push_three);
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

// One operation, waited for. The median: a thread that was not on a processor is not what it costs.
static void batch_wait(void)
{
    static double took[WAITS];
    for (int i = 0; i < WAITS; i++) {
        double begin = side_now_ns();
        push_chain(0);
        bench_mxnet_check(mxnet.array_wait(array[0]), "waiting for an array");
        took[i] = side_now_ns() - begin;
    }
    qsort(took, WAITS, sizeof *took, compare_doubles);
    side_answer("ns", took[WAITS / 2], NULL, 0);
}

const side_workload side_empty_operations[] = {{"in_turn", make_arrays, batch_in_turn},
                                               {"chain", make_arrays, batch_chain},
                                               {"three", make_arrays, batch_three},
                                               {"wait", make_arrays, batch_wait},
                                               {NULL, NULL, NULL}};
