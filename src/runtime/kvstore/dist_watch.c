// SPDX-License-Identifier: Apache-2.0
// Puts the liveness beside the transport. The head's address goes over the transport, in a message
// that no store ever sees: whoever waits for it sends nothing, and whoever has it sends nothing
// either until all have come to the head.
#include "runtime/kvstore/dist_watch.h"

#include <assert.h>
#include <inttypes.h>
#include <mxprof/profiler.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/os/os.h"
#include "base/setting.h"
#include "runtime/kvstore/dist_slow_step.h"
#include "runtime/kvstore/liveness.h"
#include "runtime/kvstore/liveness_words.h"

enum { ADDRESS_COMMAND = 0x4c495645, PATH_BYTES = 1024 };
static const uint64_t LOOK_NS = 1000000, LAST_WORD_NS = 300000000;
static const double HEAD_S = 5;  // the head gives up first, and its word names who is missing

typedef struct watch {
    mxn_liveness *liveness;  // null: nobody else is there
    MXP_ATOMIC(mxn_dist *) dist;  // null until it is open
    MXP_ATOMIC(mxn_transport *) transport;  // to end the job; null: each process ends by itself
    const mxn_peer *peers;
    uint32_t peer_count;
    uint64_t stall_ns, timeout_ns;
    int (*open)(void *context, mxn_transport **transport);
    void *open_context;
} watch;

static watch node;

// ---- what the liveness asks --------------------------------------------------------------------
static void doing(void *context, char *buffer, uint32_t size)
{
    mxn_dist *dist = mxp_atomic_load_acquire(&node.dist);
    (void)context;
    if (dist != NULL) {
        mxn_dist_doing(dist, buffer, size);
    }
}

// "runs/worker0_last.mxp" of "runs/last.mxp".
static void own_path(char own[PATH_BYTES], const char *path)
{
    const mxn_dist *dist = mxp_atomic_load_acquire(&node.dist);
    const char *slash = strrchr(path, '/');
    int folder = slash == NULL ? 0 : (int)(slash - path + 1);
    const int roles = dist == NULL ? 0 : (int)mxn_dist_roles(dist);
    const char *role = (roles & MXN_ROLE_WORKER) != 0  ? "worker"
                       : (roles & MXN_ROLE_OWNER) != 0 ? "server"
                                                       : "scheduler";
    snprintf(own, PATH_BYTES, "%.*s%s%u_%s", folder, path, role,
             dist == NULL ? 0 : mxn_dist_rank(dist), path + folder);
}

static void snapshot(void *context, const char *path, double last_ms)
{
    char own[PATH_BYTES];
    (void)context;
    if (path != NULL) {
        own_path(own, path);
    }
    mxn__snapshot_write(path == NULL ? NULL : own, last_ms);
}

static void slow_step(void *context, const char *path, double last_ms)
{
    char own[PATH_BYTES];
    (void)context;
    if (path != NULL) {
        own_path(own, path);
        mxn__slow_step_keep(own, last_ms);
    }
}

// A recording file has everything already. What is in memory alone is lost with the process: it is
// written beside the profile's name while there is time.
static void write_last_words(void)
{
    char name[PATH_BYTES], died[PATH_BYTES + 32];
    mxp_session *session = mxp_session_get();
    mxp_report report = {.size_bytes = sizeof report};
    if (mxp_session_report(session, &report) != MXP_OK || report.has_file != 0 ||
        mxp_session_is_running(session, name, sizeof name) != 1 || name[0] == '\0') {
        return;
    }
    char *dot = strrchr(name, '.');
    if (dot != NULL && strchr(dot, '/') == NULL) {
        *dot = '\0';
    }
    snprintf(died, sizeof died, "%s.%u.died.mxp", name, mxp__os_process_id());
    (void)mxp_session_snapshot(mxp_session_get(), died, 0);
}

static void fail_node(const char *text)
{
    mxn_dist *dist = mxp_atomic_load_acquire(&node.dist);
    if (dist != NULL) {
        mxn_dist_fail(dist, text);
    }
}

static void failed(void *context, const char *text)
{
    (void)context;
    fail_node(text);
    write_last_words();
}

