// SPDX-License-Identifier: Apache-2.0
// Trains a small convolutional network on pictures of digits, through MXNet's C functions, and
// profiles the beginning of it: the making of everything and the first epoch. Run it as
// `train [DIRECTORY]`: it prints loss and accuracy as it goes, then the top of the table, and
// leaves there profile.txt (the whole table), profile.json (for ui.perfetto.dev), profile.mxp (for
// mxprof) and memory-pid_N.csv (what was allocated, by whom).
//
// Each layer is made and run in a profiler scope of its name. The gradient's operators inherit the
// scope of the operator that they belong to, so that `mxprof report --by scope` shows what a layer
// takes forward, backward and in its update.
#include <limits.h>
#include <math.h>
#include <mxnet/c_api.h>
#include <mxnet/invoke.h>
#include <nnvm/c_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CPU = 1, FLOAT32 = 0, WRITE = 1 };
enum { SIDE = 16, PIXELS = SIDE * SIDE, CLASSES = 10 };
enum { BATCH = 64, TRAIN_BATCHES = 40, TEST_BATCHES = 8, EPOCHS = 6, PROFILED_EPOCHS = 1 };

static void check(int status)
{
    if (status != 0) {
        fprintf(stderr, "%s\n", MXGetLastError());
        exit(1);
    }
}

// ---- pictures of digits -------------------------------------------------------------------------
static const char *const glyphs[CLASSES][7] = {
    {" ### ", "#   #", "#   #", "#   #", "#   #", "#   #", " ### "},
    {"  #  ", " ##  ", "  #  ", "  #  ", "  #  ", "  #  ", " ### "},
    {" ### ", "#   #", "    #", "   # ", "  #  ", " #   ", "#####"},
    {" ### ", "#   #", "    #", "  ## ", "    #", "#   #", " ### "},
    {"   # ", "  ## ", " # # ", "#  # ", "#####", "   # ", "   # "},
    {"#####", "#    ", "#### ", "    #", "    #", "#   #", " ### "},
    {"  ## ", " #   ", "#    ", "#### ", "#   #", "#   #", " ### "},
    {"#####", "    #", "   # ", "  #  ", "  #  ", " #   ", " #   "},
    {" ### ", "#   #", "#   #", " ### ", "#   #", "#   #", " ### "},
    {" ### ", "#   #", "#   #", " ####", "    #", "   # ", " ##  "},
};

// The same numbers on every machine, from -1 to 1.
static float next_random(void)
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / (1 << 23) - 1;
}

static float glyph_at(int digit, float x, float y)
{
    int column = (int)floorf(x + 2.5f), row = (int)floorf(y + 3.5f);
    bool inside = column >= 0 && column < 5 && row >= 0 && row < 7;
    return inside && glyphs[digit][row][column] == '#' ? 1 : 0;
}

// The digit shifted, turned, scaled and in noise.
static void draw(int digit, float *picture)
{
    float angle = 0.35f * next_random(), scale = 1.7f + 0.4f * next_random();
    float right = 2 * next_random(), down = 1.5f * next_random(), ink = 0.8f + 0.2f * next_random();
    float cosine = cosf(angle) / scale, sine = sinf(angle) / scale;
    for (int i = 0; i < PIXELS; i++) {
        float x = (float)(i % SIDE) - (SIDE - 1) / 2.0f - right;
        float y = (float)(i / SIDE) - (SIDE - 1) / 2.0f - down;
        float here = glyph_at(digit, cosine * x + sine * y, cosine * y - sine * x);
        picture[i] = ink * here + 0.3f * next_random();
    }
}

// ---- arrays and operators ---------------------------------------------------------------------
static NDArrayHandle make_array(const int64_t *shape, int ndim)
{
    NDArrayHandle array = NULL;
    check(MXNDArrayCreate64(shape, ndim, CPU, 0, 0, FLOAT32, &array));
    return array;
}

typedef struct parameter {
    const char *key, *value;
} parameter;

enum { PARAMETERS_MAX = 4 };

// An operator whose parameters are parsed once.
static MXPreparedHandle prepare(const char *name, int num_inputs, const parameter *parameters)
{
    const char *keys[PARAMETERS_MAX], *values[PARAMETERS_MAX];
    int count = 0;
    for (; count < PARAMETERS_MAX && parameters[count].key != NULL; count++) {
        keys[count] = parameters[count].key;
        values[count] = parameters[count].value;
    }
    OpHandle operator_handle = NULL;
    MXPreparedHandle prepared = NULL;
    check(NNGetOpHandle(name, &operator_handle));
    check(MXPreparedCreate(operator_handle, num_inputs, count, keys, values, &prepared));
    return prepared;
}

