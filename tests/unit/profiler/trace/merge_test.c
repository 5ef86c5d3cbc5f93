// SPDX-License-Identifier: Apache-2.0
// Several sources as one: whose clock counts, how the others are moved, what stays each one's own.
#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "fake_source.h"
#include "profiler/clock/timebase.h"
#include "profiler/trace/event.h"
#include "profiler/trace/merge.h"

static const uint64_t second = 1000000000;

// A process of one span, whose clock ticks `rate` times a ns. Its ticks begin at `ticks0`, when the
// machine had been up for `up_ns`, at `realtime_ns`.
typedef struct process {
    mxp_source *source;
    mxp_timebase timebase;
} process;

static process make(uint32_t pid, uint64_t ticks0, uint64_t rate, uint64_t up_ns,
                    uint64_t realtime_ns)
{
    process made = {.source = fake_source_create()};
    made.source->pid = pid;
    mxp__timebase_init(&made.timebase, MXP_CLOCK_SOURCE_TSC);
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t later = i * second;
        mxp_clock_point point = {.ticks = ticks0 + later * rate,
                                 .monotonic_ns = up_ns + later,
                                 .raw_ns = up_ns + later,
                                 .boottime_ns = up_ns + later,
                                 .realtime_ns = realtime_ns + later};
        assert_int_equal(mxp__timebase_add(&made.timebase, &point), 0);
    }
    uint32_t thread = fake_thread(made.source, "main");
    fake_span(made.source, thread, fake_span_name(made.source, "app", "work"), ticks0 + 100 * rate,
              ticks0 + 250 * rate);
    return made;
}

static mxp_source *ready(process *made)
{
    made->source->timebase = &made->timebase;
    return made->source;
}

static void assert_span(mxp_source *source, int64_t begin_ns, int64_t end_ns)
{
    mxp_record_range range;
    mxp_decoder decoder;
    mxp_event event;
    assert_int_equal(source->range(source, 0, &range), 1);
    mxp__decoder_begin(&decoder, source->timebase, &range);
    assert_int_equal(mxp__decoder_next(&decoder, &event), 1);
    assert_int_equal(event.begin_ns, begin_ns);
    assert_int_equal(event.end_ns, end_ns);
    mxp_name_view name = source->name(source, event.name);
    assert_int_equal(name.length, 4);
    assert_memory_equal(name.text, "work", 4);
    assert_int_equal(mxp__decoder_next(&decoder, &event), 0);
    assert_int_equal(source->range(source, 1, &range), 0);
}

static mxp_source *merge(process *made, size_t count)
{
    mxp_source *sources[4], *merged;
    for (size_t i = 0; i < count; i++) {
        sources[i] = ready(&made[i]);
    }
    assert_int_equal(mxp__merge_open(sources, count, &merged), 0);
    return merged;
}

static void finish(mxp_source *merged, process *made, size_t count)
{
    mxp__source_close(merged);
    for (size_t i = 0; i < count; i++) {
        mxp__timebase_fini(&made[i].timebase);
    }
}

static void one_machine_is_aligned_by_its_steady_clock(void **state)
{
    (void)state;
    // Another counter, another rate; the wall clock was moved by 0.3 s in between.
    process made[] = {make(2, 9000, 3, 12 * second, 1002 * second + second / 10 * 3),
                      make(1, 500, 1, 10 * second, 1000 * second)};
    mxp_source *merged = merge(made, 2);
    assert_int_equal(merged->process_count, 2);
    assert_int_equal(merged->pid, 1);
    assert_null(mxp__source_process(merged, 2));
    assert_span(mxp__source_process(merged, 0), 100, 250);
    assert_span(mxp__source_process(merged, 1), (int64_t)(2 * second) + 100,
                (int64_t)(2 * second) + 250);
    assert_int_equal(mxp__source_process(merged, 1)->pid, 2);
    assert_int_equal(mxp__source_process(merged, 1)->process_count, 0);
    finish(merged, made, 2);
}

