// SPDX-License-Identifier: Apache-2.0
// See record_detail.h.
#include "runtime/kvstore/record_detail.h"

#include <ctype.h>
#include <mxprof/error.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic.h"
#include "base/fail.h"
#include "base/fork_lock.h"
#include "base/setting.h"

static const char detail_key[] = "distributed_detail", ranks_key[] = "distributed_ranks";
static const char *const words[MXN_DETAIL_WORDS] = {[MXN_DETAIL_ROUNDS] = "rounds",
                                                    [MXN_DETAIL_MESSAGES] = "messages",
                                                    [MXN_DETAIL_STATISTICS] = "statistics"};

static mxp_fork_lock lock = MXP__FORK_LOCK_INIT(NULL);
static char *given_detail, *given_ranks;  // under the lock
static mxp_atomic_u32 turn;

// ---- values ------------------------------------------------------------------------------------
static int read_detail(const char *name, const char *text, int *detail)
{
    *detail = MXN_DETAIL_ROUNDS;
    for (int i = 0; text != NULL && i < (int)(sizeof words / sizeof words[0]); i++) {
        if (strcmp(text, words[i]) == 0) {
            *detail = i;
            return MXP_OK;
        }
    }
    return text == NULL
               ? MXP_OK
               : mxp__fail(MXP_EVALUE, "%s='%.40s': set it to one of rounds, messages, statistics",
                           name, text);
}

// `all`, or the ranks that record in detail, with commas between them.
static int read_ranks(const char *name, const char *text, uint32_t rank, bool *is_in)
{
    const bool is_all = text == NULL || strcmp(text, "all") == 0;
    *is_in = is_all;
    for (const char *at = is_all ? NULL : text; at != NULL; at = *at == ',' ? at + 1 : NULL) {
        char *end = NULL;
        const unsigned long number = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;
        if (end == NULL || (*end != ',' && *end != '\0')) {
            return mxp__fail(MXP_EVALUE,
                             "%s='%.40s': set it to all, or to ranks with commas between them",
                             name, text);
        }
        *is_in = *is_in || number == rank;
        at = end;
    }
    return MXP_OK;
}

// ---- options -----------------------------------------------------------------------------------
int mxn_record_detail_take(int *count, const char **keys, const char **values,
                           mxn_detail_choice *choice)
{
    int left = 0, detail;
    bool is_in;
    *choice = (mxn_detail_choice){.detail = NULL};
    for (int i = 0; i < *count; i++) {
        const bool is_whole = keys[i] != NULL && values[i] != NULL;
        if (is_whole && strcmp(keys[i], detail_key) == 0) {
            choice->detail = values[i];
        } else if (is_whole && strcmp(keys[i], ranks_key) == 0) {
            choice->ranks = values[i];
        } else {
            keys[left] = keys[i];
            values[left++] = values[i];
        }
    }
    *count = left;
    const int error = read_detail(detail_key, choice->detail, &detail);
    return error == MXP_OK ? read_ranks(ranks_key, choice->ranks, 0, &is_in) : error;
}

int mxn_record_detail_set(const mxn_detail_choice *choice)
{
    char *detail = mxp__strdup(choice->detail), *ranks = mxp__strdup(choice->ranks);
    if ((choice->detail != NULL && detail == NULL) || (choice->ranks != NULL && ranks == NULL)) {
        mxp__strfree(detail);
        mxp__strfree(ranks);
        return mxp__fail_memory("how much of a store is recorded");
    }
    mxp__fork_lock(&lock);
    char *const old_detail = given_detail, *const old_ranks = given_ranks;
    given_detail = detail;
    given_ranks = ranks;
    mxp_atomic_add(&turn, 1u);
    mxp__fork_unlock(&lock);
    mxp__strfree(old_detail);
    mxp__strfree(old_ranks);
    return MXP_OK;
}

// ---- asking ------------------------------------------------------------------------------------
static int read_both(uint32_t rank, bool is_worker, int *detail)
{
    static const char detail_variable[] = "MXPROF_DISTRIBUTED_DETAIL";
    static const char ranks_variable[] = "MXPROF_DISTRIBUTED_RANKS";
    bool is_in = true;
    int error = given_detail != NULL
                    ? read_detail(detail_key, given_detail, detail)
                    : read_detail(detail_variable, mxp__setting_text(detail_variable), detail);
    if (error == MXP_OK && is_worker) {
        error = given_ranks != NULL
                    ? read_ranks(ranks_key, given_ranks, rank, &is_in)
                    : read_ranks(ranks_variable, mxp__setting_text(ranks_variable), rank, &is_in);
    }
    *detail = is_in ? *detail : MXN_DETAIL_STATISTICS;
    return error;
}

int mxn_record_detail_of(uint32_t rank, bool is_worker, int *detail)
{
    mxp__fork_lock(&lock);
    const int error = read_both(rank, is_worker, detail);
    mxp__fork_unlock(&lock);
    return error;
}

bool mxn_record_ranks_are_given(void)
{
    mxp__fork_lock(&lock);
    const bool are_given =
        given_ranks != NULL || mxp__setting_text("MXPROF_DISTRIBUTED_RANKS") != NULL;
    mxp__fork_unlock(&lock);
    return are_given;
}

uint32_t mxn_record_detail_turn(void)
{
    return mxp_atomic_load(&turn);
}
