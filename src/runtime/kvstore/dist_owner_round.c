// SPDX-License-Identifier: Apache-2.0
// Rounds of an owner's parts. In dist_sync a round has one push of each worker: values are added in
// the order of ranks, whatever arrives first, so the bits are the same in every run; then the
// updater makes the stored value of the old one and the sum, or the sum takes its place. In
// dist_async each push is a round of its own.
//
// The stored value may be overwritten when nobody reads it: replies that are under way are counted.
// Where sum and stored value change places no count is needed, because what was stored becomes the
// place of the next sum, whose first value comes after every worker has all replies of this round.
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "runtime/kvstore/dist_owner.h"
#include "runtime/kvstore/dist_record.h"
#include "runtime/kvstore/sums.h"

static bool has_updater(mxn_dist *dist, uint16_t store)
{
    mxp__lock(&dist->lock);
    const bool is_on = dist->owner->has_updater[store];
    mxp__unlock(&dist->lock);
    return is_on;
}

static unsigned char *sum_value(const mxn_owner_part *part, const mxn_owner_piece *piece)
{
    return part->values[1 - piece->current] + piece->offset;
}

// ---- the end of a round ------------------------------------------------------------------------
// Of those that have come for a piece, who came last.
static const mxn_arrival_of *last_of(const mxn_owner_piece *piece, uint32_t workers)
{
    const mxn_arrival_of *last = piece->arrivals[0];
    for (uint32_t i = 1; i < workers; i++) {
        last = piece->arrivals[i]->here_ns > last->here_ns ? piece->arrivals[i] : last;
    }
    return last;
}

// Everybody who has pushed the piece is answered; `whole`: by when the whole parts came.
static void answer_piece(mxn_owner_part *part, mxn_owner_piece *piece, bool whole,
                         const char *error)
{
    const uint32_t workers = part->pushers;
    const mxn_arrival_of *last = last_of(piece, workers);
    const bool is_outer = part->outer_wait_ns > 0;  // another host came after this one
    const uint32_t last_worker = is_outer ? part->outer_last : whole ? part->last : last->by;
    const uint64_t last_ns = whole ? part->last_ns : last->here_ns;
    for (uint32_t i = 0; i < workers; i++) {
        mxn_arrival_of *arrival = piece->arrivals[i];
        const uint64_t here_ns = whole ? part->here_ns[i] : arrival->here_ns;
        piece->arrivals[i] = NULL;
        if (error != NULL) {
            mxn__owner_refuse(arrival, error);
        } else {
            mxn__owner_reply(arrival, last_worker, last_ns - here_ns + part->outer_wait_ns);
        }
    }
    piece->added = 0;
    piece->round++;
}

static void end_round(mxn_owner_part *part)
{
    mxn__record_round(part);
    memset(part->here, 0, part->pushers * sizeof *part->here);
    part->pieces_done = part->pushers_here = 0;
    part->outer_wait_ns = 0;
    part->first_ns = part->told_ns = 0;
    part->copy_ticks = part->add_ticks = 0;
}

static void end_piece(mxn_owner_part *part, mxn_owner_piece *piece)
{
    const int dtype = part->of.dtype;
    const size_t count = piece->bytes / mxn_dtype_size(dtype);
    if (mxn__sum_is_wide(dtype) && part->host_key == NULL) {
        mxn__sum_round(dtype, sum_value(part, piece),
                       part->wide + piece->offset / mxn_dtype_size(dtype), count);
    }
    mxn__room_close(part->dist->owner, &piece->batch);
    part->pieces_done++;
    if (part->updates) {
        mxn__round_updates(part);
        return;
    }
    piece->current = 1 - piece->current;
    answer_piece(part, piece, false, NULL);
    if (part->pieces_done == part->piece_count) {
        end_round(part);
    }
}

// ---- sums --------------------------------------------------------------------------------------
static void add_words(const mxn_arrival_of *arrival, float *sum, bool is_first, size_t count)
{
    const float threshold = mxn__two_bit_threshold(arrival->header.last);
    if (is_first) {
        mxn__two_bit_expand(arrival->held->data, count, threshold, sum);
    } else {
        mxn__two_bit_add(arrival->held->data, count, threshold, sum);
    }
}

