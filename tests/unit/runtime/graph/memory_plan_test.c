// SPDX-License-Identifier: Apache-2.0
// Memory plans: nobody who lives at the same time shares memory, and what can be shared is.
#include "runtime/graph/memory_plan.h"

#include "cmocka_all.h"

enum { MOST = 60, STEPS = 40, ROUNDS = 500 };

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void assert_nobody_is_disturbed(const mxn_tenant *tenants, size_t count,
                                       const mxn_slots *slots)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(tenants[i].slot < slots->count);
        assert_true(slots->bytes[tenants[i].slot] >= tenants[i].bytes);
        for (size_t j = 0; j < i; j++) {
            assert_true(tenants[i].slot != tenants[j].slot || tenants[i].first > tenants[j].last ||
                        tenants[j].first > tenants[i].last);
        }
    }
}

// What lives at one step, at the worst.
static uint64_t least_bytes(const mxn_tenant *tenants, size_t count)
{
    uint64_t worst = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        uint64_t bytes = 0;
        for (size_t i = 0; i < count; i++) {
            bytes += tenants[i].first <= step && step <= tenants[i].last ? tenants[i].bytes : 0;
        }
        worst = bytes > worst ? bytes : worst;
    }
    return worst;
}

static size_t make_tenants(uint32_t *seed, mxn_tenant *tenants)
{
    const size_t count = next_random(seed) % MOST;
    for (size_t i = 0; i < count; i++) {
        const uint32_t first = next_random(seed) % STEPS, more = next_random(seed) % 8;
        const uint32_t last = first + more < STEPS ? first + more : STEPS - 1;
        tenants[i] = (mxn_tenant){64u * (1 + next_random(seed) % 20), first,
                                  more == 7 ? MXN_FOREVER : last, MXN_NO_SLOT};
    }
    return count;
}

static void tenants_that_live_at_the_same_time_have_memory_of_their_own(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int round = 0; round < ROUNDS; round++) {
        mxn_tenant tenants[MOST];
        mxn_slots slots = {0};
        const size_t count = make_tenants(&seed, tenants);
        assert_int_equal(mxn__memory_plan(tenants, count, &slots), 0);
        assert_nobody_is_disturbed(tenants, count, &slots);
        assert_true(mxn__slots_bytes(&slots) >= least_bytes(tenants, count));
        mxn__slots_fini(&slots);
    }
}

static void a_second_plan_leaves_the_first_as_it_is(void **state)
{
    (void)state;
    uint32_t seed = 11;
    for (int round = 0; round < ROUNDS; round++) {
        mxn_tenant tenants[MOST], before[MOST];
        mxn_slots slots = {0};
        const size_t count = make_tenants(&seed, tenants), first = count / 2;
        assert_int_equal(mxn__memory_plan(tenants, first, &slots), 0);
        for (size_t i = 0; i < first; i++) {
            before[i] = tenants[i];
        }
        assert_int_equal(mxn__memory_plan(tenants, count, &slots), 0);
        assert_nobody_is_disturbed(tenants, count, &slots);
        for (size_t i = 0; i < first; i++) {
            assert_int_equal(tenants[i].slot, before[i].slot);
        }
        mxn__slots_fini(&slots);
    }
}

static void a_chain_needs_the_memory_of_two(void **state)
{
    (void)state;
    mxn_tenant tenants[STEPS];
    mxn_slots slots = {0};
    for (uint32_t i = 0; i < STEPS; i++) {
        tenants[i] = (mxn_tenant){640, i, i + 1, MXN_NO_SLOT};
    }
    assert_int_equal(mxn__memory_plan(tenants, STEPS, &slots), 0);
    assert_int_equal(slots.count, 2);
    assert_int_equal(mxn__slots_bytes(&slots), 2 * 640);
    mxn__slots_fini(&slots);
}

static void a_plan_of_nothing_is_empty(void **state)
{
    (void)state;
    mxn_slots slots = {0};
    assert_int_equal(mxn__memory_plan(NULL, 0, &slots), 0);
    assert_int_equal(slots.count, 0);
    mxn__slots_fini(&slots);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tenants_that_live_at_the_same_time_have_memory_of_their_own),
        cmocka_unit_test(a_second_plan_leaves_the_first_as_it_is),
        cmocka_unit_test(a_chain_needs_the_memory_of_two),
        cmocka_unit_test(a_plan_of_nothing_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
