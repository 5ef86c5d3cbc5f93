// SPDX-License-Identifier: Apache-2.0
// What the liveness says, as text. Private to liveness*.c.
#ifndef MXN_KVSTORE_LIVENESS_WORDS_H
#define MXN_KVSTORE_LIVENESS_WORDS_H

#include "runtime/kvstore/liveness.h"

enum { MXN_LIVE_NAME_BYTES = 192 };

// Somebody of whom a stall tells.
typedef struct mxn_live_late {
    const char *role;
    int32_t role_rank;
    double heard_s;  // ago; negative: it is this process
    const char *did;  // "" if unknown
} mxn_live_late;

// "worker 2 (rank 4, host n7, pid 4711)".
void mxn__live_name(const mxn_live_identity *who, char name[MXN_LIVE_NAME_BYTES]);
// "TEXT; this was worker 0 in DOING".
void mxn__live_line(const char *text, const mxn_live_identity *self, const char *doing,
                    char line[MXN_LIVENESS_LINE_BYTES]);
// "WHAT waits for workers 1, 3 (last heard 0.2 s ago, last did: pull of key 'w0' round 12)"; one
// bracket each where they did different things. `total` counts those who are not named too.
void mxn__live_stall_line(const char *what, const mxn_live_late *late, uint32_t count,
                          uint32_t total, char line[MXN_LIVENESS_LINE_BYTES]);

#endif
