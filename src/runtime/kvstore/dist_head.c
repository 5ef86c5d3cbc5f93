// SPDX-License-Identifier: Apache-2.0
// The head, which is in worker 0: barriers of all workers. Where a barrier is that of an init, what
// the workers have said of the key is compared, and whoever differs is told to all.
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "runtime/kvstore/dist_node.h"

// What a worker has come to the barrier with.
typedef struct visit {
    bool is_here;
    uint64_t at_ns;
    mxn_wire header;
    unsigned char *definition;  // null: a plain barrier
} visit;

typedef struct generation {
    struct generation *next;
    uint64_t number;
    uint32_t here, last;
    visit visits[];  // by rank
} generation;

struct mxn_head {
    generation *first;  // in the order in which somebody came to them first
};

static size_t generation_bytes(const mxn_dist *dist)
{
    return sizeof(generation) + dist->worker_count * sizeof(visit);
}

static void free_generation(const mxn_dist *dist, generation *of)
{
    for (uint32_t i = 0; i < dist->worker_count; i++) {
        mxp__free(of->visits[i].definition, of->visits[i].header.bytes);
    }
    mxp__free(of, generation_bytes(dist));
}

static generation **find(mxn_head *head, uint64_t number)
{
    generation **at = &head->first;
    while (*at != NULL && (*at)->number != number) {
        at = &(*at)->next;
    }
    return at;
}

// ---- comparing ---------------------------------------------------------------------------------
static bool is_end(const visit *of)
{
    return (of->header.flags & MXN_WIRE_LAST) != 0;
}

static bool is_compression(const visit *of)
{
    return mxn__wire_is_compressed(&of->header);
}

// What the worker does: inits a key, sets compression, or waits at a barrier.
static void describe(mxp_strbuf *text, const visit *of)
{
    mxn_definition definition;
    char key[MXN_DEFINITION_TEXT];
    if (is_compression(of)) {
        mxp__strbuf_printf(text, "2bit with threshold %g",
                           (double)mxn__two_bit_threshold(of->header.last));
    } else if (of->definition == NULL) {
        mxp__strbuf_puts(text, "a barrier");
    } else if (mxn__definition_read(of->definition, of->header.bytes, &definition) == MXP_OK) {
        mxp__strbuf_puts(text, mxn__definition_text(&definition, of->header.dtype, key));
    }
}

static bool is_same(const visit *a, const visit *b)
{
    return a->header.key == b->header.key && a->header.store == b->header.store &&
           a->header.dtype == b->header.dtype && a->header.bytes == b->header.bytes &&
           is_compression(a) == is_compression(b) &&
           (!is_compression(a) || a->header.last == b->header.last) &&
           (a->header.bytes == 0 || memcmp(a->definition, b->definition, a->header.bytes) == 0);
}

// Compression is set while nothing has been pushed.
static void refuse_late(const mxn_dist *dist, const generation *of, mxp_strbuf *text)
{
    for (uint32_t i = 0; is_compression(&of->visits[0]) && i < dist->worker_count; i++) {
        if (of->visits[i].header.offset > 0) {
            mxp__strbuf_printf(text,
                               "gradient compression is set before the first push: worker %" PRIu32
                               " has pushed to this store",
                               i);
            return;
        }
    }
}

// `init: key 7 is 'w1' (3,4) float32 on worker 0 and 'w2' (3,5) float32 on worker 2`
static void compare(const mxn_dist *dist, const generation *of, mxp_strbuf *text)
{
    for (uint32_t i = 1; i < dist->worker_count; i++) {
        const visit *first = &of->visits[0], *other = &of->visits[i];
        if (is_same(first, other)) {
            continue;
        }
        if (is_compression(first) || is_compression(other)) {
            mxp__strbuf_puts(text, "gradient compression is ");
        } else {
            mxp__strbuf_printf(text, "init: key %" PRIu32 " is ",
                               first->definition != NULL ? first->header.key : other->header.key);
        }
        describe(text, first);
        mxp__strbuf_puts(text, " on worker 0 and ");
        describe(text, other);
        mxp__strbuf_printf(text, " on worker %" PRIu32, i);
        return;
    }
    refuse_late(dist, of, text);
}

