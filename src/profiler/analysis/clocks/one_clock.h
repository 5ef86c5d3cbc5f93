// SPDX-License-Identifier: Apache-2.0
// The processes of a job on one clock: that of the process with which the others exchanged stamps.
// Processes of one machine have one clock, exactly. What is known of the others' is bounds
// (clock_curve.h); the middle of these is used, and half of them is how far it may be wrong. Times
// are never bent to make a message come after it was sent: such a message loses its arrow instead.
#ifndef MXP_CLOCKS_ONE_CLOCK_H
#define MXP_CLOCKS_ONE_CLOCK_H

#include "profiler/trace/source.h"

typedef enum mxp_clock_known {
    MXP__CLOCK_BY_WALL,  // nothing but the wall clocks: how far it is wrong is not known
    MXP__CLOCK_SAME,  // it is the reference
    MXP__CLOCK_BY_CUTS
} mxp_clock_known;

// What exchanges with the reference say of a process on the reference's own machine: its clock is
// ahead by something between these. 0 is the truth.
typedef struct mxp_clock_proof {
    size_t exchanges;  // 0: it had none
    int64_t low_ns, high_ns;
} mxp_clock_proof;

typedef struct mxp_process_clock {
    char name[96];  // "worker 2 (n7)"; "process 4711" of one that belongs to no job
    uint64_t job;  // 0: unknown
    uint32_t pid, role, rank;  // MXP_ROLE_*
    mxp_clock_known known;
    bool is_test;  // a test shifted its clock
    size_t cuts, wrong_cuts;  // exchanges; those whose bounds exclude each other
    size_t parts;  // between which the clock jumped
    int64_t jump_ns, jump_at_ns;  // the largest of those jumps, and its trace time
    // How far the reference's CLOCK_MONOTONIC_RAW was ahead of its own, at the begin.
    int64_t ahead_ns;
    double skew_ppm;  // by how much the reference runs faster
    int64_t doubt_ns[3];  // at begin, middle and end: the truth lies within +- this
    mxp_clock_proof proof;  // of one with MXP__CLOCK_SAME
} mxp_process_clock;

typedef struct mxp_arrow_counts {
    uint64_t checked, backward;  // between processes on one clock
    int64_t worst_ns;  // by how much the worst one would go backwards
    size_t worst_from, worst_to;  // processes
    uint64_t unchecked;  // between clocks of which nothing is known
} mxp_arrow_counts;

typedef struct mxp_one_clock {
    mxp_source source;  // must stay first: the processes on one clock; closing it frees everything
    mxp_process_clock *clocks;  // of each process of the source
    size_t count;
    mxp_arrow_counts arrows;  // none before mxp__one_clock_check
} mxp_one_clock;

// Whether any process tells which one of a job it is.
bool mxp__one_clock_is_wanted(const mxp_source *source);
// Whether the processes are of different jobs.
bool mxp__one_clock_mixes_jobs(const mxp_source *source);

// Processes are sorted by role and rank. With `use_messages` all records are read once, for what
// messages prove. Takes `inner` over, also on error. MXP_ENOMEM.
int mxp__one_clock_open(mxp_source *inner, bool use_messages, mxp_one_clock **clock);
// Reads all records and looks at every message. One that would go backwards, or whose ends are on
// clocks of which nothing is known, becomes two marks with a name that says so. MXP_ENOMEM.
int mxp__one_clock_check(mxp_one_clock *clock);
// Whether exchanges on one machine exclude the distance 0: then something in this job's clocks is
// wrong, and no bound of them holds.
static inline bool mxp__clock_is_refuted(const mxp_process_clock *clock)
{
    return clock->proof.exchanges > 0 && (clock->proof.low_ns > 0 || clock->proof.high_ns < 0);
}

// How far two processes may be apart in the worst case: the sum of both doubts, or what the
// messages between them leave after mxp__one_clock_check, if that is less. INT64_MAX: nothing is
// known.
int64_t mxp__one_clock_doubt(const mxp_one_clock *clock, size_t a, size_t b);

static inline mxp_one_clock *mxp__one_clock_of(mxp_source *source)
{
    return (mxp_one_clock *)(void *)source;
}

#endif
