// SPDX-License-Identifier: Apache-2.0
// Training steps of a small convolutional network, called as a front end calls them: operator by
// operator, gradients by autograd, one update a parameter. Two convolutions of 5 x 5 (20 and 50
// filters), each with relu and a pooling of 2 x 2, then dense layers of 512 and 10; images of
// 28 x 28, 64 a batch; stochastic gradient descent at 0.1. bench/peers/lenet_torch.py is the same.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/mxnet_library.h"
#include "runtime/runtime_side.h"

enum { IMAGES = 64, SIDE = 28, PIXELS = SIDE * SIDE, CLASSES = 10, DATASETS = 16 };
enum { PARAMETERS = 8, LAYERS = 11, INPUTS_MAX = 3, TEXTS_MAX = 3, CHECK_AFTER = 128 };

// What is between a layer's data and its result, in the order of the forward pass. Parameters
// are taken in turn; the label goes to the layer that has one.
static const struct layer {
    const char *name;
    int parameters;
    bool has_label;
    int texts;
    const char *keys[TEXTS_MAX], *values[TEXTS_MAX];
} layers[LAYERS] = {
    {"Convolution", 2, false, 2, {"kernel", "num_filter"}, {"(5, 5)", "20"}},
    {"Activation", 0, false, 1, {"act_type"}, {"relu"}},
    {"Pooling", 0, false, 3, {"kernel", "stride", "pool_type"}, {"(2, 2)", "(2, 2)", "max"}},
    {"Convolution", 2, false, 2, {"kernel", "num_filter"}, {"(5, 5)", "50"}},
    {"Activation", 0, false, 1, {"act_type"}, {"relu"}},
    {"Pooling", 0, false, 3, {"kernel", "stride", "pool_type"}, {"(2, 2)", "(2, 2)", "max"}},
    {"FullyConnected", 2, false, 1, {"num_hidden"}, {"512"}},
    {"Activation", 0, false, 1, {"act_type"}, {"relu"}},
    {"FullyConnected", 2, false, 1, {"num_hidden"}, {"10"}},
    {"log_softmax", 0, false, 1, {"axis"}, {"-1"}},
    {"pick", 0, true, 2, {"axis", "keepdims"}, {"-1", "1"}},
};

static const struct shape {
    uint32_t rank, size[4];
} shapes[PARAMETERS] = {{4, {20, 1, 5, 5}}, {1, {20}},  {4, {50, 20, 5, 5}}, {1, {50}},
                        {2, {512, 800}},    {1, {512}}, {2, {10, 512}},      {1, {10}}};

static AtomicSymbolCreator operator_of[LAYERS], negative, update;
static NDArrayHandle parameter[PARAMETERS], gradient[PARAMETERS];
static NDArrayHandle data[DATASETS], label[DATASETS];
static int steps;

// ---- numbers ----------------------------------------------------------------------------------
static double uniform(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 40) / (double)(1 << 24);
}

static uint32_t elements(const struct shape *shape)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < shape->rank; i++) {
        count *= shape->size[i];
    }
    return count;
}

static NDArrayHandle array_of(const struct shape *shape, double reach)
{
    uint32_t count = elements(shape);
    float *values = malloc(count * sizeof *values);
    NDArrayHandle array = bench_mxnet_array(shape->size, shape->rank);
    for (uint32_t i = 0; values != NULL && i < count; i++) {
        values[i] = (float)(reach * (2 * uniform() - 1));
    }
    bench_mxnet_check(mxnet.array_fill(array, values, count), "filling an array");
    free(values);
    return array;
}

// Noise, and a bright stripe where the label says: something that can be learned.
static void make_images(int number)
{
    static float images[IMAGES * PIXELS], labels[IMAGES];
    const uint32_t shape[] = {IMAGES, 1, SIDE, SIDE};
    for (int i = 0; i < IMAGES * PIXELS; i++) {
        images[i] = (float)(0.5 * uniform());
    }
    for (int i = 0; i < IMAGES; i++) {
        int which = (int)(uniform() * CLASSES);
        labels[i] = (float)which;
        for (int x = 0; x < SIDE; x++) {
            images[i * PIXELS + (2 * which + 4) * SIDE + x] += 0.5f;
        }
    }
    data[number] = bench_mxnet_array(shape, 4);
    label[number] = bench_mxnet_array(shape, 1);
    bench_mxnet_check(mxnet.array_fill(data[number], images, IMAGES * PIXELS), "filling images");
    bench_mxnet_check(mxnet.array_fill(label[number], labels, IMAGES), "filling labels");
}

