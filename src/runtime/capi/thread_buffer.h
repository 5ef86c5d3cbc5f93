// SPDX-License-Identifier: Apache-2.0
// What functions of the C ABI hand out by address: one buffer for each thread and kind, valid until
// the same thread asks for that kind again. It goes with its thread.
#ifndef MXN_CAPI_THREAD_BUFFER_H
#define MXN_CAPI_THREAD_BUFFER_H

#include <stddef.h>
#include <stdint.h>

enum {
    MXN_BUFFER_DIMS = 0,  // of MXNDArrayGetShape
    MXN_BUFFER_DIMS64 = 1,  // of MXNDArrayGetShape64
    MXN_BUFFER_OUTPUTS = 2,  // handles: of MXImperativeInvoke, MXExecutorOutputs
    MXN_BUFFER_STYPES = 3,  // storage types of these
    MXN_BUFFER_GRADIENTS = 4,  // handles: of MXAutogradBackwardEx
    MXN_BUFFER_GRADIENT_STYPES = 5,
    MXN_BUFFER_LOADED = 6,  // handles: of MXNDArrayLoad
    MXN_BUFFER_NAMES = 7,  // names of these
    MXN_BUFFER_TEXTS = 8,  // lists of names and attributes of a symbol
    MXN_BUFFER_TEXT = 9,  // one text of a symbol
    MXN_BUFFER_INFERRED = 10,  // shapes of a symbol
    MXN_BUFFER_INFERRED_TYPES = 11,
    MXN_BUFFER_BOUND = 12,  // handles: of MXExecutorSimpleBind
    MXN_BUFFER_SHARED = 13,  // names and handles of its shared buffer
    MXN_BUFFER_RAW = 14,  // of MXNDArraySaveRawBytes
    MXN_BUFFER_KINDS = 15
};

// At least `bytes`, not zeroed; null with the detail set. Never null for success, also of size 0.
void *mxn__thread_buffer(int kind, size_t bytes);

// Storage types of `count` outputs, all of them dense, if the program asks for them. MXP_ENOMEM.
int mxn__give_storage_types(uint32_t count, const int **out_stypes);

#endif
