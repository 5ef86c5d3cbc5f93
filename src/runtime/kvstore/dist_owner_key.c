// SPDX-License-Identifier: Apache-2.0
// Parts of keys on their owner: made as worker 0 defines them.
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/os/memory.h"
#include "runtime/kvstore/dist_owner.h"

// Worker 0 is as it is, so this is about two releases that are the same and yet differ, or worse.
static int check(const mxn_dist *dist, uint32_t peer, const mxn_wire *header,
                 const mxn_definition *definition)
{
    const mxn_owner *owner = dist->owner;
    const uint64_t elements = mxn_shape_size(&definition->shape);
    const uint64_t bytes = header->round, piece_bytes = header->wait_ns;
    if (dist->transport->peers[peer].worker != 0 || header->store >= MXN_DIST_STORES_MAX ||
        !mxn_dtype_known(header->dtype)) {
        return mxp__fail(MXP_EFORMAT, "key '%.40s' is defined by worker 0, of a known type",
                         definition->name);
    }
    const uint64_t size = mxn_dtype_size(header->dtype);
    if (elements > UINT64_MAX / 8 || header->offset > elements * size ||
        bytes > elements * size - header->offset || bytes % size != 0 ||
        header->offset % size != 0) {
        return mxp__fail(MXP_EFORMAT, "key '%.40s' has no part of %" PRIu64 " bytes at %" PRIu64,
                         definition->name, bytes, header->offset);
    }
    const uint64_t limit = dist->config.owner_bytes;
    if (limit != 0 && 2 * bytes > limit - owner->stored_bytes) {
        return mxp__fail(MXP_ENOMEM,
                         "key '%.40s': its %" PRIu64 " bytes and those of its sum are more than is "
                         "left of MXNET_KVSTORE_OWNER_BYTES, which is %" PRIu64,
                         definition->name, bytes, limit);
    }
    if (piece_bytes == 0 || piece_bytes % 64 != 0 || piece_bytes > MXN_WIRE_BYTES_MAX ||
        bytes / piece_bytes >= MXN_WIRE_SLOTS_MAX - header->slot ||
        header->slot != owner->slot_count) {
        return mxp__fail(MXP_EFORMAT,
                         "key '%.40s' cannot be in pieces of %" PRIu64 " bytes from slot %" PRIu32,
                         definition->name, piece_bytes, header->slot);
    }
    return MXP_OK;
}

static void fill_pieces(mxn_owner_part *part, uint64_t piece_bytes)
{
    for (uint32_t i = 0; i < part->piece_count; i++) {
        const uint64_t offset = i * piece_bytes, left = part->bytes - offset;
        part->pieces[i] =
            (mxn_owner_piece){.offset = offset,
                              .bytes = (uint32_t)(left < piece_bytes ? left : piece_bytes),
                              .arrivals = part->arrivals + i * (size_t)part->pushers};
    }
}

// Zeros, touched after the advice: pages that are there stay as they are.
static unsigned char *new_value(uint64_t bytes)
{
    const size_t wanted = bytes == 0 ? 1 : bytes;
    unsigned char *made = mxp__realloc(NULL, 0, wanted);
    if (made != NULL) {
        mxp__os_advise_huge(made, wanted);
        memset(made, 0, wanted);
    }
    return made;
}

static int allocate(mxn_owner_part *part)
{
    const uint32_t workers = part->pushers;
    part->pieces = mxp__alloc(part->piece_count * sizeof *part->pieces);
    part->arrivals = mxp__alloc(part->piece_count * (size_t)workers * sizeof *part->arrivals);
    part->here = mxp__alloc(workers * sizeof *part->here);
    part->here_ns = mxp__alloc(workers * sizeof *part->here_ns);
    for (int i = 0; i < 2; i++) {
        part->values[i] = new_value(part->bytes);
    }
    return part->name == NULL || part->pieces == NULL || part->arrivals == NULL ||
                   part->here == NULL || part->here_ns == NULL || part->values[0] == NULL ||
                   part->values[1] == NULL
               ? mxp__fail_memory("a key")
               : MXP_OK;
}

static int new_part(mxn_dist *dist, const mxn_wire *header, const mxn_definition *definition,
                    mxn_owner_part **made)
{
    const uint64_t size = mxn_dtype_size(header->dtype), piece_bytes = header->wait_ns;
    mxn_owner_part *part = mxp__alloc(sizeof *part);
    if (part == NULL) {
        return mxp__fail_memory("a key");
    }
    *part = (mxn_owner_part){
        .dist = dist,
        .name = mxp__strdup(definition->name),
        .is_async = (header->flags & MXN_WIRE_ASYNC) != 0,
        .slot = header->slot,
        .pushers = (header->flags & MXN_WIRE_LOCAL) != 0   ? dist->hosts.local_count
                   : (header->flags & MXN_WIRE_ASYNC) != 0 ? dist->worker_count
                                                           : dist->hosts.count,
        .piece_count =
            header->round == 0 ? 1 : (uint32_t)((header->round + piece_bytes - 1) / piece_bytes),
        .offset = header->offset,
        .bytes = header->round,
        .of = {.store = header->store,
               .key = header->key,
               .dtype = header->dtype,
               .first = header->offset / size,
               .elements = header->round / size,
               .key_elements = mxn_shape_size(&definition->shape)}};
    mxn_shape_copy(&part->shape, &definition->shape);
    part->of.name = part->name;
    part->of.shape = &part->shape;
    int error = allocate(part);
    if (error != MXP_OK) {
        mxn__owner_free_part(part);
        return error;
    }
    fill_pieces(part, piece_bytes);
    *made = part;
    return MXP_OK;
}

