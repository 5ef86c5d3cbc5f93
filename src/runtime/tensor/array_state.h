// SPDX-License-Identifier: Apache-2.0
// Private to src/runtime/tensor: how arrays and chunks come and go.
#ifndef MXN_TENSOR_ARRAY_STATE_H
#define MXN_TENSOR_ARRAY_STATE_H

#include "runtime/tensor/tensor.h"

enum {
    MXN__CHUNK_NONE = 0,  // no variable
    MXN__CHUNK_EMPTY = 1,
    MXN__CHUNK_ALLOCATING = 2,
    MXN__CHUNK_READY = 3
};
enum { MXN__ARRAY_MAGIC = 0x4e41584d, MXN__ARRAY_DEAD = 0x64616564 };

// array_slots.c: memory of arrays, which is never given back. Null without memory. The array comes
// with one reference and no chunk; everything but `own` is set.
mxn_array *mxn__array_take(void);
void mxn__array_put_back(mxn_array *array);
// Whether an array may be there: any address may be asked for.
bool mxn__array_is_slot(const void *address);

uint32_t mxn__context_storage_device(mxn_context context);

#endif
