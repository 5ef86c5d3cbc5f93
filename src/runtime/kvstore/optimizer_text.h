// SPDX-License-Identifier: Apache-2.0
// Optimizers as text, which is what a worker sends to servers:
//
//   {"name": "sgd", "args": {"learning_rate": 0.1, "momentum": 0.9},
//    "lr_scheduler": {"name": "FactorScheduler", "args": {"step": 10, "factor": 0.5}},
//    "lr_mult": {"0": 1.0}, "wd_mult": {"0": 0.0}, "index": {"0": "dense0_weight"}}
//
// Members but "name" may be missing. A text is JSON below 1 MiB, at most 16 levels deep, of
// numbers, texts, flags, nulls, lists and objects; a member that nobody knows is an error, and so
// is a value that does not fit. Nothing in it can name code. Private to kvstore/.
//
// One thread at a time uses an optimizer. Functions that can fail return 0 or a negative MXP_E code
// with the detail set, which names the member.
#ifndef MXN_KVSTORE_OPTIMIZER_TEXT_H
#define MXN_KVSTORE_OPTIMIZER_TEXT_H

#include "runtime/kvstore/rate_schedule.h"
#include "runtime/kvstore/update_rules.h"

enum { MXN_KV_TEXT_BYTES = 1 << 20, MXN_KV_TEXT_DEPTH = 16 };

typedef struct mxn_kv_optimizer {
    const mxn_kv_rule *rule;
    mxn_kv_settings settings;
    mxn_kv_schedule schedule;
    void *multipliers, *decays, *names;  // private: by key
} mxn_kv_optimizer;

// MXP_ENOTSUP: no rule has that name; says which there are. MXP_EINVAL: anything else.
int mxn__kv_optimizer_read(const char *text, size_t length, mxn_kv_optimizer **made);
void mxn__kv_optimizer_free(mxn_kv_optimizer *optimizer);  // null does nothing

// {"set": {"learning_rate": 0.05, …}}: changes arguments, "lr_mult" and "wd_mult" of one that is in
// use. On failure nothing was changed. MXP_EINVAL: also a learning rate where a schedule gives it.
int mxn__kv_optimizer_set(mxn_kv_optimizer *optimizer, const char *text, size_t length);
// What a text is: a change, {"pickle": …}, which is not for C, or else an optimizer or nothing
// good.
enum { MXN_KV_TEXT_OPTIMIZER, MXN_KV_TEXT_CHANGE, MXN_KV_TEXT_PICKLE };
int mxn__kv_text_kind(const char *text, size_t length);

typedef struct mxn_kv_of_key {
    double lr_mult, wd_mult;
    bool follows_norms;  // LARS: its rate does
} mxn_kv_of_key;

// What is said of the weight that this key has.
mxn_kv_of_key mxn__kv_optimizer_of_key(const mxn_kv_optimizer *optimizer, const char *key);

#endif
