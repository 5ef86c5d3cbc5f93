// SPDX-License-Identifier: Apache-2.0
// Parts of a message: what was put in comes out, and nothing that is damaged is taken.
#include "runtime/kvstore/parts.h"

#include <mxprof/error.h>
#include <string.h>

#include "cmocka_all.h"
#include "runtime/tensor/dtype.h"

enum { COUNT = 3 };

typedef struct bucket {
    mxn_wire header;
    unsigned char body[256];
} bucket;

static const char values[COUNT][17] = {"0123456789abcdef", "", "ABCD"};

static mxn_wire part_of(int kind, uint32_t at)
{
    mxn_wire of = mxn__wire(kind);
    of.key = 100 + at;
    of.slot = 7 * at;
    of.bytes = (uint32_t)strlen(values[at]);
    of.round = UINT64_C(0x500000000) + at;
    of.flags = at == 1 ? 0 : MXN_WIRE_RECORDED;
    of.flow = at == 1 ? 0 : 41 + at / 2;  // the first and the third are recorded, one after another
    of.wait_ns = UINT64_C(1) << (40 + at);
    of.last = 3 + at;
    return of;
}

static bucket bucket_of(int kind, const int kinds[COUNT])
{
    bucket made = {.header = mxn__wire(kind)};
    made.header.store = 9;
    made.header.priority = -4;
    mxn_parts_writer writer = mxn__parts_write(&made.header, made.body, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        const mxn_wire of = part_of(kinds[i], i);
        mxn__parts_put(&writer, &of, values[i]);
    }
    made.header.bytes = writer.values_at;
    return made;
}

static const int requests[COUNT] = {MXN_WIRE_PUSH, MXN_WIRE_PUSHPULL, MXN_WIRE_PULL};
static const int replies[COUNT] = {MXN_WIRE_REPLY, MXN_WIRE_REPLY, MXN_WIRE_REPLY};

static void comes_out(const bucket *from, const int kinds[COUNT])
{
    mxn_parts_reader reader;
    mxn_wire of;
    const void *value = NULL;
    assert_int_equal(mxn__parts_read(&from->header, from->body, &reader), MXP_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        const mxn_wire wanted = part_of(kinds[i], i);
        assert_true(mxn__parts_next(&reader, &of, &value));
        assert_int_equal(of.kind, kinds[i]);
        assert_int_equal(of.key, wanted.key);
        assert_int_equal(of.slot, wanted.slot);
        assert_int_equal(of.bytes, wanted.bytes);
        assert_int_equal(of.round, i);
        assert_int_equal(of.store, 9);
        assert_int_equal(of.priority, -4);
        assert_int_equal(of.flags, wanted.flags | MXN_WIRE_INLINE);
        assert_int_equal(of.flow, wanted.flow);
        if (from->header.kind == MXN_WIRE_REPLIES) {
            assert_int_equal(of.wait_ns, wanted.wait_ns);
            assert_int_equal(of.last, wanted.last);
        }
        if (kinds[i] != MXN_WIRE_PULL) {
            assert_memory_equal(value, values[i], of.bytes);
        }
    }
    assert_false(mxn__parts_next(&reader, &of, &value));
}

static void what_was_put_in_comes_out(void **state)
{
    (void)state;
    const bucket asked = bucket_of(MXN_WIRE_BUCKET, requests);
    comes_out(&asked, requests);
    assert_int_equal(asked.header.bytes, 3 * 16 + 16);  // a pull carries nothing
    const bucket answered = bucket_of(MXN_WIRE_REPLIES, replies);
    comes_out(&answered, replies);
    assert_int_equal(answered.header.bytes, 3 * 32 + 16 + 8);
}

static void refused(const bucket *of)
{
    mxn_parts_reader reader;
    assert_int_equal(mxn__parts_read(&of->header, of->body, &reader), MXP_EFORMAT);
    assert_non_null(strstr(mxp_last_error(), "message bucket: "));
}

static void damaged_ones_are_refused(void **state)
{
    (void)state;
    const bucket good = bucket_of(MXN_WIRE_BUCKET, requests);
    for (uint32_t bytes = 0; bytes < 128; bytes++) {
        bucket cut = good;
        cut.header.bytes = bytes;
        if (bytes != good.header.bytes) {
            refused(&cut);
        }
    }
    static const uint32_t counts[] = {0, 1, 2, 4, 5, 1u << 28, UINT32_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        bucket other = good;
        other.header.key = counts[i];
        refused(&other);
    }
    // Of the second part: slot, bytes, kind, type.
    static const struct {
        size_t at;
        unsigned char value;
    } changes[] = {{16 + 6, 0xff}, {16 + 8, 1},  {16 + 8, 4},
                   {16 + 10, 2},   {16 + 10, 6}, {16 + 11, 200}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        bucket other = good;
        other.body[changes[i].at] = changes[i].value;
        refused(&other);
    }
}

// Of a bucket that says so its pushes are compressed; a pull has nothing to be.
static void compressed_is_said_once_for_all(void **state)
{
    (void)state;
    static const int kinds[COUNT] = {MXN_WIRE_PUSH, MXN_WIRE_PUSH, MXN_WIRE_PULL};
    bucket made = bucket_of(MXN_WIRE_BUCKET, kinds);
    made.header.flags |= MXN_WIRE_COMPRESSED;
    made.header.last = 0x3f000000;
    mxn_parts_reader reader;
    const void *value = NULL;
    assert_int_equal(mxn__parts_read(&made.header, made.body, &reader), MXP_OK);
    for (uint32_t i = 0; i < COUNT; i++) {
        mxn_wire of;
        assert_true(mxn__parts_next(&reader, &of, &value));
        assert_int_equal((of.flags & MXN_WIRE_COMPRESSED) != 0, kinds[i] == MXN_WIRE_PUSH);
        assert_int_equal(of.last, kinds[i] == MXN_WIRE_PUSH ? 0x3f000000 : 0);
    }
    bucket other = made;
    other.body[10] = MXN_WIRE_PUSHPULL;
    refused(&other);
    other = made;
    other.body[11] = MXN_FLOAT64;
    refused(&other);
}

static void a_round_is_found_by_its_lower_half(void **state)
{
    (void)state;
    const uint64_t border = UINT64_C(0x300000000);
    assert_int_equal(mxn__part_round(5, 7), 7);
    assert_int_equal(mxn__part_round(border - 1, (uint32_t)border), border);
    assert_int_equal(mxn__part_round(border, (uint32_t)(border - 1)), border - 1);
    assert_int_equal(mxn__part_round(border + 9, 9), border + 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_in_comes_out),
        cmocka_unit_test(damaged_ones_are_refused),
        cmocka_unit_test(compressed_is_said_once_for_all),
        cmocka_unit_test(a_round_is_found_by_its_lower_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