static void end(void *context, int code)
{
    mxn_transport *transport = mxp_atomic_load_acquire(&node.transport);
    (void)context;
    if (transport != NULL && transport->ops->end_job != NULL) {
        transport->ops->end_job(transport, code);
    }
}

// ---- what the node tells -----------------------------------------------------------------------
static void lost(void *context, uint32_t peer, const char *text)
{
    (void)context;
    (void)peer;
    if (node.liveness != NULL) {
        mxn__liveness_suspect(node.liveness, text);
        return;
    }
    fail_node(text);
}

static void hopeless(void *context, const char *text)
{
    (void)context;
    if (node.liveness != NULL) {
        mxn__liveness_end_job(node.liveness, text);
        return;
    }
    fail_node(text);
}

// The processes of these workers; how many of them.
static uint32_t processes_of(const mxn_dist_stall *stall, int32_t ranks[MXN_LIVENESS_STALL_RANKS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < stall->missing_count && count < MXN_LIVENESS_STALL_RANKS; i++) {
        for (uint32_t peer = 0; peer < node.peer_count; peer++) {
            if ((node.peers[peer].roles & MXN_ROLE_WORKER) != 0 &&
                node.peers[peer].worker == stall->missing[i]) {
                ranks[count++] = (int32_t)peer;
                break;
            }
        }
    }
    return count;
}

static void stalled(void *context, const mxn_dist_stall *stall)
{
    char what[256];
    int32_t ranks[MXN_LIVENESS_STALL_RANKS];
    uint32_t count = processes_of(stall, ranks);
    (void)context;
    snprintf(what, sizeof what, "key '%.160s' round %" PRIu64, stall->part->name, stall->round);
    if (node.liveness == NULL || count == 0) {
        return;
    }
    if (node.stall_ns != 0 && stall->waited_ns >= node.stall_ns) {
        mxn__liveness_stall(node.liveness, what, ranks, count);
    }
    if (node.timeout_ns != 0 && stall->waited_ns >= node.timeout_ns) {
        char text[512];
        snprintf(text, sizeof text,
                 "%s has waited %.0f s for worker %u, which ends the job "
                 "(MXNET_KVSTORE_TIMEOUT_S)",
                 what, (double)stall->waited_ns * 1e-9, stall->missing[0]);
        mxn__liveness_end_job(node.liveness, text);
    }
}

// ---- opening -----------------------------------------------------------------------------------
static uint32_t head_of(const mxn_transport *transport)
{
    for (uint32_t i = 0; i < transport->size; i++) {
        if ((transport->peers[i].roles & MXN_ROLE_WORKER) != 0 && transport->peers[i].worker == 0) {
            return i;
        }
    }
    return 0;
}

static mxn_live_identity identity_of(const mxn_peer *peer, uint32_t rank)
{
    const bool works = (peer->roles & MXN_ROLE_WORKER) != 0,
               owns = (peer->roles & MXN_ROLE_OWNER) != 0;
    mxn_live_identity made = {.role_rank = (int32_t)(works ? peer->worker : peer->owner),
                              .rank = (int32_t)rank,
                              .pid = peer->pid};
    snprintf(made.role, sizeof made.role, "%s", works ? "worker" : owns ? "server" : "scheduler");
    snprintf(made.host, sizeof made.host, "%s", peer->host);
    return made;
}

static mxn_live_identity who(void *context, int32_t rank)
{
    (void)context;
    return identity_of(&node.peers[rank], (uint32_t)rank);
}

static mxn_liveness_setup setup_of(const mxn_transport *transport)
{
    const mxn_peer *own = &transport->peers[transport->rank];
    mxn_liveness_setup setup = {.self = identity_of(own, transport->rank),
                                .ranks = (int32_t)transport->size,
                                .one_host = true,
                                .head_ends_all = transport->ops->end_job != NULL,
                                .who = who,
                                .doing = doing,
                                .failed = failed,
                                .snapshot = snapshot,
                                .slow_step = slow_step,
                                .end = end};
    for (uint32_t i = 0; i < transport->size; i++) {
        if (!mxn__peers_share_machine(&transport->peers[i], own)) {
            setup.one_host = false;
        }
    }
    return setup;
}

typedef struct first_letter {
    mxn_live_address address;
    bool is_here;
    int error;
    bool is_head;
    uint32_t head;  // its number
    char text[512];  // who was lost first; "": nobody
} first_letter;

