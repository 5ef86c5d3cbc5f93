// SPDX-License-Identifier: Apache-2.0
// A peer that sends anything: messages that are headers in order, with any fields, at any time, and
// bodies for some of them. A server, and the worker beside it that works on, neither fall over nor
// answer more often than they were asked; in the end they have failed and say who did it, or go on.
#include <mxprof/error.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kvstore/dist.h"
#include "runtime/kvstore/parts.h"
#include "runtime/kvstore/transport_threads.h"

enum { SERVER, HONEST, HOSTILE, ABSENT, PEERS, COUNT = 40, LONG = 1200, ROUNDS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
    const uint8_t *at, *end;
} input;

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static uint32_t draw(input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

// ---- the hostile peer --------------------------------------------------------------------------
static mxn_transport *hostile;
static mxn_ticket tickets[ROUNDS];
static unsigned char body[LONG * 16];
static const unsigned char zeros[LONG * 4];

static void ticket_is_done(mxn_ticket *ticket, int error)
{
    (void)ticket;
    (void)error;
}

static void hear(void *context, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    (void)context;
    (void)peer;
    (void)header;
    (void)inlined;
}

static void hear_lost(void *context, uint32_t peer, const char *text)
{
    (void)context;
    (void)peer;
    (void)text;
}

// Words of a push that are as long as the pieces' or not: of 40, 1040 and 160 values.
static void draw_words(input *in, mxn_wire *header)
{
    static const uint32_t lengths[] = {12, 260, 40, 0, 4, 256, 4160, 264};
    static const uint32_t thresholds[] = {0x3f000000, 0x3f000000, 0x7f7fffff, 0x7f800000};
    const uint32_t drawn = draw(in);
    header->kind = drawn % 4 == 0 ? header->kind : MXN_WIRE_PUSH;
    header->flags |= MXN_WIRE_COMPRESSED;
    header->bytes = lengths[drawn / 4 % 8];
    header->last = thresholds[drawn / 32 % 4];
}

// Most fields are what they should be, so that it comes further than the first check.
static mxn_wire draw_header(input *in)
{
    static const uint32_t lengths[] = {0, 4, COUNT * 4, LONG * 4, 64, 4160, LONG * 4 - 4160, 4096};
    mxn_wire header = mxn__wire((int)(1 + draw(in) % (MXN_WIRE_KIND_COUNT - 1)));
    header.key = draw(in) % 4;
    header.slot = draw(in) % 8;
    header.offset = draw(in) % 4 == 0 ? 4160 : 0;
    header.bytes = lengths[draw(in) % 8];
    header.round = draw(in) % 4;
    header.dtype = draw(in) % 16 == 0 ? 2 : 0;
    header.store = draw(in) % 8 == 0;
    header.flags = (uint16_t)(draw(in) & (MXN_WIRE_LAST | MXN_WIRE_ERROR | MXN_WIRE_RECORDED |
                                          MXN_WIRE_ASKED | MXN_WIRE_ASYNC));
    const uint32_t more = draw(in);
    header.flags |= (uint16_t)(more % 4 * MXN_WIRE_LOCAL);  // and SUMMED
    header.last = draw(in) % 4;
    if ((more & 24) == 8) {
        draw_words(in, &header);
    }
    if ((header.flags & MXN_WIRE_LOCAL) != 0) {
        header.slot = MXN_WIRE_SLOTS_MAX - 1 - header.slot;
    }
    header.wait_ns = draw(in) % 2 == 0 ? 4160 : draw(in);
    return header;
}

// Parts that mostly are what they should be, in a message that mostly says how many.
static void draw_parts(input *in, mxn_wire *header)
{
    const uint32_t count = 1 + draw(in) % 3;
    const bool are_replies = header->kind == MXN_WIRE_REPLIES;
    mxn_parts_writer writer = mxn__parts_write(header, body, count);
    for (uint32_t i = 0; i < count; i++) {
        mxn_wire of = draw_header(in);
        of.kind = are_replies ? MXN_WIRE_REPLY : (uint8_t)(MXN_WIRE_PUSH + draw(in) % 3);
        mxn__parts_put(&writer, &of, zeros);
    }
    header->bytes = writer.values_at;
    header->key += draw(in) % 16 == 0;
}

static void send_any(input *in, uint32_t n)
{
    unsigned char copy[sizeof(mxn_wire) + MXN_WIRE_INLINE_MAX];
    mxn_wire header = draw_header(in), read;
    if (header.kind == MXN_WIRE_BUCKET || header.kind == MXN_WIRE_REPLIES) {
        draw_parts(in, &header);
    }
    if (header.kind == MXN_WIRE_BARRIER && (header.flags & MXN_WIRE_COMPRESSED) != 0) {
        header.bytes = 0;
    }
    const uint32_t bytes = mxn__wire_body_bytes(&header);
    const uint32_t peer = draw(in) % 2 == 0 ? SERVER : HONEST;
    for (uint32_t i = 64; i < bytes && i < 104; i++) {
        body[i] = (unsigned char)draw(in);
    }
    // What no transport would let through is the business of the other target.
    const bool is_inline = bytes <= MXN_WIRE_INLINE_MAX;
    header.flags |= is_inline ? MXN_WIRE_INLINE : 0;
    memcpy(copy, &header, sizeof header);
    if (is_inline && bytes > 0) {
        memcpy(copy + sizeof header, body, bytes);
    }
    if (mxn__wire_read(copy, sizeof header + (is_inline ? bytes : 0), &read) != MXP_OK) {
        return;
    }
    tickets[n] = (mxn_ticket){.done = ticket_is_done};
    const bool alone = !is_inline && draw(in) % 4 == 0;
    hostile->ops->send(hostile, peer, &header, alone ? NULL : body,
                       is_inline || alone ? NULL : &tickets[n]);
}

// ---- the others --------------------------------------------------------------------------------
typedef struct asked {
    uint32_t count;
} asked;

static void note(void *context, int error, const char *text, const void *answer, uint64_t bytes)
{
    asked *of = context;
    (void)answer;
    (void)bytes;
    require(of->count++ == 0);
    require(error == MXP_OK || (text != NULL && text[0] != '\0'));
}

static void update(void *context, const mxn_dist_part *part, const void *sum, void *stored,
                   mxn_dist_request *request)
{
    (void)context;
    memcpy(stored, sum, part->elements * mxn_dtype_size(part->dtype));
    mxn_dist_updated(request, MXP_OK, NULL);
}

static mxn_threads_world *world;
static mxn_dist *nodes[2];

static int open_one(void *context, mxn_transport **transport)
{
    *transport = mxn__threads_open(world, *(const uint32_t *)context);
    return MXP_OK;
}

// With two levels the honest and the hostile worker share a host.
static void open_all(bool has_limit, bool two_levels)
{
    static const uint32_t roles[PEERS] = {MXN_ROLE_OWNER, MXN_ROLE_WORKER, MXN_ROLE_WORKER,
                                          MXN_ROLE_WORKER};
    mxn_dist_config config = {.bigarray_bound = 1000000,
                              .piece_bytes = 4160,
                              .owner_inflight_bytes = 1 << 20,
                              .owner_held_bytes = has_limit ? 1 : 0,
                              .bucket_bytes = has_limit ? 300 : 512 << 10,
                              .window = 2,
                              .is_driven = true,
                              .levels = two_levels ? 2 : 1,
                              .hooks.update = update};
    strcpy(config.hosts, two_levels ? "0,0,1" : "");
    require(mxn__threads_world_new(two_levels ? PEERS : ABSENT, roles, 0, &world) == MXP_OK);
    for (uint32_t i = 0; i < 2; i++) {
        require(mxn_dist_open(&config, open_one, &i, &nodes[i]) == MXP_OK);
    }
    hostile = mxn__threads_open(world, HOSTILE);
    hostile->handler = hear;
    hostile->lost = hear_lost;
}

static void turn(uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        mxn__dist_turn(nodes[SERVER]);
        mxn__dist_turn(nodes[HONEST]);
        hostile->ops->progress(hostile);
    }
}

