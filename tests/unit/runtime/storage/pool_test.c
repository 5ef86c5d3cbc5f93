// SPDX-License-Identifier: Apache-2.0
// Pools: rounding, reuse, totals and figures that hold whether or not anything is recorded, records
// that say the same as the figures, running out of memory.
#include "cmocka_all.h"

#include <mxprof/error.h>
#include <mxprof/format.h>
#include <mxprof/profiler.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live_events.h"
#include "profiler/recorder/recorder.h"
#include "random.h"
#include "runtime/storage/storage.h"

// Each test has a device of its own.
enum { FIRST = 1, SECOND, THIRD, FOURTH, FIFTH, SIXTH, SEVENTH, EIGHTH, NINTH, TENTH };

static mxn_allocation *take(uint32_t device, uint64_t bytes)
{
    mxn_allocation *block = NULL;
    assert_int_equal(mxn_storage_alloc(device, bytes, NULL, &block), MXP_OK);
    return block;
}

static mxn_storage_counts counts_of(uint32_t device)
{
    mxn_storage_counts counts;
    mxn_storage_counts_get(device, &counts);
    return counts;
}

static void size_zero_is_no_block(void **state)
{
    (void)state;
    mxn_allocation *block = (mxn_allocation *)&block;
    assert_int_equal(mxn_storage_alloc(FIRST, 0, NULL, &block), MXP_OK);
    assert_null(block);
    mxn_storage_free(block);
    mxn_storage_free_direct(block);
    mxn_storage_release(FIRST);
    assert_int_equal(counts_of(FIRST).allocations, 0);
}

static void requests_round_up_to_pages_and_large_units(void **state)
{
    (void)state;
    static const uint64_t cases[][2] = {{1, 4096},          {36, 4096},
                                        {4096, 4096},       {4097, 8192},
                                        {2 << 20, 2 << 20}, {(2 << 20) + 1, 4 << 20},
                                        {5 << 20, 6 << 20}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mxn_allocation *block = take(SECOND, cases[i][0]);
        assert_int_equal(block->requested_bytes, cases[i][0]);
        assert_int_equal(block->rounded_bytes, cases[i][1]);
        assert_int_equal((uintptr_t)block->data % MXN_ALIGNMENT, 0);
        memset(block->data, 0x5a, block->rounded_bytes);
        mxn_storage_free(block);
    }
    mxn_storage_release(SECOND);
    assert_int_equal(counts_of(SECOND).held_bytes, 0);
}

static void a_freed_block_serves_the_next_request_of_its_size(void **state)
{
    (void)state;
    mxn_allocation *first = take(THIRD, 100);
    void *data = first->data;
    assert_false(first->reused);
    mxn_storage_free(first);
    mxn_allocation *large = take(THIRD, 5000);
    assert_ptr_not_equal(large->data, data);
    mxn_allocation *second = take(THIRD, 200);
    assert_ptr_equal(second->data, data);
    assert_true(second->reused);
    mxn_storage_counts counts = counts_of(THIRD);
    assert_int_equal(counts.allocations, 3);
    assert_int_equal(counts.reused, 1);
    assert_int_equal(counts.frees, 1);
    assert_int_equal(counts.live_bytes, 5200);
    assert_int_equal(counts.live_blocks, 2);
    assert_int_equal(counts.peak_bytes, 5200);
    assert_int_equal(counts.held_bytes, 4096 + 8192);
    assert_int_equal(counts.unused_bytes, 0);
    mxn_storage_free(large);
    mxn_storage_free(second);
    counts = counts_of(THIRD);
    assert_int_equal(counts.live_bytes, 0);
    assert_int_equal(counts.peak_bytes, 5200);
    assert_int_equal(counts.unused_bytes, 4096 + 8192);
    mxn_storage_release(THIRD);
    counts = counts_of(THIRD);
    assert_int_equal(counts.held_bytes, 0);
    assert_int_equal(counts.unused_bytes, 0);
    assert_int_equal(counts.system_allocations, counts.system_frees);
}

