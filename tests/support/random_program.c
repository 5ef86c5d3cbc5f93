// SPDX-License-Identifier: Apache-2.0
#include "random_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxnet/c_api.h>
#include <mxprof/format.h>
#include <nnvm/c_api.h>

#include "cmocka_all.h"
#include "random.h"
#include "runtime/engine/engine.h"
#include "runtime/tensor/tensor.h"

enum { KINDS = 3, ELEMENTS_MAX = 64 };

static const int64_t sides[KINDS] = {3, 5, 8};

// What functions leave about those that have written an array, in that array's turn.
typedef struct track {
    uint64_t order, bulks;
    struct track *next;
} track;

typedef struct slot {
    NDArrayHandle array;
    track *track;
} slot;

typedef struct program {
    uint64_t random;
    program_result *result;
    const char *scope;
    bool one_worker;
    uint64_t first_bulk;  // the engine's count of bulks at the beginning
    slot slots[PROGRAM_SLOTS];  // kind i % KINDS
    track *tracks;  // of all arrays, the newest first
} program;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
}

static uint64_t mix_values(uint64_t hash, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof(bits));
        hash = mix(hash, bits);
    }
    return hash;
}

// ---- the tally --------------------------------------------------------------------------------
static void count_call(program_result *result, const char *name)
{
    size_t i = 0;
    while (i < result->call_count && strcmp(result->calls[i].name, name) != 0) {
        i++;
    }
    assert_true(i < PROGRAM_NAMES);
    if (i == result->call_count) {
        result->calls[result->call_count++] = (program_count){name, 0};
    }
    result->calls[i].count++;
}

