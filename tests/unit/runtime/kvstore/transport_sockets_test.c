// SPDX-License-Identifier: Apache-2.0
// Two ends of a socket: what comes, when bodies come, and how ends are told from deaths.
#include "runtime/kvstore/transport_sockets.h"

#include <mxprof/error.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cmocka_all.h"

enum { LONG = 300000 };

typedef struct end {
    mxn_transport *transport;
    uint32_t headers, lost;
    mxn_wire last;
    char first_byte;
    char text[200];
} end;

typedef struct pair {
    end ends[2];
    int raw;  // of a pair whose second end is no transport
} pair;

static void take(void *context, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    end *of = context;
    (void)peer;
    of->headers++;
    of->last = *header;
    of->first_byte = header->bytes > 0 && !mxn__wire_has_body(header) ? *(const char *)inlined : 0;
}

static void lose(void *context, uint32_t peer, const char *text)
{
    end *of = context;
    assert_int_equal(peer, 1 - of->transport->rank);
    of->lost++;
    strncpy(of->text, text, sizeof of->text - 1);
}

static void open_end(pair *of, uint32_t rank, int fd)
{
    mxn_peer peers[2] = {{.roles = MXN_ROLE_WORKER}, {.roles = MXN_ROLE_OWNER}};
    int fds[2] = {-1, -1};
    fds[1 - rank] = fd;
    end *at = &of->ends[rank];
    assert_int_equal(mxn__sockets_open(rank, 2, peers, fds, &at->transport), MXP_OK);
    at->transport->handler = take;
    at->transport->lost = lose;
    at->transport->context = at;
}

static void open_pair(pair *of, bool both)
{
    int fds[2];
    memset(of, 0, sizeof *of);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    open_end(of, 0, fds[0]);
    if (both) {
        open_end(of, 1, fds[1]);
    } else {
        of->raw = fds[1];
    }
}

static void turn(pair *of)
{
    for (int i = 0; i < 400; i++) {
        for (int e = 0; e < 2; e++) {
            if (of->ends[e].transport != NULL) {
                of->ends[e].transport->ops->progress(of->ends[e].transport);
            }
        }
    }
}

static void close_end(end *of, bool failed)
{
    of->transport->ops->close(of->transport, failed);
    of->transport = NULL;
}

static int done_error;
static uint32_t done_count;

static void note_done(mxn_ticket *ticket, int error)
{
    (void)ticket;
    done_error = error;
    done_count++;
}

static mxn_wire message(int kind, uint32_t bytes)
{
    mxn_wire header = mxn__wire(kind);
    header.bytes = bytes;
    header.slot = 3;
    return header;
}

static int send_to(end *from, uint32_t peer, const mxn_wire *header, const void *body,
                   mxn_ticket *ticket)
{
    return from->transport->ops->send(from->transport, peer, header, body, ticket);
}

// ---- messages ----------------------------------------------------------------------------------
static void short_values_come_with_their_header(void **state)
{
    (void)state;
    pair of;
    open_pair(&of, true);
    const mxn_wire header = message(MXN_WIRE_PUSH, 4);
    for (uint32_t peer = 0; peer < 2; peer++) {  // to itself, too
        assert_int_equal(send_to(&of.ends[0], peer, &header, "abcd", NULL), MXP_OK);
        turn(&of);
        assert_int_equal(of.ends[peer].headers, 1);
        assert_int_equal(of.ends[peer].first_byte, 'a');
    }
    close_end(&of.ends[0], false);
    close_end(&of.ends[1], false);
}

// The header goes ahead; the value waits for its receive, and later headers pass it by.
static void long_values_wait_for_their_receive(void **state)
{
    (void)state;
    static unsigned char from[LONG], to[LONG];
    pair of;
    mxn_ticket sent = {.done = note_done}, got = {.done = note_done};
    const mxn_wire header = message(MXN_WIRE_PUSH, LONG), bye = message(MXN_WIRE_BYE, 0);
    open_pair(&of, true);
    memset(from, 7, sizeof from);
    done_count = 0;
    assert_int_equal(send_to(&of.ends[0], 1, &header, from, &sent), MXP_OK);
    assert_int_equal(send_to(&of.ends[0], 1, &bye, NULL, NULL), MXP_OK);
    turn(&of);
    assert_int_equal(of.ends[1].headers, 2);
    assert_int_equal(of.ends[1].last.kind, MXN_WIRE_BYE);
    assert_int_equal(done_count, 0);
    mxn_transport *other = of.ends[1].transport;
    assert_int_equal(other->ops->receive(other, 0, &header, to, &got), MXP_OK);
    turn(&of);
    assert_int_equal(done_count, 2);
    assert_int_equal(done_error, MXP_OK);
    assert_memory_equal(from, to, sizeof from);
    close_end(&of.ends[0], false);
    close_end(&of.ends[1], false);
}

