// SPDX-License-Identifier: Apache-2.0
// Headers have one tag and are received by whoever sends them; a body has the tag of its channel
// and slot, and MPI itself puts it into the buffer that was posted. All of it runs on the
// communication thread.
//
// Waiting. A look costs 0.1 us and a short sleep 300: so after something happened it looks for a
// while and yields the core between looks. Then it sleeps until the doorbell rings. Open MPI's look
// first looks and then makes progress: one after a bell would not see what rang.
#include "runtime/kvstore/mpi/transport_mpi.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"

enum { HEADERS_A_TURN = 16, LOOKS_AFTER_BELL = 4 };
static const uint64_t OWN_NS = 20000000;  // so long it looks for what it waits for itself
static const uint64_t UNTAKEN_NS = 1000000;  // a sleep while a body has not been taken

static mxn_transport_mpi *mpi_of(mxn_transport *transport)
{
    return (mxn_transport_mpi *)transport;
}

int mxn__mpi_fail(const char *what, int error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(error, text, &length);
    return mxp__fail(MXP_EIO, "%s: %s", what, text);
}

// ---- sending -----------------------------------------------------------------------------------
// The bytes that MPI reads: the header, and a short body behind it.
static uint32_t write_letter(mxn_mpi_letter *letter, const mxn_wire *header, const void *body)
{
    mxn_wire own = *header;
    uint32_t bytes = mxn__wire_body_bytes(header);
    bool is_inline = bytes > 0 && bytes <= MXN_WIRE_INLINE_MAX;
    own.magic = MXN_WIRE_MAGIC;
    own.version = MXN_WIRE_VERSION;
    own.flags = (uint16_t)(is_inline ? own.flags | MXN_WIRE_INLINE : own.flags & ~MXN_WIRE_INLINE);
    memcpy(letter->bytes, &own, sizeof own);
    if (!is_inline) {
        return sizeof own;
    }
    memcpy(letter->bytes + sizeof own, body, bytes);
    return (uint32_t)sizeof own + bytes;
}

static void tell_later(mxn_transport_mpi *mpi, mxn_ticket *ticket)
{
    ticket->reserved[0] = 0;
    if (mpi->told_last == NULL) {
        mpi->told_first = ticket;
    } else {
        mpi->told_last->reserved[0] = (uint64_t)(uintptr_t)ticket;
    }
    mpi->told_last = ticket;
}

static int post_body(mxn_transport_mpi *mpi, uint32_t peer, const mxn_wire *header,
                     const void *body, mxn_ticket *ticket)
{
    MPI_Request request;
    int error = MPI_Isend(body, (int)header->bytes, MPI_BYTE, (int)peer, mxn__wire_tag(header),
                          mpi->comm, &request);
    if (error != MPI_SUCCESS) {
        return mxn__mpi_fail("a message cannot be sent", error);
    }
    mxn__mpi_requests_add(&mpi->requests, request, &(mxn_mpi_item){.ticket = ticket, .peer = peer});
    return MXP_OK;
}

static int send_header(mxn_transport_mpi *mpi, uint32_t peer, const mxn_wire *header,
                       const void *body)
{
    mxn_mpi_letter *letter = mxn__mpi_letter_take(&mpi->requests);
    if (letter == NULL) {
        return mxp__fail_memory("a message");
    }
    uint32_t bytes = write_letter(letter, header, body);
    MPI_Request request;
    int is_done = 0;
    int error = MPI_Isend(letter->bytes, (int)bytes, MPI_BYTE, (int)peer, MXN_WIRE_TAG_HEADER,
                          mpi->comm, &request);
    if (error == MPI_SUCCESS) {
        error = MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    }
    if (error != MPI_SUCCESS || is_done) {
        mxn__mpi_letter_give(&mpi->requests, letter);
    } else {
        mxn__mpi_requests_add(&mpi->requests, request,
                              &(mxn_mpi_item){.letter = letter, .peer = peer});
    }
    return error == MPI_SUCCESS ? MXP_OK : mxn__mpi_fail("a message cannot be sent", error);
}

static int send_message(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                        const void *body, mxn_ticket *ticket)
{
    mxn_transport_mpi *mpi = mpi_of(transport);
    assert(peer < transport->size);
    int error = mxn__mpi_requests_reserve(&mpi->requests, 2);
    if (error == MXP_OK) {
        error = send_header(mpi, peer, header, body);
    }
    if (error != MXP_OK) {
        return error;
    }
    uint32_t bytes = mxn__wire_body_bytes(header);
    if (bytes > MXN_WIRE_INLINE_MAX && body != NULL) {
        error = post_body(mpi, peer, header, body, ticket);
    } else if (ticket != NULL && bytes <= MXN_WIRE_INLINE_MAX) {
        tell_later(mpi, ticket);
    }
    mpi->active_ns = mxp__os_monotonic_ns();
    mxn__doorbell_ring(&mpi->bell, peer, mpi->active_ns);
    return error;
}

