// SPDX-License-Identifier: Apache-2.0
// Rows that are the same in several runs: by their texts, because ids of names are each file's own.
// And a run's sums by row.
#ifndef MXP_COMPARISON_ROW_KEYS_H
#define MXP_COMPARISON_ROW_KEYS_H

#include "base/id_map.h"

// Texts are those of files, so they may hold anything. Missing ones are "".
typedef struct mxp_row_key {
    const char *kind;  // of a piece of the path, as mxp__path_kind_name has it
    const char *scope;  // path of scopes
    const char *name;  // operator, call or span
    const char *shape;
} mxp_row_key;

// Begins as zeros.
typedef struct mxp_row_keys {
    mxp_row_key *all;
    size_t count, capacity;
    mxp_id_map places;
} mxp_row_keys;

// The place of the row with these texts; a new one is kept with copies of them. 0 or MXP_ENOMEM.
int mxp__row_keys_add(mxp_row_keys *keys, const mxp_row_key *key, size_t *place);
void mxp__row_keys_fini(mxp_row_keys *keys);

typedef struct mxp_row_sum {
    int64_t ns;
    uint64_t count;
} mxp_row_sum;

// Of one run, by place of the row. Begins as zeros.
typedef struct mxp_row_sums {
    mxp_row_sum *at;
    size_t capacity;
} mxp_row_sums;

int mxp__row_sums_add(mxp_row_sums *sums, size_t place, int64_t ns, uint64_t count);
void mxp__row_sums_fini(mxp_row_sums *sums);
// Zeros for a row that the run does not have.
static inline mxp_row_sum mxp__row_sums_get(const mxp_row_sums *sums, size_t place)
{
    return place < sums->capacity ? sums->at[place] : (mxp_row_sum){0};
}

#endif
