// SPDX-License-Identifier: Apache-2.0
// See chosen_waits.h.
#include "profiler/analysis/ranks/chosen_waits.h"

#include <mxprof/error.h>

#include "base/fail.h"
#include "profiler/analysis/ranks/step_waits.h"

typedef struct known_round {
    uint64_t key;  // mxp__round_number
} known_round;

// Both are in the order of time. How many are left.
static size_t keep_in_steps(const mxp_chosen_part *part, mxp_rank_wait *waits, size_t count)
{
    size_t kept = 0, step = 0;
    for (size_t i = 0; i < count; i++) {
        while (step < part->step_count && part->steps[step].end_ns <= waits[i].begin_ns) {
            step++;
        }
        if (step < part->step_count && waits[i].begin_ns >= part->steps[step].begin_ns) {
            waits[kept++] = waits[i];
        }
    }
    return kept;
}

// A pull has the number of the next push: its round is the next one's.
static int note_rounds(const mxp_rank_waits *waits, mxp_id_map *rounds)
{
    for (size_t i = 0; i < waits->wait_count; i++) {
        const mxp_rank_wait *wait = &waits->waits[i];
        if (wait->goes_out &&
            mxp__id_map_add(rounds, mxp__round_number(wait->key, wait->round)) == NULL) {
            return mxp__fail_memory("the rounds of some steps");
        }
    }
    return MXP_OK;
}

static void keep_rounds(mxp_rank_waits *waits, const mxp_id_map *rounds)
{
    size_t kept = 0;
    for (size_t i = 0; i < waits->round_count; i++) {
        const mxp_rank_round *round = &waits->rounds[i];
        if (mxp__id_map_find(rounds, mxp__round_number(round->key, round->round)) != NULL) {
            waits->rounds[kept++] = *round;
        }
    }
    waits->round_count = kept;
}

int mxp__chosen_waits_keep(const mxp_chosen_part *parts, size_t count)
{
    mxp_id_map rounds = {.entry_bytes = sizeof(known_round)};
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < count; i++) {
        mxp_rank_waits *waits = parts[i].waits;
        waits->wait_count = keep_in_steps(&parts[i], waits->waits, waits->wait_count);
        waits->forward_count = keep_in_steps(&parts[i], waits->forwards, waits->forward_count);
        error = note_rounds(waits, &rounds);
    }
    for (size_t i = 0; error == MXP_OK && i < count; i++) {
        keep_rounds(parts[i].waits, &rounds);
    }
    mxp__id_map_fini(&rounds);
    return error;
}
