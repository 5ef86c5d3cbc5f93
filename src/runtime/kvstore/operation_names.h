// SPDX-License-Identifier: Apache-2.0
// What operations of a worker are called, by the engine's operators and by the spans beside them:
// the original's names. Private to kvstore/.
#ifndef MXN_KVSTORE_OPERATION_NAMES_H
#define MXN_KVSTORE_OPERATION_NAMES_H

#include <stdbool.h>

#include "runtime/kvstore/dist.h"

typedef enum mxn_named_operation {
    MXN_NAMED_COMPRESSED_PUSH = MXN_DIST_PUSHPULL + 1,  // below: MXN_DIST_* that have keys
    MXN_NAMED_OPERATIONS
} mxn_named_operation;

static const char *const mxn__operation_texts[MXN_NAMED_OPERATIONS] = {
    [MXN_DIST_INIT] = "KVStoreDistInit",
    [MXN_DIST_PUSH] = "KVStoreDistDefaultPush",
    [MXN_DIST_PULL] = "KVStoreDistDefaultStoragePull",
    [MXN_DIST_PUSHPULL] = "KVStoreDistDefaultStoragePushPull",
    [MXN_NAMED_COMPRESSED_PUSH] = "KVStoreDistCompressedPush"};

static inline mxn_named_operation mxn__named_operation(int kind, bool is_compressed)
{
    return is_compressed ? MXN_NAMED_COMPRESSED_PUSH : (mxn_named_operation)kind;
}

#endif
