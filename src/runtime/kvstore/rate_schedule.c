// SPDX-License-Identifier: Apache-2.0
#include "runtime/kvstore/rate_schedule.h"

#include <assert.h>
#include <math.h>

#include "base/alloc.h"

static const double half_circle = 3.14159265358979323846;

static double factor_rate(const mxn_kv_schedule *s, double updates)
{
    const double drops = floor(fmax(0, updates - 1) / s->steps[0]);
    return fmax(s->stop_factor_lr, s->base_lr * pow(s->factor, drops));
}

static double multi_factor_rate(const mxn_kv_schedule *s, double updates)
{
    uint32_t passed = 0;
    while (passed < s->step_count && updates > s->steps[passed]) {
        passed++;
    }
    return s->base_lr * pow(s->factor, passed);
}

// From 0 to 1 between the end of the warm-up and the last update.
static double part_of(const mxn_kv_schedule *s, double updates)
{
    const double span = fmax(1, s->max_update - s->warmup_steps);
    return fmin(1, (updates - s->warmup_steps) / span);
}

static double falling_rate(const mxn_kv_schedule *s, double height)
{
    return s->final_lr + (s->base_lr - s->final_lr) * height;
}

static double warm_rate(const mxn_kv_schedule *s, double updates)
{
    switch (s->kind) {
    case MXN_KV_FACTOR:
        return factor_rate(s, updates);
    case MXN_KV_MULTI_FACTOR:
        return multi_factor_rate(s, updates);
    case MXN_KV_POLY:
        return falling_rate(s, pow(1 - part_of(s, updates), s->power));
    default:
        assert(s->kind == MXN_KV_COSINE);
        return falling_rate(s, (1 + cos(half_circle * part_of(s, updates))) / 2);
    }
}

double mxn__kv_schedule_rate(const mxn_kv_schedule *schedule, uint64_t updates)
{
    const mxn_kv_schedule *s = schedule;
    const double now = (double)updates;
    if (now >= s->warmup_steps) {
        return warm_rate(s, now);
    }
    return s->warmup_is_constant
               ? s->warmup_begin_lr
               : s->warmup_begin_lr + (s->base_lr - s->warmup_begin_lr) * (now / s->warmup_steps);
}

void mxn__kv_schedule_fini(mxn_kv_schedule *schedule)
{
    mxp__free(schedule->steps, schedule->step_count * sizeof(double));
    *schedule = (mxn_kv_schedule){.kind = MXN_KV_NO_SCHEDULE};
}