static void add(mxn_owner_part *part, mxn_owner_piece *piece, mxn_arrival_of *arrival)
{
    const int dtype = part->of.dtype;
    const int given = arrival->header.dtype;  // a host's sum of narrow floats is wide
    const size_t count = piece->bytes / mxn_dtype_size(dtype);
    const uint64_t begin_ticks = mxp_ticks();
    void *sum = mxn__sum_is_wide(dtype)
                    ? (void *)(part->wide + piece->offset / mxn_dtype_size(dtype))
                    : sum_value(part, piece);
    if (arrival->held == NULL) {
        assert(piece->added == 0 || count == 0);  // it is where the sum is
    } else if (mxn__wire_is_compressed(&arrival->header)) {
        add_words(arrival, sum, piece->added == 0, count);
    } else if (piece->added == 0) {
        mxn__sum_begin(given, sum, arrival->held->data, count);
    } else {
        mxn__sum_add(given, sum, arrival->held->data, count);
    }
    if (arrival->held != NULL) {
        part->dist->owner->held_bytes -= arrival->header.bytes;
        mxn__pool_give(&part->dist->pool, arrival->held);
        arrival->held = NULL;
    }
    arrival->state = MXN_ARRIVAL_ADDED;
    part->sum_end_ticks = mxp_ticks();
    *(piece->added == 0 ? &part->copy_ticks : &part->add_ticks) +=
        part->sum_end_ticks - begin_ticks;
    mxn__record_add(arrival, begin_ticks, part->sum_end_ticks);
    part->dist->owner->pieces_waiting--;
    piece->added++;
}

static void note_arrival(mxn_owner_part *part, mxn_arrival_of *arrival)
{
    part->here_ns[arrival->from] = arrival->here_ns;
    if (++part->here[arrival->from] < part->piece_count) {
        return;
    }
    if (part->pushers_here++ == 0) {
        part->first = arrival->by;
        part->first_full_ns = arrival->here_ns;
    }
    part->last = arrival->by;
    part->priority = arrival->header.priority;
    part->last_ns = arrival->here_ns;
}

static void here_sync(mxn_arrival_of *arrival)
{
    mxn_owner_part *part = arrival->part;
    mxn_owner_piece *piece = arrival->piece;
    const uint32_t workers = part->pushers;
    note_arrival(part, arrival);
    part->wants_value |= arrival->header.kind == MXN_WIRE_PUSHPULL;
    part->dist->owner->held_bytes += arrival->held != NULL ? arrival->header.bytes : 0;
    part->dist->owner->pieces_waiting++;
    if (part->dist->config.sum_by_arrival) {
        add(part, piece, arrival);
    }
    while (!part->dist->config.sum_by_arrival && piece->added < workers &&
           piece->arrivals[piece->added] != NULL &&
           piece->arrivals[piece->added]->state == MXN_ARRIVAL_HERE) {
        add(part, piece, piece->arrivals[piece->added]);
    }
    if (piece->added == workers) {
        end_piece(part, piece);
    }
}

// ---- pushes of dist_async ----------------------------------------------------------------------
static mxn_gather *find_gather(mxn_owner_part *part, const mxn_arrival_of *arrival)
{
    mxn_gather *at = part->gathering;
    while (at != NULL && at->worker != arrival->worker) {
        at = at->next;
    }
    if (at != NULL) {
        return at;
    }
    at = mxp__alloc(sizeof *at);
    unsigned char *value = mxp__realloc(NULL, 0, part->bytes == 0 ? 1 : part->bytes);
    if (at == NULL || value == NULL) {
        mxp__free(at, sizeof *at);
        mxp__free(value, part->bytes == 0 ? 1 : part->bytes);
        return NULL;
    }
    *at = (mxn_gather){.next = part->gathering,
                       .worker = arrival->worker,
                       .value = value,
                       .round = arrival->header.round,
                       .first_ticks = mxp_ticks(),
                       .first_ns = mxp__os_monotonic_ns()};
    part->gathering = at;
    return at;
}

static void free_gather(const mxn_owner_part *part, mxn_gather *gather)
{
    mxp__free(gather->value, part->bytes == 0 ? 1 : part->bytes);
    mxp__free(gather, sizeof *gather);
}

