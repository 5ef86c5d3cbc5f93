// SPDX-License-Identifier: Apache-2.0
// Leaks of known size are found to the byte and given to their owner; what rises at first, varies,
// or only has peaks is none.
#include "profiler/analysis/memory/memory_leak.h"

#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_source.h"
#include "random.h"

enum { STEPS = 40, STEP_NS = 1000 };

typedef struct program {
    mxp_source *source;
    uint32_t thread, names[3];
    uint64_t live, blocks;
    int64_t bounds[STEPS + 1];
    size_t steps;
    mxp_live_memory memory;
    mxp_memory_leak leak;
} program;

static program begin_program(void)
{
    program p = {.source = fake_source_create(), .steps = STEPS};
    static const char *const names[] = {"cache", "list", "output"};
    p.thread = fake_thread(p.source, "main");
    for (size_t i = 0; i < 3; i++) {
        p.names[i] = fake_string(p.source, names[i]);
    }
    for (size_t i = 0; i <= STEPS; i++) {
        p.bounds[i] = (int64_t)(1000 + i * STEP_NS);
    }
    return p;
}

static void change(program *p, size_t step, uint64_t after, size_t name, uint64_t block,
                   uint64_t bytes, uint32_t flags)
{
    p->live += (flags & MXP_MEM_FREE) != 0 ? 0 - bytes : bytes;
    fake_memory(p->source, p->thread, 1000 + step * STEP_NS + after,
                &(mxp_memory){.name = p->names[name],
                              .block = block,
                              .flags = flags,
                              .requested_bytes = bytes,
                              .rounded_bytes = bytes,
                              .live_bytes = p->live});
}

static void keep(program *p, size_t step, uint64_t after, size_t name, uint64_t bytes)
{
    change(p, step, after, name, 64 * ++p->blocks, bytes, 0);
}

// What comes and goes within a step.
static void come_and_go(program *p, size_t step, uint64_t bytes)
{
    change(p, step, 500, 2, 1, bytes, 0);
    change(p, step, 600, 2, 1, bytes, MXP_MEM_FREE);
}

static void look(program *p)
{
    const mxp_live_memory_options options = {.bounds = p->bounds,
                                             .step_count = p->steps,
                                             .from_ns = INT64_MIN,
                                             .until_ns = INT64_MAX,
                                             .at_ns = INT64_MAX};
    assert_int_equal(mxp__live_memory_make(p->source, &options, &p->memory), MXP_OK);
    assert_int_equal(mxp__memory_leak_find(p->memory.devices[0], &p->leak), MXP_OK);
}

static void end_program(program *p)
{
    mxp__live_memory_fini(&p->memory);
    mxp__source_close(p->source);
}

static uint32_t name_of(const program *p, size_t owner)
{
    return p->memory.devices[0]->owners.owners[p->leak.owners[owner].owner].name;
}

static void leak_is_found_to_the_byte_and_given_to_its_owners(void **state)
{
    (void)state;
    program p = begin_program();
    uint64_t random = 7;
    for (size_t i = 0; i < STEPS; i++) {
        keep(&p, i, 100, 0, 4000);
        keep(&p, i, 200, 1, 16);
        come_and_go(&p, i, 1 + random_below(&random, 100000));
    }
    look(&p);
    assert_true(p.leak.is_known);
    assert_true(p.leak.grows);
    assert_float_equal(p.leak.slope.slope, 4016, 0);
    assert_float_equal(p.leak.slope.low, 4016, 0);
    assert_int_equal(p.leak.owner_count, 2);
    assert_int_equal(name_of(&p, 0), p.names[0]);
    assert_float_equal(p.leak.owners[0].slope, 4000, 0);
    assert_int_equal(name_of(&p, 1), p.names[1]);
    assert_float_equal(p.leak.owners[1].slope, 16, 0);
    assert_float_equal(p.leak.rest_slope, 0, 0);
    end_program(&p);
}

static void what_varies_is_no_leak(void **state)
{
    (void)state;
    program p = begin_program();
    uint64_t random = 11;
    keep(&p, 0, 10, 0, 500000);
    for (size_t i = 0; i < STEPS; i++) {
        come_and_go(&p, i, 1 + random_below(&random, 100000) + 1000 * i);  // peaks rise
    }
    look(&p);
    assert_true(p.leak.is_known);
    assert_false(p.leak.grows);
    assert_float_equal(p.leak.slope.slope, 0, 0);
    end_program(&p);
}

// Twelve steps in which caches fill, and none after.
static void what_rises_only_at_first_is_no_leak(void **state)
{
    (void)state;
    program p = begin_program();
    for (size_t i = 0; i < STEPS; i++) {
        if (i < 12) {
            keep(&p, i, 100, 0, 50000);
        }
        come_and_go(&p, i, 1000);
    }
    look(&p);
    assert_true(p.leak.z > 4);
    assert_false(p.leak.grows);
    end_program(&p);
}

static void few_steps_tell_nothing(void **state)
{
    (void)state;
    program p = begin_program();
    p.steps = MXP__LEAK_STEPS_MIN - 1;
    for (size_t i = 0; i < p.steps; i++) {
        keep(&p, i, 100, 0, 4000);
    }
    look(&p);
    assert_false(p.leak.is_known);
    assert_false(p.leak.grows);
    assert_int_equal(p.leak.steps, MXP__LEAK_STEPS_MIN - 1);
    end_program(&p);
}

static void twenty_steps_are_enough(void **state)
{
    (void)state;
    program p = begin_program();
    p.steps = MXP__LEAK_STEPS_MIN;
    for (size_t i = 0; i < p.steps; i++) {
        keep(&p, i, 100, 0, 4000);
    }
    look(&p);
    assert_true(p.leak.grows);
    end_program(&p);
}

static void without_steps_nothing_is_known(void **state)
{
    (void)state;
    program p = begin_program();
    p.steps = 0;
    keep(&p, 0, 100, 0, 4000);
    look(&p);
    assert_false(p.leak.is_known);
    end_program(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leak_is_found_to_the_byte_and_given_to_its_owners),
        cmocka_unit_test(what_varies_is_no_leak),
        cmocka_unit_test(what_rises_only_at_first_is_no_leak),
        cmocka_unit_test(few_steps_tell_nothing),
        cmocka_unit_test(twenty_steps_are_enough),
        cmocka_unit_test(without_steps_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
