// SPDX-License-Identifier: Apache-2.0
// What any thread may call: operations are checked and left for the communication thread, answers
// too.
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "runtime/kvstore/dist_compression.h"
#include "runtime/kvstore/dist_record.h"

int mxn__dist_check_process(const mxn_dist *dist)
{
    return dist->process == mxp__os_process_id()
               ? MXP_OK
               : mxp__fail(MXP_ESTATE, "this store belongs to process %" PRIu32, dist->process);
}

// Under the lock.
static int check_state_locked(const mxn_dist *dist)
{
    const char *failure = mxp_atomic_load(&dist->failure);
    if (failure != NULL) {
        return mxp__fail(MXP_ESTATE, "%s", failure);
    }
    return dist->state == MXN_DIST_RUNNING ? MXP_OK
                                           : mxp__fail(MXP_ESTATE, "this store was closed");
}

int mxn_dist_check(mxn_dist *dist)
{
    int error = mxn__dist_check_process(dist);
    if (error == MXP_OK) {
        mxp__lock(&dist->lock);
        error = check_state_locked(dist);
        mxp__unlock(&dist->lock);
    }
    return error;
}

// ---- operations --------------------------------------------------------------------------------
static mxn_dist_key *find_locked(const mxn_dist *dist, uint16_t store, uint32_t key)
{
    return store < dist->store_count && key < dist->stores[store].count
               ? dist->stores[store].keys[key]
               : NULL;
}

mxn_dist_key *mxn__dist_find(mxn_dist *dist, uint16_t store, uint32_t key)
{
    mxp__lock(&dist->lock);
    mxn_dist_key *found = find_locked(dist, store, key);
    mxp__unlock(&dist->lock);
    return found;
}

static int check_value(const mxn_dist_key *key, const mxn_dist_operation *of, float threshold)
{
    const uint64_t bytes = threshold > 0 ? key->words_bytes : key->bytes;
    if (of->dtype != key->dtype) {
        return mxp__fail(MXP_EINVAL, "key %s: is of type %s, not %s", key->name,
                         mxn_dtype_name(key->dtype), mxn_dtype_name(of->dtype));
    }
    if (of->bytes != bytes) {
        return mxp__fail(MXP_EINVAL, "key %s: has %" PRIu64 " bytes%s, not %" PRIu64, key->name,
                         bytes, threshold > 0 ? " compressed" : "", of->bytes);
    }
    return MXP_OK;
}

static int new_key_locked(mxn_dist *dist, const mxn_dist_operation *of, mxn_dist_key **key)
{
    mxn_store_keys *keys = &dist->stores[of->store];
    if (of->key != keys->count) {
        return mxp__fail(MXP_EINVAL, "duplicate init of key %s", of->name == NULL ? "" : of->name);
    }
    const mxn_split split = {.owners = dist->owner_count,
                             .bigarray_bound = dist->config.bigarray_bound,
                             .piece_bytes = dist->config.piece_bytes,
                             .next_slot = dist->next_slot,
                             .locals = dist->hosts.local_count,
                             .host_slots = &dist->host_slots,
                             .slots_max = dist->transport->slots_max};
    int error = mxn_dtype_check(of->dtype);
    if (error == MXP_OK && of->bytes != mxn_shape_size(of->shape) * mxn_dtype_size(of->dtype)) {
        error =
            mxp__fail(MXP_EINVAL, "key %s: its value has %" PRIu64 " bytes, not those of its shape",
                      of->name, of->bytes);
    }
    if (error == MXP_OK) {
        error = mxp__grow(&keys->keys, &keys->capacity, keys->count + 1, sizeof *keys->keys);
    }
    if (error == MXP_OK) {
        error = mxn__dist_key_new(&split, of->store, of->key, of->name, of->shape, of->dtype, key);
    }
    if (error == MXP_OK) {
        keys->keys[keys->count++] = *key;
    }
    return error;
}

