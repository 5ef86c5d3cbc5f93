// SPDX-License-Identifier: Apache-2.0
// A graph with those spans alone that a replay asks for says the same of waits and of input as one
// with all of them.
#include "profiler/analysis/graph/graph.h"

#include "cmocka_all.h"
#include "fake_source.h"

enum { CALLS = 400, NAMES = 5 };

typedef struct scene {
    mxp_source *source;
    uint32_t thread, names[NAMES], waiting;
} scene;

static uint64_t drawn(uint64_t *chance, uint64_t below)
{
    *chance ^= *chance << 13;
    *chance ^= *chance >> 7;
    *chance ^= *chance << 17;
    return *chance % below;
}

static scene begin_scene(void)
{
    static const char *const categories[NAMES] = {"program", "MXNET_C_API", "input", "memory",
                                                  "MXNET_C_API"};
    static const char *const names[NAMES] = {"train", "MXInvoke", "load", "malloc", "MXCopy"};
    scene of = {.source = fake_source_create()};
    of.thread = fake_thread(of.source, "main");
    for (int i = 0; i < NAMES; i++) {
        of.names[i] = fake_span_name(of.source, categories[i], names[i]);
    }
    fake_meta(of.source, of.thread, MXP_META_STEP, 0, 100, 1);
    return of;
}

// Spans in spans, each recorded at its end, with waits in some of them: at their begin, too.
static uint64_t add_calls(scene *of, uint64_t *chance, uint64_t at, int depth, bool has_waits)
{
    const uint32_t name = of->names[drawn(chance, NAMES)];
    const uint64_t begin = at;
    const uint64_t inner = depth < 4 ? drawn(chance, 3) : 0;
    at += drawn(chance, 3);
    if (has_waits && drawn(chance, 4) == 0) {
        const uint64_t until = at + drawn(chance, 20);
        fake_wait(of->source, of->thread,
                  &(fake_wait_record){.begin_ticks = at,
                                      .end_ticks = until,
                                      .what = MXP_WAIT_PROGRAM,
                                      .flags = MXP_WAIT_BLOCKED});
        at = until;
    }
    for (uint64_t i = 0; i < inner; i++) {
        at = add_calls(of, chance, at, depth + 1, has_waits) + drawn(chance, 3);
    }
    at += 1 + drawn(chance, 5);
    fake_span(of->source, of->thread, name, begin, at);
    return at;
}

static void end_scene(scene *of, uint64_t at)
{
    fake_meta(of->source, of->thread, MXP_META_STEP, 0, at, 2);
}

typedef struct both {
    mxp_range_index index;
    mxp_graph all, needed;
} both;

static void load_both(const scene *of, int64_t from_ns, int64_t to_ns, bool has_waits, both *of_it)
{
    assert_int_equal(mxp__range_index_make(of->source, &of_it->index), 0);
    assert_int_equal(
        mxp__graph_load_part(&of_it->index, from_ns, to_ns, MXP__GRAPH_BYTES_MAX, &of_it->all), 0);
    assert_int_equal(mxp__graph_load_waits(&of_it->index, from_ns, to_ns, has_waits,
                                           MXP__GRAPH_BYTES_MAX, &of_it->needed),
                     0);
    assert_int_equal(of_it->needed.bytes, of_it->all.bytes);
    assert_int_equal(of_it->needed.records, of_it->all.records);
}

static void end_both(both *of_it)
{
    mxp__graph_fini(&of_it->all);
    mxp__graph_fini(&of_it->needed);
    mxp__range_index_fini(&of_it->index);
}

static uint32_t name_at(const mxp_graph *graph, uint32_t thread, int64_t ns)
{
    const mxp_graph_host *host = mxp__graph_host_at(graph, thread, ns);
    return host != NULL ? host->name : 0;
}

static bool is_input_at(const mxp_graph *graph, uint32_t thread, int64_t ns)
{
    const mxp_graph_host *host = mxp__graph_host_at(graph, thread, ns);
    return host != NULL && host->kind == MXP__HOST_INPUT;
}

// At the begin of each wait the same span, and at each moment the same of input.
static void check_same(const scene *of, const both *of_it, int64_t from_ns, int64_t to_ns)
{
    const mxp_graph_thread *all = &of_it->all.threads[of->thread];
    const mxp_graph_thread *needed = &of_it->needed.threads[of->thread];
    assert_int_equal(needed->wait_count, all->wait_count);
    for (size_t i = 0; i < all->wait_count; i++) {
        const int64_t ns = all->waits[i].begin_ns;
        assert_int_equal(needed->waits[i].begin_ns, ns);
        assert_int_equal(name_at(&of_it->needed, of->thread, ns),
                         name_at(&of_it->all, of->thread, ns));
    }
    for (int64_t ns = from_ns; ns < to_ns; ns++) {
        assert_int_equal(is_input_at(&of_it->needed, of->thread, ns),
                         is_input_at(&of_it->all, of->thread, ns));
    }
}

static void waits_and_input_are_in_the_same_spans(void **state)
{
    (void)state;
    uint64_t chance = 88172645463325252u;
    for (int round = 0; round < 40; round++) {
        scene of = begin_scene();
        uint64_t at = 110;
        for (int i = 0; i < CALLS; i++) {
            at = add_calls(&of, &chance, at, 0, round % 4 != 0) + drawn(&chance, 3);
        }
        end_scene(&of, at);
        both of_it;
        const int64_t from_ns = round < 20 ? 0 : 500, to_ns = (int64_t)at - (round < 20 ? 0 : 500);
        load_both(&of, from_ns, to_ns, true, &of_it);
        check_same(&of, &of_it, from_ns, to_ns);
        assert_true(of_it.needed.threads[of.thread].host_count <
                    of_it.all.threads[of.thread].host_count);
        end_both(&of_it);
        mxp__source_close(of.source);
    }
}

// Where nothing recorded waits, the calls that wait are needed, and what is in them.
static void calls_that_wait_are_all_there_without_records(void **state)
{
    (void)state;
    uint64_t chance = 1181783497276652981u, at = 110;
    scene of = begin_scene();
    of.waiting = fake_span_name(of.source, "MXNET_C_API", "MXNDArrayWaitAll");
    for (int i = 0; i < CALLS; i++) {
        at = add_calls(&of, &chance, at, 0, false) + 1;
    }
    fake_span(of.source, of.thread, of.waiting, at, at + 20);
    end_scene(&of, at + 30);
    both of_it;
    load_both(&of, 0, (int64_t)at + 30, false, &of_it);
    assert_int_equal(of_it.needed.threads[of.thread].host_count,
                     of_it.all.threads[of.thread].host_count);
    end_both(&of_it);
    mxp__source_close(of.source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_and_input_are_in_the_same_spans),
        cmocka_unit_test(calls_that_wait_are_all_there_without_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
