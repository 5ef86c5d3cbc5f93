// SPDX-License-Identifier: Apache-2.0
// What lives at the peak and is used again later: a chain of two layers, forward and backward,
// whose blocks' next uses are known; and what must not be told.
#include "profiler/analysis/memory/memory_uses.h"

#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"
#include "fake_source.h"

typedef struct trace {
    mxp_source *source;
    uint32_t worker, name, array;
    uint64_t live;
    uint32_t next_id;
} trace;

static trace begin_trace(void)
{
    trace t = {.source = fake_source_create(), .next_id = 1};
    t.worker = fake_thread(t.source, "worker");
    t.name = fake_span_name(t.source, "operator", "op");
    t.array = fake_string(t.source, "array");
    return t;
}

static void memory(trace *t, uint64_t ticks, uint64_t block, uint64_t bytes, uint32_t flags,
                   uint32_t category)
{
    t->live += (flags & MXP_MEM_FREE) != 0 ? 0 - bytes : bytes;
    fake_memory(t->source, t->worker, ticks,
                &(mxp_memory){.name = t->array,
                              .block = block,
                              .category = category,
                              .flags = flags,
                              .requested_bytes = bytes,
                              .rounded_bytes = bytes,
                              .live_bytes = t->live});
}

enum { OUTPUT = 4, WORKSPACE = 6 };

static void run(trace *t, uint64_t begin, uint64_t end, uint32_t flags, const uint32_t *variables,
                uint32_t count)
{
    fake_operator(t->source, t->worker,
                  &(mxp_operator){.name = t->name,
                                  .id = t->next_id++,
                                  .start_ticks = begin,
                                  .end_ticks = end,
                                  .flags = flags,
                                  .variables = variables,
                                  .variable_count = count});
}

static mxp_memory_uses look(trace *t)
{
    const mxp_live_memory_options options = {
        .from_ns = INT64_MIN, .until_ns = INT64_MAX, .at_ns = INT64_MAX};
    mxp_live_memory live;
    mxp_memory_uses uses;
    assert_int_equal(mxp__live_memory_make(t->source, &options, &live), MXP_OK);
    assert_int_equal(mxp__memory_uses_make(t->source, live.devices[0], &uses), MXP_OK);
    mxp__live_memory_fini(&live);
    return uses;
}

static const mxp_peak_block *block_of(const mxp_memory_uses *uses, uint64_t bytes)
{
    for (size_t i = 0; i < uses->count; i++) {
        if (uses->blocks[i].bytes == bytes) {
            return &uses->blocks[i];
        }
    }
    fail_msg("no block of %llu bytes", (unsigned long long)bytes);
    return NULL;
}

static void next_uses_after_the_peak_are_known(void **state)
{
    (void)state;
    trace t = begin_trace();
    memory(&t, 110, 64, 1000, 0, OUTPUT);
    run(&t, 100, 200, 0, (uint32_t[]){1 | MXP_VARIABLE_WRITTEN}, 1);
    memory(&t, 210, 128, 300, 0, OUTPUT);
    run(&t, 200, 300, 0, (uint32_t[]){1, 2 | MXP_VARIABLE_WRITTEN}, 2);
    memory(&t, 310, 192, 70, 0, OUTPUT);  // the peak
    run(&t, 300, 400, 0, (uint32_t[]){2, 3 | MXP_VARIABLE_WRITTEN}, 2);
    memory(&t, 450, 192, 70, MXP_MEM_FREE, OUTPUT);
    run(&t, 500, 600, 0, (uint32_t[]){1, 2 | MXP_VARIABLE_WRITTEN}, 2);
    mxp_memory_uses uses = look(&t);
    assert_int_equal(uses.count, 3);
    assert_int_equal(block_of(&uses, 1000)->use, MXP__USE_LATER);
    assert_int_equal(block_of(&uses, 1000)->next_ns, 500);
    assert_int_equal(block_of(&uses, 300)->use, MXP__USE_THEN);
    assert_int_equal(block_of(&uses, 70)->use, MXP__USE_THEN);
    assert_true(block_of(&uses, 70)->was_freed);
    assert_int_equal(block_of(&uses, 70)->freed_ns, 450);
    assert_int_equal(uses.bytes[MXP__USE_LATER], 1000);
    assert_int_equal(uses.bytes[MXP__USE_THEN], 370);
    mxp__memory_uses_fini(&uses);
    mxp__source_close(t.source);
}