static int find_key_locked(mxn_dist *dist, const mxn_dist_operation *of, mxn_dist_op *op)
{
    if (of->store >= dist->store_count) {
        return mxp__fail(MXP_EINVAL, "there is no store %u", of->store);
    }
    if (of->kind == MXN_DIST_INIT) {
        return new_key_locked(dist, of, &op->key);
    }
    op->key = find_locked(dist, of->store, of->key);
    if (op->key == NULL) {
        return mxp__fail(MXP_EINVAL, "key %" PRIu32 " doesn't exist. Did you init?", of->key);
    }
    int error = mxn__compression_check_locked(dist, of, op->key, &op->threshold);
    error = error == MXP_OK ? check_value(op->key, of, op->threshold) : error;
    if (error == MXP_OK && (of->kind == MXN_DIST_PUSH || of->kind == MXN_DIST_PUSHPULL)) {
        dist->stores[of->store].pushes++;
    }
    return error;
}

static int check_kind(const mxn_dist *dist, const mxn_dist_operation *of)
{
    assert(of->done != NULL && of->kind >= MXN_DIST_INIT && of->kind <= MXN_DIST_COMPRESSION);
    if ((dist->roles & MXN_ROLE_WORKER) == 0) {
        return mxp__fail(MXP_ESTATE, "a server has no values of its own: workers push and pull");
    }
    if (of->kind == MXN_DIST_COMMAND && dist->rank != 0) {
        return mxp__fail(MXP_EINVAL, "worker 0 alone commands servers; this is worker %" PRIu32,
                         dist->rank);
    }
    if (of->kind == MXN_DIST_COMMAND && of->bytes > MXN_WIRE_BYTES_MAX) {
        return mxp__fail(MXP_EINVAL, "a command of %" PRIu64 " bytes is longer than %u", of->bytes,
                         MXN_WIRE_BYTES_MAX);
    }
    return MXP_OK;
}

static void append_locked(mxn_dist *dist, mxn_dist_op *op)
{
    op->number = ++dist->submissions;
    if (op->of.kind == MXN_DIST_INIT || op->of.kind == MXN_DIST_BARRIER ||
        op->of.kind == MXN_DIST_COMPRESSION) {
        op->generation = dist->generations++;
    }
    if (dist->submitted_last == NULL) {
        dist->submitted = op;
    } else {
        dist->submitted_last->next = op;
    }
    dist->submitted_last = op;
    op->older = dist->youngest;
    if (dist->youngest == NULL) {
        dist->oldest = op;
    } else {
        dist->youngest->younger = op;
    }
    dist->youngest = op;
}

static void free_op(mxn_dist_op *op)
{
    for (uint32_t i = 0; op->key == NULL && i < op->flight_count; i++) {
        mxp__free(op->flights[i].answer, op->flights[i].answer_bytes);
    }
    mxp__free(op->flights, op->flight_count * sizeof *op->flights);
    mxp__free(op->copy, op->of.bytes);
    mxp__strfree(op->text);
    mxp__free(op, sizeof *op);
}

static int new_op(mxn_dist *dist, const mxn_dist_operation *of, mxn_dist_op **made)
{
    mxn_dist_op *op = mxp__alloc(sizeof *op);
    if (op == NULL) {
        return mxp__fail_memory("an operation");
    }
    op->dist = dist;
    op->of = *of;
    if (of->kind == MXN_DIST_COMMAND && of->bytes > 0) {
        op->copy = mxp__alloc(of->bytes);
        if (op->copy == NULL) {
            free_op(op);
            return mxp__fail_memory("a command");
        }
        memcpy(op->copy, of->in, of->bytes);
    }
    op->submit_ticks = mxp_enabled(MXP_CLASS_ALL) ? mxp_ticks() : 0;
    *made = op;
    return MXP_OK;
}

int mxn_dist_submit(mxn_dist *dist, const mxn_dist_operation *operation)
{
    mxn_dist_op *op = NULL;
    int error = mxn__dist_check_process(dist);
    if (error == MXP_OK) {
        error = check_kind(dist, operation);
    }
    if (error == MXP_OK) {
        error = new_op(dist, operation, &op);
    }
    if (error != MXP_OK) {
        return error;
    }
    mxp__lock(&dist->lock);
    error = check_state_locked(dist);
    if (error == MXP_OK && operation->kind <= MXN_DIST_PUSHPULL) {
        error = find_key_locked(dist, operation, op);
    } else if (error == MXP_OK && operation->kind == MXN_DIST_COMPRESSION) {
        error = mxn__compression_begin_locked(dist, operation);
    }
    if (error == MXP_OK) {
        append_locked(dist, op);
    }
    mxp__unlock(&dist->lock);
    if (error != MXP_OK) {
        free_op(op);
        return error;
    }
    mxn__dist_wake(dist);
    return MXP_OK;
}

