// SPDX-License-Identifier: Apache-2.0
// Folder profiler/collect/nvtx: the injection library for Nvidia's range calls (NVTX 3).
//
// The structures that a program's header and an injection library share, as the public interface
// lays them out.
#ifndef MXP_COLLECT_NVTX_ABI_H
#define MXP_COLLECT_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum { NVTX_TEXT_NARROW = 1, NVTX_TEXT_WIDE = 2, NVTX_TEXT_REGISTERED = 3 };
enum { NVTX_COLOR_ARGB = 1 };
enum {
    NVTX_PAYLOAD_U64 = 1,
    NVTX_PAYLOAD_I64 = 2,
    NVTX_PAYLOAD_F64 = 3,
    NVTX_PAYLOAD_U32 = 4,
    NVTX_PAYLOAD_I32 = 5,
    NVTX_PAYLOAD_F32 = 6
};

// Members are read only as far as `size_bytes` goes.
typedef struct nvtx_attributes {
    uint16_t version, size_bytes;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        uint32_t u32;
        int32_t i32;
        float f32;
    } payload;
    int32_t message_type;
    union {
        const char *narrow;
        const wchar_t *wide;
        const void *registered;
    } message;
} nvtx_attributes;

_Static_assert(sizeof(nvtx_attributes) == 48, "as the headers of version 3 have it");

enum { NVTX_TABLE_CALLBACKS = 1 };
enum { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };

// Slot 0 is null; the others are addresses of the program's function pointers.
typedef struct nvtx_callbacks {
    size_t size_bytes;
    int (*get_module)(int module, void ***table, unsigned *size);
} nvtx_callbacks;

typedef const void *(*nvtx_get_table)(uint32_t id);

#endif
