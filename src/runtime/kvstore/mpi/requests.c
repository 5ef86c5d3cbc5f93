// SPDX-License-Identifier: Apache-2.0
// Parallel arrays, because MPI looks at an array of requests. A completed one makes place for the
// last. Letters are used again: fresh memory for each costs page faults.
#include "runtime/kvstore/mpi/requests.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

enum { FIRST_CAPACITY = 64 };

int mxn__mpi_requests_reserve(mxn_mpi_requests *all, uint32_t more)
{
    uint32_t old = all->capacity;
    if (all->count + more <= old) {
        return MXP_OK;
    }
    uint32_t capacity = old == 0 ? FIRST_CAPACITY : old;
    while (capacity < all->count + more) {
        capacity *= 2;
    }
    mxn_mpi_requests next = {.requests = mxp__alloc(capacity * sizeof *next.requests),
                             .items = mxp__alloc(capacity * sizeof *next.items),
                             .statuses = mxp__alloc(capacity * sizeof *next.statuses),
                             .indices = mxp__alloc(capacity * sizeof *next.indices),
                             .done = mxp__alloc(capacity * sizeof *next.done),
                             .count = all->count,
                             .capacity = capacity,
                             .send_count = all->send_count,
                             .spare = all->spare};
    if (next.requests == NULL || next.items == NULL || next.statuses == NULL ||
        next.indices == NULL || next.done == NULL) {
        next.spare = NULL;
        mxn__mpi_requests_fini(&next);
        return mxp__fail_memory("messages under way");
    }
    if (all->count > 0) {
        memcpy(next.requests, all->requests, all->count * sizeof *next.requests);
        memcpy(next.items, all->items, all->count * sizeof *next.items);
    }
    if (old > 0) {  // which somebody may be telling of
        memcpy(next.done, all->done, old * sizeof *next.done);
    }
    all->spare = NULL;
    mxn__mpi_requests_fini(all);
    *all = next;
    return MXP_OK;
}

void mxn__mpi_requests_fini(mxn_mpi_requests *all)
{
    while (all->spare != NULL) {
        mxn_mpi_letter *next = all->spare->next;
        mxp__free(all->spare, sizeof *all->spare);
        all->spare = next;
    }
    mxp__free(all->requests, all->capacity * sizeof *all->requests);
    mxp__free(all->items, all->capacity * sizeof *all->items);
    mxp__free(all->statuses, all->capacity * sizeof *all->statuses);
    mxp__free(all->indices, all->capacity * sizeof *all->indices);
    mxp__free(all->done, all->capacity * sizeof *all->done);
    *all = (mxn_mpi_requests){0};
}

void mxn__mpi_requests_add(mxn_mpi_requests *all, MPI_Request request, const mxn_mpi_item *item)
{
    assert(all->count < all->capacity);
    all->requests[all->count] = request;
    all->items[all->count] = *item;
    all->count++;
    all->send_count += item->is_receive ? 0 : 1;
}

static void note_done(mxn_mpi_requests *all, uint32_t position, bool has_errors)
{
    MPI_Status *status = &all->statuses[position];
    const mxn_mpi_item *item = &all->items[all->indices[position]];
    mxn_mpi_done *done = &all->done[position];
    *done = (mxn_mpi_done){.item = *item, .error = has_errors ? status->MPI_ERROR : MPI_SUCCESS};
    if (item->is_receive) {
        int bytes = 0, cancelled = 0;
        MPI_Get_count(status, MPI_BYTE, &bytes);
        MPI_Test_cancelled(status, &cancelled);
        done->bytes = bytes > 0 ? (uint32_t)bytes : 0;
        done->was_cancelled = cancelled != 0;
    }
}

static void close_gaps(mxn_mpi_requests *all)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->requests[i] != MPI_REQUEST_NULL) {
            all->requests[kept] = all->requests[i];
            all->items[kept] = all->items[i];
            kept++;
        } else if (!all->items[i].is_receive) {
            all->send_count--;
        }
    }
    all->count = kept;
}

uint32_t mxn__mpi_requests_look(mxn_mpi_requests *all)
{
    int count = 0;
    if (all->count == 0) {
        return 0;
    }
    int error = MPI_Testsome((int)all->count, all->requests, &count, all->indices, all->statuses);
    if (count == MPI_UNDEFINED || count <= 0) {
        return 0;
    }
    for (int i = 0; i < count; i++) {
        note_done(all, (uint32_t)i, error == MPI_ERR_IN_STATUS);
        all->requests[all->indices[i]] = MPI_REQUEST_NULL;  // also of one that ended with an error
    }
    close_gaps(all);
    return (uint32_t)count;
}

void mxn__mpi_requests_cancel(mxn_mpi_requests *all, const mxn_ticket *ticket)
{
    for (uint32_t i = 0; i < all->count; i++) {
        if (all->items[i].ticket == ticket && all->items[i].is_receive) {
            MPI_Cancel(&all->requests[i]);
        }
    }
}

mxn_mpi_letter *mxn__mpi_letter_take(mxn_mpi_requests *all)
{
    mxn_mpi_letter *letter = all->spare;
    if (letter != NULL) {
        all->spare = letter->next;
    } else {
        letter = mxp__alloc(sizeof *letter);
    }
    return letter;
}

void mxn__mpi_letter_give(mxn_mpi_requests *all, mxn_mpi_letter *letter)
{
    letter->next = all->spare;
    all->spare = letter;
}