static void here_async(mxn_arrival_of *arrival)
{
    mxn_owner_part *part = arrival->part;
    mxn_gather *gather = arrival->gather;
    if (arrival->held != NULL) {  // words
        add_words(arrival, (float *)(gather->value + arrival->piece->offset), true,
                  arrival->piece->bytes / sizeof(float));
        mxn__pool_give(&part->dist->pool, arrival->held);
        arrival->held = NULL;
    }
    mxn__list_add(&gather->arrivals, arrival);
    if (++gather->here < part->piece_count) {
        return;
    }
    mxn_gather **at = &part->gathering;
    while (*at != gather) {
        at = &(*at)->next;
    }
    *at = gather->next;
    gather->next = NULL;
    if (part->due_last == NULL) {
        part->due = gather;
    } else {
        part->due_last->next = gather;
    }
    part->due_last = gather;
    mxn__round_updates(part);
}

// A value that has come with its header goes to where it is wanted, or to a buffer of its own.
// False: there is no memory, and the job has failed.
static bool hold_inlined(mxn_arrival_of *arrival, const void *inlined)
{
    const uint32_t bytes = arrival->header.bytes;
    void *to = arrival->into;
    if (to == NULL && bytes > 0) {
        arrival->held = mxn__pool_take(&arrival->dist->pool, bytes);
        to = arrival->held == NULL ? NULL : arrival->held->data;
    }
    if (to == NULL && bytes > 0) {
        mxn_dist_fail(arrival->dist, "an owner has no memory for what is pushed to it");
        return false;
    }
    if (bytes > 0) {
        memcpy(to, inlined, bytes);
    }
    return true;
}

static void push_async(mxn_arrival_of *arrival, const void *inlined)
{
    mxn_owner_part *part = arrival->part;
    if (!has_updater(arrival->dist, part->of.store)) {
        mxn__owner_refuse(arrival, "Updater needs to be set for async mode");
        return;
    }
    arrival->gather = find_gather(part, arrival);
    if (arrival->gather == NULL) {
        mxn_dist_fail(arrival->dist, "an owner has no memory for what is pushed to it");
        return;
    }
    arrival->piece->arrivals[arrival->worker] = arrival;
    const bool is_compressed = mxn__wire_is_compressed(&arrival->header);
    arrival->into = is_compressed ? NULL : arrival->gather->value + arrival->piece->offset;
    if (mxn__wire_has_body(&arrival->header)) {
        mxn__room_want(arrival, &arrival->gather->batch, part->piece_count, part->bytes);
    } else if (hold_inlined(arrival, inlined)) {
        mxn__room_pass(arrival, &arrival->gather->batch, part->piece_count, part->bytes);
        mxn__round_here(arrival);
    }
}

// ---- updates -----------------------------------------------------------------------------------
static mxn_dist_request *new_request(mxn_owner_part *part)
{
    mxn_dist_request *request = mxp__alloc(sizeof *request);
    if (request != NULL) {
        *request = (mxn_dist_request){.kind = MXN_REQUEST_UPDATE, .dist = part->dist, .of = part};
        part->dist->owner->requests++;
    }
    return request;
}

bool mxn__round_updates(mxn_owner_part *part)
{
    mxn_dist *dist = part->dist;
    if (part->host_key != NULL) {
        mxn__host_ask(part);
    }
    const bool is_due = part->is_async ? part->due != NULL
                                       : part->updates && part->pieces_done == part->piece_count;
    if (!is_due || part->is_updating || part->readers > 0 || dist->has_failed_all) {
        return false;
    }
    if (part->host_key != NULL) {
        part->is_updating = part->forward == NULL;
        if (part->is_updating) {
            mxn__host_forward(part);
        }
        return part->is_updating;
    }
    mxn_dist_request *request = new_request(part);
    if (request == NULL) {
        mxn_dist_fail(dist, "an owner has no memory for an update");
        return false;
    }
    const uint8_t current = part->pieces[0].current;
    part->is_updating = true;
    dist->config.hooks.update(dist->config.hooks.context, &part->of,
                              part->is_async ? part->due->value : part->values[1 - current],
                              part->values[current], request);
    return true;
}

static void answer_async(mxn_owner_part *part, const char *error)
{
    mxn_gather *gather = part->due;
    part->due = gather->next;
    part->due_last = part->due == NULL ? NULL : part->due_last;
    mxn__room_close(part->dist->owner, &gather->batch);
    mxn__record_async_round(part, gather);
    for (mxn_arrival_of *at; (at = mxn__list_take(&gather->arrivals)) != NULL;) {
        at->piece->arrivals[at->worker] = NULL;
        if (error != NULL) {
            mxn__owner_refuse(at, error);
        } else {
            mxn__owner_reply(at, at->worker, 0);
        }
    }
    free_gather(part, gather);
}

