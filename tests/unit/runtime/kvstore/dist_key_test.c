// SPDX-License-Identifier: Apache-2.0
// How keys are split over owners and pieces, and how they are described.
#include "runtime/kvstore/dist_key.h"

#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"

enum { OWNERS = 5 };

static uint32_t slots[OWNERS];
static mxn_split split = {.owners = OWNERS,
                          .bigarray_bound = 1000,
                          .piece_bytes = 512,
                          .next_slot = slots,
                          .slots_max = 1000};

static mxn_dist_key *key_of(uint32_t number, int64_t count, int dtype)
{
    const mxn_shape shape = {.ndim = 2, .dims = {count, 1}};
    mxn_dist_key *key = NULL;
    assert_int_equal(mxn__dist_key_new(&split, 0, number, "w", &shape, dtype, &key), MXP_OK);
    return key;
}

static void short_keys_are_whole_on_the_originals_owner(void **state)
{
    (void)state;
    memset(slots, 0, sizeof slots);
    for (uint32_t number = 0; number < 20; number++) {
        mxn_dist_key *key = key_of(number, 1000, MXN_FLOAT32);
        assert_int_equal(key->part_count, 1);
        assert_int_equal(key->parts[0].owner, number * 9973 % OWNERS);
        assert_int_equal(key->parts[0].pieces, 8);  // 4000 bytes in 512
        assert_int_equal(mxn__piece_bytes(&key->parts[0], 512, 7), 4000 - 7 * 512);
        mxn__dist_key_free(key);
    }
    assert_int_equal(slots[3], 4 * 8);
}

// Every element is in one piece of one owner, in order; parts differ by one element at most.
static void long_keys_are_in_equal_parts(void **state)
{
    (void)state;
    memset(slots, 0, sizeof slots);
    for (int64_t count = 1001; count < 1300; count += 7) {
        for (int dtype = 0; dtype < MXN_DTYPE_COUNT; dtype++) {
            memset(slots, 0, sizeof slots);
            mxn_dist_key *key = key_of(1, count, dtype);
            const uint64_t size = mxn_dtype_size(dtype);
            uint64_t at = 0;
            uint32_t pieces = 0;
            assert_int_equal(key->part_count, OWNERS);
            for (uint32_t i = 0; i < OWNERS; i++) {
                const mxn_key_part *part = &key->parts[i];
                assert_int_equal(part->owner, i);
                assert_int_equal(part->before, pieces);
                pieces += part->pieces;
                assert_int_equal(slots[i], part->pieces);
                const uint64_t elements = part->bytes / size;
                assert_true(elements == (uint64_t)count / OWNERS ||
                            elements == (uint64_t)count / OWNERS + 1);
                for (uint32_t j = 0; j < part->pieces; j++) {
                    assert_int_equal(mxn__piece_offset(part, 512, j), at);
                    at += mxn__piece_bytes(part, 512, j);
                    assert_int_equal(at % size, 0);
                }
            }
            assert_int_equal(at, (uint64_t)count * size);
            assert_int_equal(key->pieces, pieces);
            mxn__dist_key_free(key);
        }
    }
}

static void an_empty_key_has_a_piece_of_no_bytes(void **state)
{
    (void)state;
    mxn_dist_key *key = key_of(0, 0, MXN_FLOAT32);
    assert_int_equal(key->pieces, 1);
    assert_int_equal(mxn__piece_bytes(&key->parts[0], 512, 0), 0);
    mxn__dist_key_free(key);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    mxn_dist_key *key = NULL;
    mxn_shape shape = {.ndim = 1, .dims = {-1}};
    char name[MXN_DIST_NAME_MAX + 1];
    memset(slots, 0, sizeof slots);
    assert_int_equal(mxn__dist_key_new(&split, 0, 0, "w", &shape, 0, &key), MXP_EINVAL);
    shape.dims[0] = 5;
    assert_int_equal(mxn__dist_key_new(&split, 0, 0, "w", &shape, 13, &key), MXP_EINVAL);
    memset(name, 'n', sizeof name);
    name[MXN_DIST_NAME_MAX] = '\0';
    assert_int_equal(mxn__dist_key_new(&split, 0, 0, name, &shape, 0, &key), MXP_EINVAL);
    name[MXN_DIST_NAME_MAX - 1] = '\0';
    assert_int_equal(mxn__dist_key_new(&split, 0, 0, name, &shape, 0, &key), MXP_OK);
    mxn__dist_key_free(key);
    shape.dims[0] = OWNERS * 512 * 1000;
    assert_int_equal(mxn__dist_key_new(&split, 0, 0, "w", &shape, 0, &key), MXP_ENOTSUP);
    assert_non_null(strstr(mxp_last_error(), "MXNET_KVSTORE_PIECE_BYTES"));
    assert_int_equal(slots[0], 1);  // nothing was taken
}

static void a_definition_reads_back(void **state)
{
    (void)state;
    memset(slots, 0, sizeof slots);
    mxn_dist_key *key = key_of(3, 7, MXN_INT8);
    unsigned char bytes[MXN_DEFINITION_MAX];
    mxn_definition read;
    char text[MXN_DEFINITION_TEXT];
    const uint32_t length = mxn__definition_write(key, bytes);
    assert_int_equal(mxn__definition_read(bytes, length, &read), MXP_OK);
    assert_string_equal(mxn__definition_text(&read, MXN_INT8, text), "'w' (7,1) int8");
    for (uint32_t cut = 0; cut < 20; cut++) {
        assert_int_equal(mxn__definition_read(bytes, cut, &read), MXP_EFORMAT);
    }
    bytes[0] = 17;  // dimensions
    assert_int_equal(mxn__definition_read(bytes, length, &read), MXP_EFORMAT);
    bytes[0] = 2;
    memset(bytes + 4, 0x7f, 16);
    assert_int_equal(mxn__definition_read(bytes, length, &read), MXP_EFORMAT);
    mxn__dist_key_free(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_keys_are_whole_on_the_originals_owner),
        cmocka_unit_test(long_keys_are_in_equal_parts),
        cmocka_unit_test(an_empty_key_has_a_piece_of_no_bytes),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_definition_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
