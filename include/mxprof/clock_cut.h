// SPDX-License-Identifier: Apache-2.0
// How the clock of a process lies to that of another machine: what exchanges with it have proved.
// A cut is an exchange: own, the other, the other, own. While an answer was made at the other's
// time low, the own clock stood at or before the answer's arrival; so at every own time the other's
// is bounded on both sides, whatever the delays were. Readers find the clocks' distance from all
// cuts of a file, with its uncertainty.
#ifndef MXPROF_CLOCK_CUT_H
#define MXPROF_CLOCK_CUT_H

#include <stddef.h>
#include <stdint.h>

enum { MXP_CUT_PING = 1, MXP_CUT_MESSAGE = 2 };  // kinds: an exchange; a message's one bound
enum { MXP_ROLE_NONE = 0, MXP_ROLE_WORKER = 1, MXP_ROLE_SERVER = 2, MXP_ROLE_SCHEDULER = 3 };
enum { MXP_CLOCK_IS_TEST = 1 };  // flag: a test shifts this process's clock

typedef struct mxp_clock_cut {
    uint64_t ticks;  // own
    uint64_t low_ns, high_ns;  // between these was the other's CLOCK_MONOTONIC_RAW then
    uint32_t kind;  // MXP_CUT_*
    uint32_t peer;  // whose clock: number of the process in its job
} mxp_clock_cut;

// Section CLOCK_CUT of a native file is one of these and an array of cuts. All processes of a job
// have one, those that share their clock with another one's machine without a cut.
typedef struct mxp_clock_owner {
    uint64_t job;  // the same in all processes of a job, random; 0: unknown
    uint32_t role, rank;  // MXP_ROLE_*; within the role
    uint32_t process;  // number in the job
    uint32_t flags;  // MXP_CLOCK_*
    char boot_id[40];  // of the machine since its start, as text, ends in a zero
    char host[64];  // ends in a zero
} mxp_clock_owner;

enum { MXP_CLOCK_CUTS_MAX = 1000 };

// A clock may run faster than the other by so much within an exchange; and a ns for rounding.
#define MXP_CLOCK_CUT_SLACK 2e-4

// The cut of an exchange: asked at own ticks `sent`, heard at the other's received_ns and answered
// at its answered_ns, the answer heard at own ticks `back`. ns_per_tick: of the own clock, to 1e-4.
static inline mxp_clock_cut mxp_clock_cut_of(uint64_t sent, uint64_t received_ns,
                                             uint64_t answered_ns, uint64_t back,
                                             double ns_per_tick, uint32_t peer)
{
    const double length_ns = (double)(back - sent) * ns_per_tick;
    const uint64_t room_ns = (uint64_t)(length_ns * (0.5 + MXP_CLOCK_CUT_SLACK)) + 2;
    mxp_clock_cut cut;
    cut.ticks = sent + (back - sent) / 2;
    cut.low_ns = answered_ns - room_ns;
    cut.high_ns = received_ns + room_ns;
    cut.kind = MXP_CUT_PING;
    cut.peer = peer;
    return cut;
}

#ifdef __cplusplus
extern "C" {
#endif

// Sets what this process knows of its clock: replaces what it said before. Every native file that
// is written later has it, also that of a process which died. Copied; null for no cuts is fine.
// MXP_EINVAL: no owner, or more cuts than MXP_CLOCK_CUTS_MAX. Any thread, not in signal handlers.
int mxp_clock_cuts(const mxp_clock_owner *owner, const mxp_clock_cut *cuts, size_t count);

#ifdef __cplusplus
}
#endif

#endif
