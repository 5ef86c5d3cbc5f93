// SPDX-License-Identifier: Apache-2.0
// How processes that were started one by one find each other: the scheduler listens at the root
// address and hands out ranks in the order of arrival; then every two are connected by a Unix
// socket.
//
//   DMLC_ROLE                    worker, server, scheduler
//   DMLC_PS_ROOT_URI, _PORT      where the scheduler listens: an address of this machine
//   DMLC_NUM_WORKER, _NUM_SERVER how many there are; without servers each worker has an owner
//   inside MXNET_KVSTORE_START_TIMEOUT  seconds to wait for all of them (60)
//
//   others                          scheduler
//     arrive (role, pid, path)  -->   until all are there, or one is wrong, or the time is over
//                               <--   who they are, and which of them this is; or a text
#ifndef MXN_KVSTORE_RENDEZVOUS_H
#define MXN_KVSTORE_RENDEZVOUS_H

#include "runtime/kvstore/transport.h"

enum { MXN_MEETING_TEXT = 4096, MXN_MEETING_PATH = 108, MXN_MEETING_PEERS_MAX = 1024 };

// What the variables say.
typedef struct mxn_meeting {
    uint32_t role;  // MXN_ROLE_*
    uint32_t workers, servers;
    uint16_t port;
    uint64_t timeout_s;
    char host[256];
} mxn_meeting;

// What one process says of itself. As it is sent: all are of one machine.
typedef struct mxn_arriving {
    char magic[8];  // MXN_MEETING_MAGIC
    uint32_t roles, pid;
    uint32_t workers, servers;
    char host[64], boot_id[40];
    char path[MXN_MEETING_PATH];  // where it accepts connections
} mxn_arriving;
#define MXN_MEETING_MAGIC "MXKVMEET"

// The scheduler's answer; `count` arrivals follow, in the order of peers.
typedef struct mxn_meeting_answer {
    char magic[8];
    uint32_t count, index;
    unsigned char key[16];  // of the job: who has it belongs to it
    char text[MXN_MEETING_TEXT];  // "": all are there
} mxn_meeting_answer;

// MXP_EVALUE: a variable is missing or ill-formed; names it, and what it may be.
int mxn__meeting_read(mxn_meeting *meeting);

// The scheduler's part. Fills `arrivals` (workers + servers + 1) and the answer, which all have
// got. `listener` is listening. MXP_ESTATE: not all came, or do not fit; the others have got the
// text.
int mxn__meeting_hold(const mxn_meeting *meeting, int listener, const mxn_arriving *self,
                      mxn_arriving *arrivals, mxn_meeting_answer *answer);
// The others': says who this is to who is connected by `fd`.
int mxn__meeting_attend(const mxn_meeting *meeting, int fd, const mxn_arriving *self,
                        mxn_arriving *arrivals, mxn_meeting_answer *answer);

// Whole bytes, until a time of mxp__os_monotonic_ns. False: it ended, or the time is over (errno
// ETIMEDOUT).
bool mxn__meeting_write(int fd, const void *bytes, size_t count, uint64_t until_ns);
bool mxn__meeting_read_bytes(int fd, void *bytes, size_t count, uint64_t until_ns);
// Texts of a fixed size, as they came: ends them.
void mxn__meeting_end_texts(mxn_arriving *arrival);

#endif
