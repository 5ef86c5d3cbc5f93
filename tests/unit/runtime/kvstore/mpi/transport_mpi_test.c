// SPDX-License-Identifier: Apache-2.0
// The transport over MPI, with three processes that mpirun starts: what is sent arrives whole, once
// and in order, however sends and receives meet; receives are taken back.
// Skipped where there is no mpirun.
#include <dlfcn.h>
#include <mxprof/error.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os.h"
#include "runtime/kvstore/transport.h"

enum { SIZES = 5, SKIPPED = 77, LIMIT_S = 60 };
static const uint32_t sizes[SIZES] = {4, 4096, 4100, 65536, 3 << 20};

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            fprintf(stderr, "rank %u, line %d: %s; %s\n", rank, __LINE__, #condition, \
                    mxp_last_error());                                                \
            _exit(1);                                                                 \
        }                                                                             \
    } while (0)

static uint32_t rank;
static mxn_transport *transport;
static uint32_t heard[8], headers;
static uint64_t next_round[8];

typedef struct message {
    mxn_ticket ticket;
    unsigned char *bytes;
    uint32_t size, seed;
    int done, error;
} message;

static void on_done(mxn_ticket *ticket, int error)
{
    message *one = ticket->context;
    one->done++;
    one->error = error;
}

static unsigned char byte_of(uint32_t seed, uint32_t i)
{
    return (unsigned char)((seed * 2654435761u + i * 40503u) >> 8);
}

static message *make(uint32_t size, uint32_t seed, bool is_filled)
{
    message *one = calloc(1, sizeof *one);
    one->bytes = calloc(1, size);
    *one = (message){.ticket = {.done = on_done, .context = one},
                     .bytes = one->bytes,
                     .size = size,
                     .seed = seed};
    for (uint32_t i = 0; is_filled && i < size; i++) {
        one->bytes[i] = byte_of(seed, i);
    }
    return one;
}

static bool is_whole(const unsigned char *bytes, uint32_t size, uint32_t seed)
{
    for (uint32_t i = 0; i < size; i++) {
        if (bytes[i] != byte_of(seed, i)) {
            return false;
        }
    }
    return true;
}

static uint32_t seed_of(uint32_t from, uint32_t to, uint64_t round)
{
    return from * 1000003 + to * 1009 + (uint32_t)round;
}

static message *asked[4096];
static uint32_t asked_count;

// Bodies are asked for at once, or by every second header only when its successor has come.
static mxn_wire late[8];
static bool is_late[8];

static void ask_for(uint32_t peer, const mxn_wire *header)
{
    message *one = make(header->bytes, seed_of(peer, rank, header->round), false);
    CHECK(transport->ops->receive(transport, peer, header, one->bytes, &one->ticket) == 0);
    asked[asked_count++] = one;
}

static void on_header(void *context, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    (void)context;
    headers++;
    CHECK(header->round == next_round[peer]);
    next_round[peer]++;
    heard[peer]++;
    if (inlined != NULL) {
        CHECK(header->bytes <= MXN_WIRE_INLINE_MAX);
        CHECK(is_whole(inlined, header->bytes, seed_of(peer, rank, header->round)));
    }
    if (is_late[peer]) {
        is_late[peer] = false;
        ask_for(peer, &late[peer]);
    }
    if (mxn__wire_has_body(header)) {
        if (header->round % 2 == 0) {
            ask_for(peer, header);
        } else {
            late[peer] = *header;
            is_late[peer] = true;
        }
    }
}

static void on_lost(void *context, uint32_t peer, const char *text)
{
    (void)context;
    fprintf(stderr, "rank %u has lost %u: %s\n", rank, peer, text);
    _exit(1);
}

static void turn(void)
{
    if (!transport->ops->progress(transport)) {
        transport->ops->sleep(transport, 1000000000);
    }
}

static mxn_wire push_of(uint32_t slot, uint32_t bytes, uint64_t round)
{
    mxn_wire header = mxn__wire(MXN_WIRE_PUSH);
    header.slot = slot;
    header.bytes = bytes;
    header.round = round;
    return header;
}

static void everything_arrives_in_order(void)
{
    enum { ROUNDS = 60 };
    message *sent[8 * ROUNDS] = {0};
    uint32_t count = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint32_t peer = 0; peer < transport->size; peer++) {
            uint32_t size = sizes[(round + peer) % SIZES];
            message *one = make(size, seed_of(rank, peer, round), true);
            mxn_wire header = push_of((uint32_t)(round % 7), size, round);
            CHECK(transport->ops->send(transport, peer, &header, one->bytes, &one->ticket) == 0);
            CHECK(one->done == 0);
            sent[count++] = one;
        }
        if (round % 5 == 0) {
            turn();
        }
    }
    for (uint32_t peer = 0; peer < transport->size; peer++) {  // it ends whatever is asked for late
        mxn_wire last = mxn__wire(MXN_WIRE_BYE);
        last.round = ROUNDS;
        CHECK(transport->ops->send(transport, peer, &last, NULL, NULL) == 0);
    }
    bool is_over = false;
    while (!is_over) {
        turn();
        is_over = headers == (ROUNDS + 1) * transport->size;
        for (uint32_t i = 0; i < count; i++) {
            is_over = is_over && sent[i]->done == 1;
        }
        for (uint32_t i = 0; i < asked_count; i++) {
            is_over = is_over && asked[i]->done == 1;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        CHECK(sent[i]->error == 0);
    }
    for (uint32_t i = 0; i < asked_count; i++) {
        CHECK(asked[i]->error == 0 && is_whole(asked[i]->bytes, asked[i]->size, asked[i]->seed));
    }
}

