// SPDX-License-Identifier: Apache-2.0
// Messages: every field is where the protocol says, and nothing that is damaged is taken.
#include <mxprof/error.h>
#include <stdbool.h>
#include <string.h>

#include "cmocka_all.h"
#include "runtime/kvstore/wire.h"

typedef struct message {
    unsigned char bytes[MXN_WIRE_HEADER_BYTES + MXN_WIRE_INLINE_MAX + 1];
    size_t length;
} message;

static message push_of(uint32_t bytes)
{
    mxn_wire header = mxn__wire(MXN_WIRE_PUSH);
    header.flags = MXN_WIRE_INLINE;
    header.bytes = bytes;
    message of = {.length = sizeof header + bytes};
    memcpy(of.bytes, &header, sizeof header);
    return of;
}

static int read_of(const message *of)
{
    mxn_wire header;
    return mxn__wire_read(of->bytes, of->length, &header);
}

// Little-endian, as a process of another kind would write it.
static void put(message *of, size_t at, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++) {
        of->bytes[at + i] = (unsigned char)(value >> (8 * i));
    }
}

static void each_field_is_read_from_its_place(void **state)
{
    (void)state;
    message of = {.length = 64};
    put(&of, 0, 4, 0x564b584d);
    put(&of, 4, 1, 1);
    put(&of, 5, 1, 6);
    put(&of, 6, 2, 2 | 16);
    put(&of, 8, 4, 0xa1a2a3a4);
    put(&of, 12, 4, 983039);
    put(&of, 16, 8, UINT64_C(0x0102030405060708));
    put(&of, 24, 4, 524288);
    put(&of, 28, 2, 7);
    put(&of, 30, 2, 12);
    put(&of, 32, 8, UINT64_C(0x1112131415161718));
    put(&of, 40, 8, UINT64_C(0x2122232425262728));
    put(&of, 48, 4, (uint64_t)-3);
    put(&of, 52, 4, 1023);
    put(&of, 56, 8, UINT64_C(0x3132333435363738));
    mxn_wire header;
    assert_int_equal(mxn__wire_read(of.bytes, of.length, &header), MXP_OK);
    assert_memory_equal(of.bytes, "MXKV", 4);
    assert_int_equal(header.kind, MXN_WIRE_REPLY);
    assert_int_equal(header.flags, MXN_WIRE_LAST | MXN_WIRE_RECORDED);
    assert_int_equal(header.key, 0xa1a2a3a4);
    assert_int_equal(header.slot, 983039);
    assert_int_equal(header.offset, UINT64_C(0x0102030405060708));
    assert_int_equal(header.bytes, 524288);
    assert_int_equal(header.store, 7);
    assert_int_equal(header.dtype, 12);
    assert_int_equal(header.round, UINT64_C(0x1112131415161718));
    assert_int_equal(header.flow, UINT64_C(0x2122232425262728));
    assert_int_equal(header.priority, -3);
    assert_int_equal(header.last, 1023);
    assert_int_equal(header.wait_ns, UINT64_C(0x3132333435363738));
}

static void refused(size_t at, size_t size, uint64_t value, int error, const char *says)
{
    message of = push_of(400);
    assert_int_equal(read_of(&of), MXP_OK);
    put(&of, at, size, value);
    assert_int_equal(read_of(&of), error);
    assert_non_null(strstr(mxp_last_error(), says));
}

static void damaged_fields_are_refused_by_name(void **state)
{
    (void)state;
    refused(0, 4, 0x464c457f, MXP_EFORMAT, "begins with 0x464c457f");
    refused(4, 1, 2, MXP_EVERSION, "version 2, this process has 1");
    refused(5, 1, 0, MXP_EFORMAT, "unknown kind 0");
    refused(5, 1, MXN_WIRE_KIND_COUNT, MXP_EFORMAT, "unknown kind 19");
    refused(6, 2, 128 | MXN_WIRE_INLINE, MXP_EFORMAT, "unknown flags");
    refused(12, 4, 983040, MXP_EFORMAT, "slot 983040");
    refused(12, 4, UINT32_MAX, MXP_EFORMAT, "slot 4294967295");
    refused(16, 8, 2, MXP_EFORMAT, "at 2 are no whole float32");
    refused(16, 8, UINT64_MAX - 3, MXP_EFORMAT, "more than there can be");
    refused(24, 4, 404, MXP_EFORMAT, "has 464 bytes where its header says 468");
    refused(24, 4, MXN_WIRE_INLINE_MAX + 4, MXP_EFORMAT, "more than there can be");
    refused(24, 4, UINT32_MAX, MXP_EFORMAT, "more than there can be");
    refused(30, 2, 13, MXP_EFORMAT, "type 13");
    refused(30, 2, UINT16_MAX, MXP_EFORMAT, "type 65535");
}

static void cut_messages_are_refused(void **state)
{
    (void)state;
    message of = push_of(400);
    for (size_t length = 0; length < of.length; length++) {
        mxn_wire header;
        assert_int_equal(mxn__wire_read(of.bytes, length, &header), MXP_EFORMAT);
    }
    of.length++;
    assert_int_equal(read_of(&of), MXP_EFORMAT);
}

