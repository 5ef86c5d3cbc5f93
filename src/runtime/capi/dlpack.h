// SPDX-License-Identifier: Apache-2.0
// DLPack's structures, as https://dmlc.github.io/dlpack/latest/c_api.html lays them out: how
// libraries tell one another where a tensor's values are.
#ifndef MXN_CAPI_DLPACK_H
#define MXN_CAPI_DLPACK_H

#include <stdint.h>

enum { MXN_DL_CPU = 1, MXN_DL_CUDA_HOST = 3 };  // kinds of devices whose memory the CPU reads
enum { MXN_DL_INT = 0, MXN_DL_UINT = 1, MXN_DL_FLOAT = 2, MXN_DL_BFLOAT = 4, MXN_DL_BOOL = 6 };
enum { MXN_DL_MAJOR = 1, MXN_DL_READ_ONLY = 1 };

typedef struct mxn_dl_type {
    uint8_t code, bits;
    uint16_t lanes;
} mxn_dl_type;

typedef struct mxn_dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    mxn_dl_type type;
    int64_t *shape;
    int64_t *strides;  // in elements; null: row-major
    uint64_t byte_offset;
} mxn_dl_tensor;

typedef struct mxn_dl_managed {
    mxn_dl_tensor tensor;
    void *context;
    void (*deleter)(struct mxn_dl_managed *self);  // may be null
} mxn_dl_managed;

typedef struct mxn_dl_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct mxn_dl_versioned *self);  // may be null
    uint64_t flags;
    mxn_dl_tensor tensor;
} mxn_dl_versioned;

// The array that a structure of ours shows, which is still the structure's; null: of another
// library.
struct mxn_array;
struct mxn_array *mxn__dlpack_managed_array(const mxn_dl_managed *managed);
struct mxn_array *mxn__dlpack_versioned_array(const mxn_dl_versioned *versioned);

#endif