#define TRY(p, function, ...) (count_call((p)->result, #function), function(__VA_ARGS__))
#define CALL(p, function, ...)                            \
    do {                                                  \
        if (TRY(p, function, __VA_ARGS__) != 0) {         \
            fail_msg(#function ": %s", MXGetLastError()); \
        }                                                 \
    } while (0)

static void wait_all(program *p)
{
    count_call(p->result, "MXNDArrayWaitAll");
    assert_int_equal(MXNDArrayWaitAll(), 0);
}

static program_step *add_step(program *p, const char *name)
{
    program_result *result = p->result;
    if (result->step_count == result->step_capacity) {
        result->step_capacity = result->step_capacity * 2 + 1024;
        result->steps = realloc(result->steps, result->step_capacity * sizeof(program_step));
        assert_non_null(result->steps);
    }
    program_step *step = &result->steps[result->step_count++];
    *step = (program_step){.name = name, .scope = p->scope};
    return step;
}

static void add_internal(program *p, const char *name)
{
    add_step(p, name)->internal = true;
}

// Each variable once; written if it is written at all.
static void add_variable(program_step *step, NDArrayHandle array, uint32_t written)
{
    uint32_t id = mxn_var_id(mxn_array_var(array));
    for (uint32_t i = 0; i < step->variable_count; i++) {
        if ((step->variables[i] & ~MXP_VARIABLE_WRITTEN) == id) {
            step->variables[i] |= written;
            return;
        }
    }
    assert_true(step->variable_count < PROGRAM_VARIABLES);
    step->variables[step->variable_count++] = id | written;
}

// ---- operators --------------------------------------------------------------------------------
typedef struct invocation {
    const char *name, *key, *value;
    NDArrayHandle inputs[2];
    int input_count;
    NDArrayHandle into;  // null: a new array
} invocation;

static int try_invoke(program *p, const invocation *in, NDArrayHandle *out)
{
    OpHandle op = NULL;
    NDArrayHandle inputs[2] = {in->inputs[0], in->inputs[1]}, into = in->into;
    NDArrayHandle *outputs = into != NULL ? &into : NULL;
    int output_count = into != NULL ? 1 : 0;
    const char *key = in->key, *value = in->value;
    assert_int_equal(NNGetOpHandle(in->name, &op), 0);
    int answer = TRY(p, MXImperativeInvoke, op, in->input_count, inputs, &output_count, &outputs,
                     key != NULL, &key, &value, NULL);
    *out = answer == 0 ? outputs[0] : NULL;
    return answer;
}

static NDArrayHandle invoke(program *p, invocation in)
{
    NDArrayHandle out = NULL;
    if (try_invoke(p, &in, &out) != 0) {
        fail_msg("%s: %s", in.name, MXGetLastError());
    }
    program_step *step = add_step(p, in.name);
    for (int i = 0; i < in.input_count; i++) {
        add_variable(step, in.inputs[i], 0);
    }
    add_variable(step, out, MXP_VARIABLE_WRITTEN);
    return out;
}

static slot *any_slot(program *p)
{
    return &p->slots[random_below(&p->random, PROGRAM_SLOTS)];
}

static slot *another_of_kind(program *p, const slot *like)
{
    size_t kind = (size_t)(like - p->slots) % KINDS;
    return &p->slots[random_below(&p->random, PROGRAM_SLOTS / KINDS) * KINDS + kind];
}

// The slot's array has been replaced.
static void put(program *p, slot *s, NDArrayHandle array)
{
    track *made = calloc(1, sizeof(track));
    assert_non_null(made);
    made->next = p->tracks;
    p->tracks = made;
    *s = (slot){array, made};
}

static size_t elements_of(const program *p, const slot *s)
{
    int64_t side = sides[(size_t)(s - p->slots) % KINDS];
    return (size_t)(side * side);
}

static void run_operator(program *p)
{
    static const invocation kinds[] = {
        {.name = "_copy", .input_count = 1},
        {.name = "relu", .input_count = 1},
        {.name = "sigmoid", .input_count = 1},
        {.name = "_plus_scalar", .key = "scalar", .value = "0.25", .input_count = 1},
        {.name = "_mul_scalar", .key = "scalar", .value = "-0.75", .input_count = 1},
        {.name = "broadcast_add", .input_count = 2},
        {.name = "elemwise_mul", .input_count = 2},
        {.name = "dot", .input_count = 2},
    };
    invocation in = kinds[random_below(&p->random, sizeof(kinds) / sizeof(kinds[0]))];
    slot *first = any_slot(p), *to = another_of_kind(p, first);
    in.inputs[0] = first->array;
    in.inputs[1] = another_of_kind(p, first)->array;
    bool in_place = random_below(&p->random, 2) == 0 && strcmp(in.name, "dot") != 0;
    if (in_place) {
        in.into = to->array;
        invoke(p, in);
        return;
    }
    NDArrayHandle made = invoke(p, in);
    CALL(p, MXNDArrayFree, to->array);
    put(p, to, made);
}

// Rows of an array are multiplied in place, through a view of them.
static void run_on_view(program *p)
{
    slot *s = any_slot(p);
    NDArrayHandle view = NULL;
    CALL(p, MXNDArraySlice, s->array, 1, 3, &view);
    invoke(p, (invocation){.name = "_mul_scalar",
                           .key = "scalar",
                           .value = "0.5",
                           .inputs = {view},
                           .input_count = 1,
                           .into = view});
    CALL(p, MXNDArrayFree, view);
}

static void make_mistake(program *p)
{
    NDArrayHandle out = NULL;
    const invocation wrong = {
        .name = "elemwise_mul", .inputs = {p->slots[0].array, p->slots[1].array}, .input_count = 2};
    assert_int_equal(try_invoke(p, &wrong, &out), -1);
}

static void take_gradient(program *p)
{
    const slot *s = any_slot(p);
    NDArrayHandle x =
        invoke(p, (invocation){.name = "_copy", .inputs = {s->array}, .input_count = 1});
    NDArrayHandle gradient =
        invoke(p, (invocation){.name = "zeros_like", .inputs = {x}, .input_count = 1});
    mx_uint write = 1;
    CALL(p, MXAutogradMarkVariables, 1, &x, &write, &gradient);
    CALL(p, MXAutogradSetIsRecording, 1, NULL);
    NDArrayHandle y = invoke(p, (invocation){.name = "relu", .inputs = {x}, .input_count = 1});
    CALL(p, MXAutogradSetIsRecording, 0, NULL);
    CALL(p, MXAutogradBackwardEx, 1, &y, NULL, 0, NULL, 0, 0, 1, NULL, NULL);
    add_internal(p, "SetValueOp");
    add_internal(p, "_backward_relu");
    CALL(p, MXNDArrayFree, y);
    CALL(p, MXNDArrayFree, x);
    CALL(p, MXNDArrayFree, gradient);
}

// ---- functions of its own ---------------------------------------------------------------------
// Reads one array and writes another, which may be the same.
typedef struct job {
    program_result *result;
    track *to;
    const float *from;
    size_t count;
    uint64_t number, first_bulk;
} job;

static void run_job(void *rctx, void *argument)
{
    (void)rctx;
    const job *j = argument;
    mxn_engine_counts counts;
    mxn_engine_counts_get(&counts);
    j->to->order = mix_values(mix(j->to->order, j->number), j->from, j->count);
    j->to->bulks = mix(mix(j->to->bulks, j->number), counts.bulks - j->first_bulk);
    __atomic_fetch_add(&j->result->ran, 1, __ATOMIC_RELAXED);
}

static void run_job_async(void *rctx, void *on_start, void *on_complete, void *argument)
{
    (void)on_start;
    const struct MXEngineCallback *completion = on_complete;
    run_job(rctx, argument);
    completion->callback(completion->engine, completion->param, NULL);
}

static void delete_job(void *argument)
{
    job *j = argument;
    __atomic_fetch_add(&j->result->deleted, 1, __ATOMIC_RELAXED);
    free(j);
}

static void push_function(program *p)
{
    static const int prioritized = MXN_CPU_PRIORITIZED;
    slot *from = any_slot(p), *to = any_slot(p);
    job *j = malloc(sizeof(job));
    assert_non_null(j);
    void *data = NULL;
    CALL(p, MXNDArrayGetData, from->array, &data);
    *j =
        (job){p->result, to->track, data, elements_of(p, from), p->result->pushed++, p->first_bulk};
    NDArrayHandle reads[] = {from->array}, writes[] = {to->array};
    int read_count = from == to ? 0 : 1;
    program_step *step;
    uint64_t kind = random_below(&p->random, 4);
    switch (kind == 1 && p->one_worker ? 2 : kind) {
    case 0:
        CALL(p, MXEnginePushAsyncND, run_job_async, j, delete_job, NULL, reads, read_count, writes,
             1, NULL, 0, "asynchronous", false);
        step = add_step(p, "asynchronous");
        break;
    case 1:
        CALL(p, MXEnginePushSyncND, run_job, j, delete_job, NULL, reads, read_count, writes, 1,
             &prioritized, (int)random_below(&p->random, 5), "prioritized");
        step = add_step(p, "prioritized");
        break;
    default:
        CALL(p, MXEnginePushSyncND, run_job, j, delete_job, NULL, reads, read_count, writes, 1,
             NULL, 0, "synchronous");
        step = add_step(p, "synchronous");
        break;
    }
    add_variable(step, from->array, 0);
    add_variable(step, to->array, MXP_VARIABLE_WRITTEN);
}

// ---- the rest ---------------------------------------------------------------------------------
static void read_one(program *p, const slot *s)
{
    float values[ELEMENTS_MAX];
    size_t count = elements_of(p, s);
    CALL(p, MXNDArraySyncCopyToCPU, s->array, values, count);
    p->result->values = mix_values(p->result->values, values, count);
}

static void fill_one(program *p, const slot *s)
{
    float values[ELEMENTS_MAX];
    size_t count = elements_of(p, s);
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)random_below(&p->random, 2000) / 1000 - 1;
    }
    CALL(p, MXNDArraySyncCopyFromCPU, s->array, values, count);
}

