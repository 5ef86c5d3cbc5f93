// SPDX-License-Identifier: Apache-2.0
// The table of numbers, beside a plain array that says what must be in it.
#include "base/id_map.h"

#include <stdbool.h>
#include <string.h>

#include "cmocka_all.h"
#include "fake_alloc.h"

enum { KEYS = 500, ROUNDS = 20000 };

typedef struct entry {
    uint64_t key, value;
    uint32_t more;
} entry;

// Near each other, far apart, and alike in their low bits.
static uint64_t key_number(uint32_t i)
{
    return i % 3 == 0 ? i + 1 : i % 3 == 1 ? (uint64_t)i << 40 : UINT64_MAX - (uint64_t)i * 4096;
}

static void check_all(const mxp_id_map *map, const uint64_t *values)
{
    size_t there = 0, seen = 0;
    for (uint32_t i = 0; i < KEYS; i++) {
        const entry *found = mxp__id_map_find(map, key_number(i));
        assert_int_equal(found != NULL, values[i] != 0);
        if (found != NULL) {
            assert_int_equal(found->key, key_number(i));
            assert_int_equal(found->value, values[i]);
            there++;
        }
    }
    assert_int_equal(map->count, there);
    for (const entry *at = mxp__id_map_next(map, NULL); at != NULL; seen++) {
        assert_ptr_equal(mxp__id_map_find(map, at->key), at);
        at = mxp__id_map_next(map, at);
    }
    assert_int_equal(seen, there);
}

static void entries_are_those_added_and_not_removed(void **state)
{
    (void)state;
    mxp_id_map map = {.entry_bytes = sizeof(entry)};
    static uint64_t values[KEYS];
    uint64_t random = 1;
    check_all(&map, values);
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t i = (uint32_t)(random >> 33) % KEYS;
        entry *known = mxp__id_map_find(&map, key_number(i));
        if (known != NULL && (random >> 32 & 1) != 0) {
            mxp__id_map_remove(&map, known);
            values[i] = 0;
        } else {
            entry *made = mxp__id_map_add(&map, key_number(i));
            assert_true(known != NULL || (made->value == 0 && made->more == 0));
            made->value = values[i] = round;
            made->more = 7;
        }
        if (round % 500 == 0) {
            check_all(&map, values);
        }
    }
    mxp__id_map_clear(&map);
    memset(values, 0, sizeof values);
    check_all(&map, values);
    mxp__id_map_fini(&map);
    check_all(&map, values);
    assert_int_equal(fake_alloc_held_blocks(), 0);
}

static void without_memory_the_map_stays_as_it_was(void **state)
{
    (void)state;
    mxp_id_map map = {.entry_bytes = sizeof(entry)};
    fake_alloc_fail_after(0);
    assert_null(mxp__id_map_add(&map, 1));
    fake_alloc_fail_after(1);
    uint64_t added = 0;
    while (mxp__id_map_add(&map, added + 1) != NULL) {
        added++;
        assert_true(added < 10000);
    }
    fake_alloc_fail_never();
    assert_true(added > 1);
    assert_int_equal(map.count, added);
    for (uint64_t key = 1; key <= added + 1; key++) {
        assert_int_equal(mxp__id_map_find(&map, key) != NULL, key <= added);
    }
    mxp__id_map_fini(&map);
}

int main(void)
{
    fake_alloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_those_added_and_not_removed),
        cmocka_unit_test(without_memory_the_map_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
