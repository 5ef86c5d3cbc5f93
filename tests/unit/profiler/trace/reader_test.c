// SPDX-License-Identifier: Apache-2.0
// The merge of threads by time, with many threads and ranges, and what it does about damage.
#include "profiler/trace/reader.h"

#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cmocka_all.h"
#include "fake_source.h"

static mxp_reader *open_reader(mxp_source *source)
{
    mxp_reader *reader;
    assert_int_equal(mxp__reader_open(source, &reader), 0);
    return reader;
}

static void empty_source_ends_at_once(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    for (int round = 0; round < 3; round++) {
        mxp_reader *reader = open_reader(source);
        mxp_event event;
        assert_int_equal(mxp__reader_next(reader, &event), 0);
        assert_int_equal(mxp__reader_next(reader, &event), 0);
        mxp__reader_close(reader);
        uint32_t thread = fake_thread(source, NULL);
        if (round == 1) {
            fake_range(source, thread, 0, 0);
        }
    }
    mxp__reader_close(NULL);
    mxp__source_close(source);
}

static void threads_are_merged_by_the_end_of_spans(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t a = fake_thread(source, "a"), b = fake_thread(source, "b");
    fake_span(source, a, 10, 5, 20);
    fake_span(source, a, 11, 0, 30);
    fake_span(source, b, 12, 19, 21);
    fake_instant(source, b, 13, 25, MXP_INSTANT_THREAD);
    fake_span(source, b, 14, 1, 30);  // ends with 11: the lower thread first
    fake_span(source, b, 15, 2, 40);
    mxp_reader *reader = open_reader(source);
    static const uint32_t expected[] = {10, 12, 13, 11, 14, 15};
    mxp_event event;
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(mxp__reader_next(reader, &event), 1);
        assert_int_equal(event.name, expected[i]);
    }
    assert_int_equal(mxp__reader_next(reader, &event), 0);
    mxp__reader_close(reader);
    mxp__source_close(source);
}

// Each thread's own records stay as they were written, however their ends lie.
static void a_threads_records_keep_their_order(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t a = fake_thread(source, "a"), b = fake_thread(source, "b");
    fake_span(source, a, 1, 0, 50);
    fake_span(source, a, 2, 0, 10);  // handed in late
    fake_span(source, a, 3, 0, 60);
    fake_span(source, b, 4, 0, 20);
    fake_span(source, b, 5, 0, 55);
    mxp_reader *reader = open_reader(source);
    static const uint32_t expected[] = {4, 1, 2, 5, 3};
    mxp_event event;
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(mxp__reader_next(reader, &event), 1);
        assert_int_equal(event.name, expected[i]);
    }
    mxp__reader_close(reader);
    mxp__source_close(source);
}

static void span_of_another_clock_comes_after_its_predecessor(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t a = fake_thread(source, "a"), b = fake_thread(source, "b");
    fake_span(source, a, 1, 0, 10);
    fake_long_span(
        source, a,
        &(mxp_span){.name = 2, .clock = 1, .begin_ticks = 1, .end_ticks = UINT64_C(1) << 60});
    fake_span(source, a, 3, 0, 12);
    fake_span(source, b, 4, 0, 11);
    fake_span(source, b, 5, 0, 13);
    mxp_reader *reader = open_reader(source);
    mxp_event event;
    static const uint32_t expected[] = {1, 2, 4, 3, 5};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(mxp__reader_next(reader, &event), 1);
        assert_int_equal(event.name, expected[i]);
    }
    mxp__reader_close(reader);
    mxp__source_close(source);
}

// 1,500 threads with ranges of their own, interleaved at random: every record once, in order.
static void many_threads_and_ranges_are_merged(void **state)
{
    (void)state;
    enum { THREADS = 1500, ROUNDS = 40000 };
    mxp_source *source = fake_source_create();
    uint64_t ticks = 0;
    static uint32_t written[THREADS], seen[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        fake_thread(source, NULL);
    }
    srand(1);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t thread = (uint32_t)rand() % THREADS;
        ticks += 1 + (uint64_t)rand() % 1000;
        if (rand() % 4 == 0) {
            fake_range(source, thread, ticks, 0);
        }
        fake_counter_u64(source, thread, 1, ticks, written[thread]++);
    }
    mxp_reader *reader = open_reader(source);
    uint64_t last = 0;
    mxp_event event;
    uint32_t count = 0;
    while (mxp__reader_next(reader, &event) == 1) {
        assert_true(event.end_ticks > last);
        last = event.end_ticks;
        assert_int_equal(event.value.u64, seen[event.thread]++);
        count++;
    }
    assert_int_equal(count, ROUNDS);
    assert_memory_equal(written, seen, sizeof seen);
    mxp__reader_close(reader);
    mxp__source_close(source);
}