static void a_direct_free_keeps_nothing(void **state)
{
    (void)state;
    mxn_allocation *block = take(FOURTH, 4096);
    mxn_storage_free_direct(block);
    assert_int_equal(counts_of(FOURTH).held_bytes, 0);
    assert_int_equal(counts_of(FOURTH).frees, 1);
    block = take(FOURTH, 4096);
    assert_false(block->reused);
    mxn_storage_free(block);
}

static void unpooled_and_shared_memory_go_back_at_once(void **state)
{
    (void)state;
    setenv("MXNET_CPU_MEM_POOL_TYPE", "Unpooled", 1);
    mxn_allocation *block = take(FIFTH, 100);
    unsetenv("MXNET_CPU_MEM_POOL_TYPE");
    assert_int_equal(block->rounded_bytes, 100);
    mxn_storage_free(block);
    assert_int_equal(counts_of(FIFTH).held_bytes, 0);
    block = take(MXP_DEVICE_CPU_SHARED, 100);
    mxn_storage_free(block);
    assert_int_equal(counts_of(MXP_DEVICE_CPU_SHARED).held_bytes, 0);
    assert_int_equal(counts_of(MXP_DEVICE_CPU_SHARED).system_frees, 1);
}

static void shared_memory_is_shared_with_a_child(void **state)
{
    (void)state;
    mxn_allocation *block = take(MXP_DEVICE_CPU_SHARED, 8);
    volatile char *byte = block->data;
    byte[0] = 1;
    pid_t child = fork();
    if (child == 0) {
        byte[0] = 2;
        mxn_allocation *own = NULL;
        _exit(mxn_storage_alloc(SIXTH, 64, NULL, &own) == MXP_OK ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(byte[0], 2);
    mxn_storage_free(block);
}

static void round_pools_take_powers_of_two(void **state)
{
    (void)state;
    setenv("MXNET_CPU_PINNED_MEM_POOL_TYPE", "Round", 1);
    setenv("MXNET_CPU_PINNED_POOL_PAGE_SIZE", "256", 1);
    setenv("MXNET_CPU_PINNED_MEM_POOL_ROUND_LINEAR_CUTOFF", "20", 1);
    static const uint64_t cases[][2] = {
        {1, 256}, {257, 512}, {1025, 2048}, {1 << 20, 1 << 20}, {(2 << 20) + 1, 3 << 20}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mxn_allocation *block = take(MXP_DEVICE_CPU_PINNED, cases[i][0]);
        assert_int_equal(block->rounded_bytes, cases[i][1]);
        mxn_storage_free(block);
    }
    mxn_allocation *block = take(MXP_DEVICE_CPU_PINNED, 300);
    assert_true(block->reused);
    mxn_storage_free(block);
}

static void an_ill_formed_variable_is_named_until_it_is_corrected(void **state)
{
    (void)state;
    mxn_allocation *block;
    setenv("MXNET_CPU_MEM_POOL_TYPE", "Fast", 1);
    assert_int_equal(mxn_storage_alloc(SEVENTH, 8, NULL, &block), MXP_EVALUE);
    assert_non_null(strstr(mxp_last_error(), "MXNET_CPU_MEM_POOL_TYPE=Fast"));
    assert_non_null(strstr(mxp_last_error(), "Naive, Round or Unpooled"));
    assert_int_equal(mxn_storage_alloc(SEVENTH, 8, NULL, &block), MXP_EVALUE);
    assert_null(block);
    unsetenv("MXNET_CPU_MEM_POOL_TYPE");
    mxn_storage_free(take(SEVENTH, 8));
}

static void there_are_cpu_devices_only(void **state)
{
    (void)state;
    mxn_allocation *block;
    assert_int_equal(mxn_storage_alloc(MXP_DEVICE_GPU + 1, 8, NULL, &block), MXP_EINVAL);
    assert_non_null(strstr(mxp_last_error(), "gpu/1: no such device"));
    assert_int_equal(mxn_storage_alloc(200, 8, NULL, &block), MXP_EINVAL);
    assert_int_equal(mxn_storage_alloc(100000, 8, NULL, &block), MXP_EINVAL);
    mxn_storage_free(take(127, 8));
}

static void running_out_names_the_biggest_owners(void **state)
{
    (void)state;
    uint32_t net = mxp_scope_push("net");
    uint32_t layer = mxp_scope_push("dense0:");
    mxp_scope_pop();
    mxp_scope_pop();
    mxn_tag weight = {mxp_string("weight"), layer, MXN_MEMORY_PARAMETER};
    mxn_tag output = {mxp_string("output"), net, MXN_MEMORY_OUTPUT};
    mxn_allocation *blocks[3];
    assert_int_equal(mxn_storage_alloc(EIGHTH, 7000, &weight, &blocks[0]), MXP_OK);
    assert_int_equal(mxn_storage_alloc(EIGHTH, 4000, &output, &blocks[1]), MXP_OK);
    assert_int_equal(mxn_storage_alloc(EIGHTH, 4000, &output, &blocks[2]), MXP_OK);
    mxn_allocation *none = blocks[0];
    assert_int_equal(mxn_storage_alloc(EIGHTH, UINT64_C(1) << 60, NULL, &none), MXP_ENOMEM);
    assert_null(none);
    assert_string_equal(mxp_last_error(),
                        "out of memory on cpu/8: 1152921504606846976 bytes wanted for "
                        "<unk>:unknown; 15000 bytes live in 3 blocks. Biggest owners: net:output "
                        "8000 bytes in 2 blocks, net:dense0:weight 7000 bytes in 1 block.");
    assert_int_equal(mxn_storage_alloc(EIGHTH, UINT64_MAX, NULL, &none), MXP_ENOMEM);
    mxn_owner owners[2];
    assert_int_equal(mxn_storage_owners(EIGHTH, owners, 2), 2);
    assert_int_equal(owners[0].live_bytes, 8000);
    assert_int_equal(owners[0].live_blocks, 2);
    assert_int_equal(owners[1].scope, layer);
    for (int i = 0; i < 3; i++) {
        mxn_storage_free(blocks[i]);
    }
    assert_int_equal(mxn_storage_owners(EIGHTH, owners, 2), 0);
}

static void a_reserve_of_everything_empties_the_pool_first(void **state)
{
    (void)state;
    setenv("MXNET_CPU_MEM_POOL_RESERVE", "100", 1);
    mxn_allocation *block = take(NINTH, 3 << 20);
    unsetenv("MXNET_CPU_MEM_POOL_RESERVE");
    mxn_storage_free(block);
    block = take(NINTH, 5 << 20);
    assert_int_equal(counts_of(NINTH).held_bytes, 6 << 20);
    assert_int_equal(counts_of(NINTH).system_frees, 1);
    mxn_storage_free(block);
}

// A tally of the test's own against the owners the pool names: nothing is left out, nothing twice.
static void owners_add_up_to_the_live_bytes(void **state)
{
    (void)state;
    enum { DEVICE = 20, NAMES = 7, BLOCKS = 300 };
    static const char *const names[NAMES] = {"a", "b", "c", "d", "e", "f", ""};
    uint64_t tally[NAMES] = {0}, random = 5;
    mxn_allocation *held[BLOCKS] = {0};
    int owner_of[BLOCKS];
    for (int i = 0; i < 5000; i++) {
        uint64_t at = random_below(&random, BLOCKS);
        if (held[at] == NULL) {
            owner_of[at] = (int)random_below(&random, NAMES);
            mxn_tag tag = {mxp_string(names[owner_of[at]]), 0, MXN_MEMORY_OTHER};
            uint64_t bytes = 1 + random_below(&random, 9000);
            assert_int_equal(mxn_storage_alloc(DEVICE, bytes, &tag, &held[at]), MXP_OK);
            tally[owner_of[at]] += bytes;
        } else {
            tally[owner_of[at]] -= held[at]->requested_bytes;
            mxn_storage_free(held[at]);
            held[at] = NULL;
        }
    }
    mxn_owner owners[NAMES];
    assert_int_equal(mxn_storage_owners(DEVICE, owners, NAMES), NAMES);
    uint64_t sum = 0;
    for (int i = 0; i < NAMES; i++) {
        const char *name = mxp_name_text(owners[i].name);
        int index = 0;
        while (index < NAMES - 1 && strcmp(names[index], name) != 0) {
            index++;
        }
        assert_string_equal(name, index == NAMES - 1 ? "unknown" : names[index]);
        assert_int_equal(owners[i].live_bytes, tally[index]);
        assert_true(i == 0 || owners[i].live_bytes <= owners[i - 1].live_bytes);
        sum += owners[i].live_bytes;
    }
    assert_int_equal(sum, counts_of(DEVICE).live_bytes);
    for (int i = 0; i < BLOCKS; i++) {
        mxn_storage_free(held[i]);
    }
    assert_int_equal(mxn_storage_owners(DEVICE, owners, NAMES), 0);
}

// ---- records ----------------------------------------------------------------------------------
static void assert_memory(const live_events *live, size_t n, uint64_t live_bytes, uint32_t flags)
{
    const mxp_event *event = live_events_find(live, MXP_KIND_MEMORY, NULL, n);
    assert_non_null(event);
    mxp_memory_view memory;
    mxp__event_memory(event, &memory);
    assert_int_equal(memory.live_bytes, live_bytes);
    assert_int_equal(event->flags, flags);
    assert_int_equal(memory.device, 0);
}

static void records_carry_true_totals_and_tags(void **state)
{
    live_events_stop(state);
    mxn_allocation *old = take(0, 400);  // before anything is recorded
    live_events_start(state);
    mxn_tag tag = {mxp_string("conv0_weight"), mxp_intern("", "net", MXP_STYLE_SCOPE, 0),
                   MXN_MEMORY_PARAMETER};
    mxn_allocation *block;
    assert_int_equal(mxn_storage_alloc(0, 36, &tag, &block), MXP_OK);
    uint64_t address = (uint64_t)(uintptr_t)block->data;
    mxn_storage_free(block);
    mxn_storage_free(old);
    block = take(0, 8);
    mxn_storage_free_direct(block);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    assert_int_equal(live_events_count(&live, MXP_KIND_MEMORY, NULL), 5);
    assert_memory(&live, 0, 436, 0);
    assert_memory(&live, 1, 400, MXP_MEM_FREE | MXP_MEM_REUSED);
    assert_memory(&live, 2, 0, MXP_MEM_FREE | MXP_MEM_REUSED);
    assert_memory(&live, 3, 8, MXP_MEM_REUSED);
    assert_memory(&live, 4, 0, MXP_MEM_FREE);
    mxp_memory_view memory;
    mxp__event_memory(live_events_find(&live, MXP_KIND_MEMORY, "conv0_weight", 0), &memory);
    assert_int_equal(memory.requested_bytes, 36);
    assert_int_equal(memory.rounded_bytes, 4096);
    assert_int_equal(memory.category, MXN_MEMORY_PARAMETER);
    assert_true(memory.block == address);
    assert_int_equal(memory.scope, tag.scope);
    assert_int_equal(live_events_count(&live, MXP_KIND_MEMORY, "unknown"), 3);
    // What the pool holds: 4096 (old) is there before; another, then one less.
    assert_int_equal(live_events_count(&live, MXP_KIND_COUNTER, "Pool: cpu/0"), 2);
    assert_int_equal(live_events_find(&live, MXP_KIND_COUNTER, "Pool: cpu/0", 0)->value.u64, 8192);
    assert_int_equal(live_events_find(&live, MXP_KIND_COUNTER, "Pool: cpu/0", 1)->value.u64, 4096);
    live_events_free(&live);
}

enum { THREADS = 4, TURNS = 3000, HELD = 16 };

static void *churn(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument;
    mxn_allocation *held[HELD] = {0};
    for (int i = 0; i < TURNS; i++) {
        uint64_t at = random_below(&random, HELD);
        if (held[at] == NULL) {
            uint64_t bytes = 1 + random_below(&random, 20000);
            if (mxn_storage_alloc(TENTH, bytes, NULL, &held[at]) != MXP_OK) {
                return "allocation failed";
            }
            memset(held[at]->data, (int)at, 8 < bytes ? 8 : bytes);
        } else if (random_below(&random, 8) == 0) {
            mxn_storage_free_direct(held[at]);
            held[at] = NULL;
        } else {
            mxn_storage_free(held[at]);
            held[at] = NULL;
        }
    }
    for (int i = 0; i < HELD; i++) {
        mxn_storage_free(held[i]);
    }
    return NULL;
}

static int by_time(const void *left, const void *right)
{
    const mxp_event *a = left, *b = right;
    return a->begin_ticks < b->begin_ticks ? -1 : a->begin_ticks > b->begin_ticks;
}

// The curve that the records draw is one: each total follows from the one before it.
static void records_of_many_threads_make_one_curve(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *problem = NULL;
        pthread_join(threads[i], &problem);
        assert_null(problem);
    }
    mxn_storage_counts counts = counts_of(TENTH);
    live_events live = live_events_take(MXP__CONSUMER_FILE);
    qsort(live.events, live.count, sizeof *live.events, by_time);
    uint64_t total = 0, allocations = 0, frees = 0;
    for (size_t i = 0; i < live.count; i++) {
        if (live.events[i].kind != MXP_KIND_MEMORY) {
            continue;
        }
        mxp_memory_view memory;
        mxp__event_memory(&live.events[i], &memory);
        bool is_free = (live.events[i].flags & MXP_MEM_FREE) != 0;
        total += is_free ? 0 - memory.requested_bytes : memory.requested_bytes;
        assert_int_equal(memory.live_bytes, total);
        allocations += !is_free;
        frees += is_free;
    }
    assert_int_equal(live_events_lost(&live), 0);
    assert_int_equal(allocations, counts.allocations);
    assert_int_equal(frees, counts.frees);
    assert_int_equal(allocations, frees);
    assert_int_equal(total, 0);
    assert_int_equal(counts.live_bytes, 0);
    live_events_free(&live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(size_zero_is_no_block),
        cmocka_unit_test(requests_round_up_to_pages_and_large_units),
        cmocka_unit_test(a_freed_block_serves_the_next_request_of_its_size),
        cmocka_unit_test(a_direct_free_keeps_nothing),
        cmocka_unit_test(unpooled_and_shared_memory_go_back_at_once),
        cmocka_unit_test(shared_memory_is_shared_with_a_child),
        cmocka_unit_test(round_pools_take_powers_of_two),
        cmocka_unit_test(an_ill_formed_variable_is_named_until_it_is_corrected),
        cmocka_unit_test(there_are_cpu_devices_only),
        cmocka_unit_test(running_out_names_the_biggest_owners),
        cmocka_unit_test(a_reserve_of_everything_empties_the_pool_first),
        cmocka_unit_test(owners_add_up_to_the_live_bytes),
        cmocka_unit_test_setup_teardown(records_carry_true_totals_and_tags, live_events_start,
                                        live_events_stop),
        cmocka_unit_test_setup_teardown(records_of_many_threads_make_one_curve, live_events_start,
                                        live_events_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
