// SPDX-License-Identifier: Apache-2.0
// A multilayer perceptron on MXNet's C functions, and a profile of its training.
//
//     mlp [FOLDER [EPOCHS]]
//
// FOLDER has MNIST's files (train-images-idx3-ubyte ...); without one, digits are drawn. Prints
// samples a second and the accuracy on held-out digits after each epoch, then the table, and leaves
// profile_output.json in the working folder.
#include <mxnet/c_api.h>
#include <nnvm/c_api.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "digits.h"

enum { BATCH = 100, LAYERS = 3, ARGUMENTS = 2 + 2 * LAYERS, PATH_CHARS = 4096 };

static void check(int result)
{
    if (result != 0) {
        fprintf(stderr, "mlp: %s\n", MXGetLastError());
        exit(1);
    }
}

static AtomicSymbolCreator operator_of(const char *name)
{
    OpHandle op = NULL;
    check(NNGetOpHandle(name, &op));
    return op;
}

// ---- the network ------------------------------------------------------------------------------
static SymbolHandle variable(const char *name)
{
    SymbolHandle made = NULL;
    check(MXSymbolCreateVariable(name, &made));
    return made;
}

// An operator with one parameter, or none, on symbols that go into it.
static SymbolHandle compose(const char *op, const char *name, const char *key, const char *value,
                            mx_uint count, SymbolHandle *inputs)
{
    SymbolHandle made = NULL;
    check(MXSymbolCreateAtomicSymbol(operator_of(op), key != NULL, &key, &value, &made));
    check(MXSymbolCompose(made, name, count, NULL, inputs));
    for (mx_uint i = 0; i < count; i++) {
        check(MXSymbolFree(inputs[i]));
    }
    return made;
}

// Arguments: X, then weight and bias of each layer, then label.
static SymbolHandle network(void)
{
    static const char *const sizes[LAYERS] = {"128", "64", "10"};
    SymbolHandle out = variable("X");
    for (int i = 0; i < LAYERS; i++) {
        char weight[16], bias[16], name[16];
        snprintf(weight, sizeof weight, "w%d", i);
        snprintf(bias, sizeof bias, "b%d", i);
        snprintf(name, sizeof name, "fc%d", i);
        SymbolHandle dense[] = {out, variable(weight), variable(bias)};
        out = compose("FullyConnected", name, "num_hidden", sizes[i], 3, dense);
        if (i + 1 < LAYERS) {
            snprintf(name, sizeof name, "relu%d", i);
            out = compose("Activation", name, "act_type", "relu", 1, &out);
        }
    }
    SymbolHandle loss[] = {out, variable("label")};
    return compose("SoftmaxOutput", "softmax", NULL, NULL, 2, loss);
}

// ---- the executor -----------------------------------------------------------------------------
typedef struct trained {
    ExecutorHandle executor;
    NDArrayHandle arguments[ARGUMENTS], gradients[ARGUMENTS];  // data and label have no gradient
} trained;

static void draw(NDArrayHandle array)
{
    const char *keys[] = {"low", "high"}, *values[] = {"-0.07", "0.07"};
    NDArrayHandle *outputs = &array;
    int count = 1;
    check(MXImperativeInvoke(operator_of("_random_uniform"), 0, NULL, &count, &outputs, 2, keys,
                             values, NULL));
}

