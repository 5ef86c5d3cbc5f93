// SPDX-License-Identifier: Apache-2.0
// What LARS does beside the update: rates from the norms of weight and gradient, and a momentum
// that follows changes of the rate. Private to the updater.
#ifndef MXN_KVSTORE_LAYERED_RATES_H
#define MXN_KVSTORE_LAYERED_RATES_H

#include "runtime/kvstore/update_rules.h"
#include "runtime/tensor/tensor.h"

typedef struct mxn_kv_layered_rates {
    double rate, rate_before;  // of the latest step, and of the one before
    uint64_t updates;  // at the latest; 0: none yet
} mxn_kv_layered_rates;

// The momentum of a step. A change of the rate scales it once.
double mxn__kv_layered_momentum(mxn_kv_layered_rates *layered, const mxn_kv_settings *settings,
                                double rate, uint64_t updates);

// Pushes what makes two arrays of one float32 each, which are the caller's: rate and decay of a
// weight. On failure they may be null, or not be made.
int mxn__kv_layered_rates_make(const mxn_kv_settings *settings, const mxn_kv_step *step,
                               bool follows_norms, mxn_array *gradient, mxn_array *weight,
                               mxn_array **rates, mxn_array **decays);

#endif
