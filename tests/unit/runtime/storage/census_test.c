// SPDX-License-Identifier: Apache-2.0
// What was live before recording is in the records as well, against the pool's own counts; and each
// call of the system is a span.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <mxprof/format.h>
#include <mxprof/record.h>
#include <stdlib.h>
#include <string.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "runtime/storage/storage.h"

enum { DEVICE = 3, MOST = 65536 };

static mxn_allocation *take(uint64_t bytes, const mxn_tag *tag)
{
    mxn_allocation *block = NULL;
    assert_int_equal(mxn_storage_alloc(DEVICE, bytes, tag, &block), MXP_OK);
    return block;
}

static mxn_storage_counts counts(void)
{
    mxn_storage_counts now;
    mxn_storage_counts_get(DEVICE, &now);
    return now;
}

typedef struct found_census {
    uint64_t blocks, requested_bytes, rounded_bytes, last_block;
} found_census;

static found_census census_of(const live_events *live)
{
    found_census found = {0};
    for (size_t i = 0; i < live->count; i++) {
        const mxp_event *event = &live->events[i];
        if (event->kind != MXP_KIND_CENSUS) {
            continue;
        }
        mxp_memory_view memory;
        mxp__event_memory(event, &memory);
        assert_int_equal(memory.device, DEVICE);
        found.requested_bytes += memory.requested_bytes;
        found.rounded_bytes += memory.rounded_bytes;
        found.last_block = memory.block;
        found.blocks++;
    }
    return found;
}

static void live_blocks_are_recorded_before_the_first_change(void **state)
{
    mxn_tag tag = {mxp_string("weight"), mxp_intern("", "net", MXP_STYLE_SCOPE, 0),
                   MXN_MEMORY_PARAMETER};
    mxn_allocation *first = take(100, &tag), *gone = take(70, NULL), *second = take(5000, NULL);
    mxn_storage_free(gone);
    const mxn_storage_counts before = counts();
    live_events_start(state);
    mxn_storage_free(second);
    mxn_allocation *later = take(7, NULL);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    found_census found = census_of(&live);
    assert_int_equal(found.blocks, before.live_blocks);
    assert_int_equal(found.requested_bytes, before.live_bytes);
    assert_int_equal(found.rounded_bytes, before.held_bytes - before.unused_bytes);
    const mxp_event *event = live_events_find(&live, MXP_KIND_CENSUS, "weight", 0);
    assert_non_null(event);
    mxp_memory_view memory;
    mxp__event_memory(event, &memory);
    assert_true(memory.block == ((uint64_t)(uintptr_t)first->data & MXP_STAMP_MASK));
    assert_int_equal(memory.scope, tag.scope);
    assert_int_equal(memory.category, MXN_MEMORY_PARAMETER);
    assert_int_equal(memory.requested_bytes, 100);
    assert_int_equal(memory.rounded_bytes, 4096);
    assert_int_equal(memory.live_bytes, before.live_bytes);
    const mxp_event *change = live_events_find(&live, MXP_KIND_MEMORY, NULL, 0);
    assert_true(change->begin_ticks >= event->begin_ticks);
    live_events_free(&live);
    mxn_storage_free(later);
    mxn_storage_free(first);
}

static void it_can_be_asked_for_and_comes_once_a_recording(void **state)
{
    mxn_allocation *block = take(100, NULL);
    mxn_storage_census();  // nothing is recorded
    for (int i = 0; i < 2; i++) {
        live_events_start(state);
        mxn_storage_census();
        mxn_storage_census();
        mxp__recorder_stop(0);
        mxp__recorder_start(MXP_CLASS_ALL, 1);  // a pause is no end
        mxn_storage_free(take(8, NULL));
        live_events live = live_events_take(MXP__CONSUMER_FILE);
        assert_int_equal(census_of(&live).blocks, 1);
        assert_int_equal(census_of(&live).requested_bytes, 100);
        live_events_free(&live);
        mxp__recorder_stop(1);
    }
    mxn_storage_free(block);
}

static void without_the_class_there_is_none(void **state)
{
    (void)state;
    mxn_allocation *block = take(100, NULL);
    mxp__recorder_start(MXP_CLASS_ALL & ~MXP_CLASS_MEMORY, 0);
    mxn_storage_census();
    mxn_storage_free(block);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(census_of(&live).blocks, 0);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "from system"), 0);
    live_events_free(&live);
}

static void beyond_the_most_one_record_has_the_sum_of_the_rest(void **state)
{
    enum { MORE = 5, COUNT = MOST + MORE };
    mxn_allocation **blocks = calloc(COUNT, sizeof *blocks);
    assert_non_null(blocks);
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = take(32, NULL);
    }
    const mxn_storage_counts before = counts();
    live_events_start(state);
    mxn_storage_census();
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    found_census found = census_of(&live);
    assert_int_equal(found.blocks, MOST + 1);
    assert_int_equal(found.requested_bytes, before.live_bytes);
    assert_int_equal(found.last_block, 0);
    mxp_memory_view memory;
    mxp__event_memory(live_events_find(&live, MXP_KIND_CENSUS, NULL, MOST), &memory);
    assert_int_equal(memory.requested_bytes, MORE * 32);
    assert_int_equal(live_events_lost(&live), 0);
    live_events_free(&live);
    mxp__recorder_stop(1);
    for (int i = 0; i < COUNT; i++) {
        mxn_storage_free(blocks[i]);
    }
    free(blocks);
    mxn_storage_release(DEVICE);
}

static void each_call_of_the_system_is_a_span(void **state)
{
    mxn_storage_release(DEVICE);
    live_events_start(state);
    const mxn_storage_counts before = counts();
    mxn_allocation *kept = take(100, NULL), *direct = take(100, NULL);
    mxn_storage_free(kept);
    kept = take(60, NULL);  // from the pool
    mxn_storage_free_direct(direct);
    mxn_storage_free(kept);
    mxn_storage_release(DEVICE);
    const mxn_storage_counts after = counts();
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(after.system_allocations - before.system_allocations, 2);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "from system"), 2);
    assert_int_equal(after.system_frees - before.system_frees, 2);
    assert_int_equal(live_events_count(&live, MXP_KIND_SPAN, "to system"), 2);
    mxp_name name = live_events_find(&live, MXP_KIND_SPAN, "to system", 0)->name;
    assert_string_equal(mxp_name_text(mxp_name_category(name)), "memory");
    live_events_free(&live);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, live_events_stop)
    const struct CMUnitTest tests[] = {
        TEST(live_blocks_are_recorded_before_the_first_change),
        TEST(it_can_be_asked_for_and_comes_once_a_recording),
        TEST(without_the_class_there_is_none),
        TEST(beyond_the_most_one_record_has_the_sum_of_the_rest),
        TEST(each_call_of_the_system_is_a_span),
    };
    setenv("MXNET_CPU_MEM_POOL_PAGE_SIZE", "4096", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