static trained bind(SymbolHandle symbol)
{
    const char *given[] = {"X", "label"};
    const mx_uint begins[] = {0, 2, 3};
    const int sizes[] = {BATCH, DIGIT_PIXELS, BATCH};
    mx_uint counts[3];
    const int *dimensions[3], **shapes[3];
    int complete = 0;
    trained t = {0};
    mx_uint requests[ARGUMENTS];
    check(MXSymbolInferShape(symbol, 2, given, begins, sizes, &counts[0], &dimensions[0],
                             &shapes[0], &counts[1], &dimensions[1], &shapes[1], &counts[2],
                             &dimensions[2], &shapes[2], &complete));
    for (mx_uint i = 0; i < ARGUMENTS; i++) {
        const mx_uint *shape = (const mx_uint *)shapes[0][i], rank = (mx_uint)dimensions[0][i];
        const int learned = i > 0 && i < ARGUMENTS - 1;
        check(MXNDArrayCreate(shape, rank, 1, 0, 0, 0, &t.arguments[i]));
        requests[i] = learned ? 1 : 0;
        if (learned) {
            check(MXNDArrayCreate(shape, rank, 1, 0, 0, 0, &t.gradients[i]));
            draw(t.arguments[i]);
        }
    }
    check(MXExecutorBind(symbol, 1, 0, ARGUMENTS, t.arguments, t.gradients, requests, 0, NULL,
                         &t.executor));
    return t;
}

static void free_trained(const trained *t)
{
    check(MXExecutorFree(t->executor));
    for (int i = 0; i < ARGUMENTS; i++) {
        check(MXNDArrayFree(t->arguments[i]));
        if (t->gradients[i] != NULL) {
            check(MXNDArrayFree(t->gradients[i]));
        }
    }
}

// ---- digits -----------------------------------------------------------------------------------
static void paths_of(const char *folder, const char *set, char images[], char labels[])
{
    snprintf(images, PATH_CHARS, "%s/%s-images-idx3-ubyte", folder, set);
    snprintf(labels, PATH_CHARS, "%s/%s-labels-idx1-ubyte", folder, set);
}

static DataIterHandle digits_of(const char *folder, const char *set)
{
    char images[PATH_CHARS], labels[PATH_CHARS];
    const char *keys[] = {"image", "label", "batch_size", "flat", "silent", "shuffle"};
    const char *values[] = {images, labels, "100", "1", "1", set[1] == 'r' ? "1" : "0"};
    uint32_t count = 0;
    DataIterCreator *creators = NULL;
    DataIterHandle made = NULL;
    paths_of(folder, set, images, labels);
    check(MXListDataIters(&count, &creators));
    for (uint32_t i = 0; i < count && made == NULL; i++) {
        const char *name = NULL, *text = NULL, **names = NULL, **types = NULL, **texts = NULL;
        uint32_t parameters = 0;
        check(
            MXDataIterGetIterInfo(creators[i], &name, &text, &parameters, &names, &types, &texts));
        if (strcmp(name, "MNISTIter") == 0) {
            check(MXDataIterCreateIter(creators[i], 6, keys, values, &made));
        }
    }
    return made;
}

// The next batch becomes the network's data and label; 0: there is none.
static int take_batch(DataIterHandle digits, const trained *t)
{
    int has = 0;
    check(MXDataIterNext(digits, &has));
    for (int i = 0; i < 2 && has; i++) {
        NDArrayHandle from = NULL, to = t->arguments[i == 0 ? 0 : ARGUMENTS - 1], *outputs = &to;
        int count = 1;
        check((i == 0 ? MXDataIterGetData : MXDataIterGetLabel)(digits, &from));
        check(MXImperativeInvoke(operator_of("_copyto"), 1, &from, &count, &outputs, 0, NULL, NULL,
                                 NULL));
        check(MXNDArrayFree(from));
    }
    return has;
}

// ---- training ---------------------------------------------------------------------------------
static void update(const trained *t)
{
    const char *keys[] = {"lr", "wd", "rescale_grad"}, *values[] = {"0.1", "0.0001", "0.01"};
    for (int i = 1; i < ARGUMENTS - 1; i++) {
        NDArrayHandle inputs[] = {t->arguments[i], t->gradients[i]}, *outputs = inputs;
        int count = 1;
        check(MXImperativeInvoke(operator_of("sgd_update"), 2, inputs, &count, &outputs, 3, keys,
                                 values, NULL));
    }
}