static void take_address(void *context, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    first_letter *into = context;
    (void)peer;
    if (header->kind == MXN_WIRE_COMMAND && header->key == ADDRESS_COMMAND && inlined != NULL &&
        header->bytes == sizeof into->address) {
        memcpy(&into->address, inlined, sizeof into->address);
        into->is_here = true;
    } else {
        into->error = mxp__fail(MXP_EFORMAT, "a message of kind %s came before the first",
                                mxn__wire_kind_name(header->kind));
    }
}

// The first who is lost is the one who died, and the others' ends are consequences. Whoever is not
// the head goes on until the head has gone, too: only its own end ends the waiting for its word.
static void lost_early(void *context, uint32_t peer, const char *text)
{
    first_letter *into = context;
    if (into->text[0] == '\0') {
        char name[MXN_LIVE_NAME_BYTES];
        const mxn_live_identity dead = identity_of(&node.peers[peer], peer);
        mxn__live_name(&dead, name);
        snprintf(into->text, sizeof into->text, "%s died as the store was opened: %s", name, text);
    }
    if (into->error == MXP_OK && (into->is_head || peer == into->head)) {
        into->error = mxp__fail(MXP_ESTATE, "%s", into->text);
    }
}

static void count_done(mxn_ticket *ticket, int error)
{
    uint32_t *left = ticket->context;
    (void)error;
    (*left)--;
}

static void look(mxn_transport *transport)
{
    if (!transport->ops->progress(transport)) {
        transport->ops->sleep(transport, LOOK_NS);
    }
}

// Those who wait for the head's answer look at nobody else.
static int tell_all_of_the_dead(const first_letter *letter)
{
    mxn__liveness_end_job(node.liveness, letter->text);
    (void)mxn__liveness_wait(node.liveness);
    return mxp__fail(letter->error, "%s", letter->text);
}

// The head: sends its address to all, then waits until all have come.
static int gather_all(mxn_transport *transport, first_letter *into)
{
    mxn_liveness_setup setup = setup_of(transport);
    int error = mxn__liveness_open_head(&setup, &into->address, &node.liveness);
    mxn_wire header = mxn__wire(MXN_WIRE_COMMAND);
    header.key = ADDRESS_COMMAND;
    header.bytes = sizeof into->address;
    uint32_t left = 0;
    mxn_ticket ticket = {.done = count_done, .context = &left};
    for (uint32_t peer = 0; peer < transport->size && error == MXP_OK; peer++) {
        if (peer == transport->rank) {
            continue;
        }
        left++;
        error = transport->ops->send(transport, peer, &header, &into->address, &ticket);
        while (error == MXP_OK && left > 0) {
            look(transport);
        }
    }
    // Until all have the address, and no longer: the next message is for the store.
    while (error == MXP_OK && into->error == MXP_OK && !mxn__liveness_is_settled(node.liveness)) {
        look(transport);
    }
    // Who ends because the job has failed is not why it has.
    const bool has_failed = node.liveness != NULL && mxn__liveness_has_failed(node.liveness);
    if (node.liveness != NULL && into->text[0] != '\0' && !has_failed) {
        return tell_all_of_the_dead(into);
    }
    if (error == MXP_OK) {
        error =
            into->error != MXP_OK && !has_failed ? into->error : mxn__liveness_wait(node.liveness);
    }
    return error;
}

// Where the head has gone without an answer the transport may know of the one who died before it.
static int open_peer(mxn_transport *transport, const mxn_liveness_setup *setup, first_letter *into)
{
    const int error = mxn__liveness_open_peer(setup, &into->address, &node.liveness);
    if (error != MXP_EIO) {
        return error;
    }
    char text[512];
    snprintf(text, sizeof text, "%s", mxp_last_error());
    const uint64_t until_ns = mxp__os_monotonic_ns() + LAST_WORD_NS;
    while (into->error == MXP_OK && mxp__os_monotonic_ns() < until_ns) {
        look(transport);
    }
    return mxp__fail(MXP_EIO, "%s", into->text[0] == '\0' ? text : into->text);
}

