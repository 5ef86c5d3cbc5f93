// SPDX-License-Identifier: Apache-2.0
// long_trace OUT.mxp SPANS: a native file of so many spans, as the training of a small network
// leaves them: in each step 610 calls of the program, and on a worker 190 operators of 40 names in
// 10 layers and three phases. Calls last what was drawn for them, which varies by a tenth and now
// and then by much more; operators share out the time of their step in the same way.
#include <mxprof/profiler.h>
#include <mxprof/record.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAMES = 40, LAYERS = 10, CALLS = 24, OPERATORS = 190, CALLS_IN_STEP = 610, VARIABLES = 3 };
enum { CALL_TICKS = 600, GAP_TICKS = 200 };  // shortest ones

static mxp_name names[NAMES], layers[LAYERS], calls[CALLS];
static uint32_t program_thread;
static uint32_t steps;
static _Atomic uint32_t begun, emitted;  // steps
static uint64_t bounds[2];  // of the step that the worker emits

static double drawn(uint64_t *chance)  // 0 to 1
{
    *chance ^= *chance << 13;
    *chance ^= *chance >> 7;
    *chance ^= *chance << 17;
    return (double)(*chance >> 11) / 9007199254740992.0;
}

static double varied(uint64_t *chance)
{
    const double factor = 0.9 + 0.2 * drawn(chance);
    return drawn(chance) < 0.01 ? factor * (1 + 8 * drawn(chance)) : factor;
}

static void check(int code)
{
    if (code != 0) {
        fprintf(stderr, "long_trace: %s\n", mxp_last_error());
        exit(1);
    }
}

static mxp_name numbered(const char *category, const char *format, int number)
{
    char text[32];
    snprintf(text, sizeof text, format, number);
    return category != NULL ? mxp_span_name(category, text) : mxp_scope_id(text);
}

static void make_names(void)
{
    for (int i = 0; i < NAMES; i++) {
        names[i] = numbered("operator", "operator %d", i);
    }
    for (int i = 0; i < LAYERS; i++) {
        layers[i] = numbered(NULL, "net:layer%d:", i);
    }
    for (int i = 0; i < CALLS; i++) {
        calls[i] = numbered("MXNET_C_API", "MXCall%d", i);
    }
}

// ---- the worker --------------------------------------------------------------------------------
// A name's share of a step: some take a hundred times as long as others.
static double weight_of(int name)
{
    return name % 8 == 0 ? 20 : name % 3 == 0 ? 4 : 0.4;
}

static void emit_operators(uint32_t step, uint64_t *chance)
{
    double weights[OPERATORS], sum = 0;
    for (int i = 0; i < OPERATORS; i++) {
        weights[i] = weight_of(i % NAMES) * varied(chance);
        sum += weights[i];
    }
    uint64_t at = bounds[0];
    const double length = (double)(bounds[1] - bounds[0]) * 0.95;
    for (int i = 0; i < OPERATORS; i++) {
        const uint64_t end = at + (uint64_t)(weights[i] / sum * length);
        const uint32_t id = step * OPERATORS + (uint32_t)i + 1;
        const uint32_t uses[VARIABLES] = {id % 97 + 1, id % 89 + 100,
                                          (id % 83 + 200) | MXP_VARIABLE_WRITTEN};
        const uint64_t ahead = (uint64_t)(drawn(chance) * 50000);
        const mxp_operator op = {.name = names[i % NAMES],
                                 .id = id,
                                 .released_by = i == 0 ? 0 : id - 1,
                                 .push_ticks = at - ahead,
                                 .ready_ticks = at,
                                 .start_ticks = at + 1,
                                 .end_ticks = end > at + 2 ? end : at + 2,
                                 .flags = (uint32_t)(i * 3 / OPERATORS + 1),
                                 .push_thread = program_thread,
                                 .scope = layers[i % LAYERS],
                                 .variable_count = VARIABLES,
                                 .variables = uses};
        mxp_operator_emit(MXP_CLASS_ALL, &op);
        at = op.end_ticks;
    }
}

static void *run_worker(void *unused)
{
    uint64_t chance = 88172645463325252u;
    (void)unused;
    for (uint32_t step = 0; step < steps; step++) {
        while (atomic_load(&begun) <= step) {
            sched_yield();
        }
        emit_operators(step, &chance);
        atomic_store(&emitted, step + 1);
    }
    return NULL;
}

// ---- the program -------------------------------------------------------------------------------
static void spin(double ticks)
{
    for (const uint64_t until = mxp_ticks() + (uint64_t)ticks; mxp_ticks() < until;) {
    }
}

static void run_calls(uint64_t *chance)
{
    for (int i = 0; i < CALLS_IN_STEP; i++) {
        const int call = i % CALLS;
        const uint64_t token = mxp_begin(MXP_CLASS_ALL, calls[call]);
        spin(CALL_TICKS * (call % 7 == 0 ? 6 : 1) * varied(chance));
        mxp_end(calls[call], token);
        spin(GAP_TICKS * varied(chance));
    }
}

static void run_program(void)
{
    uint64_t chance = 1181783497276652981u;
    for (uint32_t step = 0; step < steps; step++) {
        const uint64_t begin = mxp_ticks();
        mxp_step(step);
        run_calls(&chance);
        while (atomic_load(&emitted) < step) {
            sched_yield();
        }
        bounds[0] = begin;
        bounds[1] = mxp_ticks();
        atomic_store(&begun, step + 1);
    }
}

int main(int count, char **arguments)
{
    mxp_config config;
    pthread_t worker;
    if (count != 3) {
        fprintf(stderr, "usage: long_trace OUT.mxp SPANS\n");
        return 2;
    }
    steps = (uint32_t)(strtoul(arguments[2], NULL, 10) / (OPERATORS + CALLS_IN_STEP)) + 1;
    mxp_config_init(&config);
    config.filename = "none";
    config.native_filename = arguments[1];
    config.continuous_dump = 0;
    config.memory_limit_bytes = UINT64_C(1) << 33;
    check(mxp_session_configure(mxp_session_get(), &config));
    check(mxp_session_run(mxp_session_get()));
    make_names();
    program_thread = mxp_thread_index();
    check(pthread_create(&worker, NULL, run_worker, NULL));
    run_program();
    pthread_join(worker, NULL);
    check(mxp_session_stop(mxp_session_get()));
    check(mxp_session_dump(mxp_session_get(), 1));
    return 0;
}
