// SPDX-License-Identifier: Apache-2.0
// A datagram socket and an eventfd. What a datagram says is not looked at: whoever sends one makes
// this process look for messages, no more.
#include "runtime/kvstore/doorbell.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/setting.h"
#include "runtime/kvstore/own_address.h"

static const uint64_t QUIET_NS =
    100000;  // a peer elsewhere that was sent to since then still looks
static const uint64_t SLEEP_NS = 10000000;  // what a lost bell costs
static const uint64_t NAP_FIRST_NS = 200000, NAP_LAST_NS = 5000000;

static int open_bell(mxn_doorbell *bell, bool one_host, mxn_bell_address *own)
{
    struct sockaddr_in place = {.sin_family = AF_INET};
    socklen_t size = sizeof place;
    uint64_t is_wanted;
    int error = mxp__setting_read("MXNET_KVSTORE_DOORBELL", 1, 0, 1, &is_wanted);
    if (error == MXP_OK && is_wanted != 0) {
        error = mxn__own_address(one_host, &place.sin_addr.s_addr);
    }
    if (error != MXP_OK || is_wanted == 0) {
        return error;
    }
    bell->bell_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bell->bell_fd >= 0 && (bind(bell->bell_fd, (struct sockaddr *)&place, sizeof place) != 0 ||
                               getsockname(bell->bell_fd, (struct sockaddr *)&place, &size) != 0)) {
        close(bell->bell_fd);
        bell->bell_fd = -1;
    }
    if (bell->bell_fd >= 0) {
        *own = (mxn_bell_address){.ip = place.sin_addr.s_addr, .port = place.sin_port};
    }
    return MXP_OK;
}

int mxn__doorbell_open(mxn_doorbell *bell, bool one_host, uint32_t size, mxn_bell_address *own)
{
    *bell = (mxn_doorbell){.bell_fd = -1, .size = size};
    *own = (mxn_bell_address){0};
    bell->addresses = mxp__alloc(size * sizeof *bell->addresses);
    bell->rung_ns = mxp__alloc(size * sizeof *bell->rung_ns);
    bell->sleepers = mxp__alloc(size * sizeof *bell->sleepers);
    bell->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int error = MXP_OK;
    if (bell->addresses == NULL || bell->rung_ns == NULL || bell->sleepers == NULL) {
        error = mxp__fail_memory("bells of other processes");
    } else if (bell->wake_fd < 0) {
        error = mxp__fail(MXP_EIO, "no descriptor to be woken by: %s", strerror(errno));
    }
    if (error == MXP_OK) {
        error = open_bell(bell, one_host, own);
    }
    if (error != MXP_OK) {
        mxn__doorbell_close(bell);
    }
    return error;
}

void mxn__doorbell_close(mxn_doorbell *bell)
{
    if (bell->bell_fd >= 0) {
        close(bell->bell_fd);
    }
    if (bell->wake_fd >= 0) {
        close(bell->wake_fd);
    }
    mxp__free(bell->addresses, bell->size * sizeof *bell->addresses);
    mxp__free(bell->rung_ns, bell->size * sizeof *bell->rung_ns);
    mxp__free(bell->sleepers, bell->size * sizeof *bell->sleepers);
    *bell = (mxn_doorbell){.bell_fd = -1, .wake_fd = -1};
}

// The first who finds a sleeper wakes it.
static bool must_ring(mxn_doorbell *bell, uint32_t peer, uint64_t now_ns)
{
    mxn_bell_sleeper *sleeper = bell->sleepers[peer];
    if (sleeper != NULL) {
        mxp_atomic_store_seq_cst(&bell->sent, 1);
        return mxp_atomic_load_seq_cst(&sleeper->sleeps) != 0 &&
               mxp_atomic_exchange_acq_rel(&sleeper->sleeps, 0) != 0;
    }
    bool was_quiet = now_ns - bell->rung_ns[peer] > QUIET_NS;
    bell->rung_ns[peer] = now_ns;
    return was_quiet;
}

void mxn__doorbell_ring(mxn_doorbell *bell, uint32_t peer, uint64_t now_ns)
{
    const mxn_bell_address *to = &bell->addresses[peer];
    if (must_ring(bell, peer, now_ns) && to->port != 0 && bell->bell_fd >= 0) {
        struct sockaddr_in place = {
            .sin_family = AF_INET, .sin_addr.s_addr = to->ip, .sin_port = to->port};
        (void)sendto(bell->bell_fd, NULL, 0, MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&place,
                     sizeof place);
    }
}

bool mxn__doorbell_was_woken(mxn_doorbell *bell)
{
    return mxp_atomic_exchange_acquire(&bell->woken, 0) != 0;  // pairs with wake
}

static void drain(mxn_doorbell *bell)
{
    char bytes[8];
    (void)!read(bell->wake_fd, bytes, sizeof bytes);
    while (bell->bell_fd >= 0 && recv(bell->bell_fd, bytes, sizeof bytes, MSG_DONTWAIT) >= 0) {
    }
}

// How long to sleep at most. Without a bell it is guessed: the longer nothing came, the longer.
static uint64_t limit_of(mxn_doorbell *bell)
{
    if (bell->bell_fd >= 0) {
        return SLEEP_NS;
    }
    uint64_t nap_ns = bell->nap_ns > NAP_FIRST_NS ? bell->nap_ns : NAP_FIRST_NS;
    bell->nap_ns = nap_ns * 2 < NAP_LAST_NS ? nap_ns * 2 : NAP_LAST_NS;
    return nap_ns;
}

static void say_asleep(mxn_doorbell *bell, uint32_t sleeps)
{
    mxp_atomic_store_seq_cst(&bell->sleeps, sleeps);
    if (bell->own != NULL) {
        mxp_atomic_store_seq_cst(&bell->own->sleeps, sleeps);
    }
}

void mxn__doorbell_sleep(mxn_doorbell *bell, uint64_t timeout_ns, bool (*has_come)(void *context),
                         void *context)
{
    uint64_t limit_ns = limit_of(bell);
    struct pollfd ready[2] = {{.fd = bell->wake_fd, .events = POLLIN},
                              {.fd = bell->bell_fd, .events = POLLIN}};
    limit_ns = timeout_ns < limit_ns ? timeout_ns : limit_ns;
    struct timespec limit = {.tv_nsec = (long)limit_ns};
    say_asleep(bell, 1);
    if (mxp_atomic_load_seq_cst(&bell->woken) == 0 && (has_come == NULL || !has_come(context)) &&
        ppoll(ready, 2, &limit, NULL) > 0) {
        drain(bell);
    }
    say_asleep(bell, 0);
    mxp_atomic_store(&bell->woken, 0);
}

void mxn__doorbell_wake(mxn_doorbell *bell)
{
    mxp_atomic_store_seq_cst(&bell->woken, 1);
    if (mxp_atomic_load_seq_cst(&bell->sleeps) != 0) {
        uint64_t one = 1;
        (void)!write(bell->wake_fd, &one, sizeof one);
    }
}
