// SPDX-License-Identifier: Apache-2.0
// How much of a distributed store is recorded, and by which workers: the profiler's options
// distributed_detail and distributed_ranks, else MXPROF_DISTRIBUTED_DETAIL and _RANKS. They are the
// store's, so the profiler below does not know them. Any thread.
#ifndef MXN_KVSTORE_RECORD_DETAIL_H
#define MXN_KVSTORE_RECORD_DETAIL_H

#include <stdbool.h>
#include <stdint.h>

// Rounds and operations; each message, too; histograms in place of both.
enum {
    MXN_DETAIL_ROUNDS,
    MXN_DETAIL_MESSAGES,
    MXN_DETAIL_STATISTICS,
    MXN_DETAIL_WORDS,  // how many of them can be chosen
    MXN_DETAIL_ALL = MXN_DETAIL_WORDS  // everything at once: for tests that compare them
};

typedef struct mxn_detail_choice {
    const char *detail, *ranks;  // null: not given
} mxn_detail_choice;

// Takes the two out of the pairs, which are from then on `*count`. MXP_EVALUE: one of them has
// another value than it may.
int mxn_record_detail_take(int *count, const char **keys, const char **values,
                           mxn_detail_choice *choice);
// What was not given returns to the environment's. Stores that are there follow. MXP_ENOMEM.
int mxn_record_detail_set(const mxn_detail_choice *choice);

// MXN_DETAIL_* of a worker or an owner with that rank. MXP_EVALUE: a variable.
int mxn_record_detail_of(uint32_t rank, bool is_worker, int *detail);
// Whether somebody has chosen workers by their ranks, or all of them.
bool mxn_record_ranks_are_given(void);
// Another number after each set.
uint32_t mxn_record_detail_turn(void);

#endif