static void prepare(void)
{
    mx_uint write[PARAMETERS];
    for (int i = 0; i < LAYERS; i++) {
        operator_of[i] = bench_mxnet_operator(layers[i].name);
    }
    negative = bench_mxnet_operator("negative");
    update = bench_mxnet_operator("sgd_update");
    for (int i = 0; i < PARAMETERS; i++) {
        double inputs = (double)elements(&shapes[i]) / shapes[i].size[0];
        parameter[i] = array_of(&shapes[i], shapes[i].rank == 1 ? 0 : 1 / sqrt(inputs));
        gradient[i] = array_of(&shapes[i], 0);
        write[i] = 1;
    }
    bench_mxnet_check(mxnet.mark_variables(PARAMETERS, parameter, write, gradient), "marking");
    for (int i = 0; i < DATASETS; i++) {
        make_images(i);
    }
}

// ---- a step -----------------------------------------------------------------------------------
static NDArrayHandle call(AtomicSymbolCreator creator, NDArrayHandle *inputs, int input_count,
                          const struct layer *layer)
{
    int count = 0;
    NDArrayHandle *out = NULL;
    const int *types;
    bench_mxnet_check(mxnet.invoke(creator, input_count, inputs, &count, &out,
                                   layer != NULL ? layer->texts : 0,
                                   layer != NULL ? (const char **)layer->keys : NULL,
                                   layer != NULL ? (const char **)layer->values : NULL, &types),
                      layer != NULL ? layer->name : "an operator");
    return out[0];
}

// The results of all layers, and the loss of each image at the end.
static NDArrayHandle forward(int number, NDArrayHandle *results)
{
    NDArrayHandle at = data[number];
    int next = 0;
    for (int i = 0; i < LAYERS; i++) {
        NDArrayHandle inputs[INPUTS_MAX] = {at};
        int count = 1;
        for (int j = 0; j < layers[i].parameters; j++) {
            inputs[count++] = parameter[next++];
        }
        if (layers[i].has_label) {
            inputs[count++] = label[number];
        }
        at = results[i] = call(operator_of[i], inputs, count, &layers[i]);
    }
    return results[LAYERS] = call(negative, &at, 1, NULL);
}

static void update_parameters(void)
{
    const char *keys[] = {"lr", "wd", "rescale_grad"}, *values[] = {"0.1", "0", "0.015625"};
    for (int i = 0; i < PARAMETERS; i++) {
        NDArrayHandle inputs[] = {parameter[i], gradient[i]}, *out = &parameter[i];
        int count = 1;
        const int *types;
        bench_mxnet_check(mxnet.invoke(update, 2, inputs, &count, &out, 3, keys, values, &types),
                          "sgd_update");
    }
}

static void check_loss(NDArrayHandle loss)
{
    float each[IMAGES], sum = 0;
    bench_mxnet_check(mxnet.array_read(loss, each, IMAGES), "reading the loss");
    for (int i = 0; i < IMAGES; i++) {
        sum += each[i];
    }
    if (!(sum / IMAGES < 1.5f)) {
        side_fail("the network does not learn");
    }
}

// Everything from the first operator to the end of the last update.
static void batch(void)
{
    NDArrayHandle results[LAYERS + 1];
    int previous;
    double begin = side_now_ns();
    bench_mxnet_check(mxnet.set_recording(1, &previous), "recording");
    bench_mxnet_check(mxnet.set_training(1, &previous), "training");
    NDArrayHandle loss = forward(steps++ % DATASETS, results);
    bench_mxnet_check(mxnet.set_recording(0, &previous), "recording");
    bench_mxnet_check(mxnet.set_training(0, &previous), "training");
    bench_mxnet_check(mxnet.backward(1, &loss, NULL, 0, NULL, 0, 0, 1, NULL, NULL), "backward");
    update_parameters();
    bench_mxnet_check(mxnet.wait_all(), "waiting for all");
    side_answer("ns", side_now_ns() - begin, NULL, 0);
    if (steps == CHECK_AFTER) {
        check_loss(loss);
    }
    for (int i = 0; i <= LAYERS; i++) {
        bench_mxnet_check(mxnet.array_free(results[i]), "freeing a result");
    }
}

const side_workload side_lenet_step[] = {{"lenet", prepare, batch}, {NULL, NULL, NULL}};
