// SPDX-License-Identifier: Apache-2.0
// Private to src/runtime/storage: how a pool rounds and keeps, from the environment.
#ifndef MXN_STORAGE_POOL_CONFIG_H
#define MXN_STORAGE_POOL_CONFIG_H

#include <stdint.h>

enum { MXN__POOL_NAIVE = 0, MXN__POOL_ROUND = 1, MXN__POOL_NONE = 2 };

typedef struct mxn_pool_config {
    int type;
    uint64_t page_bytes;
    uint64_t large_bytes;  // Naive: above it, multiples of it
    uint64_t linear_bytes;  // Round: above it, multiples of it
    uint32_t reserve_percent;  // of the memory, to be left free
} mxn_pool_config;

// `kind` is the <DEV> of the variables. MXP_EVALUE names the variable, its value and what is valid.
int mxn__pool_config_read(const char *kind, mxn_pool_config *config);

// The bytes a request takes; 0 if they are more than can be counted.
uint64_t mxn__pool_round(const mxn_pool_config *config, uint64_t bytes);

#endif