static void damaged_record_ends_its_range_only(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t a = fake_thread(source, "a"), b = fake_thread(source, "b");
    fake_span(source, a, 1, 0, 10);
    fake_words(source, a, 11, (uint64_t[]){0, 0}, 2);
    fake_span(source, a, 2, 0, 12);  // lost
    fake_range(source, a, 20, 0);
    fake_span(source, a, 3, 0, 20);
    fake_span(source, b, 4, 0, 15);
    fake_span(source, b, 5, 0, 25);
    mxp_reader *reader = open_reader(source);
    mxp_event event;
    static const uint32_t expected[] = {1, 4, 3, 5};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(mxp__reader_next(reader, &event), 1);
        assert_int_equal(event.name, expected[i]);
    }
    for (int again = 0; again < 2; again++) {
        mxp__fail(MXP_EINVAL, "something else");
        assert_int_equal(mxp__reader_next(reader, &event), MXP_EFORMAT);
        assert_non_null(strstr(mxp_last_error(), "damaged record 16 bytes into chunk 0"));
    }
    mxp__reader_close(reader);
    mxp__source_close(source);
}

// A source whose ranges 1 and 3 cannot be had.
static int (*real_range)(mxp_source *source, size_t number, mxp_record_range *range);

static int failing_range(mxp_source *source, size_t number, mxp_record_range *range)
{
    if (number == 1 || number == 3) {
        return mxp__fail(MXP_EIO, "block %zu is gone", number);
    }
    return real_range(source, number, range);
}

static int thread_zero(mxp_source *source, size_t number, uint32_t *thread)
{
    mxp_record_range range;
    int found = real_range(source, number, &range);
    *thread = 0;
    return found;
}

static void range_that_cannot_be_had_is_an_error_at_the_end(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    for (uint64_t i = 0; i < 5; i++) {
        fake_range(source, thread, i, 0);
        fake_span(source, thread, (uint32_t)i, i, i);
    }
    real_range = source->range;
    source->range = failing_range;
    source->range_thread = thread_zero;
    mxp_reader *reader = open_reader(source);
    mxp_event event;
    for (uint32_t i = 0; i < 5; i += 2) {
        assert_int_equal(mxp__reader_next(reader, &event), 1);
        assert_int_equal(event.name, i);
    }
    assert_int_equal(mxp__reader_next(reader, &event), MXP_EIO);
    assert_non_null(strstr(mxp_last_error(), "block 1 is gone"));
    mxp__reader_close(reader);

    // Without range_thread the reader cannot see past the first one.
    source->range_thread = NULL;
    reader = open_reader(source);
    assert_int_equal(mxp__reader_next(reader, &event), 1);
    assert_int_equal(mxp__reader_next(reader, &event), MXP_EIO);
    mxp__reader_close(reader);
    mxp__source_close(source);
}

static void range_of_an_unknown_thread_is_an_error(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    uint32_t thread = fake_thread(source, "a");
    fake_span(source, thread, 1, 0, 10);
    source->thread_count = 0;
    mxp_reader *reader;
    assert_int_equal(mxp__reader_open(source, &reader), MXP_EFORMAT);
    assert_null(reader);
    mxp__source_close(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_source_ends_at_once),
        cmocka_unit_test(threads_are_merged_by_the_end_of_spans),
        cmocka_unit_test(a_threads_records_keep_their_order),
        cmocka_unit_test(span_of_another_clock_comes_after_its_predecessor),
        cmocka_unit_test(many_threads_and_ranges_are_merged),
        cmocka_unit_test(damaged_record_ends_its_range_only),
        cmocka_unit_test(range_that_cannot_be_had_is_an_error_at_the_end),
        cmocka_unit_test(range_of_an_unknown_thread_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