// Some have ended, and others wait for them.
static bool is_hopeless(mxn_dist *dist, const generation *of)
{
    char text[128];
    uint32_t ended = 0, waits = 0, ends = 0;
    for (uint32_t i = 0; i < dist->worker_count; i++) {
        ends += is_end(&of->visits[i]);
        *(is_end(&of->visits[i]) ? &ended : &waits) = i;
    }
    if (ends == 0 || ends == dist->worker_count) {
        return false;
    }
    snprintf(text, sizeof text,
             "worker %" PRIu32 " has ended, and worker %" PRIu32 " waits for it at %s", ended,
             waits, of->visits[waits].definition != NULL ? "an init" : "a barrier");
    mxn__dist_give_up(dist, text);
    return true;
}

// ---- releasing ---------------------------------------------------------------------------------
static void release(mxn_dist *dist, generation *of)
{
    mxp_strbuf text = {0};
    compare(dist, of, &text);
    mxn_wire header = mxn__wire(MXN_WIRE_RELEASE);
    header.round = of->number;
    header.last = of->last;
    if (text.length > 0) {
        header.flags = MXN_WIRE_ERROR;
        header.bytes =
            (uint32_t)(text.length < MXN_WIRE_INLINE_MAX ? text.length : MXN_WIRE_INLINE_MAX);
    }
    for (uint32_t i = 0; i < dist->worker_count; i++) {
        header.wait_ns = of->visits[of->last].at_ns - of->visits[i].at_ns;
        mxn__dist_send(dist, dist->worker_peers[i], &header, mxp__strbuf_text(&text));
    }
    mxp__strbuf_fini(&text);
}

static generation *open_generation(mxn_dist *dist, uint64_t number)
{
    generation **at = find(dist->head, number);
    if (*at == NULL) {
        *at = mxp__alloc(generation_bytes(dist));
        if (*at != NULL) {
            (*at)->number = number;
        }
    }
    return *at;
}

static int visit_generation(generation *of, uint32_t worker, const mxn_wire *header,
                            const void *inlined)
{
    mxn_definition definition;
    visit *to = &of->visits[worker];
    if (to->is_here) {
        return mxp__fail(MXP_EFORMAT, "it comes to a barrier at which it is");
    }
    if (header->bytes > 0) {
        int error = mxn__definition_read(inlined, header->bytes, &definition);
        to->definition = error == MXP_OK ? mxp__alloc(header->bytes) : NULL;
        if (to->definition == NULL) {
            return error != MXP_OK ? error : mxp__fail_memory("a barrier");
        }
        memcpy(to->definition, inlined, header->bytes);
    }
    to->is_here = true;
    to->header = *header;
    to->at_ns = mxp__os_monotonic_ns();
    of->last = worker;
    of->here++;
    return MXP_OK;
}

void mxn__head_barrier(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    if ((dist->transport->peers[peer].roles & MXN_ROLE_WORKER) == 0 || mxn__wire_has_body(header)) {
        mxn__dist_lose(dist, peer, "it is at no barrier of workers");
        return;
    }
    generation *of = open_generation(dist, header->round);
    int error = of == NULL
                    ? mxp__fail_memory("a barrier")
                    : visit_generation(of, dist->transport->peers[peer].worker, header, inlined);
    if (error != MXP_OK) {
        mxn__dist_lose(dist, peer, mxp_last_error());
        return;
    }
    if (of->here == dist->worker_count) {
        generation **at = find(dist->head, of->number);
        *at = of->next;
        if (!is_hopeless(dist, of)) {
            release(dist, of);
        }
        free_generation(dist, of);
    }
}

int mxn__head_init(mxn_dist *dist)
{
    dist->head = mxp__alloc(sizeof *dist->head);
    return dist->head == NULL ? mxp__fail_memory("barriers") : MXP_OK;
}

void mxn__head_fini(mxn_dist *dist)
{
    while (dist->head != NULL && dist->head->first != NULL) {
        generation *of = dist->head->first;
        dist->head->first = of->next;
        free_generation(dist, of);
    }
    mxp__free(dist->head, sizeof *dist->head);
}
