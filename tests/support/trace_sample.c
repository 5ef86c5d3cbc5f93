// SPDX-License-Identifier: Apache-2.0
// The sample trace. Threads: main (a stack of spans, scopes, steps), worker (operators, memory),
// one without a name or records.
#include "trace_sample.h"

#include "fake_source.h"

#define WRAP (UINT64_C(5) << 48)  // where the low 48 bits of stamps start again

typedef struct sample_names {
    uint32_t step, load, compute, frame, tokens, balance, rate, used, marker, arrow, outer, inner;
    uint32_t weight, shape, gemm, key, bytes, text, stream;
} sample_names;

static sample_names add_names(mxp_source *source)
{
    sample_names names = {
        .step = fake_span_name(source, "user", "step"),
        .load = fake_span_name(source, "user", "load \"quoted\"\n\x01 end"),
        .compute = fake_span_name(source, "user", "caf\xc3\xa9 \xff bad utf-8"),
        .frame = fake_name(source, "video", "frame", MXP_STYLE_ASYNC, MXP_UNIT_NONE),
        .tokens = fake_name(source, "user", "tokens", MXP_STYLE_COUNTER, MXP_UNIT_NONE),
        .balance = fake_name(source, "user", "balance", MXP_STYLE_COUNTER, MXP_UNIT_BYTES),
        .rate = fake_name(source, "user", "rate", MXP_STYLE_COUNTER, MXP_UNIT_PERCENT),
        .used = fake_name(source, "user", "used", MXP_STYLE_COUNTER, MXP_UNIT_NS),
        .marker = fake_name(source, "user", "here", MXP_STYLE_INSTANT, MXP_UNIT_NONE),
        .arrow = fake_name(source, "user", "arrow", MXP_STYLE_FLOW, MXP_UNIT_NONE),
        .outer = fake_scope(source, MXP_NAME_NONE, "model"),
    };
    names.inner = fake_scope(source, names.outer, "layer0");
    names.weight = fake_string(source, "layer0.weight");
    names.shape = fake_string(source, "(64, 128) float32");
    names.gemm = fake_span_name(source, "operator", "gemm");
    names.key = fake_string(source, "key");
    names.bytes = fake_name_bytes(source, MXP_NAME_NONE, "a\0b", 3, MXP_STYLE_NONE, 0);
    names.text = fake_string(source, "");
    names.stream = fake_string(source, "stream 7");
    return names;
}

static void add_main(mxp_source *source, uint32_t thread, const sample_names *names)
{
    fake_range(source, thread, WRAP - 1000, 0);
    fake_meta(source, thread, MXP_META_STATE, MXP_NAME_NONE, WRAP - 1000, 1);
    fake_meta(source, thread, MXP_META_STEP, MXP_NAME_NONE, WRAP - 900, 1);
    fake_meta(source, thread, MXP_META_SCOPE_PUSH, names->outer, WRAP - 800, 0);
    fake_span(source, thread, names->load, WRAP - 700, WRAP - 100);
    fake_span(source, thread, names->compute, WRAP - 50, WRAP + 500);
    fake_span(source, thread, names->step, WRAP - 750, WRAP + 501);
    fake_counter_u64(source, thread, names->tokens, WRAP + 600, UINT64_MAX);
    fake_counter_i64(source, thread, names->balance, WRAP + 601, -42);
    fake_counter_f64(source, thread, names->rate, WRAP + 602, 0.125);
    fake_instant(source, thread, names->marker, WRAP + 700, MXP_INSTANT_PROCESS);
    fake_flow(source, thread, names->arrow, WRAP + 710, MXP_FLOW_START, 77);
    fake_range(source, thread, WRAP + 20000, 3);
    mxp_arg args[] = {
        {.key = names->key, .type = MXP_ARG_U64, .value.u64 = 1},
        {.key = names->bytes, .type = MXP_ARG_I64, .value.i64 = -1},
        {.key = names->text, .type = MXP_ARG_F64, .value.f64 = 1.5},
        {.key = names->key, .type = MXP_ARG_NAME, .value.u64 = names->shape},
    };
    fake_long_span(source, thread,
                   &(mxp_span){.name = names->frame,
                               .flags = MXP_SPAN_CLOSED_BY_STOP,
                               .begin_ticks = WRAP - 750,
                               .end_ticks = WRAP + 20000,
                               .lane = MXP_LANE_THREAD | 1,
                               .scope = names->inner,
                               .arg_count = 4,
                               .args = args});
    fake_long_span(source, thread,
                   &(mxp_span){.name = names->frame,
                               .begin_ticks = 123456,
                               .end_ticks = 123999,
                               .lane = names->stream,
                               .clock = 2});
    fake_span(source, thread, names->step, WRAP - 1000, WRAP + (UINT64_C(1) << 33));
    // A kind of a later format, which readers skip.
    const uint64_t unknown[] = {0xee | UINT64_C(2) << 8, 1, 2, 3};
    fake_words(source, thread, WRAP + 30000, unknown, 4);
    fake_meta(source, thread, MXP_META_SCOPE_POP, names->outer, WRAP + (UINT64_C(1) << 33) + 5, 0);
    fake_meta(source, thread, MXP_META_STATE, MXP_NAME_NONE, WRAP + (UINT64_C(1) << 33) + 9, 0);
}