void mxn__round_updated(mxn_owner_part *part, int error, const char *text)
{
    const char *said = error == MXP_OK ? NULL : text != NULL ? text : "an update has failed";
    part->is_updating = false;
    if (part->is_async) {
        answer_async(part, said);
    } else {
        for (uint32_t i = 0; i < part->piece_count; i++) {
            answer_piece(part, &part->pieces[i], true, said);
        }
        end_round(part);
    }
    mxn_arrival_list waiting = part->pulls;
    part->pulls = (mxn_arrival_list){0};
    for (mxn_arrival_of *at; (at = mxn__list_take(&waiting)) != NULL;) {
        if (part->host_key != NULL) {
            mxn__round_pull(at);
        } else {
            mxn__owner_reply(at, at->worker, 0);
        }
    }
    mxn__round_updates(part);
}

// ---- arrivals ----------------------------------------------------------------------------------
void mxn__round_here(mxn_arrival_of *arrival)
{
    arrival->state = MXN_ARRIVAL_HERE;
    arrival->here_ns = mxp__os_monotonic_ns();
    if (arrival->part->is_async) {
        here_async(arrival);
    } else {
        here_sync(arrival);
    }
}

static bool begin_round(mxn_owner_part *part)
{
    if (mxn__sum_is_wide(part->of.dtype) && part->wide == NULL) {
        part->wide = mxp__alloc((part->of.elements + 1) * sizeof *part->wide);
        if (part->wide == NULL) {
            mxn_dist_fail(part->dist, "an owner has no memory for a sum");
            return false;
        }
    }
    part->first_ns = mxp__os_monotonic_ns();
    part->first_ticks = mxp_ticks();
    part->updates = part->host_key != NULL || has_updater(part->dist, part->of.store);
    return true;
}

// The value of the first rank goes straight to where the sum is made, the others' are held.
static void push_sync(mxn_arrival_of *arrival, const void *inlined)
{
    mxn_owner_part *part = arrival->part;
    mxn_owner_piece *piece = arrival->piece;
    if (part->first_ns == 0 && !begin_round(part)) {
        return;
    }
    piece->arrivals[arrival->from] = arrival;
    mxn__owner_check_left(part);
    const bool is_first = arrival->from == 0 && !part->dist->config.sum_by_arrival &&
                          !mxn__sum_is_wide(part->of.dtype) &&
                          !mxn__wire_is_compressed(&arrival->header);
    if (mxn__wire_has_body(&arrival->header)) {
        arrival->into = is_first ? sum_value(part, piece) : NULL;
        mxn__room_want(arrival, &piece->batch, part->pushers,
                       (uint64_t)arrival->header.bytes * part->pushers);
        return;
    }
    if (hold_inlined(arrival, inlined)) {
        mxn__room_pass(arrival, &piece->batch, part->pushers,
                       (uint64_t)piece->bytes * part->pushers);
        mxn__round_here(arrival);
    }
}

void mxn__round_push(mxn_arrival_of *arrival, const void *inlined)
{
    if (!mxn__wire_has_body(&arrival->header)) {
        arrival->dist->owner->in_bytes += arrival->header.bytes;
        mxn__record_request(arrival);
    }
    if (arrival->part->is_async) {
        push_async(arrival, inlined);
    } else {
        push_sync(arrival, inlined);
    }
}

// While an update is due the value is neither the old one nor the new one.
void mxn__round_pull(mxn_arrival_of *arrival)
{
    mxn_owner_part *part = arrival->part;
    const bool is_hosts = part->host_key != NULL;
    mxn__record_request(arrival);
    if (part->is_updating || part->due != NULL ||
        (is_hosts && !mxn__host_has(part, arrival->header.round))) {
        mxn__list_add(&part->pulls, arrival);
        if (is_hosts) {
            mxn__host_ask(part);
        }
    } else {
        mxn__owner_reply(arrival, arrival->worker, 0);
    }
}

void mxn__round_free(mxn_owner_part *part)
{
    while (part->gathering != NULL) {
        mxn_gather *gather = part->gathering;
        part->gathering = gather->next;
        free_gather(part, gather);
    }
    while (part->due != NULL) {
        mxn_gather *gather = part->due;
        part->due = gather->next;
        free_gather(part, gather);
    }
}
