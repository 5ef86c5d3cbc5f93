// SPDX-License-Identifier: Apache-2.0
// Q2, Q5: what a span costs that carries arguments, or may overlap others, over a plain one. All
// are calls of exported functions, and both sides record into memory that was written before.
#include <mxprof/record.h>

#include "support/recording.h"

enum { BATCH = 1 << 15, BATCHES = 24, TEXT_BYTES = 16 };  // 2.5 MiB of the longest records

typedef struct kinds {
    bench_loop loop;
    mxp_name plain, async;
} kinds;

static mxp_name key;  // of the arguments

// ---- loops -------------------------------------------------------------------------------------
static void loop_number_at_begin(uint64_t count, mxp_name name)
{
    for (uint64_t i = 0; i < count; i++) {
        const mxp_arg arg = mxp_u64(key, i);
        uint64_t token = mxp_begin_args(MXP_CLASS_USER, name, &arg, 1);
        BENCH_OPAQUE();
        mxp_end_args(name, token, NULL, 0);
    }
}

static void loop_number_at_end(uint64_t count, mxp_name name)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t token = mxp_begin(MXP_CLASS_USER, name);
        BENCH_OPAQUE();
        const mxp_arg arg = mxp_u64(key, i);
        mxp_end_args(name, token, &arg, 1);
    }
}

static void loop_text_at_begin(uint64_t count, mxp_name name)
{
    static const char text[] = "/data/003.blob.z";
    for (uint64_t i = 0; i < count; i++) {
        const mxp_arg arg = mxp_text(key, text, TEXT_BYTES);
        uint64_t token = mxp_begin_args(MXP_CLASS_USER, name, &arg, 1);
        BENCH_OPAQUE();
        mxp_end_args(name, token, NULL, 0);
    }
}

static void loop_async(uint64_t count, mxp_name name)
{
    for (uint64_t i = 0; i < count; i++) {
        mxp_async span = mxp_async_begin(MXP_CLASS_USER, name, 0, mxp_no_context());
        BENCH_OPAQUE();
        mxp_async_end(&span, NULL, 0);
    }
}

static void loop_async_with_id(uint64_t count, mxp_name name)
{
    for (uint64_t i = 0; i < count; i++) {
        mxp_async span = mxp_async_begin(MXP_CLASS_USER, name, i + 1, mxp_no_context());
        BENCH_OPAQUE();
        mxp_async_end(&span, NULL, 0);
    }
}

// ---- sides -------------------------------------------------------------------------------------
static void run(bench_loop loop, mxp_name name, bench_stretch *stretch)
{
    for (int i = 0; i < BATCHES; i++) {
        bench_start(stretch);
        loop(BATCH, name);
        bench_stop(stretch, BATCH);
        bench_drain();
    }
}

static void run_subject(void *context, bench_stretch *stretch)
{
    const kinds *all = context;
    bool overlaps = all->loop == loop_async || all->loop == loop_async_with_id;
    run(all->loop, overlaps ? all->async : all->plain, stretch);
}

static void run_reference(void *context, bench_stretch *stretch)
{
    run(bench_loop_span_functions, ((const kinds *)context)->plain, stretch);
}

static void measure(const bench_claim *claim, bench_loop loop)
{
    bench_pin(bench_cpu_count() - 1);
    kinds all = {.loop = loop, .plain = bench_session_begin()};
    all.async = mxp_intern("bench", "async", MXP_STYLE_ASYNC, MXP_UNIT_NONE);
    key = mxp_string("key");
    bench_plan plan = {
        .subject = run_subject, .reference = run_reference, .context = &all, .rounds = 31};
    bench_compare(claim, &plan);
    bench_session_stop();
}

static void measure_number_at_begin(const bench_claim *claim)
{
    measure(claim, loop_number_at_begin);
}

static void measure_number_at_end(const bench_claim *claim)
{
    measure(claim, loop_number_at_end);
}

static void measure_text_at_begin(const bench_claim *claim)
{
    measure(claim, loop_text_at_begin);
}

static void measure_async(const bench_claim *claim)
{
    measure(claim, loop_async);
}

static void measure_async_with_id(const bench_claim *claim)
{
    measure(claim, loop_async_with_id);
}

int main(int argc, char **argv)
{
    static const bench_claim claims[] = {
        {"Q2 span with a number at its begin, over a plain span", "ns/span", false, 1.6, 1.2,
         measure_number_at_begin},
        {"Q2 span with a number at its end, over a plain span", "ns/span", false, 1.6, 1.2,
         measure_number_at_end},
        {"Q2 span with a text of 16 bytes at its begin, over a plain span", "ns/span", false, 2.1,
         1.5, measure_text_at_begin},
        {"Q5 asynchronous span, over a plain span", "ns/span", false, 1.6, 1.1, measure_async},
        {"Q5 asynchronous span with an id, over a plain span", "ns/span", false, 2.0, 1.5,
         measure_async_with_id},
    };
    return bench_main(argc, argv, claims, sizeof claims / sizeof *claims);
}
