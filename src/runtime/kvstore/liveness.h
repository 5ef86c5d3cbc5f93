// SPDX-License-Identifier: Apache-2.0
// Who died? Every process of a store has one TCP connection to the head (worker 0), beside the
// transport. The kernel closes it whatever the process died of, and a process that says nothing for
// a while is noticed too. One thread a process watches, which depends on nobody else's progress.
//
// A process that ends in order says goodbye first. After a death every survivor prints one line,
// its waiting operations fail with the text of `failed`, and when the grace is over the process
// ends: its exit code is MXN_LIVENESS_EXIT, whatever it would have been.
//
// The head listens where it must: on loopback if all processes are on its machine. Who connects
// without the key is dropped, and so is all that comes once everybody is there.
#ifndef MXN_KVSTORE_LIVENESS_H
#define MXN_KVSTORE_LIVENESS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MXN_LIVENESS_EXIT = 70,
    MXN_LIVENESS_TEXT_BYTES = 160,  // of what a process does
    MXN_LIVENESS_LINE_BYTES = 640,
    MXN_LIVENESS_STALL_RANKS = 32,  // named; more are counted
};

typedef struct mxn_liveness mxn_liveness;

// Who a process is, as others name it: "worker 2 (rank 4, host n7, pid 4711)".
typedef struct mxn_live_identity {
    char role[12];  // "worker", "server" or "scheduler"
    int32_t role_rank;
    int32_t rank;  // of the transport
    uint32_t pid;
    char host[64];
} mxn_live_identity;

// Where the head listens, and what one must know to be heard. The transport hands it to everybody.
typedef struct mxn_live_address {
    uint32_t ip;  // of IPv4, in network order
    uint16_t port;  // in network order
    uint8_t key[16];
    mxn_live_identity head;
} mxn_live_address;

// Functions run on the liveness thread and may be null. They must return soon, must not wait for
// other threads that wait for a message, and must not close the liveness.
typedef struct mxn_liveness_setup {
    mxn_live_identity self;
    int32_t ranks;  // of the transport; ranks are below
    bool one_host;
    bool head_ends_all;  // `end` of the head ends the others too, who wait for that for two seconds
    void *context;
    // Who has this rank, for words about those who never come; asked as the head opens. Null:
    // nobody knows.
    mxn_live_identity (*who)(void *context, int32_t rank);
    // What the process does now: "push of key 'w0', round 12". At most `size` bytes with the zero.
    void (*doing)(void *context, char *buffer, uint32_t size);
    // Somebody died, or the job is to end: operations that wait, and later ones, fail with `text`.
    void (*failed)(void *context, const char *text);
    void (*snapshot)(void *context, const char *path, double last_ms);  // null path: the next name
    void (*slow_step)(void *context, const char *path, double last_ms);
    void (*end)(void *context, int code);  // of the whole job; the process exits if it returns
    // Times; zeros are the defaults, which environment variables change.
    double beat_s;  // 1, or a fifth of a shorter silence_s
    double silence_s;  // 10, MXNET_KVSTORE_SILENCE_S: who says nothing for so long is gone
    double grace_s;  // 0.8, MXNET_KVSTORE_GRACE
    double start_s;  // 60, MXNET_KVSTORE_START_TIMEOUT: by then all must have connected
} mxn_liveness_setup;

// MXNET_KVSTORE_START_TIMEOUT. MXP_EVALUE.
int mxn__liveness_read_start(double *seconds);
// The head's, which listens when it returns; *address is for the others. MXP_EVALUE: a variable is
// no time. MXP_EIO: no socket; the text says which and why. MXP_ENOMEM.
int mxn__liveness_open_head(const mxn_liveness_setup *setup, mxn_live_address *address,
                            mxn_liveness **liveness);
// Whether everybody has connected, or the job has failed. By the head.
bool mxn__liveness_is_settled(const mxn_liveness *liveness);
// Returns when that is so, and lets all others go on: from now on messages of the transport may
// come. MXP_ESTATE: somebody has not within the time, or has died.
int mxn__liveness_wait(mxn_liveness *liveness);
// Everybody else's: connects, and waits as the head does. MXP_EIO: it cannot be reached, or did not
// take us; the text has its address. MXP_ESTATE as above.
int mxn__liveness_open_peer(const mxn_liveness_setup *setup, const mxn_live_address *address,
                            mxn_liveness **liveness);
// Says goodbye, and returns when the thread has ended; after a death it returns with the process
// still to end with the code. Null does nothing. By one thread, once; not by a forked child.
void mxn__liveness_close(mxn_liveness *liveness);

// The following may be called by any thread until the close. None waits.

// "WHAT waits for workers 1, 3 (last heard ..., last did: ...)", told by the head, who knows.
// `ranks` are of the transport. Nothing ends.
void mxn__liveness_stall(mxn_liveness *liveness, const char *what, const int32_t *ranks,
                         uint32_t count);
// The job is to end, as after a death: every process prints `text` and fails with it.
void mxn__liveness_end_job(mxn_liveness *liveness, const char *text);
// The transport has lost somebody: the job ends with `text` unless it is known soon who died.
void mxn__liveness_suspect(mxn_liveness *liveness, const char *text);
// Calls `snapshot` in every process, the own one too. False: the path is longer than a message has
// room for.
bool mxn__liveness_snapshot(mxn_liveness *liveness, const char *path, double last_ms);
// A step of this process was slow: calls `slow_step` in every process, the own one too. All that
// depends on one another is slow at once, so the head lets one through and leaves out what it hears
// in the `last_ms` after; of a job 100 go through. False: the path is longer than a message has
// room for, nobody is there to be asked any more, or this is a forked child.
bool mxn__liveness_slow_step(mxn_liveness *liveness, const char *path, double last_ms);
// Whether somebody died or the job is to end.
bool mxn__liveness_has_failed(const mxn_liveness *liveness);

#endif