static void nothing(void *context, int error, const char *text, const void *answer, uint64_t bytes)
{
    (void)context;
    (void)error;
    (void)text;
    (void)answer;
    (void)bytes;
}

void mxn__dist_submit_last_barrier(mxn_dist *dist)
{
    const mxn_dist_operation barrier = {.kind = MXN_DIST_BARRIER, .done = nothing};
    mxn_dist_op *op = NULL;
    if (new_op(dist, &barrier, &op) != MXP_OK) {
        mxn_dist_fail(dist, mxp_last_error());
        return;
    }
    op->is_last = true;
    mxp__lock(&dist->lock);
    const bool goes_on = mxp_atomic_load(&dist->failure) == NULL;
    if (goes_on) {
        append_locked(dist, op);
    }
    mxp__unlock(&dist->lock);
    if (!goes_on) {
        free_op(op);
    }
    mxn__dist_wake(dist);
}

// ---- the end of operations ---------------------------------------------------------------------
void mxn__dist_op_fail(mxn_dist_op *op, int error, const char *text)
{
    if (op->error == MXP_OK) {
        op->error = error;
        op->text = mxp__strdup(text);
    }
}

static void leave(mxn_dist *dist, mxn_dist_op *op)
{
    mxp__lock(&dist->lock);
    *(op->older == NULL ? &dist->oldest : &op->older->younger) = op->younger;
    *(op->younger == NULL ? &dist->youngest : &op->younger->older) = op->older;
    if (dist->oldest == NULL) {
        pthread_cond_broadcast(&dist->changed);
    }
    mxp__unlock(&dist->lock);
}

void mxn__dist_complete(mxn_dist *dist, mxn_dist_op *op, const void *answer, uint64_t bytes)
{
    if (!op->is_told) {
        op->is_told = true;
        dist->ops -= op->is_taken;
        const char *text = op->text == NULL ? mxp_strerror(op->error) : op->text;
        op->of.done(op->of.context, op->error, op->error == MXP_OK ? NULL : text, answer, bytes);
        leave(dist, op);
    }
    if (op->left > 0) {
        op->next = dist->abandoned;
        dist->abandoned = op;
    } else {
        free_op(op);
    }
}

void mxn__dist_leave_abandoned(mxn_dist *dist, mxn_dist_op *op)
{
    mxn_dist_op **at = &dist->abandoned;
    while (*at != op) {
        at = &(*at)->next;
    }
    *at = op->next;
    free_op(op);
}

void mxn__dist_free_abandoned(mxn_dist *dist)
{
    while (dist->abandoned != NULL) {
        mxn__dist_leave_abandoned(dist, dist->abandoned);
    }
}

char *mxn__dist_text(const void *text, uint32_t bytes)
{
    char *copy = bytes == 0 ? NULL : mxp__alloc((size_t)bytes + 1);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, text, bytes);
    // Where it has a zero inside it ends there, and mxp__strfree takes its length from the text.
    char *ended = copy[0] == '\0' ? NULL : mxp__strdup(copy);
    mxp__free(copy, (size_t)bytes + 1);
    return ended;
}

// ---- answers -----------------------------------------------------------------------------------
static void answer(mxn_dist_request *request, int error, const char *text)
{
    mxn_dist *dist = request->dist;
    request->error = error;
    request->text = error == MXP_OK ? NULL : mxp__strdup(text == NULL ? mxp_strerror(error) : text);
    request->next = NULL;
    mxp__lock(&dist->lock);
    if (dist->answered_last == NULL) {
        dist->answered = request;
    } else {
        dist->answered_last->next = request;
    }
    dist->answered_last = request;
    mxp__unlock(&dist->lock);
    mxn__dist_wake(dist);
}

void mxn_dist_updated(mxn_dist_request *request, int error, const char *text)
{
    assert(request->kind == MXN_REQUEST_UPDATE);
    answer(request, error, text);
}

