// SPDX-License-Identifier: Apache-2.0
// Why records were lost: one list of the reasons, their numbers in files, and their words.
#ifndef MXPROF_LOSS_H
#define MXPROF_LOSS_H

// X(reason, number in files, what readers are told). Each number is a constant,
// MXP_LOSS_MEMORY_FULL and so on.
//
// MEMORY_FULL: the cap was reached, policy drop, or no memory. NAMES_FULL: recorded, but under
// <names full>. THREAD: no memory, or no index, to register it. NO_NUMBER: samples of counters.
// LATE: a stop or a dump had waited for the thread in vain. FOREIGN: told by mxp_lose_foreign.
#define MXP_LOSS_REASONS(X)                                                     \
    X(MEMORY_FULL, 1, "memory full")                                            \
    X(IN_SIGNAL, 2, "inside a signal handler")                                  \
    X(NAMES_FULL, 3, "name table full")                                         \
    X(THREAD, 4, "no room for the thread")                                      \
    X(MISUSE, 5, "ended twice, or never begun")                                 \
    X(DEEPER, 6, "open at a stop or a death, deeper than the 31 that are kept") \
    X(NO_NUMBER, 7, "samples that are no numbers")                              \
    X(FILE_EMPTIED, 8, "recording file emptied by another program, at least")   \
    X(LATE, 9, "written after a stop")                                          \
    X(JUMP, 10, "left by a jump")                                               \
    X(SEVERAL, 11, "several reasons")                                           \
    X(FOREIGN, 12, "marks of other tools that fit nothing")                     \
    X(FILE_LIMIT, 13, "file size limit (ulimit -f)")

enum {
#define MXP_LOSS_CONSTANT(reason, number, text) MXP_LOSS_##reason = number,
    MXP_LOSS_REASONS(MXP_LOSS_CONSTANT)
#undef MXP_LOSS_CONSTANT
};

#endif
