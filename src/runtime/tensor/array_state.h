// SPDX-License-Identifier: Apache-2.0
// Private to src/runtime/tensor: how arrays and buffers come and go.
#ifndef MXN_TENSOR_ARRAY_STATE_H
#define MXN_TENSOR_ARRAY_STATE_H

#include "runtime/tensor/tensor.h"

enum {
    MXN__BUFFER_NONE = 0,  // no variable
    MXN__BUFFER_EMPTY = 1,
    MXN__BUFFER_ALLOCATING = 2,
    MXN__BUFFER_READY = 3
};

// The check word of an array tells that it is there and nowhere else: what another array has at
// this address is something else, for the bits here are no address's, size's or count's.
#define MXN__ARRAY_ALIVE UINT64_C(0xa97c5a3e1d86f24b)
#define MXN__ARRAY_DEAD UINT64_C(0x5683b1c2e07a194d)
static inline uint64_t mxn__array_word(const void *array, uint64_t of)
{
    return (uint64_t)(uintptr_t)array ^ of;
}

// array_slots.c: memory of arrays, which is never given back. Null without memory. The array comes
// with one reference and no buffer; of `own` only the state is set.
mxn_array *mxn__array_take(void);
void mxn__array_put_back(mxn_array *array);
// Whether a check word may be there: any address may be asked for.
bool mxn__array_may_be_at(const void *address);

uint32_t mxn__context_storage_device(mxn_context context);

#endif
