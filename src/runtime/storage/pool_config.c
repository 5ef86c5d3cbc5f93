// SPDX-License-Identifier: Apache-2.0
// The pool's environment variables. MXNet's documentation and its code disagree on two names; both
// spellings count, the documented one first.
#include "runtime/storage/pool_config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/setting.h"

enum { NAME_CHARS = 64, PAGE_MIN = 32 };

static const uint64_t bytes_max = UINT64_C(1) << 62;

// The name of the variable that counts: MXNET_<kind>_<name>, or its other spelling if only that is
// set.
static void choose(const char *kind, const char *name, const char *other, char *variable)
{
    snprintf(variable, NAME_CHARS, "MXNET_%s_%s", kind, name);
    if (getenv(variable) == NULL && other != NULL) {
        snprintf(variable, NAME_CHARS, "MXNET_%s_%s", kind, other);
    }
}

static int read_type(const char *kind, int *type)
{
    static const char *const words[] = {"Naive", "Round", "Unpooled", NULL};
    char variable[NAME_CHARS];
    choose(kind, "MEM_POOL_TYPE", NULL, variable);
    const char *text = getenv(variable);
    for (int i = 0; text != NULL && words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            *type = i;
            return MXP_OK;
        }
    }
    return text == NULL
               ? MXP_OK
               : mxp__fail(MXP_EVALUE, "%s=%s: must be Naive, Round or Unpooled", variable, text);
}

static int read_naive_switch(int *type)
{
    static const char *const names[] = {"MXNET_USE_NAIVE_STORAGE_MANAGER",
                                        "MXNET_USE_NAIVE_STORAGE_MANAGERS"};
    static const char *const words[] = {"0", "false", "False", "1", "true", "True"};
    for (int i = 0; i < 2; i++) {
        const char *text = getenv(names[i]);
        int found = 0;
        while (text != NULL && found < 6 && strcmp(text, words[found]) != 0) {
            found++;
        }
        if (found == 6) {
            return mxp__fail(MXP_EVALUE, "%s=%s: must be 0, 1, true or false", names[i], text);
        }
        if (text != NULL && found >= 3) {
            *type = MXN__POOL_NONE;
        }
    }
    return MXP_OK;
}

static int read_page(const char *kind, mxn_pool_config *config)
{
    char variable[NAME_CHARS];
    choose(kind, "MEM_POOL_PAGE_SIZE", "POOL_PAGE_SIZE", variable);
    int error = mxp__setting_read(variable, 4096, PAGE_MIN, bytes_max, &config->page_bytes);
    bool power = (config->page_bytes & (config->page_bytes - 1)) == 0;
    if (error == MXP_OK && config->type == MXN__POOL_ROUND && !power) {
        error = mxp__fail(MXP_EVALUE, "%s='%.40s': set it to a power of two for pool type Round",
                          variable, getenv(variable));
    }
    return error;
}

static int read_sizes(const char *kind, mxn_pool_config *config)
{
    char variable[NAME_CHARS];
    uint64_t cutoff = 0, reserve = 0;
    int error = read_page(kind, config);
    if (error == MXP_OK) {
        choose(kind, "MEM_LARGE_ALLOC_ROUND_SIZE", NULL, variable);
        error = mxp__setting_read(variable, UINT64_C(1) << 21, 1, bytes_max, &config->large_bytes);
    }
    if (error == MXP_OK) {
        choose(kind, "MEM_POOL_ROUND_LINEAR_CUTOFF", NULL, variable);
        error = mxp__setting_read(variable, 24, 20, 34, &cutoff);
    }
    if (error == MXP_OK) {
        choose(kind, "MEM_POOL_RESERVE", NULL, variable);
        error = mxp__setting_read(variable, 5, 0, 100, &reserve);
    }
    config->linear_bytes = UINT64_C(1) << cutoff;
    config->reserve_percent = (uint32_t)reserve;
    return error;
}

int mxn__pool_config_read(const char *kind, mxn_pool_config *config)
{
    *config = (mxn_pool_config){.type = MXN__POOL_NAIVE};
    int error = read_type(kind, &config->type);
    if (error == MXP_OK) {
        error = read_naive_switch(&config->type);
    }
    return error == MXP_OK ? read_sizes(kind, config) : error;
}

static uint64_t multiple_of(uint64_t unit, uint64_t bytes)
{
    uint64_t more = bytes % unit;
    return more == 0 ? bytes : bytes + (unit - more);
}

uint64_t mxn__pool_round(const mxn_pool_config *config, uint64_t bytes)
{
    if (bytes > bytes_max) {
        return 0;
    }
    if (config->type == MXN__POOL_NONE) {
        return bytes;
    }
    if (config->type == MXN__POOL_NAIVE) {
        bool large = bytes > config->large_bytes;
        return multiple_of(large ? config->large_bytes : config->page_bytes, bytes);
    }
    if (bytes > config->linear_bytes) {
        return multiple_of(config->linear_bytes, bytes);
    }
    uint64_t rounded = config->page_bytes;
    while (rounded < bytes) {
        rounded *= 2;
    }
    return rounded;
}