static void what_nobody_uses_any_more_is_told(void **state)
{
    (void)state;
    trace t = begin_trace();
    memory(&t, 110, 64, 1000, 0, OUTPUT);
    run(&t, 100, 200, 0, (uint32_t[]){1 | MXP_VARIABLE_WRITTEN}, 1);
    memory(&t, 310, 192, 70, 0, OUTPUT);
    run(&t, 300, 400, 0, (uint32_t[]){3 | MXP_VARIABLE_WRITTEN}, 1);
    memory(&t, 900, 64, 1000, MXP_MEM_FREE, OUTPUT);
    mxp_memory_uses uses = look(&t);
    const mxp_peak_block *block = block_of(&uses, 1000);
    assert_int_equal(block->use, MXP__USE_NONE);
    assert_true(block->was_freed);
    assert_int_equal(block->freed_ns, 900);
    mxp__memory_uses_fini(&uses);
    mxp__source_close(t.source);
}

static void two_new_blocks_of_an_operator_are_not_told_apart(void **state)
{
    (void)state;
    trace t = begin_trace();
    memory(&t, 110, 64, 1000, 0, OUTPUT);
    memory(&t, 120, 128, 300, 0, OUTPUT);
    run(&t, 100, 200, 0, (uint32_t[]){1 | MXP_VARIABLE_WRITTEN, 2 | MXP_VARIABLE_WRITTEN}, 2);
    run(&t, 300, 400, 0, (uint32_t[]){1, 2}, 2);
    mxp_memory_uses uses = look(&t);
    assert_int_equal(block_of(&uses, 1000)->use, MXP__USE_UNKNOWN);
    assert_int_equal(block_of(&uses, 300)->use, MXP__USE_UNKNOWN);
    assert_int_equal(uses.bytes[MXP__USE_UNKNOWN], 1300);
    mxp__memory_uses_fini(&uses);
    mxp__source_close(t.source);
}

static void one_new_variable_of_two_new_blocks_is_neither(void **state)
{
    (void)state;
    trace t = begin_trace();
    memory(&t, 110, 64, 1000, 0, OUTPUT);
    memory(&t, 120, 128, 300, 0, OUTPUT);
    run(&t, 100, 200, 0, (uint32_t[]){1 | MXP_VARIABLE_WRITTEN}, 1);
    run(&t, 300, 400, 0, (uint32_t[]){1}, 1);
    mxp_memory_uses uses = look(&t);
    assert_int_equal(uses.bytes[MXP__USE_UNKNOWN], 1300);
    mxp__memory_uses_fini(&uses);
    mxp__source_close(t.source);
}

// A variable that was there before is written again while a block for something else is allocated.
static void known_variables_get_no_new_block(void **state)
{
    (void)state;
    trace t = begin_trace();
    run(&t, 10, 20, 0, (uint32_t[]){5}, 1);
    memory(&t, 110, 64, 1000, 0, OUTPUT);
    memory(&t, 120, 128, 300, 0, WORKSPACE);
    run(&t, 100, 200, 0, (uint32_t[]){5 | MXP_VARIABLE_WRITTEN}, 1);
    memory(&t, 310, 192, 20, 0, OUTPUT);
    run(&t, 300, 400, 0, (uint32_t[]){5 | MXP_VARIABLE_WRITTEN, 6 | MXP_VARIABLE_WRITTEN}, 2);
    mxp_memory_uses uses = look(&t);
    assert_int_equal(block_of(&uses, 1000)->use, MXP__USE_UNKNOWN);
    assert_int_equal(block_of(&uses, 300)->use, MXP__USE_UNKNOWN);
    assert_int_equal(block_of(&uses, 20)->variable, 6);
    mxp__memory_uses_fini(&uses);
    mxp__source_close(t.source);
}

