// SPDX-License-Identifier: Apache-2.0
// Sums of a host, with two levels: one of its workers is for a part of a key what an owner is, and
// the sum that it makes of the host's values goes on to the owner as one push, in the place of an
// update. What comes back is the host's copy of the value: a pull is answered from it if it is that
// of the round that was asked for, and asks the owner once for the whole host if it is not.
//
// No pull can ask for an older value than the copy: a round ends when all workers have pushed it,
// so whoever pulls before his push holds the round up.
#include <assert.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "runtime/kvstore/dist_owner.h"
#include "runtime/kvstore/dist_record.h"

int mxn__host_define(mxn_dist *dist, mxn_dist_key *key)
{
    int error = MXP_OK;
    for (uint32_t i = 0; error == MXP_OK && i < key->part_count; i++) {
        if (dist->hosts.are_two_levels && !dist->stores[key->store].is_async &&
            key->parts[i].summer == dist->hosts.self) {
            error = mxn__owner_add_host_part(dist, key, i);
        }
    }
    return error;
}

// ---- to the owner and back ---------------------------------------------------------------------
static void begin(mxn_owner_part *part, int kind, uint64_t round)
{
    mxn_dist *dist = part->dist;
    mxn_dist_key *key = part->host_key;
    const uint8_t current = part->pieces[0].current;
    mxn_dist_op *op = mxp__alloc(sizeof *op);
    assert(part->forward == NULL && part->readers == 0);
    if (op == NULL) {
        mxn_dist_fail(dist, "there is no memory for the sum of a host");
        return;
    }
    op->dist = dist;
    op->key = key;
    op->forwards = part;
    op->number = UINT64_MAX;  // of one priority after what workers have submitted
    op->round = round;
    op->last = part->last;
    op->of = (mxn_dist_operation){.kind = kind,
                                  .store = key->store,
                                  .key = key->number,
                                  .priority = part->priority,
                                  .in = part->wide != NULL ? (const void *)part->wide
                                                           : part->values[1 - current],
                                  .out = part->values[current],
                                  .dtype = key->dtype};
    op->begin_ns = mxp__os_monotonic_ns();
    mxn__record_operation_begin(op);
    part->forward = key->parts[part->host_index].forward = op;
    if (mxn__worker_queue(dist, op, part->host_index, 1) != MXP_OK) {
        mxn_dist_fail(dist, mxp_last_error());
    }
}

void mxn__host_forward(mxn_owner_part *part)
{
    begin(part, part->wants_value ? MXN_DIST_PUSHPULL : MXN_DIST_PUSH, part->pieces[0].round);
}

bool mxn__host_has(const mxn_owner_part *part, uint64_t round)
{
    return part->has_value && part->value_round == round;
}

void mxn__host_ask(mxn_owner_part *part)
{
    if (part->pulls.first != NULL && part->forward == NULL && part->readers == 0 &&
        !part->is_updating && !part->dist->has_failed_all) {
        begin(part, MXN_DIST_PULL, part->pulls.first->header.round);
    }
}

// ---- the end -----------------------------------------------------------------------------------
static void end_question(mxn_owner_part *part, const char *error)
{
    mxn_arrival_list waiting = part->pulls;
    part->pulls = (mxn_arrival_list){0};
    for (mxn_arrival_of *at; (at = mxn__list_take(&waiting)) != NULL;) {
        if (error != NULL) {
            mxn__owner_refuse(at, error);
        } else {
            mxn__round_pull(at);
        }
    }
}

void mxn__host_free(mxn_dist_op *op)
{
    if (op != NULL) {
        mxp__free(op->flights, op->flight_count * sizeof *op->flights);
        mxp__strfree(op->text);
        mxp__free(op, sizeof *op);
    }
}

void mxn__host_finish(mxn_dist *dist, mxn_dist_op *op)
{
    mxn_owner_part *part = op->forwards;
    const char *error = op->error == MXP_OK ? NULL
                        : op->text == NULL  ? mxp_strerror(op->error)
                                            : op->text;
    part->forward = part->host_key->parts[part->host_index].forward = NULL;
    if (dist->has_failed_all || op->is_cut) {
        mxn__host_free(op);
        return;
    }
    mxn__record_forward(dist, op);
    if (op->of.kind != MXN_DIST_PUSH && error == NULL) {
        part->has_value = true;
        part->value_round = op->round + (op->of.kind == MXN_DIST_PUSHPULL);
    }
    part->wants_value &= op->of.kind == MXN_DIST_PULL;
    if (op->of.kind == MXN_DIST_PULL) {
        end_question(part, error);
        mxn__round_updates(part);
    } else {
        part->outer_wait_ns = op->wait_ns;
        part->outer_last = op->last;
        mxn__round_updated(part, op->error, error);
    }
    mxn__host_free(op);
}