static void machines_are_aligned_by_the_wall_clock(void **state)
{
    (void)state;
    process made[] = {make(1, 500, 1, 10 * second, 1000 * second),
                      make(2, 500, 1, 77 * second, 1005 * second)};
    mxp_source *merged = merge(made, 2);
    assert_span(mxp__source_process(merged, 1), (int64_t)(5 * second) + 100,
                (int64_t)(5 * second) + 250);
    finish(merged, made, 2);
}

static void the_source_itself_is_its_first_process(void **state)
{
    (void)state;
    process made[] = {make(1, 500, 1, 10 * second, 1000 * second),
                      make(2, 500, 1, 11 * second, 1001 * second)};
    mxp_source *merged = merge(made, 2);
    assert_span(merged, 100, 250);
    assert_ptr_equal(merged->threads, mxp__source_process(merged, 0)->threads);
    finish(merged, made, 2);
}

static void a_forked_child_comes_behind_its_parent(void **state)
{
    (void)state;
    process made[] = {make(100, 500, 1, 10 * second, 1000 * second),
                      make(200, 500, 1, 10 * second, 1000 * second)};
    fake_thread_entry(made[0].source, 0)->start_ticks = 900;
    fake_thread_entry(made[1].source, 0)->start_ticks = 600;
    mxp_source *merged = merge(made, 2);
    assert_int_equal(merged->pid, 200);
    assert_span(mxp__source_process(merged, 1), 100, 250);
    finish(merged, made, 2);
}

static void merged_sources_merge_again(void **state)
{
    (void)state;
    process made[] = {make(1, 500, 1, 10 * second, 1000 * second),
                      make(2, 500, 1, 11 * second, 1001 * second),
                      make(3, 500, 1, 9 * second, 999 * second)};
    mxp_source *two = merge(made, 2);
    mxp_source *sources[] = {two, ready(&made[2])}, *merged;
    assert_int_equal(mxp__merge_open(sources, 2, &merged), 0);
    assert_int_equal(merged->process_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_span(mxp__source_process(merged, i), (int64_t)(i * second) + 100,
                    (int64_t)(i * second) + 250);
    }
    finish(merged, made, 3);
}

static void processes_of_one_number_have_rows_of_their_own(void **state)
{
    (void)state;
    process made[] = {make(1, 500, 1, 10 * second, 1000 * second),
                      make(1, 500, 1, 11 * second, 1001 * second),
                      make(7, 500, 1, 12 * second, 1002 * second)};
    mxp_source *merged = merge(made, 3);
    assert_int_equal(mxp__source_process(merged, 0)->row_pid, 0);
    assert_int_equal(mxp__source_process(merged, 1)->row_pid, 1 << 22);
    assert_int_equal(mxp__source_process(merged, 1)->pid, 1);
    assert_int_equal(mxp__source_process(merged, 2)->row_pid, 0);
    finish(merged, made, 3);
}

// Those without one are of one clock, the first of them begins where the first of the others does.
static void processes_without_a_date_come_last(void **state)
{
    (void)state;
    const uint64_t date = UINT64_C(1700000000) * second;
    process made[] = {make(1, 500, 1, 0, 20 * second), make(2, 500, 1, 0, date + 3 * second),
                      make(3, 500, 1, 0, 25 * second), make(4, 500, 1, 0, date)};
    static const struct {
        uint32_t pid;
        uint64_t begin;
    } expected[] = {{4, 0}, {2, 3}, {1, 0}, {3, 5}};
    mxp_source *merged = merge(made, 4);
    assert_int_equal(merged->undated, 2);
    for (size_t i = 0; i < 4; i++) {
        const int64_t begin = (int64_t)(expected[i].begin * second);
        assert_int_equal(mxp__source_process(merged, i)->pid, expected[i].pid);
        assert_span(mxp__source_process(merged, i), begin + 100, begin + 250);
    }
    finish(merged, made, 4);
}

