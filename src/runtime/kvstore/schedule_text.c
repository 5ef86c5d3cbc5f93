// SPDX-License-Identifier: Apache-2.0
// The text of a schedule, checked as the constructors of python/mxnet/lr_scheduler.py do.
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "runtime/kvstore/bounded_json.h"
#include "runtime/kvstore/rate_schedule.h"

#ifdef MXN_WITH_JANSSON
static const char *const schedule_names[] = {
    [MXN_KV_FACTOR] = "FactorScheduler",
    [MXN_KV_MULTI_FACTOR] = "MultiFactorScheduler",
    [MXN_KV_POLY] = "PolyScheduler",
    [MXN_KV_COSINE] = "CosineScheduler",
};

static int schedule_kind(const char *name)
{
    for (int kind = MXN_KV_FACTOR; kind <= MXN_KV_COSINE; kind++) {
        if (strcmp(schedule_names[kind], name) == 0) {
            return kind;
        }
    }
    return MXN_KV_NO_SCHEDULE;
}

static int read_steps(json_t *value, mxn_kv_schedule *schedule)
{
    const bool is_list = schedule->kind == MXN_KV_MULTI_FACTOR;
    const size_t count = is_list ? json_array_size(value) : 1;
    double before = 0;
    if (count == 0 || (!is_list && !json_is_number(value))) {
        return mxp__fail(MXP_EINVAL, "optimizer text: \"step\" of %s must be %s",
                         schedule_names[schedule->kind], is_list ? "a list" : "a number");
    }
    schedule->steps = mxp__alloc(count * sizeof(double));
    if (schedule->steps == NULL) {
        return mxp__fail_memory("the steps of a schedule");
    }
    schedule->step_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        json_t *step = is_list ? json_array_get(value, i) : value;
        const double number = json_is_number(step) ? json_number_value(step) : 0;
        if (!(number >= 1 && number > before)) {
            return mxp__fail(MXP_EINVAL,
                             "optimizer text: \"step\" of %s must be growing numbers from 1",
                             schedule_names[schedule->kind]);
        }
        schedule->steps[i] = before = number;
    }
    return MXP_OK;
}

static int read_warmup_mode(json_t *value, mxn_kv_schedule *schedule)
{
    const char *mode = json_string_value(value);
    if (mode == NULL || (strcmp(mode, "linear") != 0 && strcmp(mode, "constant") != 0)) {
        return mxp__fail(MXP_EINVAL,
                         "optimizer text: \"warmup_mode\" must be \"linear\" or \"constant\"");
    }
    schedule->warmup_is_constant = mode[0] == 'c';
    return MXP_OK;
}

static int read_schedule_argument(const char *key, json_t *value, mxn_kv_schedule *s)
{
    const struct {
        const char *name;
        double *to;
    } numbers[] = {{"base_lr", &s->base_lr},
                   {"factor", &s->factor},
                   {"stop_factor_lr", &s->stop_factor_lr},
                   {"final_lr", &s->final_lr},
                   {"pwr", &s->power},
                   {"max_update", &s->max_update},
                   {"warmup_steps", &s->warmup_steps},
                   {"warmup_begin_lr", &s->warmup_begin_lr}};
    if (strcmp(key, "step") == 0 && s->kind <= MXN_KV_MULTI_FACTOR) {
        return read_steps(value, s);
    }
    if (strcmp(key, "warmup_mode") == 0) {
        return read_warmup_mode(value, s);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(key, numbers[i].name) == 0) {
            return mxn__json_number(value, schedule_names[s->kind], key, numbers[i].to);
        }
    }
    return mxp__fail(MXP_EINVAL, "optimizer text: %s has no argument \"%s\"",
                     schedule_names[s->kind], key);
}

static int check_schedule(const mxn_kv_schedule *s)
{
    const char *wrong = NULL;
    if (s->kind <= MXN_KV_MULTI_FACTOR && s->steps == NULL) {
        wrong = "\"step\" is missing";
    } else if (s->kind == MXN_KV_FACTOR && s->factor > 1) {
        wrong = "\"factor\" must be at most 1";
    } else if (s->kind >= MXN_KV_POLY && !(s->max_update >= 1)) {
        wrong = "\"max_update\" must be at least 1";
    } else if (s->warmup_steps < 0 || s->warmup_begin_lr > s->base_lr) {
        wrong = "\"warmup_steps\" must not be negative, and the rate must rise";
    }
    return wrong == NULL
               ? MXP_OK
               : mxp__fail(MXP_EINVAL, "optimizer text: %s: %s", schedule_names[s->kind], wrong);
}

int mxn__kv_schedule_read(json_t *text, mxn_kv_schedule *schedule)
{
    static const char *const members[] = {"name", "args", NULL};
    const char *name = NULL, *key;
    json_t *args = NULL, *value;
    int error = mxn__json_check_members(text, "\"lr_scheduler\"", members);
    error = error == MXP_OK ? mxn__json_name(text, "\"lr_scheduler\"", &name) : error;
    error = error == MXP_OK ? mxn__json_object(text, "args", &args) : error;
    if (error != MXP_OK) {
        return error;
    }
    const int kind = schedule_kind(name);
    if (kind == MXN_KV_NO_SCHEDULE) {
        return mxp__fail(MXP_ENOTSUP,
                         "optimizer text: no schedule \"%s\" is built in; there are "
                         "FactorScheduler, MultiFactorScheduler, PolyScheduler and CosineScheduler",
                         name);
    }
    *schedule = (mxn_kv_schedule){
        .kind = kind, .base_lr = 0.01, .factor = 1, .power = 2, .stop_factor_lr = 1e-8};
    json_object_foreach(args, key, value)
    {
        error = error == MXP_OK ? read_schedule_argument(key, value, schedule) : error;
    }
    return error == MXP_OK ? check_schedule(schedule) : error;
}
#endif