// A refused message leaves what the caller had.
static void nothing_is_set_by_a_refusal(void **state)
{
    (void)state;
    message of = push_of(4);
    mxn_wire header = mxn__wire(MXN_WIRE_BYE), before = header;
    of.bytes[5] = 99;
    assert_int_equal(mxn__wire_read(of.bytes, of.length, &header), MXP_EFORMAT);
    assert_memory_equal(&header, &before, sizeof header);
}

static void bodies_that_are_longer_come_alone(void **state)
{
    (void)state;
    message of = push_of(0);
    of.length = 64;
    put(&of, 6, 2, 0);
    put(&of, 24, 4, MXN_WIRE_BYTES_MAX);
    mxn_wire header;
    assert_int_equal(mxn__wire_read(of.bytes, of.length, &header), MXP_OK);
    assert_true(mxn__wire_has_body(&header));
    put(&of, 24, 4, MXN_WIRE_BYTES_MAX + 4);
    assert_int_equal(read_of(&of), MXP_EFORMAT);
    put(&of, 24, 4, 400);
    put(&of, 6, 2, MXN_WIRE_ERROR);
    assert_int_equal(read_of(&of), MXP_EFORMAT);
}

// ---- compression -------------------------------------------------------------------------------
static mxn_wire compressed(int kind)
{
    mxn_wire header = mxn__wire(kind);
    header.flags = MXN_WIRE_COMPRESSED;
    header.last = 0x3f000000;  // 0.5
    return header;
}

static int read_header(const mxn_wire *header)
{
    mxn_wire got;
    return mxn__wire_read(header, sizeof *header, &got);
}

static void compressed_are_pushes_buckets_and_what_agrees_on_it(void **state)
{
    (void)state;
    for (int kind = 1; kind < MXN_WIRE_KIND_COUNT; kind++) {
        const mxn_wire header = compressed(kind);
        const bool is_it =
            kind == MXN_WIRE_PUSH || kind == MXN_WIRE_BUCKET || kind == MXN_WIRE_BARRIER;
        assert_int_equal(read_header(&header), is_it ? MXP_OK : MXP_EFORMAT);
        assert_true(is_it || strstr(mxp_last_error(), "are not compressed") != NULL);
    }
}

static void compressed_refused(mxn_wire header, const char *says)
{
    assert_int_equal(read_header(&header), MXP_EFORMAT);
    if (strstr(mxp_last_error(), says) == NULL) {
        fail_msg("'%s' does not say '%s'", mxp_last_error(), says);
    }
}

static void compressed_ones_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const uint32_t bad[] = {0, 0x80000000, 0xbf000000, 0x7f800000, 0xff800000, 0x7fc00000};
    mxn_wire push = compressed(MXN_WIRE_PUSH);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        push.last = bad[i];
        compressed_refused(push, "is no threshold of compression");
    }
    push = compressed(MXN_WIRE_PUSH);
    push.bytes = 6;
    compressed_refused(push, "6 bytes at 0 are no whole float32");
    push = compressed(MXN_WIRE_PUSH);
    push.dtype = 1;
    compressed_refused(push, "type 1 are not compressed");
    push = compressed(MXN_WIRE_PUSH);
    push.flags |= MXN_WIRE_SUMMED;
    compressed_refused(push, "are not compressed");
    push.flags ^= MXN_WIRE_SUMMED | MXN_WIRE_LOCAL;
    compressed_refused(push, "are not compressed");
    mxn_wire barrier = compressed(MXN_WIRE_BARRIER);
    barrier.bytes = 8;
    compressed_refused(barrier, "are not compressed");
}

static void a_pull_asks_and_carries_nothing(void **state)
{
    (void)state;
    mxn_wire header = mxn__wire(MXN_WIRE_PULL);
    header.bytes = 524288;
    assert_false(mxn__wire_has_body(&header));
    mxn_wire got;
    assert_int_equal(mxn__wire_read(&header, sizeof header, &got), MXP_OK);
    assert_int_equal(got.bytes, 524288);
}

// The tags that the table of the protocol gives them: none is another's.
static void tags_tell_bodies_apart(void **state)
{
    (void)state;
    mxn_wire push = mxn__wire(MXN_WIRE_PUSH), reply = mxn__wire(MXN_WIRE_REPLY),
             command = mxn__wire(MXN_WIRE_COMMAND);
    push.slot = reply.slot = MXN_WIRE_SLOTS_MAX - 1;
    assert_int_equal(mxn__wire_tag(&push), 65536 + 983039);
    assert_true(mxn__wire_tag(&push) < MXN_WIRE_TAG_REPLY);
    assert_int_equal(mxn__wire_tag(&reply), 1048576 + 983039);
    assert_int_equal(mxn__wire_tag(&command), 2);
    assert_string_equal(mxn__wire_kind_name(MXN_WIRE_PUSHPULL), "pushpull");
    assert_string_equal(mxn__wire_kind_name(200), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_is_read_from_its_place),
        cmocka_unit_test(damaged_fields_are_refused_by_name),
        cmocka_unit_test(cut_messages_are_refused),
        cmocka_unit_test(nothing_is_set_by_a_refusal),
        cmocka_unit_test(bodies_that_are_longer_come_alone),
        cmocka_unit_test(compressed_are_pushes_buckets_and_what_agrees_on_it),
        cmocka_unit_test(compressed_ones_that_cannot_be_are_refused),
        cmocka_unit_test(a_pull_asks_and_carries_nothing),
        cmocka_unit_test(tags_tell_bodies_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
