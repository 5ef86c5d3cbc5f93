// SPDX-License-Identifier: Apache-2.0
// What the files of the liveness share: its state, which is its thread's but for the queue. Private
// to liveness*.c.
#ifndef MXN_KVSTORE_LIVENESS_CORE_H
#define MXN_KVSTORE_LIVENESS_CORE_H

#include <pthread.h>

#include "base/lock.h"
#include "runtime/kvstore/liveness.h"
#include "runtime/kvstore/liveness_link.h"

enum { MXN_LIVE_PENDING = 64 };

// Another process: to the head all of them by rank, to the others the head alone.
typedef struct mxn_live_other {
    mxn_live_link link;
    mxn_live_identity who;
    bool is_here;  // has said hello and no goodbye
    bool was_here;
    bool is_terminated;  // SIGTERM is to end it
    char did[MXN_LIVENESS_TEXT_BYTES];
} mxn_live_other;

// What other threads ask for; a frame that the thread handles as if it had come.
typedef struct mxn_live_request {
    struct mxn_live_request *next;
    int kind;
    uint32_t body_bytes;
    char body[MXN_LIVE_BODY_BYTES];
} mxn_live_request;

typedef struct mxn_live_stall_body {
    uint32_t count, total;
    int32_t ranks[MXN_LIVENESS_STALL_RANKS];
    char what[256];
} mxn_live_stall_body;

typedef struct mxn_live_snapshot_body {
    double last_ms;
    char path[512];  // "": none was given
} mxn_live_snapshot_body;

typedef struct mxn_live_hello_body {
    uint8_t key[16];
    mxn_live_identity who;
} mxn_live_hello_body;

struct mxn_liveness {
    mxn_liveness_setup setup;
    bool is_head;
    uint8_t key[16];
    int epoll_fd, wake_fd, listen_fd;  // listen_fd: -1 once all are here
    uint32_t process_id;  // who opened it: a forked child has only the memory
    pthread_t thread;
    mxn_live_other *others;
    uint32_t other_count;
    uint32_t awaited;  // of these, who have never been here
    mxn_live_link *pending;  // MXN_LIVE_PENDING of them, which have shown no key yet
    bool is_deaf;  // does not listen until the next beat: no slot or no descriptor is free
    uint64_t opened_ns, turned_ns, beat_ns;  // beat_ns: when the next is due
    uint64_t failed_ns, end_ns;  // after a failure: when it was told, when the process ends
    uint64_t terminated_ns;  // after SIGTERM: when it ends the process; 0: does not
    uint64_t slow_step_ns;  // when the last one went through the head
    uint32_t slow_steps;  // how many have
    bool is_terminated;
    bool head_is_gone;
    mxp_atomic_bool has_failed;
    mxp_atomic_u32
        is_settled;  // all are here, or the job has failed: the head's opener waits for it
    mxn_liveness *next;  // of those that are open

    mxp_lock lock;  // of what follows
    mxn_live_request *requests;  // the newest first
    uint64_t suspected_ns;  // when `suspicion` counts; 0: there is none
    char suspicion[MXN_LIVENESS_LINE_BYTES];
    bool is_closing;
};

// liveness.c. `start` begins the thread, after which the state is its own; `release` is for one
// whose thread does not run.
int mxn__live_start(mxn_liveness *liveness);
void mxn__live_release(mxn_liveness *liveness);
// Has the thread obey a frame, as if it had come from itself. Any thread.
void mxn__live_ask(mxn_liveness *liveness, int kind, const void *body, uint32_t body_bytes);

// liveness_turn.c: what comes over the sockets, and what is due.
void mxn__live_accept(mxn_liveness *liveness);
void mxn__live_hear_pending(mxn_liveness *liveness, uint32_t index);
void mxn__live_hear(mxn_liveness *liveness, uint32_t index);
// The head's, before all are here: "WAITED worker 1 (...), and 2 more".
void mxn__live_missing(const mxn_liveness *liveness, const char *waited,
                       char text[MXN_LIVENESS_LINE_BYTES]);
void mxn__live_beat(mxn_liveness *liveness, uint64_t now_ns);
void mxn__live_look_for_silent(mxn_liveness *liveness, uint64_t now_ns);
uint64_t mxn__live_silent_ns(const mxn_liveness *liveness);  // when the head counts as silent
void mxn__live_obey(mxn_liveness *liveness, const mxn_live_request *request);
void mxn__live_settle(mxn_liveness *liveness);
void mxn__live_watch(mxn_liveness *liveness, int fd, uint64_t tag);
// Tags of epoll's events; from MXN_LIVE_TAG_OTHERS on they are indices of others.
enum {
    MXN_LIVE_TAG_WAKE,
    MXN_LIVE_TAG_LISTEN,
    MXN_LIVE_TAG_PENDING,
    MXN_LIVE_TAG_OTHERS = MXN_LIVE_TAG_PENDING + MXN_LIVE_PENDING,
};

// liveness_snapshot.c. By the head: whether a slow step is for all. By each: takes its snapshot, of
// either kind.
bool mxn__live_lets_through(mxn_liveness *liveness, const char *body, uint32_t body_bytes);
void mxn__live_take_snapshot(mxn_liveness *liveness, int kind, const char *body,
                             uint32_t body_bytes);

// liveness_failed.c: the first failure is told, all later ones are its consequences.
void mxn__live_fail(mxn_liveness *liveness, const char *text, const mxn_live_other *teller);
// Ends the process. Called when end_ns has come.
_Noreturn void mxn__live_end(mxn_liveness *liveness);
void mxn__live_say(const char *line);
void mxn__live_doing(const mxn_liveness *liveness, char text[MXN_LIVENESS_TEXT_BYTES]);
// A copy of a body that others sent, with a zero at its end.
void mxn__live_text(char *text, uint32_t size, const char *body, uint32_t body_bytes);

#endif