static int train_epoch(DataIterHandle digits, const trained *t)
{
    int samples = 0;
    for (check(MXDataIterBeforeFirst(digits)); take_batch(digits, t); samples += BATCH) {
        check(MXExecutorForward(t->executor, 1));
        check(MXExecutorBackward(t->executor, 0, NULL));
        update(t);
    }
    check(MXNDArrayWaitAll());
    return samples;
}

static int count_right(const trained *t)
{
    float given[BATCH], truth[BATCH];
    mx_uint outputs = 0;
    NDArrayHandle *output = NULL, *best = NULL;
    int count = 0, right = 0;
    check(MXExecutorOutputs(t->executor, &outputs, &output));
    NDArrayHandle rows = output[0];
    check(MXImperativeInvoke(operator_of("argmax_channel"), 1, &rows, &count, &best, 0, NULL, NULL,
                             NULL));
    check(MXNDArraySyncCopyToCPU(best[0], given, BATCH));
    check(MXNDArraySyncCopyToCPU(t->arguments[ARGUMENTS - 1], truth, BATCH));
    for (int row = 0; row < BATCH; row++) {
        right += (int)given[row] == (int)truth[row];
    }
    check(MXNDArrayFree(best[0]));
    check(MXNDArrayFree(rows));
    return right;
}

static double evaluate(DataIterHandle digits, const trained *t)
{
    int right = 0, samples = 0;
    for (check(MXDataIterBeforeFirst(digits)); take_batch(digits, t); samples += BATCH) {
        check(MXExecutorForward(t->executor, 0));
        right += count_right(t);
    }
    return samples == 0 ? 0 : (double)right / samples;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void train(const char *folder, int epochs)
{
    DataIterHandle digits = digits_of(folder, "train"), held_out = digits_of(folder, "t10k");
    SymbolHandle symbol = network();
    const trained t = bind(symbol);
    for (int epoch = 0; epoch < epochs; epoch++) {
        const double begin_s = now_s();
        const int samples = train_epoch(digits, &t);
        const double seconds = now_s() - begin_s;
        printf("epoch %d: %.0f samples/s, accuracy %.4f\n", epoch, samples / seconds,
               evaluate(held_out, &t));
    }
    free_trained(&t);
    check(MXSymbolFree(symbol));
    check(MXDataIterFree(digits));
    check(MXDataIterFree(held_out));
}

static void draw_and_train(int epochs)
{
    char folder[] = "/tmp/mlp_digits_XXXXXX", paths[2][2][PATH_CHARS];
    static const char *const sets[] = {"train", "t10k"};
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        exit(1);
    }
    for (uint32_t i = 0; i < 2; i++) {
        paths_of(folder, sets[i], paths[i][0], paths[i][1]);
        if (digits_write(paths[i][0], paths[i][1], i == 0 ? 6000 : 1000, i + 1) != 0) {
            perror(paths[i][0]);
            exit(1);
        }
    }
    train(folder, epochs);
    for (int i = 0; i < 4; i++) {
        unlink(paths[i / 2][i % 2]);
    }
    rmdir(folder);
}

int main(int argc, char **argv)
{
    const char *keys[] = {"profile_all", "aggregate_stats", "continuous_dump", "filename"};
    const char *values[] = {"True", "True", "True", "profile_output.json"};
    const int epochs = argc > 2 ? atoi(argv[2]) : 8;
    const char *table = NULL;
    check(MXRandomSeed(1));
    check(MXSetProfilerConfig(4, keys, values));
    check(MXSetProfilerState(1));
    if (argc > 1) {
        train(argv[1], epochs);
    } else {
        draw_and_train(epochs);
    }
    check(MXSetProfilerState(0));
    check(MXAggregateProfileStatsPrint(&table, 0, 0, 0, 0));
    printf("%s\n", table);
    check(MXDumpProfile(1));
    check(MXNotifyShutdown());
    return 0;
}