static void wait_done(const message *one)
{
    while (one->done == 0) {
        turn();
    }
}

// A reply's receive comes before its header; a body can be sent after it; one is taken back.
static void replies_come_to_where_they_are_awaited(void)
{
    uint32_t next = (rank + 1) % transport->size,
             before = (rank + transport->size - 1) % transport->size;
    mxn_wire reply = mxn__wire(MXN_WIRE_REPLY);
    reply.slot = 5;
    reply.bytes = 100000;
    reply.round = next_round[before];
    message *in = make(reply.bytes, 77 + before, false), *out = make(reply.bytes, 77 + rank, true);
    message *never = make(reply.bytes, 0, false);
    CHECK(transport->ops->receive(transport, before, &reply, in->bytes, &in->ticket) == 0);
    CHECK(transport->ops->send_body(transport, next, &reply, out->bytes, &out->ticket) == 0);
    wait_done(in);
    wait_done(out);
    CHECK(in->error == 0 && is_whole(in->bytes, in->size, in->seed));
    reply.slot = 6;
    CHECK(transport->ops->receive(transport, before, &reply, never->bytes, &never->ticket) == 0);
    transport->ops->cancel(transport, &never->ticket);
    wait_done(never);
    CHECK(never->error == MXP_ESTATE);
}

static void check_peers(void)
{
    for (uint32_t i = 0; i < transport->size; i++) {
        CHECK(transport->peers[i].roles == (MXN_ROLE_WORKER | MXN_ROLE_OWNER));
        CHECK(transport->peers[i].worker == i && transport->peers[i].owner == i);
        CHECK(transport->peers[i].host[0] != '\0');
        CHECK((transport->peers[i].pid == (uint32_t)getpid()) == (i == transport->rank));
    }
    CHECK(transport->slots_max > 1024 && transport->slots_max <= MXN_WIRE_SLOTS_MAX);
}

static void *communicate(void *unused)
{
    char path[4096];
    mxn_mpi_open open_mpi;
    snprintf(path, sizeof path, "%s/libmxnet_mpi.so", getenv("MXPROF_BUILD"));
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *found = plugin == NULL ? NULL : dlsym(plugin, MXN_MPI_OPEN_NAME);
    if (found == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(1);
    }
    memcpy(&open_mpi, &found, sizeof open_mpi);
    CHECK(open_mpi(&transport) == 0);
    rank = transport->rank;
    transport->handler = on_header;
    transport->lost = on_lost;
    check_peers();
    everything_arrives_in_order();
    replies_come_to_where_they_are_awaited();
    transport->ops->close(transport, false);
    return unused;
}

// As in a program: the thread that calls MPI is not the first.
static int take_part(void)
{
    pthread_t thread;
    alarm(LIMIT_S);
    if (pthread_create(&thread, NULL, communicate, NULL) != 0) {
        return 1;
    }
    pthread_join(thread, NULL);
    return 0;
}

// Under mpirun, in a process group of its own, which is ended whatever happens.
static int start_all(const char *self, const char *doorbell)
{
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
        setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
        setenv("MXNET_KVSTORE_DOORBELL", doorbell, 1);
        execlp("mpirun", "mpirun", "--oversubscribe", "--bind-to", "none", "--mca",
               "oob_tcp_if_include", "lo", "--mca", "btl_tcp_if_include", "lo", "-n", "3", self,
               (char *)NULL);
        _exit(127);
    }
    setpgid(child, child);
    int status = 0;
    waitpid(child, &status, 0);
    kill(-child, SIGKILL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int count, char **arguments)
{
    char path[4096];
    (void)count;
    if (getenv("OMPI_COMM_WORLD_RANK") != NULL) {
        return take_part();
    }
    snprintf(path, sizeof path, "%s/libmxnet_mpi.so", getenv("MXPROF_BUILD"));
    if (access(path, R_OK) != 0 || system("mpirun --version >/dev/null 2>&1") != 0) {
        puts("skipped: no libmxnet_mpi.so or no mpirun (Debian: libopenmpi-dev openmpi-bin)");
        return SKIPPED;
    }
    int code = start_all(arguments[0], "1");
    return code == 0 ? start_all(arguments[0], "0") : code;
}