static NDArrayHandle run(MXPreparedHandle prepared, NDArrayHandle *inputs)
{
    int num_outputs = 0;
    NDArrayHandle *outputs = NULL;
    check(MXPreparedInvoke(prepared, inputs, &num_outputs, &outputs));
    return outputs[0];
}

static void run_into(MXPreparedHandle prepared, NDArrayHandle *inputs, NDArrayHandle output)
{
    int num_outputs = 1;
    NDArrayHandle *outputs = &output;
    check(MXPreparedInvoke(prepared, inputs, &num_outputs, &outputs));
}

// ---- the network ------------------------------------------------------------------------------
enum { WEIGHT, BIAS, LEARNED };

typedef struct layer {
    const char *scope, *name;
    parameter parameters[PARAMETERS_MAX];
    int64_t shapes[LEARNED][4];  // of weight and bias; 0 where there is nothing to learn
    // These are made by make_network.
    MXPreparedHandle forward;
    NDArrayHandle learned[LEARNED], gradients[LEARNED], momenta[LEARNED];
} layer;

static layer network[] = {
    {.scope = "conv1",
     .name = "Convolution",
     .parameters = {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "8"}},
     .shapes = {{8, 1, 3, 3}, {8}}},
    {.scope = "conv1", .name = "Activation", .parameters = {{"act_type", "relu"}}},
    {.scope = "pool1",
     .name = "Pooling",
     .parameters = {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}}},
    {.scope = "conv2",
     .name = "Convolution",
     .parameters = {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "16"}},
     .shapes = {{16, 8, 3, 3}, {16}}},
    {.scope = "conv2", .name = "Activation", .parameters = {{"act_type", "relu"}}},
    {.scope = "pool2",
     .name = "Pooling",
     .parameters = {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}}},
    {.scope = "dense1",
     .name = "FullyConnected",
     .parameters = {{"num_hidden", "64"}},
     .shapes = {{64, 16 * PIXELS / 16}, {64}}},
    {.scope = "dense1", .name = "Activation", .parameters = {{"act_type", "relu"}}},
    {.scope = "dense2",
     .name = "FullyConnected",
     .parameters = {{"num_hidden", "10"}},
     .shapes = {{CLASSES, 64}, {CLASSES}}},
};
enum { LAYERS = sizeof network / sizeof network[0] };

static int64_t size_of(const int64_t *shape, int *ndim)
{
    int64_t size = 1;
    for (*ndim = 0; *ndim < 4 && shape[*ndim] != 0; (*ndim)++) {
        size *= shape[*ndim];
    }
    return size;
}

// Zeros, or random numbers, the smaller the more of them add up to one.
static NDArrayHandle make_filled(const int64_t *shape, bool random)
{
    int ndim;
    int64_t size = size_of(shape, &ndim);
    float range = random ? sqrtf(6.0f * (float)shape[0] / (float)size) : 0;
    float *values = malloc((size_t)size * sizeof(float));
    for (int64_t i = 0; values != NULL && i < size; i++) {
        values[i] = range * next_random();
    }
    NDArrayHandle array = make_array(shape, ndim);
    check(MXNDArraySyncCopyFromCPU(array, values, (size_t)size));
    free(values);
    return array;
}

static void make_network(void)
{
    for (int i = 0; i < LAYERS; i++) {
        layer *at = &network[i];
        bool learns = at->shapes[WEIGHT][0] != 0;
        check(MXSetProfilerScope(at->scope));
        at->forward = prepare(at->name, learns ? 1 + LEARNED : 1, at->parameters);
        for (int part = 0; learns && part < LEARNED; part++) {
            mx_uint write = WRITE;
            at->learned[part] = make_filled(at->shapes[part], part == WEIGHT);
            at->gradients[part] = make_filled(at->shapes[part], false);
            at->momenta[part] = make_filled(at->shapes[part], false);
            check(MXAutogradMarkVariables(1, &at->learned[part], &write, &at->gradients[part]));
        }
    }
    check(MXSetProfilerScope(""));
}

static void free_network(void)
{
    for (int i = 0; i < LAYERS; i++) {
        check(MXPreparedFree(network[i].forward));
        for (int part = 0; part < LEARNED && network[i].learned[part] != NULL; part++) {
            check(MXNDArrayFree(network[i].learned[part]));
            check(MXNDArrayFree(network[i].gradients[part]));
            check(MXNDArrayFree(network[i].momenta[part]));
        }
    }
}

