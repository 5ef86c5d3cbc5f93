// SPDX-License-Identifier: Apache-2.0
// The texts of optimizers that servers are sent: any bytes. What is refused must say why; what is
// accepted gives finite rates for any update, and takes the same bytes as a change or refuses them.
#include <math.h>
#include <mxprof/error.h>
#include <stdint.h>
#include <stdlib.h>

#include "runtime/kvstore/optimizer_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition) {
        abort();
    }
}

static void describe(const mxn_kv_optimizer *optimizer)
{
    static const char *const keys[] = {"0", "a_weight", ""};
    const mxn_kv_rule *rule = optimizer->rule;
    for (uint32_t i = 0; i < 3; i++) {
        const mxn_kv_of_key of = mxn__kv_optimizer_of_key(optimizer, keys[i]);
        const mxn_kv_step step = {
            .lr = of.lr_mult, .wd = of.wd_mult, .count = i + 1, .mixed = rule->knows_copies};
        mxn_kv_operation operation;
        rule->describe(&optimizer->settings, &step, &operation);
        require(operation.name != NULL && operation.count <= MXN_KV_PAIRS);
        require(rule->states(&optimizer->settings) <= 3);
    }
    if (optimizer->schedule.kind != MXN_KV_NO_SCHEDULE) {
        (void)mxn__kv_schedule_rate(&optimizer->schedule, 0);
        (void)mxn__kv_schedule_rate(&optimizer->schedule, UINT64_MAX);
    }
}

static void change(mxn_kv_optimizer *optimizer, const char *text, size_t size)
{
    const double lr = optimizer->settings.lr;
    if (mxn__kv_optimizer_set(optimizer, text, size) != MXP_OK) {
        require(mxp_last_error()[0] != '\0');
        require(optimizer->settings.lr == lr);
    }
    describe(optimizer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char sgd[] = "{\"name\": \"rmsprop\", \"args\": {\"learning_rate\": 0.5}}";
    const char *text = (const char *)data;
    mxn_kv_optimizer *optimizer = NULL;
    require(mxn__kv_optimizer_read(sgd, sizeof sgd - 1, &optimizer) == MXP_OK);
    change(optimizer, text, size);
    mxn__kv_optimizer_free(optimizer);
    if (mxn__kv_optimizer_read(text, size, &optimizer) != MXP_OK) {
        require(optimizer == NULL && mxp_last_error()[0] != '\0');
        return 0;
    }
    require(mxn__kv_text_kind(text, size) == MXN_KV_TEXT_OPTIMIZER);
    describe(optimizer);
    change(optimizer, text, size);
    mxn__kv_optimizer_free(optimizer);
    return 0;
}
