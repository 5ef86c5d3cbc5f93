// SPDX-License-Identifier: Apache-2.0
// Compressed stores: what the workers have agreed on, and the words of a key (two_bit.h). A push is
// compressed or not from its submission on; its messages say so themselves, with the threshold, so
// that owners keep nothing of it.
#include <assert.h>

#include "base/fail.h"
#include "runtime/kvstore/dist_compression.h"

// ---- agreeing ----------------------------------------------------------------------------------
int mxn__compression_begin_locked(mxn_dist *dist, const mxn_dist_operation *of)
{
    mxn_store_keys *store = &dist->stores[of->store];
    if (of->store >= dist->store_count) {
        return mxp__fail(MXP_EINVAL, "there is no store %u", of->store);
    }
    if (!mxn__two_bit_is_threshold(of->threshold)) {
        return mxp__fail(MXP_EINVAL, "threshold must be greater than 0, and finite: %g",
                         (double)of->threshold);
    }
    if (dist->hosts.are_two_levels && !store->is_async) {
        return mxp__fail(MXP_ENOTSUP,
                         "gradient compression: with sums of two levels what goes between hosts is "
                         "their sums, which are not compressed; set MXNET_KVSTORE_LEVELS to 1");
    }
    if (store->is_agreeing) {
        return mxp__fail(MXP_ESTATE, "gradient compression of this store is being set");
    }
    store->is_agreeing = true;
    return MXP_OK;
}

void mxn__compression_end(mxn_dist *dist, const mxn_dist_op *op)
{
    mxp__lock(&dist->lock);
    mxn_store_keys *store = &dist->stores[op->of.store];
    assert(store->is_agreeing);
    store->is_agreeing = false;
    store->threshold = op->error == MXP_OK ? op->of.threshold : store->threshold;
    mxp__unlock(&dist->lock);
}

float mxn_dist_threshold(mxn_dist *dist, uint16_t store)
{
    mxp__lock(&dist->lock);
    const float threshold = dist->stores[store].threshold;
    mxp__unlock(&dist->lock);
    return threshold;
}

// ---- pushes ------------------------------------------------------------------------------------
int mxn__compression_check_locked(mxn_dist *dist, const mxn_dist_operation *of,
                                  const mxn_dist_key *key, float *threshold)
{
    const mxn_store_keys *store = &dist->stores[of->store];
    *threshold = 0;
    if (of->kind != MXN_DIST_PUSH && of->kind != MXN_DIST_PUSHPULL) {
        return MXP_OK;
    }
    if (store->is_agreeing) {
        return mxp__fail(MXP_ESTATE, "key %s: gradient compression of its store is being set",
                         key->name);
    }
    if (store->threshold > 0 && of->kind == MXN_DIST_PUSHPULL) {
        return mxp__fail(MXP_ENOTSUP,
                         "key %s: Compression not supported with PushPull: push, then pull",
                         key->name);
    }
    if (store->threshold > 0 && key->dtype != MXN_FLOAT32) {
        return mxp__fail(MXP_ENOTSUP,
                         "key %s: Gradient compression is only supported for float32 type of "
                         "parameters, this one is %s",
                         key->name, mxn_dtype_name(key->dtype));
    }
    *threshold = store->threshold;
    return MXP_OK;
}

uint64_t mxn_dist_compressed_bytes(mxn_dist *dist, uint16_t store, uint32_t key)
{
    const mxn_dist_key *of = mxn__dist_find(dist, store, key);
    assert(of != NULL && of->dtype == MXN_FLOAT32);
    return of->words_bytes;
}

// Part by part: the pieces within one follow each other in whole words.
void mxn_dist_compress(mxn_dist *dist, uint16_t store, uint32_t key, float threshold,
                       const float *gradient, float *residual, void *words)
{
    const mxn_dist_key *of = mxn__dist_find(dist, store, key);
    assert(of != NULL && of->dtype == MXN_FLOAT32 && dist->config.piece_bytes % 64 == 0);
    for (uint32_t i = 0; i < of->part_count; i++) {
        const mxn_key_part *part = &of->parts[i];
        const uint64_t first = part->offset / sizeof *gradient;
        mxn__two_bit_encode(gradient + first, residual + first, part->bytes / sizeof *gradient,
                            threshold, (unsigned char *)words + part->words_offset);
    }
}