// A receive that is taken back has told the other end that it waits: the next one of its kind uses
// that.
static void a_receive_that_is_taken_back_leaves_no_trace(void **state)
{
    (void)state;
    static unsigned char from[LONG], first[LONG], second[LONG];
    pair of;
    mxn_ticket sent = {.done = note_done}, got[2] = {{.done = note_done}, {.done = note_done}};
    const mxn_wire header = message(MXN_WIRE_REPLY, LONG);
    open_pair(&of, true);
    memset(from, 9, sizeof from);
    mxn_transport *other = of.ends[1].transport;
    done_count = 0;
    assert_int_equal(other->ops->receive(other, 0, &header, first, &got[0]), MXP_OK);
    turn(&of);
    other->ops->cancel(other, &got[0]);
    turn(&of);
    assert_int_equal(done_count, 1);
    assert_int_equal(done_error, MXP_ESTATE);
    for (int i = 0; i < 2; i++) {
        done_count = 0;
        memset(second, 0, sizeof second);
        assert_int_equal(other->ops->receive(other, 0, &header, second, &got[1]), MXP_OK);
        assert_int_equal(send_to(&of.ends[0], 1, &header, from, &sent), MXP_OK);
        turn(&of);
        assert_int_equal(done_count, 2);
        assert_memory_equal(from, second, sizeof from);
        assert_int_equal(first[0], 0);
        assert_int_equal(of.ends[1].lost, 0);
    }
    close_end(&of.ends[0], false);
    close_end(&of.ends[1], false);
}

// ---- ends --------------------------------------------------------------------------------------
// Whoever still writes to a peer that has ended as it should has not lost it, although what it has
// said last is not read yet.
static void an_end_with_a_goodbye_is_no_death(void **state)
{
    (void)state;
    pair of;
    const mxn_wire ping = message(MXN_WIRE_PING, 0);
    for (int order = 0; order < 2; order++) {
        open_pair(&of, true);
        close_end(&of.ends[1], false);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(send_to(&of.ends[0], 1, &ping, NULL, NULL), MXP_OK);
            if (order == 1) {
                turn(&of);
            }
        }
        turn(&of);
        assert_int_equal(of.ends[0].lost, 0);
        close_end(&of.ends[0], false);
    }
}

static void an_end_without_a_word_is_told_once(void **state)
{
    (void)state;
    static unsigned char value[LONG];
    pair of;
    mxn_ticket tickets[2] = {{.done = note_done}, {.done = note_done}};
    const mxn_wire push = message(MXN_WIRE_PUSH, LONG), reply = message(MXN_WIRE_REPLY, LONG);
    open_pair(&of, true);
    mxn_transport *self = of.ends[0].transport;
    done_count = 0;
    assert_int_equal(send_to(&of.ends[0], 1, &push, value, &tickets[0]), MXP_OK);
    assert_int_equal(self->ops->receive(self, 1, &reply, value, &tickets[1]), MXP_OK);
    turn(&of);
    close_end(&of.ends[1], true);
    turn(&of);
    assert_int_equal(of.ends[0].lost, 1);
    assert_string_equal(of.ends[0].text, "it ended without a word");
    assert_int_equal(done_count, 2);  // both are over, with an error
    assert_int_equal(done_error, MXP_EIO);
    assert_int_equal(self->ops->receive(self, 1, &reply, value, &tickets[1]), MXP_OK);
    turn(&of);
    assert_int_equal(done_count, 3);
    assert_int_equal(of.ends[0].lost, 1);
    close_end(&of.ends[0], true);
}

// ---- nonsense ----------------------------------------------------------------------------------
static void what_is_no_message_is_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t frame[4];  // type, bytes, key
        const char *says;
    } cases[] = {
        {{0, 0, 0, 0}, "it sends what is no message"},
        {{99, 8, 0, 0}, "it sends what is no message"},
        {{1, 5000, 0, 0}, "it sends a message that is too long"},
        {{1, 4, 0, 0}, "message of 4 bytes: a header has 64"},
        {{2, 1, 0, 0}, "it sends what is no message"},
        {{3, 8, 5, 0}, "it sends a value that nobody has asked for"},
        {{3, 8, 5, 1}, "it sends what is no message"},
        {{5, 0, 77, 0}, "it names nobody"},
        {{5, 0, 0, 0}, "it names nobody"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pair of;
        char bytes[24] = {0};
        open_pair(&of, false);
        memcpy(bytes, cases[i].frame, 16);
        assert_int_equal(write(of.raw, bytes, sizeof bytes), sizeof bytes);
        turn(&of);
        assert_int_equal(of.ends[0].lost, 1);
        assert_string_equal(of.ends[0].text, cases[i].says);
        close(of.raw);
        close_end(&of.ends[0], true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_values_come_with_their_header),
        cmocka_unit_test(long_values_wait_for_their_receive),
        cmocka_unit_test(a_receive_that_is_taken_back_leaves_no_trace),
        cmocka_unit_test(an_end_with_a_goodbye_is_no_death),
        cmocka_unit_test(an_end_without_a_word_is_told_once),
        cmocka_unit_test(what_is_no_message_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