static void add_worker(mxp_source *source, uint32_t thread, const sample_names *names)
{
    uint32_t variables[17];
    for (uint32_t i = 0; i < 17; i++) {
        variables[i] = i + 1 + (i % 3 == 0 ? MXP_VARIABLE_WRITTEN : 0);
    }
    fake_range(source, thread, WRAP + 40, 0);
    fake_memory(source, thread, WRAP + 40,
                &(mxp_memory){.name = names->weight,
                              .scope = names->inner,
                              .block = UINT64_C(0xabcdef012345),
                              .device = 2,
                              .category = 15,
                              .requested_bytes = 1000,
                              .rounded_bytes = 1024,
                              .live_bytes = 4096});
    fake_operator(source, thread,
                  &(mxp_operator){.name = names->gemm,
                                  .id = 9,
                                  .released_by = 7,
                                  .bulk_parent = 8,
                                  .push_ticks = WRAP - 10,
                                  .ready_ticks = WRAP + 20,
                                  .start_ticks = WRAP + 60,
                                  .end_ticks = WRAP + 460,
                                  .flags = MXP_PHASE_BACKWARD | MXP_OP_SYMBOLIC,
                                  .push_thread = 0,
                                  .device = 2,
                                  .scope = names->inner,
                                  .shape = names->shape,
                                  .flops = 1.5e9f,
                                  .bytes = 65536.0f,
                                  .variable_count = 17,
                                  .variables = variables});
    fake_operator(source, thread,
                  &(mxp_operator){.name = names->gemm,
                                  .id = 10,
                                  .push_thread = 0xffff,
                                  .start_ticks = WRAP + 460,
                                  .end_ticks = WRAP + 470,
                                  .flags = MXP_OP_FAILED});
    fake_flow(source, thread, names->arrow, WRAP + 720, MXP_FLOW_END, 77);
    fake_memory(source, thread, WRAP + 730,
                &(mxp_memory){.name = names->weight,
                              .block = UINT64_C(0xabcdef012345),
                              .device = 2,
                              .flags = MXP_MEM_FREE | MXP_MEM_REUSED,
                              .requested_bytes = 1000,
                              .rounded_bytes = 1024,
                              .live_bytes = 3072});
}

static void add_rest(mxp_source *source, const sample_names *names)
{
    static const uint64_t durations[] = {0, 3, 4, 1000, 1000000};
    static const uint64_t one[] = {UINT64_C(1) << 40};
    fake_segment(source, WRAP + 100, UINT64_C(3) << 31);
    fake_stats(source, names->step, durations, 5);
    fake_stats(source, names->gemm, one, 1);
    fake_info(source, "program", "sample \"of\" all kinds");
    fake_info(source, "empty", "");
    fake_info(source, "", "abc");
    fake_loss(source, &(mxp_loss_entry){.thread = 0,
                                        .reason = MXP_LOSS_IN_SIGNAL,
                                        .count = 3,
                                        .from_ticks = WRAP + 800,
                                        .to_ticks = WRAP + 900});
    fake_loss(source, &(mxp_loss_entry){.thread = UINT32_MAX,
                                        .reason = MXP_LOSS_NAMES_FULL,
                                        .count = 1,
                                        .from_ticks = WRAP,
                                        .to_ticks = WRAP});
    mxp_thread_entry *entry = fake_thread_entry(source, 0);
    entry->start_ticks = WRAP - 1000;
    entry->lost = 3;
    fake_thread_entry(source, 1)->start_ticks = WRAP;
    fake_thread_entry(source, 1)->end_ticks = WRAP + 740;
}

mxp_source *trace_sample_create(void)
{
    mxp_source *source = fake_source_create();
    sample_names names = add_names(source);
    uint32_t main_thread = fake_thread(source, "main");
    uint32_t worker = fake_thread(source, "worker");
    fake_thread(source, NULL);
    add_main(source, main_thread, &names);
    add_worker(source, worker, &names);
    add_rest(source, &names);
    return source;
}

mxp_source *trace_sample_create_more(void)
{
    mxp_source *source = fake_source_create();
    sample_names names = add_names(source);
    fake_thread(source, "main");
    uint32_t worker = fake_thread(source, "worker");
    fake_thread(source, NULL);
    uint32_t late = fake_thread(source, "late");
    uint32_t tail = fake_span_name(source, "user", "tail");
    add_rest(source, &names);
    fake_span(source, worker, tail, WRAP + (UINT64_C(1) << 34), WRAP + (UINT64_C(1) << 34) + 8);
    fake_span(source, late, tail, WRAP + (UINT64_C(1) << 34) + 1, WRAP + (UINT64_C(1) << 34) + 7);
    return source;
}