// ---- training ---------------------------------------------------------------------------------
typedef struct samples {
    NDArrayHandle pictures, digits;
    float *answers;  // the digits, on the host
    int batches;
} samples;

typedef struct trainer {
    MXPreparedHandle loss, update;
    samples train, test;
    ProfileHandle step;
} trainer;

// How a batch, or many, went.
typedef struct score {
    double loss;
    int right, count;
} score;

static samples make_samples(int batches)
{
    int count = batches * BATCH;
    samples made = {.batches = batches};
    made.pictures = make_array((int64_t[]){count, 1, SIDE, SIDE}, 4);
    made.digits = make_array((int64_t[]){count}, 1);
    made.answers = malloc((size_t)count * sizeof(float));
    float *pictures = malloc((size_t)count * PIXELS * sizeof(float));
    for (int i = 0; i < count; i++) {
        made.answers[i] = (float)(i * 7 % CLASSES);
        draw(i * 7 % CLASSES, pictures + (size_t)i * PIXELS);
    }
    check(MXNDArraySyncCopyFromCPU(made.pictures, pictures, (size_t)count * PIXELS));
    check(MXNDArraySyncCopyFromCPU(made.digits, made.answers, (size_t)count));
    free(pictures);
    return made;
}

static void free_samples(samples *of)
{
    check(MXNDArrayFree(of->pictures));
    check(MXNDArrayFree(of->digits));
    free(of->answers);
}

static NDArrayHandle batch_of(NDArrayHandle array, int batch)
{
    NDArrayHandle view = NULL;
    check(MXNDArraySlice64(array, (int64_t)batch * BATCH, (int64_t)(batch + 1) * BATCH, &view));
    return view;
}

// Probabilities of the classes. Calls come back before the work is done.
static NDArrayHandle run_forward(const trainer *with, const samples *from, int batch)
{
    NDArrayHandle data = batch_of(from->pictures, batch), digits = batch_of(from->digits, batch);
    for (int i = 0; i < LAYERS; i++) {
        const layer *at = &network[i];
        NDArrayHandle inputs[] = {data, at->learned[WEIGHT], at->learned[BIAS]};
        check(MXSetProfilerScope(at->scope));
        NDArrayHandle next = run(at->forward, inputs);
        check(MXNDArrayFree(data));
        data = next;
    }
    check(MXSetProfilerScope("loss"));
    NDArrayHandle probabilities = run(with->loss, (NDArrayHandle[]){data, digits});
    check(MXSetProfilerScope(""));
    check(MXNDArrayFree(data));
    check(MXNDArrayFree(digits));
    return probabilities;
}

static void update(const trainer *with)
{
    for (int i = 0; i < LAYERS; i++) {
        const layer *at = &network[i];
        check(MXSetProfilerScope(at->scope));
        for (int part = 0; part < LEARNED && at->learned[part] != NULL; part++) {
            NDArrayHandle inputs[] = {at->learned[part], at->gradients[part], at->momenta[part]};
            run_into(with->update, inputs, at->learned[part]);
        }
    }
    check(MXSetProfilerScope(""));
}

// The copy to the host waits until the probabilities are there.
static void add_score(score *to, NDArrayHandle probabilities, const float *answers)
{
    float values[BATCH][CLASSES];
    check(MXNDArraySyncCopyToCPU(probabilities, values, BATCH * CLASSES));
    for (int i = 0; i < BATCH; i++) {
        int answer = (int)answers[i], best = 0;
        for (int class = 1; class < CLASSES; class ++) {
            best = values[i][class] > values[i][best] ? class : best;
        }
        to->loss -= log(fmax((double)values[i][answer], 1e-10));
        to->right += best == answer;
        to->count++;
    }
}

static void train_batch(const trainer *with, int batch, score *to)
{
    check(MXProfileDurationStart(with->step));
    check(MXAutogradSetIsRecording(1, NULL));
    check(MXAutogradSetIsTraining(1, NULL));
    NDArrayHandle probabilities = run_forward(with, &with->train, batch);
    check(MXAutogradSetIsRecording(0, NULL));
    check(MXAutogradSetIsTraining(0, NULL));
    check(MXAutogradBackward(1, &probabilities, NULL, 0));
    update(with);
    add_score(to, probabilities, with->train.answers + (size_t)batch * BATCH);
    check(MXNDArrayFree(probabilities));
    check(MXProfileDurationStop(with->step));
}

