// SPDX-License-Identifier: Apache-2.0
// MXNET_KVSTORE_*: the variables of a distributed store.
#include <string.h>

#include "base/fail.h"
#include "base/setting.h"
#include "runtime/kvstore/dist.h"

// X(member, variable, default, least, most)
#define NUMBERS(X)                                                                             \
    X(bigarray_bound, "MXNET_KVSTORE_BIGARRAY_BOUND", 1000000, 1, UINT64_C(1) << 40)           \
    X(piece_bytes, "MXNET_KVSTORE_PIECE_BYTES", 512 << 10, 64, MXN_WIRE_BYTES_MAX)             \
    X(owner_inflight_bytes, "MXNET_KVSTORE_OWNER_INFLIGHT", UINT64_C(64) << 20, 1, UINT64_MAX) \
    X(owner_held_bytes, "MXNET_KVSTORE_OWNER_HELD", 0, 0, UINT64_MAX)                          \
    X(stall_ns, "MXNET_KVSTORE_STALL_S", 60, 0, UINT64_C(1000000000))

static int read_numbers(mxn_dist_config *config)
{
    const struct {
        uint64_t *to;
        const char *variable;
        uint64_t fallback, least, most;
    } numbers[] = {
#define NUMBER(member, variable, fallback, least, most) \
    {&config->member, variable, fallback, least, most},
        NUMBERS(NUMBER)
#undef NUMBER
    };
    int error = MXP_OK;
    for (size_t i = 0; error == MXP_OK && i < sizeof numbers / sizeof *numbers; i++) {
        error = mxp__setting_read(numbers[i].variable, numbers[i].fallback, numbers[i].least,
                                  numbers[i].most, numbers[i].to);
    }
    return error;
}

static int read_word(const char *variable, const char *first, const char *second, bool *is_second)
{
    const char *text = mxp__setting_text(variable);
    *is_second = text != NULL && strcmp(text, second) == 0;
    return text == NULL || *is_second || strcmp(text, first) == 0
               ? MXP_OK
               : mxp__fail(MXP_EVALUE, "%s='%.40s': set it to '%s' or '%s'", variable, text, first,
                           second);
}

int mxn_dist_config_read(mxn_dist_config *config)
{
    *config = (mxn_dist_config){.window = 8, .exchanges_stamps = true};
    int error = read_numbers(config);
    if (error == MXP_OK) {
        error = read_word("MXNET_KVSTORE_SUM", "rank", "arrival", &config->sum_by_arrival);
    }
    if (error == MXP_OK) {
        error =
            read_word("MXPROF_DISTRIBUTED_DETAIL", "rounds", "messages", &config->records_messages);
    }
    config->piece_bytes = (config->piece_bytes + 63) / 64 * 64;
    config->stall_ns *= UINT64_C(1000000000);
    return error;
}
