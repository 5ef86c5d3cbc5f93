// SPDX-License-Identifier: Apache-2.0
// The owners of memory: bytes in use by scope, and what the devices' totals leave over.
#include <mxprof/error.h>
#include <stdlib.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "fake_source.h"
#include "profiler/export/export.h"
#include "random.h"
#include "rows.h"

static void put(mxp_source *source, uint64_t ticks, uint32_t scope, uint64_t block, uint32_t device,
                uint32_t flags, uint64_t bytes, uint64_t live)
{
    fake_memory(source, 0, ticks,
                &(mxp_memory){.scope = scope,
                              .block = block,
                              .device = device,
                              .flags = flags,
                              .requested_bytes = bytes,
                              .rounded_bytes = 4096,
                              .live_bytes = live});
}

static void assert_row(const mxp_row *rows, size_t count, const char *name, uint64_t samples,
                       uint64_t last, uint64_t least, uint64_t most)
{
    const mxp_row *row = row_get(rows, count, "Device Storage", name);
    assert_true(row->is_counter && row->is_memory);
    assert_int_equal(row->count, samples);
    assert_int_equal(row->last.u64, last);
    assert_int_equal(row->least.u64, least);
    assert_int_equal(row->most.u64, most);
}

static void bytes_go_to_the_scope_and_the_rest_has_a_row(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    fake_thread(source, "a");
    uint32_t net = fake_scope(source, 0, "net"), conv = fake_scope(source, net, "conv1");
    put(source, 100, conv, 1, 0, 0, 10, 1010);  // 1000 were there before
    put(source, 200, 0, 2, 0, 0, 5, 1015);
    put(source, 300, conv, 1, 1, 0, 7, 7);  // the same number on another device
    put(source, 400, conv, 9, 0, MXP_MEM_FREE, 600, 415);  // nobody's
    put(source, 500, conv, 1, 0, MXP_MEM_FREE, 10, 405);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_SCOPE, &rows, &count);
    assert_int_equal(count, 3);
    assert_row(rows, count, "net/conv1", 3, 7, 7, 17);
    assert_true(row_get(rows, count, "Device Storage", "net/conv1")->avg ==
                (10 * 200 + 17 * 200) / 400.0);
    assert_row(rows, count, "<no scope>", 1, 5, 5, 5);
    assert_row(rows, count, "<not recorded>", 2, 400, 400, 1000);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void what_was_known_before_a_pause_is_not_known_after_it(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    fake_thread(source, "a");
    uint32_t conv = fake_scope(source, 0, "conv1");
    put(source, 100, conv, 1, 0, 0, 10, 10);
    fake_meta(source, 0, MXP_META_STATE, 0, 200, 2);  // pause: block 1 is freed in it
    fake_meta(source, 0, MXP_META_STATE, 0, 300, 3);
    put(source, 400, conv, 2, 0, 0, 3, 3);
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_SCOPE, &rows, &count);
    assert_row(rows, count, "conv1", 3, 3, 0, 10);
    assert_row(rows, count, "<not recorded>", 2, 0, 0, 10);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

// A model of it: an array of blocks, and sums over all of it.
static void rows_are_those_of_a_model_and_add_up_to_the_total(void **state)
{
    (void)state;
    enum { BLOCKS = 3000, SCOPES = 7, EVENTS = 40000 };
    static uint64_t bytes[BLOCKS];
    static uint32_t owner[BLOCKS];
    uint64_t random = 11, sums[SCOPES] = {0}, most[SCOPES] = {0}, live = 0, sum = 0;
    mxp_source *source = fake_source_create();
    fake_thread(source, "a");
    uint32_t scopes[SCOPES] = {0};
    for (uint32_t i = 1; i < SCOPES; i++) {
        scopes[i] = fake_scope(source, 0, (char[]){(char)('a' + i), '\0'});
    }
    for (uint64_t i = 0; i < EVENTS; i++) {
        uint64_t at = random_below(&random, BLOCKS);
        bool is_free = bytes[at] != 0;
        if (!is_free) {
            bytes[at] = 1 + random_below(&random, 10000);
            owner[at] = (uint32_t)random_below(&random, SCOPES);
        }
        live = is_free ? live - bytes[at] : live + bytes[at];
        sums[owner[at]] += is_free ? 0 - bytes[at] : bytes[at];
        most[owner[at]] = sums[owner[at]] > most[owner[at]] ? sums[owner[at]] : most[owner[at]];
        put(source, i + 1, scopes[owner[at]], at * 64, 0, is_free ? MXP_MEM_FREE : 0, bytes[at],
            live);
        bytes[at] = is_free ? 0 : bytes[at];
    }
    const mxp_row *rows;
    size_t count;
    mxp_aggregate *aggregate = rows_of(source, MXP_GROUP_SCOPE, &rows, &count);
    assert_int_equal(count, SCOPES);
    for (uint32_t i = 0; i < SCOPES; i++) {
        const char *name = i == 0 ? "<no scope>" : (char[]){(char)('a' + i), '\0'};
        const mxp_row *row = row_get(rows, count, "Device Storage", name);
        assert_int_equal(row->last.u64, sums[i]);
        assert_int_equal(row->most.u64, most[i]);
        sum += row->last.u64;
    }
    assert_int_equal(sum, live);
    mxp__aggregate_destroy(aggregate);
    mxp__source_close(source);
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    mxp_source *source = fake_source_create();
    fake_thread(source, "a");
    for (uint64_t i = 0; i < 200; i++) {
        put(source, i + 1, 0, i, 0, 0, 1, i + 1);
    }
    size_t held = fake_alloc_held_blocks();
    int error = MXP_ENOMEM;
    for (size_t after = 0; error != MXP_OK; after++) {
        mxp_aggregate *aggregate = NULL;
        fake_alloc_fail_after(after);
        error = mxp__aggregate_create(MXP_GROUP_SCOPE, &aggregate);
        error = error == MXP_OK ? mxp__aggregate_add(aggregate, source) : error;
        fake_alloc_fail_never();
        assert_true(error == (fake_alloc_failed() == 0 ? MXP_OK : MXP_ENOMEM));
        mxp__aggregate_destroy(aggregate);
        assert_int_equal(fake_alloc_held_blocks(), held);
    }
    mxp__source_close(source);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_go_to_the_scope_and_the_rest_has_a_row),
        cmocka_unit_test(what_was_known_before_a_pause_is_not_known_after_it),
        cmocka_unit_test(rows_are_those_of_a_model_and_add_up_to_the_total),
        cmocka_unit_test(lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