static bool submit(int kind, uint32_t key, float *value, uint64_t count, asked *of)
{
    const mxn_shape shape = {.ndim = 1, .dims = {(int64_t)count}};
    *of = (asked){0};
    const mxn_dist_operation operation = {.kind = kind,
                                          .key = key,
                                          .in = value,
                                          .out = value,
                                          .bytes = count * sizeof *value,
                                          .name = "w",
                                          .shape = &shape,
                                          .done = note,
                                          .context = of};
    return mxn_dist_submit(nodes[HONEST], &operation) == MXP_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static float values[ROUNDS][LONG];
    static asked asks[ROUNDS];
    input in = {data, data + size};
    uint16_t store = 0;
    const uint32_t how = draw(&in);
    open_all(how % 2 == 0, how / 2 % 2 == 0);
    require(mxn_dist_store_open(nodes[HONEST], draw(&in) % 4 == 0, &store) == MXP_OK);
    require(mxn_dist_updater_set(nodes[SERVER], 0, draw(&in) % 2 == 0) == MXP_OK);
    for (uint32_t n = 0; n < ROUNDS && in.at < in.end; n++) {
        const uint32_t what = draw(&in) % 8, key = n < 2 ? n : draw(&in) % 2;
        const int kind = n < 2 ? MXN_DIST_INIT : (int)(MXN_DIST_PUSH + draw(&in) % 4);
        if (n < 2 || what < 2) {
            submit(kind, key, values[n], key == 0 ? COUNT : LONG, &asks[n]);
        } else {
            send_any(&in, n);
        }
        turn(draw(&in) % 4);
    }
    turn(50);
    for (uint32_t i = 0; i < 2; i++) {
        const char *failure = mxn_dist_failure(nodes[i]);
        require(failure == NULL || strlen(failure) > 10);
    }
    hostile->ops->close(hostile, true);
    mxn_dist_free(nodes[HONEST]);
    mxn_dist_free(nodes[SERVER]);
    mxn__threads_world_free(world);
    return 0;
}