static int join_head(mxn_transport *transport, first_letter *into)
{
    mxn_liveness_setup setup = setup_of(transport);
    double limit_s;
    int error = mxn__liveness_read_start(&limit_s);
    if (error != MXP_OK) {
        return error;
    }
    limit_s += HEAD_S;
    uint64_t until_ns = mxp__os_monotonic_ns() + (uint64_t)(limit_s * 1e9);
    while (!into->is_here && into->error == MXP_OK) {
        look(transport);
        if (mxp__os_monotonic_ns() > until_ns) {
            char name[MXN_LIVE_NAME_BYTES];
            const mxn_live_identity head = who(NULL, (int32_t)head_of(transport));
            mxn__live_name(&head, name);
            return mxp__fail(MXP_ESTATE, "waited %.0f s for a word of %s", limit_s, name);
        }
    }
    return into->error != MXP_OK ? into->error : open_peer(transport, &setup, into);
}

static int open_watched(void *context, mxn_transport **transport)
{
    first_letter letter = {.error = MXP_OK};
    (void)context;
    int error = node.open == NULL ? mxn__transport_open(transport)
                                  : node.open(node.open_context, transport);
    if (error != MXP_OK || (*transport)->size < 2) {
        return error;
    }
    mxn_transport *opened = *transport;
    node.peers = opened->peers;
    node.peer_count = opened->size;
    letter.head = head_of(opened);
    letter.is_head = letter.head == opened->rank;
    opened->handler = take_address;
    opened->lost = lost_early;
    opened->context = &letter;
    error = letter.is_head ? gather_all(opened, &letter) : join_head(opened, &letter);
    opened->handler = NULL;
    opened->lost = NULL;
    opened->context = NULL;
    if (error != MXP_OK) {
        opened->ops->close(opened, true);
        *transport = NULL;
        return error;
    }
    mxp_atomic_store_release(&node.transport, opened);  // pairs with end
    return MXP_OK;
}

int mxn__watch_open(mxn_dist_config *config, int (*open)(void *context, mxn_transport **transport),
                    void *open_context, mxn_dist **dist)
{
    uint64_t timeout_s;
    assert(mxp_atomic_load(&node.dist) == NULL && "there is one node a process");
    int error = mxp__setting_read("MXNET_KVSTORE_TIMEOUT_S", 0, 0, 10000000, &timeout_s);
    if (error != MXP_OK) {
        return error;
    }
    node.open = open;
    node.open_context = open_context;
    node.stall_ns = config->stall_ns;
    node.timeout_ns = timeout_s * 1000000000;
    if (node.timeout_ns != 0 && (config->stall_ns == 0 || node.timeout_ns < config->stall_ns)) {
        config->stall_ns = node.timeout_ns;
    }
    config->hooks.lost = lost;
    config->hooks.stalled = stalled;
    config->hooks.hopeless = hopeless;
    error = mxn_dist_open(config, open_watched, NULL, dist);
    if (error != MXP_OK) {
        mxn__liveness_close(node.liveness);
        node.liveness = NULL;
        return error;
    }
    mxp_atomic_store_release(&node.dist, *dist);  // pairs with failed
    if (node.liveness != NULL && mxn__liveness_has_failed(node.liveness)) {
        mxn_dist_fail(*dist, "a process died while the store was opened");
    }
    if (node.liveness != NULL) {
        mxn__slow_steps_begin(node.liveness);
    }
    return MXP_OK;
}

int mxn__watch_close(mxn_dist *dist)
{
    mxn__slow_steps_end();
    mxp_atomic_store_release(&node.transport, NULL);  // it ends with the node
    int error = mxn_dist_close(dist);
    if (mxn_dist_failure(dist) != NULL) {
        return error;
    }
    mxn_liveness *liveness = node.liveness;
    node.liveness = NULL;
    mxn__liveness_close(liveness);
    mxn__slow_steps_wait();
    return error;
}

int mxn__watch_snapshot_all(const char *path, double last_ms)
{
    if (node.liveness == NULL) {
        return mxp__fail(MXP_ESTATE, "there are no other processes of a store");
    }
    if (!mxn__liveness_snapshot(node.liveness, path, last_ms)) {
        return mxp__fail(MXP_EVALUE, "a snapshot of all processes: the name '%s' is too long",
                         path);
    }
    return MXP_OK;
}