static int send_body(mxn_transport *transport, uint32_t peer, const mxn_wire *header,
                     const void *body, mxn_ticket *ticket)
{
    mxn_transport_mpi *mpi = mpi_of(transport);
    assert(peer < transport->size && header->bytes > MXN_WIRE_INLINE_MAX);
    int error = mxn__mpi_requests_reserve(&mpi->requests, 1);
    if (error == MXP_OK) {
        error = post_body(mpi, peer, header, body, ticket);
    }
    mpi->active_ns = mxp__os_monotonic_ns();
    mxn__doorbell_ring(&mpi->bell, peer, mpi->active_ns);
    return error;
}

// ---- receiving ---------------------------------------------------------------------------------
// Its sender may wait for this and sleep: MPI's own messages ring no bell.
static int receive(mxn_transport *transport, uint32_t peer, const mxn_wire *header, void *into,
                   mxn_ticket *ticket)
{
    mxn_transport_mpi *mpi = mpi_of(transport);
    assert(peer < transport->size && header->bytes > 0);
    MPI_Request request;
    int error = mxn__mpi_requests_reserve(&mpi->requests, 1);
    if (error != MXP_OK) {
        return error;
    }
    error = MPI_Irecv(into, (int)header->bytes, MPI_BYTE, (int)peer, mxn__wire_tag(header),
                      mpi->comm, &request);
    if (error != MPI_SUCCESS) {
        return mxn__mpi_fail("a message cannot be received", error);
    }
    mxn__mpi_requests_add(
        &mpi->requests, request,
        &(mxn_mpi_item){
            .ticket = ticket, .bytes = header->bytes, .peer = peer, .is_receive = true});
    if (header->kind != MXN_WIRE_REPLY) {
        mxn__doorbell_ring(&mpi->bell, peer, mxp__os_monotonic_ns());
    }
    return MXP_OK;
}

static void cancel(mxn_transport *transport, mxn_ticket *ticket)
{
    mxn__mpi_requests_cancel(&mpi_of(transport)->requests, ticket);
}

static int post_letter(mxn_transport_mpi *mpi, uint32_t index)
{
    int error = MPI_Irecv(mpi->letters[index], MXN_MPI_LETTER_BYTES, MPI_BYTE, MPI_ANY_SOURCE,
                          MXN_WIRE_TAG_HEADER, mpi->comm, &mpi->posted[index]);
    return error == MPI_SUCCESS ? MXP_OK : mxn__mpi_fail("messages cannot be received", error);
}

int mxn__transport_mpi_begin(mxn_transport_mpi *mpi)
{
    int error = MXP_OK;
    for (uint32_t i = 0; i < MXN_MPI_POSTED && error == MXP_OK; i++) {
        error = post_letter(mpi, i);
    }
    mpi->active_ns = mxp__os_monotonic_ns();
    return error;
}

static void hand_letter(mxn_transport_mpi *mpi, const char *letter, int error,
                        const MPI_Status *status)
{
    mxn_transport *base = &mpi->base;
    mxn_wire header;
    int bytes = 0;
    uint32_t peer = (uint32_t)status->MPI_SOURCE;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    if (error != MPI_SUCCESS) {
        mxn__mpi_fail("a message cannot be received", error);
    } else {
        error = mxn__wire_read(letter, (size_t)bytes, &header);
    }
    if (error != MXP_OK) {
        base->lost(base->context, peer, mxp_last_error());
    } else {
        bool is_inline = (header.flags & MXN_WIRE_INLINE) != 0;
        base->handler(base->context, peer, &header,
                      is_inline ? letter + MXN_WIRE_HEADER_BYTES : NULL);
    }
}

static bool take_letters(mxn_transport_mpi *mpi)
{
    uint32_t count = 0;
    while (count < HEADERS_A_TURN) {
        MPI_Status status;
        int is_here = 0;
        uint32_t index = mpi->next_posted;
        int error = MPI_Test(&mpi->posted[index], &is_here, &status);
        if (error == MPI_SUCCESS && !is_here) {
            break;
        }
        hand_letter(mpi, mpi->letters[index], error, &status);
        if (post_letter(mpi, index) != MXP_OK) {
            mpi->base.lost(mpi->base.context, mpi->base.rank, mxp_last_error());
            break;
        }
        mpi->next_posted = (index + 1) % MXN_MPI_POSTED;
        count++;
    }
    return count > 0;
}

// ---- tickets -----------------------------------------------------------------------------------
static int error_of(const mxn_mpi_done *done)
{
    if (done->error != MPI_SUCCESS) {
        return mxn__mpi_fail("a message was lost", done->error);
    }
    if (done->was_cancelled) {
        return mxp__fail(MXP_ESTATE, "the message was taken back");
    }
    if (done->item.is_receive && done->bytes != done->item.bytes) {
        return mxp__fail(MXP_EFORMAT, "a message has %u bytes where its header said %u",
                         done->bytes, done->item.bytes);
    }
    return MXP_OK;
}

