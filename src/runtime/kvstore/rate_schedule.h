// SPDX-License-Identifier: Apache-2.0
// Schedules of learning rates: number of updates to rate, as python/mxnet/lr_scheduler.py has them.
// Private to kvstore/.
#ifndef MXN_KVSTORE_RATE_SCHEDULE_H
#define MXN_KVSTORE_RATE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

enum { MXN_KV_NO_SCHEDULE, MXN_KV_FACTOR, MXN_KV_MULTI_FACTOR, MXN_KV_POLY, MXN_KV_COSINE };

typedef struct mxn_kv_schedule {
    int kind;  // MXN_KV_*
    double base_lr, factor, stop_factor_lr, final_lr, power, max_update;
    double warmup_steps, warmup_begin_lr;
    bool warmup_is_constant;
    double *steps;  // of MULTI_FACTOR, growing; of FACTOR one
    uint32_t step_count;
} mxn_kv_schedule;

// Of a schedule that has a kind. The rate before the update number `updates` + 1 of any weight.
double mxn__kv_schedule_rate(const mxn_kv_schedule *schedule, uint64_t updates);
void mxn__kv_schedule_fini(mxn_kv_schedule *schedule);

#endif