static int add_slots(mxn_owner *owner, mxn_owner_part *part)
{
    const size_t count = owner->slot_count + part->piece_count;
    int error = mxp__grow(&owner->slots, &owner->slot_capacity, count, sizeof *owner->slots);
    if (error == MXP_OK) {
        error =
            mxp__grow(&owner->slot_parts, &owner->part_capacity, count, sizeof *owner->slot_parts);
    }
    if (error != MXP_OK) {
        return error;
    }
    for (uint32_t i = 0; i < part->piece_count; i++) {
        owner->slots[owner->slot_count] = &part->pieces[i];
        owner->slot_parts[owner->slot_count++] = part;
    }
    owner->stored_bytes += 2 * part->bytes;
    part->next = owner->parts;
    owner->parts = part;
    return MXP_OK;
}

// What cannot be made is told to who asks for it.
void mxn__owner_define(mxn_dist *dist, uint32_t peer, const mxn_wire *header, const void *inlined)
{
    mxn_definition definition;
    mxn_owner_part *part = NULL;
    int error = mxn__wire_has_body(header)
                    ? mxp__fail(MXP_EFORMAT, "the definition of a key is in its message")
                    : mxn__definition_read(inlined, header->bytes, &definition);
    if (error == MXP_OK) {
        error = check(dist, peer, header, &definition);
    }
    if (error == MXP_OK) {
        error = new_part(dist, header, &definition, &part);
    }
    if (error == MXP_OK) {
        error = add_slots(dist->owner, part);
    }
    if (error != MXP_OK) {
        mxn__owner_free_part(part);
        mxp__strfree(dist->owner->refusal);
        dist->owner->refusal = mxp__strdup(mxp_last_error());
        return;
    }
    // The larger class of recycled buffers holds the pieces that there are.
    if (header->wait_ns > dist->pool.piece_bytes) {
        mxn__pool_fini(&dist->pool);
        dist->pool.piece_bytes = header->wait_ns;
    }
}

// ---- with two levels ---------------------------------------------------------------------------
int mxn__owner_add_host_part(mxn_dist *dist, mxn_dist_key *key, uint32_t index)
{
    mxn_key_part *of = &key->parts[index];
    mxn_owner_part *part = NULL;
    mxn_definition definition;
    mxn_wire header = mxn__wire(MXN_WIRE_KEY);
    header.flags = MXN_WIRE_LOCAL;
    header.key = key->number;
    header.store = key->store;
    header.dtype = (uint16_t)key->dtype;
    header.slot = of->host_slot;
    header.offset = of->offset;
    header.round = of->bytes;
    header.wait_ns = dist->config.piece_bytes;
    mxn_shape_copy(&definition.shape, &key->shape);
    strcpy(definition.name, key->name);
    int error = new_part(dist, &header, &definition, &part);
    if (error != MXP_OK) {
        return error;
    }
    part->host_key = key;
    part->host_index = index;
    part->next = dist->owner->parts;
    dist->owner->parts = part;
    dist->owner->stored_bytes += 2 * part->bytes;
    of->host_part = part;
    return MXP_OK;
}

uint32_t mxn__owner_place(const mxn_owner_part *part, uint32_t worker)
{
    const mxn_hosts *hosts = &part->dist->hosts;
    return part->host_key != NULL ? mxn__hosts_local(hosts, worker)
           : part->is_async       ? worker
                                  : hosts->of[worker];
}

bool mxn__owner_sums_hosts(const mxn_owner_part *part)
{
    return part->dist->hosts.are_two_levels && part->host_key == NULL && !part->is_async;
}

static mxn_owner_piece *find_host_piece(mxn_dist *dist, const mxn_wire *header,
                                        mxn_owner_part **part)
{
    const mxn_dist_key *key = mxn__dist_find(dist, header->store, header->key);
    *part = NULL;
    for (uint32_t i = 0; key != NULL && i < key->part_count; i++) {
        const mxn_key_part *of = &key->parts[i];
        if (of->host_part != NULL && header->slot >= of->host_slot &&
            header->slot - of->host_slot < of->pieces) {
            *part = of->host_part;
            return &of->host_part->pieces[header->slot - of->host_slot];
        }
    }
    return NULL;
}

mxn_owner_piece *mxn__owner_find(mxn_dist *dist, const mxn_wire *header, mxn_owner_part **part)
{
    const mxn_owner *owner = dist->owner;
    if ((header->flags & MXN_WIRE_LOCAL) != 0) {
        return find_host_piece(dist, header, part);
    }
    *part = header->slot < owner->slot_count ? owner->slot_parts[header->slot] : NULL;
    if (*part == NULL || (*part)->of.key != header->key || (*part)->of.store != header->store) {
        *part = NULL;
        return NULL;
    }
    return owner->slots[header->slot];
}

void mxn__owner_free_part(mxn_owner_part *part)
{
    if (part == NULL) {
        return;
    }
    const uint32_t workers = part->pushers;
    mxn__host_free(part->forward);
    if (part->pieces != NULL) {
        mxn__round_free(part);
    }
    for (int i = 0; i < 2; i++) {
        mxp__free(part->values[i], part->bytes == 0 ? 1 : part->bytes);
    }
    mxp__free(part->wide, (part->of.elements + 1) * sizeof *part->wide);
    mxp__free(part->here_ns, workers * sizeof *part->here_ns);
    mxp__free(part->here, workers * sizeof *part->here);
    mxp__free(part->arrivals, part->piece_count * (size_t)workers * sizeof *part->arrivals);
    mxp__free(part->pieces, part->piece_count * sizeof *part->pieces);
    mxp__strfree(part->name);
    mxp__free(part, sizeof *part);
}