static score test(const trainer *with)
{
    score all = {0};
    for (int batch = 0; batch < with->test.batches; batch++) {
        NDArrayHandle probabilities = run_forward(with, &with->test, batch);
        add_score(&all, probabilities, with->test.answers + (size_t)batch * BATCH);
        check(MXNDArrayFree(probabilities));
    }
    return all;
}

static void show_progress(int epoch, int batch, const score *so_far)
{
    fprintf(stderr, "\repoch %d: %3d %% loss %.3f", epoch, 100 * (batch + 1) / TRAIN_BATCHES,
            so_far->loss / so_far->count);
}

static void train_epoch(const trainer *with, int epoch)
{
    score trained = {0};
    for (int batch = 0; batch < with->train.batches; batch++) {
        train_batch(with, batch, &trained);
        show_progress(epoch, batch, &trained);
    }
    check(MXNDArrayWaitAll());
    if (epoch == PROFILED_EPOCHS) {
        check(MXSetProfilerState(0));
    }
    score tested = test(with);
    fprintf(stderr, "\r%40s\r", "");
    printf("epoch %d: loss %.4f, %.1f %% right; of new pictures %.1f %%%s\n", epoch,
           trained.loss / trained.count, 100.0 * trained.right / trained.count,
           100.0 * tested.right / tested.count, epoch <= PROFILED_EPOCHS ? " (profiled)" : "");
}

// ---- the profile ------------------------------------------------------------------------------
typedef struct output {
    char json[PATH_MAX], native[PATH_MAX], table[PATH_MAX], memory[PATH_MAX];
} output;

static void configure(output *to, const char *directory)
{
    snprintf(to->json, sizeof to->json, "%s/profile.json", directory);
    snprintf(to->native, sizeof to->native, "%s/profile.mxp", directory);
    snprintf(to->table, sizeof to->table, "%s/profile.txt", directory);
    snprintf(to->memory, sizeof to->memory, "%s/memory", directory);
    const char *const keys[] = {"profile_all",     "aggregate_stats",
                                "continuous_dump", "filename",
                                "native_filename", "gpu_memory_profile_filename_prefix"};
    const char *const values[] = {"True", "True", "False", to->json, to->native, to->memory};
    check(MXSetProcessProfilerConfig(6, keys, values, NULL));
}

// The first lines of each section.
static void print_top(const char *table)
{
    enum { SHOWN = 8 };  // title, line, two of headings, rows
    int line = 0;
    for (const char *end; *table != '\0'; table = end) {
        end = table + strcspn(table, "\n");
        end += *end == '\n';
        line = end - table == 1 ? 0 : line + 1;
        if (line <= SHOWN) {
            fwrite(table, 1, (size_t)(end - table), stdout);
        } else if (line == SHOWN + 1) {
            puts("...");
        }
    }
}

static void write_profile(const output *to)
{
    const char *table = NULL;
    check(MXAggregateProfileStatsPrint(&table, 0, 0, 0, 0));
    FILE *stream = fopen(to->table, "w");
    if (stream == NULL || fputs(table, stream) == EOF || fclose(stream) != 0) {
        perror(to->table);
        exit(1);
    }
    print_top(table);
    check(MXDumpProfile(1));
    printf("The whole table:                          %s\n"
           "The trace, for https://ui.perfetto.dev:   %s\n"
           "Layer by layer: mxprof report --by scope  %s\n"
           "Allocations and their owners:             %s-pid_N.csv\n",
           to->table, to->json, to->native, to->memory);
}

int main(int argc, char **argv)
{
    static const parameter update_parameters[PARAMETERS_MAX] = {
        {"lr", "0.05"}, {"momentum", "0.9"}, {"rescale_grad", "0.015625"}};  // 1 / BATCH
    static const parameter none[PARAMETERS_MAX];
    output to;
    configure(&to, argc > 1 ? argv[1] : ".");
    check(MXSetProfilerState(1));

    ProfileHandle domain = NULL;
    trainer with = {.loss = prepare("SoftmaxOutput", 2, none),
                    .update = prepare("sgd_mom_update", 3, update_parameters)};
    check(MXProfileCreateDomain("Training", &domain));
    check(MXProfileCreateFrame(domain, "step", &with.step));
    make_network();
    with.train = make_samples(TRAIN_BATCHES);
    with.test = make_samples(TEST_BATCHES);
    for (int epoch = 1; epoch <= EPOCHS; epoch++) {
        train_epoch(&with, epoch);
    }
    write_profile(&to);

    free_samples(&with.train);
    free_samples(&with.test);
    free_network();
    check(MXProfileDestroyHandle(with.step));
    check(MXPreparedFree(with.loss));
    check(MXPreparedFree(with.update));
    return 0;
}
