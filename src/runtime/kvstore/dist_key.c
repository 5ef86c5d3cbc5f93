// SPDX-License-Identifier: Apache-2.0
// The split is the original's, because a server's profile depends on it: keys up to the bound are
// whole on owner (key x 9973) mod owners, longer ones in equal parts on all.
#include "runtime/kvstore/dist_key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

static size_t key_bytes(uint32_t part_count)
{
    return sizeof(mxn_dist_key) + part_count * sizeof(mxn_key_part);
}

static uint32_t pieces_of(uint64_t bytes, uint64_t piece_bytes)
{
    return bytes == 0 ? 1 : (uint32_t)((bytes + piece_bytes - 1) / piece_bytes);
}

static void fill_parts(const mxn_split *split, mxn_dist_key *key)
{
    const size_t size = mxn_dtype_size(key->dtype);
    for (uint32_t i = 0; i < key->part_count; i++) {
        // Within 64 bits: an array of 2^62 elements has been refused before it comes here.
        const uint64_t first = key->elements / key->part_count * i +
                               key->elements % key->part_count * i / key->part_count;
        const uint64_t end = key->elements / key->part_count * (i + 1) +
                             key->elements % key->part_count * (i + 1) / key->part_count;
        const uint64_t bytes = (end - first) * size;
        key->parts[i] = (mxn_key_part){
            .owner =
                key->part_count == 1 ? (uint32_t)((uint64_t)key->number * 9973 % split->owners) : i,
            .pieces = pieces_of(bytes, split->piece_bytes),
            .before = key->pieces,
            .offset = first * size,
            .bytes = bytes,
            .words_offset = key->words_bytes,
            .words_bytes = mxn__two_bit_bytes(end - first)};
        key->pieces += key->parts[i].pieces;
        key->words_bytes += key->parts[i].words_bytes;
    }
}

static int take_slots(const mxn_split *split, mxn_dist_key *key)
{
    for (uint32_t i = 0; i < key->part_count; i++) {
        const mxn_key_part *part = &key->parts[i];
        const uint32_t taken = split->locals == 0 ? 0 : *split->host_slots + key->pieces;
        if (taken > split->slots_max ||
            part->pieces > split->slots_max - taken - split->next_slot[part->owner]) {
            return mxp__fail(MXP_ENOTSUP,
                             "key '%s': owner %" PRIu32 " has no place for %" PRIu32
                             " pieces more; set MXNET_KVSTORE_PIECE_BYTES, now %" PRIu64
                             ", to a larger value",
                             key->name, part->owner, part->pieces, split->piece_bytes);
        }
    }
    for (uint32_t i = 0; i < key->part_count; i++) {
        mxn_key_part *part = &key->parts[i];
        part->slot = split->next_slot[part->owner];
        split->next_slot[part->owner] += part->pieces;
        if (split->locals > 0) {
            *split->host_slots += part->pieces;
            part->host_slot = split->slots_max - *split->host_slots;
            part->summer = (key->number + i) % split->locals;
        }
    }
    return MXP_OK;
}

static int check(const char *name, const mxn_shape *shape, int dtype)
{
    if (name == NULL || strlen(name) >= MXN_DIST_NAME_MAX) {
        return mxp__fail(MXP_EINVAL, "the name of a key has at most %d bytes: '%.40s...'",
                         MXN_DIST_NAME_MAX - 1, name == NULL ? "" : name);
    }
    if (!mxn_shape_known(shape) || mxn_shape_size(shape) > (UINT64_C(1) << 40)) {
        return mxp__fail(MXP_EINVAL, "key '%s': its shape is not known, or beyond 2^40 elements",
                         name);
    }
    return mxn_dtype_check(dtype);
}

int mxn__dist_key_new(const mxn_split *split, uint16_t store, uint32_t number, const char *name,
                      const mxn_shape *shape, int dtype, mxn_dist_key **key)
{
    int error = check(name, shape, dtype);
    if (error != MXP_OK) {
        return error;
    }
    const uint64_t elements = mxn_shape_size(shape);
    const uint32_t parts = elements > split->bigarray_bound ? split->owners : 1;
    mxn_dist_key *made = mxp__alloc(key_bytes(parts));
    char *copy = mxp__strdup(name);
    if (made == NULL || copy == NULL) {
        mxp__free(made, key_bytes(parts));
        mxp__strfree(copy);
        return mxp__fail_memory("a key");
    }
    *made = (mxn_dist_key){.store = store,
                           .number = number,
                           .dtype = dtype,
                           .name = copy,
                           .elements = elements,
                           .bytes = elements * mxn_dtype_size(dtype),
                           .part_count = parts};
    mxn_shape_copy(&made->shape, shape);
    fill_parts(split, made);
    error = take_slots(split, made);
    if (error != MXP_OK) {
        mxn__dist_key_free(made);
        return error;
    }
    *key = made;
    return MXP_OK;
}

void mxn__dist_key_free(mxn_dist_key *key)
{
    if (key != NULL) {
        mxp__strfree(key->name);
        mxp__free(key, key_bytes(key->part_count));
    }
}

// ---- definitions -------------------------------------------------------------------------------
uint32_t mxn__definition_write(const mxn_dist_key *key, unsigned char *to)
{
    const uint32_t dims = (uint32_t)key->shape.ndim;
    const size_t length = strlen(key->name);
    memcpy(to, &dims, sizeof dims);
    memcpy(to + 4, key->shape.dims, 8 * (size_t)dims);
    memcpy(to + 4 + 8 * (size_t)dims, key->name, length);
    return (uint32_t)(4 + 8 * (size_t)dims + length);
}

int mxn__definition_read(const void *from, uint32_t bytes, mxn_definition *definition)
{
    const unsigned char *at = from;
    uint32_t dims = 0;
    if (bytes >= sizeof dims) {
        memcpy(&dims, at, sizeof dims);
    }
    if (bytes < sizeof dims || dims > MXN_DIMS_MAX || bytes < 4 + 8 * (size_t)dims ||
        bytes - 4 - 8 * (size_t)dims >= MXN_DIST_NAME_MAX) {
        return mxp__fail(MXP_EFORMAT, "%" PRIu32 " bytes are no definition of a key", bytes);
    }
    const size_t length = bytes - 4 - 8 * (size_t)dims;
    definition->shape.ndim = (int32_t)dims;
    memcpy(definition->shape.dims, at + 4, 8 * (size_t)dims);
    memcpy(definition->name, at + 4 + 8 * (size_t)dims, length);
    definition->name[length] = '\0';
    if (!mxn_shape_known(&definition->shape) || !mxn_shape_countable(&definition->shape)) {
        return mxp__fail(MXP_EFORMAT, "key '%.40s': its shape cannot be", definition->name);
    }
    return MXP_OK;
}

// As in `(3,4)`: what Python prints, without blanks.
const char *mxn__definition_text(const mxn_definition *definition, int dtype, char *buffer)
{
    size_t at = (size_t)snprintf(buffer, MXN_DEFINITION_TEXT, "'%s' (", definition->name);
    for (int32_t i = 0; i < definition->shape.ndim; i++) {
        const char *after = i + 1 < definition->shape.ndim ? "," : "";
        at +=
            (size_t)snprintf(buffer + at, MXN_DEFINITION_TEXT - at, "%" PRId64 "%s",
                             definition->shape.dims[i], definition->shape.ndim == 1 ? "," : after);
    }
    snprintf(buffer + at, MXN_DEFINITION_TEXT - at, ") %s", mxn_dtype_name(dtype));
    return buffer;
}