// The parent of a bulk names what all its members use: that is no use at the peak.
static void members_of_a_bulk_use_and_not_their_parent(void **state)
{
    (void)state;
    trace t = begin_trace();
    memory(&t, 110, 64, 1000, 0, OUTPUT);
    run(&t, 100, 200, 0, (uint32_t[]){1 | MXP_VARIABLE_WRITTEN}, 1);
    memory(&t, 310, 192, 70, 0, OUTPUT);
    run(&t, 300, 400, 0, (uint32_t[]){3 | MXP_VARIABLE_WRITTEN}, 1);
    run(&t, 400, 500, 0, (uint32_t[]){1}, 1);
    run(&t, 300, 500, MXP_OP_BULK_PARENT, (uint32_t[]){1, 3 | MXP_VARIABLE_WRITTEN}, 2);
    mxp_memory_uses uses = look(&t);
    assert_int_equal(block_of(&uses, 1000)->use, MXP__USE_LATER);
    assert_int_equal(block_of(&uses, 1000)->next_ns, 400);
    mxp__memory_uses_fini(&uses);
    mxp__source_close(t.source);
}

static void pause_leaves_open_what_follows(void **state)
{
    (void)state;
    trace t = begin_trace();
    memory(&t, 110, 64, 1000, 0, OUTPUT);
    run(&t, 100, 200, 0, (uint32_t[]){1 | MXP_VARIABLE_WRITTEN}, 1);
    memory(&t, 210, 128, 30, 0, OUTPUT);
    run(&t, 205, 240, 0, (uint32_t[]){2 | MXP_VARIABLE_WRITTEN}, 1);
    fake_meta(t.source, t.worker, MXP_META_STATE, 0, 250, 2);
    fake_meta(t.source, t.worker, MXP_META_STATE, 0, 260, 3);
    run(&t, 300, 400, 0, (uint32_t[]){1}, 1);
    mxp_memory_uses uses = look(&t);
    assert_int_equal(block_of(&uses, 1000)->use, MXP__USE_UNKNOWN);
    mxp__memory_uses_fini(&uses);
    mxp__source_close(t.source);
}

static void lack_of_memory_is_an_error(void **state)
{
    (void)state;
    trace t = begin_trace();
    memory(&t, 110, 64, 1000, 0, OUTPUT);
    run(&t, 100, 200, 0, (uint32_t[]){1 | MXP_VARIABLE_WRITTEN}, 1);
    const mxp_live_memory_options options = {
        .from_ns = INT64_MIN, .until_ns = INT64_MAX, .at_ns = INT64_MAX};
    mxp_live_memory live;
    assert_int_equal(mxp__live_memory_make(t.source, &options, &live), MXP_OK);
    int error = MXP_ENOMEM;
    for (size_t fails_at = 0; error != MXP_OK; fails_at++) {
        mxp_memory_uses uses;
        size_t held = fake_alloc_held_blocks();
        fake_alloc_fail_after(fails_at);
        error = mxp__memory_uses_make(t.source, live.devices[0], &uses);
        bool failed = fake_alloc_failed() > 0;
        fake_alloc_fail_never();
        assert_int_equal(error, failed ? MXP_ENOMEM : MXP_OK);
        mxp__memory_uses_fini(&uses);
        assert_int_equal(fake_alloc_held_blocks(), held);
    }
    mxp__live_memory_fini(&live);
    mxp__source_close(t.source);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_uses_after_the_peak_are_known),
        cmocka_unit_test(what_nobody_uses_any_more_is_told),
        cmocka_unit_test(two_new_blocks_of_an_operator_are_not_told_apart),
        cmocka_unit_test(one_new_variable_of_two_new_blocks_is_neither),
        cmocka_unit_test(known_variables_get_no_new_block),
        cmocka_unit_test(members_of_a_bulk_use_and_not_their_parent),
        cmocka_unit_test(pause_leaves_open_what_follows),
        cmocka_unit_test(lack_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
