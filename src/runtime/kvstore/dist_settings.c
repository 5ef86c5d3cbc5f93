// SPDX-License-Identifier: Apache-2.0
// MXNET_KVSTORE_*: the variables of a distributed store.
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/setting.h"
#include "base/strbuf.h"
#include "runtime/kvstore/dist_node.h"
#include "runtime/kvstore/record_detail.h"

// X(member, variable, default, least, most)
#define NUMBERS(X)                                                                             \
    X(bigarray_bound, "MXNET_KVSTORE_BIGARRAY_BOUND", 1000000, 1, UINT64_C(1) << 40)           \
    X(piece_bytes, "MXNET_KVSTORE_PIECE_BYTES", 512 << 10, 64, MXN_WIRE_BYTES_MAX)             \
    X(bucket_bytes, "MXNET_KVSTORE_BUCKET_BYTES", 512 << 10, 0, MXN_WIRE_BUCKET_MAX)           \
    X(owner_inflight_bytes, "MXNET_KVSTORE_OWNER_INFLIGHT", UINT64_C(64) << 20, 1, UINT64_MAX) \
    X(owner_held_bytes, "MXNET_KVSTORE_OWNER_HELD", 0, 0, UINT64_MAX)                          \
    X(owner_bytes, "MXNET_KVSTORE_OWNER_BYTES", 0, 0, UINT64_MAX)                              \
    X(stall_ns, "MXNET_KVSTORE_STALL_S", 60, 0, UINT64_C(1000000000))                          \
    X(probe_pieces, "MXNET_KVSTORE_PROBE", MXN_PROBE_PIECES_MAX, 0, MXN_PROBE_PIECES_MAX)

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

// The place of the variable's word among `words`, 0 if it is not set.
static int read_word(const char *variable, const char *const *words, int *place)
{
    const char *text = mxp__setting_text(variable);
    *place = 0;
    for (int i = 0; text != NULL && words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            *place = i;
            return MXP_OK;
        }
    }
    mxp_strbuf line = {0};
    for (int i = 0; text != NULL && words[i] != NULL; i++) {
        mxp__strbuf_printf(&line, "%s%s", i == 0 ? "" : ", ", words[i]);
    }
    int error = text == NULL ? MXP_OK
                             : mxp__fail(MXP_EVALUE, "%s='%.40s': set it to one of %s", variable,
                                         text, mxp__strbuf_text(&line));
    mxp__strbuf_fini(&line);
    return error;
}

// What it names is checked when the number of workers is known.
static int read_hosts(mxn_dist_config *config)
{
    const char *text = mxp__setting_text("MXNET_KVSTORE_HOSTS");
    if (text != NULL && strlen(text) >= sizeof config->hosts) {
        return mxp__fail(MXP_EVALUE, "MXNET_KVSTORE_HOSTS has %zu characters, at most %zu",
                         strlen(text), sizeof config->hosts - 1);
    }
    strncpy(config->hosts, text == NULL ? "" : text, sizeof config->hosts - 1);
    return MXP_OK;
}

int mxn_dist_config_read(mxn_dist_config *config)
{
    *config = (mxn_dist_config){.window = 8, .exchanges_stamps = true, .sampled_above = 32};
    static const char *const sums[] = {"rank", "arrival", NULL};
    static const char *const levels[] = {"auto", "1", "2", NULL};
    int error = read_numbers(config), sum = 0, level = 0;
    if (error == MXP_OK) {
        error = read_word("MXNET_KVSTORE_LEVELS", levels, &level);
    }
    if (error == MXP_OK) {
        error = read_hosts(config);
    }
    if (error == MXP_OK) {
        error = read_word("MXNET_KVSTORE_SUM", sums, &sum);
    }
    if (error == MXP_OK) {
        error = mxn_record_detail_of(0, false, &config->detail);
    }
    config->sum_by_arrival = sum == 1;
    config->levels = level;
    config->reads_detail = true;
    config->piece_bytes = (config->piece_bytes + 63) / 64 * 64;
    config->stall_ns *= UINT64_C(1000000000);
    return error;
}