static void clocks_that_make_no_sense_stay_within_bounds(void **state)
{
    (void)state;
    process made[] = {make(1, 500, 1, 10 * second, 0),
                      make(2, 500, 1, UINT64_MAX / 2, UINT64_MAX - 2 * second)};
    mxp_source *merged = merge(made, 2);
    mxp_source *last = mxp__source_process(merged, 1);
    mxp_record_range range;
    mxp_decoder decoder;
    mxp_event event;
    assert_int_equal(last->range(last, 0, &range), 1);
    mxp__decoder_begin(&decoder, last->timebase, &range);
    assert_int_equal(mxp__decoder_next(&decoder, &event), 1);
    assert_true(event.begin_ns >= -MXP__NS_MAX && event.begin_ns <= event.end_ns &&
                event.end_ns <= MXP__NS_MAX);
    finish(merged, made, 2);
}

static void sources_without_a_clock_are_taken_as_they_are(void **state)
{
    (void)state;
    mxp_source *sources[] = {fake_source_create(), fake_source_create()}, *merged;
    assert_int_equal(mxp__merge_open(sources, 2, &merged), 0);
    assert_int_equal(merged->process_count, 2);
    mxp__source_close(merged);
}

static void a_clock_without_points_stays_as_it_is(void **state)
{
    (void)state;
    process made[] = {make(1, 500, 1, 10 * second, 1000 * second),
                      make(2, 500, 1, 11 * second, 1001 * second)};
    made[1].timebase.point_count = 0;
    mxp_source *merged = merge(made, 2);
    assert_span(mxp__source_process(merged, 1), 100, 250);
    finish(merged, made, 2);
}

static void one_can_be_aligned_alone(void **state)
{
    (void)state;
    process lead = make(1, 500, 1, 10 * second, 1000 * second);
    process child = make(2, 500, 1, 13 * second, 1003 * second);
    mxp_source *aligned;
    assert_int_equal(mxp__aligned_open(ready(&child), &lead.timebase, &aligned), 0);
    assert_span(aligned, (int64_t)(3 * second) + 100, (int64_t)(3 * second) + 250);
    mxp__source_close(aligned);
    mxp__source_close(ready(&lead));
    mxp__timebase_fini(&lead.timebase);
    mxp__timebase_fini(&child.timebase);
}

static void lack_of_memory_closes_all_of_them(void **state)
{
    (void)state;
    size_t held = fake_alloc_held_blocks();
    int error = -1;
    for (size_t allowed = 0; error != 0; allowed++) {
        process made[] = {make(1, 500, 1, 10 * second, 1000 * second),
                          make(2, 500, 1, 11 * second, 1001 * second)};
        mxp_source *sources[] = {ready(&made[0]), ready(&made[1])}, *merged = NULL;
        fake_alloc_fail_after(allowed);
        error = mxp__merge_open(sources, 2, &merged);
        fake_alloc_fail_never();
        assert_true(error == 0 || (error == MXP_ENOMEM && merged == NULL));
        assert_true(allowed < 50);
        finish(merged, made, 2);
        assert_int_equal(fake_alloc_held_blocks(), held);
    }
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_machine_is_aligned_by_its_steady_clock),
        cmocka_unit_test(machines_are_aligned_by_the_wall_clock),
        cmocka_unit_test(the_source_itself_is_its_first_process),
        cmocka_unit_test(a_forked_child_comes_behind_its_parent),
        cmocka_unit_test(merged_sources_merge_again),
        cmocka_unit_test(processes_of_one_number_have_rows_of_their_own),
        cmocka_unit_test(processes_without_a_date_come_last),
        cmocka_unit_test(clocks_that_make_no_sense_stay_within_bounds),
        cmocka_unit_test(sources_without_a_clock_are_taken_as_they_are),
        cmocka_unit_test(a_clock_without_points_stays_as_it_is),
        cmocka_unit_test(one_can_be_aligned_alone),
        cmocka_unit_test(lack_of_memory_closes_all_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