static void set_scope(program *p)
{
    static const char *const scopes[] = {"<unk>:", "first:", "second:"};
    const char *scope = scopes[random_below(&p->random, 3)];
    CALL(p, MXSetProfilerScope, scope);
    p->scope = scope == scopes[0] ? NULL : scope;
}

static void do_one(program *p)
{
    uint64_t what = random_below(&p->random, 100);
    if (what < 55) {
        run_operator(p);
    } else if (what < 75) {
        push_function(p);
    } else if (what < 80) {
        run_on_view(p);
    } else if (what < 83) {
        take_gradient(p);
    } else if (what < 86) {
        make_mistake(p);
    } else if (what < 89) {
        read_one(p, any_slot(p));
    } else if (what < 91) {
        fill_one(p, any_slot(p));
    } else if (what < 94) {
        set_scope(p);
    } else if (what < 97) {
        CALL(p, MXEngineSetBulkSize, (int)random_below(&p->random, 8), NULL);
    } else if (what < 99) {
        CALL(p, MXNDArrayWaitToRead, any_slot(p)->array);
    } else {
        wait_all(p);
    }
}

static void begin(program *p)
{
    for (int i = 0; i < PROGRAM_SLOTS; i++) {
        const int64_t shape[] = {sides[i % KINDS], sides[i % KINDS]};
        NDArrayHandle made = NULL;
        CALL(p, MXNDArrayCreate64, shape, 2, 1, 0, 0, 0, &made);
        put(p, &p->slots[i], made);
        fill_one(p, &p->slots[i]);
    }
}

static void gather_tracks(program *p)
{
    for (track *next, *at = p->tracks; at != NULL; at = next) {
        next = at->next;
        p->result->order = mix(p->result->order, at->order);
        p->result->bulks = mix(p->result->bulks, at->bulks);
        free(at);
    }
}

static void end(program *p, const program_options *options)
{
    program_result *result = p->result;
    CALL(p, MXEngineSetBulkSize, 0, NULL);
    CALL(p, MXSetProfilerScope, "<unk>:");
    wait_all(p);
    gather_tracks(p);
    for (int i = 0; i < PROGRAM_SLOTS; i++) {
        read_one(p, &p->slots[i]);
        result->live_bytes += elements_of(p, &p->slots[i]) * sizeof(float);
    }
    if (options->look != NULL) {
        options->look(result, options->context);
    }
    for (int i = 0; i < PROGRAM_SLOTS; i++) {
        CALL(p, MXNDArrayFree, p->slots[i].array);
    }
    wait_all(p);
}

void program_run(const program_options *options, program_result *result)
{
    program p = {.random = options->seed, .result = result, .one_worker = options->one_worker};
    mxn_engine_counts counts;
    mxn_engine_counts_get(&counts);
    p.first_bulk = counts.bulks;
    *result = (program_result){0};
    begin(&p);
    while (result->step_count < (size_t)options->steps) {
        do_one(&p);
    }
    end(&p, options);
}

uint64_t program_calls_of(const program_result *result, const char *name)
{
    for (size_t i = 0; i < result->call_count; i++) {
        if (strcmp(result->calls[i].name, name) == 0) {
            return result->calls[i].count;
        }
    }
    return 0;
}

uint64_t program_steps_of(const program_result *result, const char *name)
{
    uint64_t count = 0;
    for (size_t i = 0; i < result->step_count; i++) {
        count += strcmp(result->steps[i].name, name) == 0;
    }
    return count;
}