// `done` may begin new messages: what is complete is set aside before the first is told of.
static bool tell_complete(mxn_transport_mpi *mpi)
{
    uint32_t count = mxn__mpi_requests_look(&mpi->requests);
    for (uint32_t i = 0; i < count; i++) {
        const mxn_mpi_done *done = &mpi->requests.done[i];
        if (done->item.letter != NULL) {
            mxn__mpi_letter_give(&mpi->requests, done->item.letter);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        // By value: a grown table has moved.
        mxn_mpi_done done = mpi->requests.done[i];
        if (done.item.ticket != NULL) {
            done.item.ticket->done(done.item.ticket, error_of(&done));
        }
    }
    return count > 0;
}

static bool tell_inline(mxn_transport_mpi *mpi)
{
    mxn_ticket *ticket = mpi->told_first;
    mpi->told_first = NULL;
    mpi->told_last = NULL;
    bool any = ticket != NULL;
    while (ticket != NULL) {
        mxn_ticket *next = (mxn_ticket *)(uintptr_t)ticket->reserved[0];
        ticket->done(ticket, MXP_OK);
        ticket = next;
    }
    return any;
}

static bool progress(mxn_transport *transport)
{
    mxn_transport_mpi *mpi = mpi_of(transport);
    bool any = false;
    for (int looks = mpi->rang ? LOOKS_AFTER_BELL : 1; looks > 0 && !any; looks--) {
        any = take_letters(mpi);
        any = tell_complete(mpi) || any;
        any = tell_inline(mpi) || any;
    }
    mpi->rang = false;
    if (any) {
        mpi->active_ns = mxp__os_monotonic_ns();
        mpi->bell.nap_ns = 0;
    }
    return any;
}

// ---- waiting and the end -----------------------------------------------------------------------
// A look that takes nothing. Four of them, because one looks before it makes progress.
static bool has_come(void *context)
{
    mxn_transport_mpi *mpi = context;
    int is_here = 0;
    for (int looks = 0; looks < LOOKS_AFTER_BELL && !is_here; looks++) {
        MPI_Request_get_status(mpi->posted[mpi->next_posted], &is_here, MPI_STATUS_IGNORE);
    }
    return is_here != 0;
}

static void sleep_for(mxn_transport *transport, uint64_t timeout_ns)
{
    mxn_transport_mpi *mpi = mpi_of(transport);
    uint64_t quiet_ns = mxp__os_monotonic_ns() - mpi->active_ns;
    if (mxn__doorbell_was_woken(&mpi->bell)) {
        mpi->active_ns += quiet_ns;
        return;
    }
    if (quiet_ns < (mpi->requests.count > 0 ? OWN_NS : mpi->spin_ns) || timeout_ns == 0) {
        mxp__os_yield();
        return;
    }
    if (mpi->requests.send_count > 0 && timeout_ns > UNTAKEN_NS) {
        timeout_ns = UNTAKEN_NS;
    }
    mxn__doorbell_sleep(&mpi->bell, timeout_ns, has_come, mpi);
    mpi->rang = true;
}

static void wake(mxn_transport *transport)
{
    mxn__doorbell_wake(&mpi_of(transport)->bell);
}

// What was sent must leave: its receivers still make progress, or the job has failed.
static void finish(mxn_transport_mpi *mpi)
{
    while (mpi->requests.send_count > 0) {
        if (mxn__mpi_requests_look(&mpi->requests) == 0) {
            mxp__os_yield();
        }
    }
    for (int i = 0; i < MXN_MPI_POSTED; i++) {
        MPI_Cancel(&mpi->posted[i]);
        MPI_Request_free(&mpi->posted[i]);
    }
    if (mpi->window != MPI_WIN_NULL) {
        MPI_Win_free(&mpi->window);
    }
    MPI_Comm_free(&mpi->machine);
    MPI_Comm_free(&mpi->comm);
    if (mpi->finalizes) {
        MPI_Finalize();
    }
}

static void close_transport(mxn_transport *transport, bool failed)
{
    mxn_transport_mpi *mpi = mpi_of(transport);
    if (!failed) {
        finish(mpi);
    }
    mxn__doorbell_close(&mpi->bell);
    mxn__mpi_requests_fini(&mpi->requests);
    mxp__free(mpi->letters, MXN_MPI_POSTED * sizeof *mpi->letters);
    mxp__free(mpi->peers, mpi->base.size * sizeof *mpi->peers);
    mxp__free(mpi, sizeof *mpi);
}

static void end_job(mxn_transport *transport, int code)
{
    MPI_Abort(mpi_of(transport)->comm, code);
}

const mxn_transport_ops mxn__transport_mpi_ops = {
    .name = "mpi",
    .send = send_message,
    .send_body = send_body,
    .receive = receive,
    .cancel = cancel,
    .progress = progress,
    .sleep = sleep_for,
    .wake = wake,
    .close = close_transport,
    .end_job = end_job,
};