void mxn_dist_answered(mxn_dist_request *request, int error, const char *text, const void *bytes,
                       uint64_t count)
{
    assert(request->kind == MXN_REQUEST_COMMAND);
    if (error == MXP_OK && count > 0) {
        request->answer = mxp__realloc(NULL, 0, count);
        if (request->answer == NULL) {
            error = MXP_ENOMEM;
            text = "out of memory: the answer to a command";
        } else {
            memcpy(request->answer, bytes, count);
            request->answer_bytes = count;
        }
    }
    answer(request, error, text);
}

// ---- stores ------------------------------------------------------------------------------------
int mxn_dist_store_open(mxn_dist *dist, bool is_async, uint16_t *store)
{
    int error = mxn__dist_check_process(dist);
    if (error != MXP_OK) {
        return error;
    }
    mxp__lock(&dist->lock);
    error = check_state_locked(dist);
    if (error == MXP_OK && dist->store_count == MXN_DIST_STORES_MAX) {
        error = mxp__fail(MXP_EINVAL, "there are %d stores in this process", MXN_DIST_STORES_MAX);
    }
    if (error == MXP_OK) {
        dist->stores[dist->store_count].is_async = is_async;
        *store = (uint16_t)dist->store_count++;
    }
    mxp__unlock(&dist->lock);
    return error;
}

void mxn__dist_free_stores(mxn_dist *dist)
{
    for (uint32_t i = 0; i < dist->store_count; i++) {
        mxn_store_keys *keys = &dist->stores[i];
        for (size_t k = 0; k < keys->count; k++) {
            mxn__dist_key_free(keys->keys[k]);
        }
        mxp__free(keys->keys, keys->capacity * sizeof *keys->keys);
    }
}

int mxn_dist_updater_set(mxn_dist *dist, uint16_t store, bool is_on)
{
    int error = mxn__dist_check_process(dist);
    if (error == MXP_OK && store >= MXN_DIST_STORES_MAX) {
        error = mxp__fail(MXP_EINVAL, "there is no store %u", store);
    }
    if (error == MXP_OK && is_on && dist->config.hooks.update == NULL) {
        error = mxp__fail(MXP_ESTATE, "this owner has no updater");
    }
    return error == MXP_OK ? mxn__owner_set_updater(dist, store, is_on) : error;
}

// ---- looking -----------------------------------------------------------------------------------
const mxn_transport *mxn_dist_transport(const mxn_dist *dist)
{
    return dist->transport;
}

uint32_t mxn_dist_roles(const mxn_dist *dist)
{
    return dist->roles;
}

uint32_t mxn_dist_worker_count(const mxn_dist *dist)
{
    return dist->worker_count;
}

uint32_t mxn_dist_owner_count(const mxn_dist *dist)
{
    return dist->owner_count;
}

uint32_t mxn_dist_rank(const mxn_dist *dist)
{
    return dist->rank;
}

uint32_t mxn_dist_host_sums(const mxn_dist *dist)
{
    return dist->hosts.are_two_levels ? dist->hosts.count : 0;
}

bool mxn_dist_has_servers(const mxn_dist *dist)
{
    for (uint32_t i = 0; i < dist->transport->size; i++) {
        if (dist->transport->peers[i].roles == MXN_ROLE_OWNER) {
            return true;
        }
    }
    return false;
}

void mxn_dist_doing(mxn_dist *dist, char *text, uint64_t size)
{
    static const char *const names[] = {[MXN_DIST_INIT] = "init",
                                        [MXN_DIST_PUSH] = "push",
                                        [MXN_DIST_PULL] = "pull",
                                        [MXN_DIST_PUSHPULL] = "pushpull"};
    assert(size > 0);
    text[0] = '\0';
    mxp__lock(&dist->lock);
    const mxn_dist_op *op = dist->oldest;
    if (op != NULL && op->key != NULL) {
        snprintf(text, size, "%s of key '%s', round %" PRIu64, names[op->of.kind], op->key->name,
                 op->round);
    } else if (op != NULL && op->of.kind == MXN_DIST_BARRIER) {
        snprintf(text, size, "barrier");
    } else if (op != NULL && op->of.kind == MXN_DIST_COMPRESSION) {
        snprintf(text, size, "gradient compression");
    } else if (op != NULL) {
        snprintf(text, size, "command %" PRIu32, op->of.key);
    }
    mxp__unlock(&dist->lock);
}
