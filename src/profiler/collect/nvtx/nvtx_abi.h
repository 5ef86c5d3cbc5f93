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
    NVTX_PAYLOAD_F32 = 6,
    NVTX_PAYLOAD_EXTENDED = (int)0xdfbd0009  // `reserved` of nvtx_payload at `payload`
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
        const struct nvtx_payload *extended;
    } payload;
    int32_t message_type;
    union {
        const char *narrow;
        const wchar_t *wide;
        const void *registered;
    } message;
} nvtx_attributes;

_Static_assert(sizeof(nvtx_attributes) == 48, "as the headers of version 3 have it");

// Data of a schema: a predefined type's number, or one that was registered.
typedef struct nvtx_payload {
    uint64_t schema;
    size_t size_bytes;
    const void *data;
} nvtx_payload;

typedef struct nvtx_schema_entry {
    uint64_t flags, type;
    const char *name, *description;
    uint64_t detail;  // of an array its length, or the entry that has it
    uint64_t offset;  // 0: behind the entry before
    const void *semantics, *reserved;
} nvtx_schema_entry;

typedef struct nvtx_schema {
    uint64_t fields;
    const char *name;
    uint64_t type, flags;
    const nvtx_schema_entry *entries;
    size_t entry_count, size_bytes, alignment;
    uint64_t id;
    void *extension;
} nvtx_schema;

typedef struct nvtx_enum_entry {
    const char *name;
    uint64_t value;
    int8_t is_flag;
} nvtx_enum_entry;

typedef struct nvtx_enum {
    uint64_t fields;
    const char *name;
    const nvtx_enum_entry *entries;
    size_t entry_count, value_bytes;
    uint64_t id;
    void *extension;
} nvtx_enum;

typedef struct nvtx_counter {  // as far as all versions have it
    size_t size_bytes;
    uint64_t schema;
    const char *name, *description;
    uint64_t scope;
    const void *semantics;
    uint64_t id;  // if the structure is as large
} nvtx_counter;

typedef struct nvtx_resource {
    uint16_t version, size_bytes;
    int32_t identifier_type;
    union {
        const void *pointer;
        uint64_t handle;
    } identifier;
    int32_t message_type;
    const void *message;
} nvtx_resource;

typedef struct nvtx_sync_user {
    uint16_t version, size_bytes;
    int32_t message_type;
    const void *message;
} nvtx_sync_user;

typedef struct nvtx_segment {
    size_t id, slot_count;
    intptr_t *slots;
} nvtx_segment;

typedef struct nvtx_extension {
    uint16_t version, size_bytes, module, compatibility;
    size_t segment_count;
    nvtx_segment *segments;
    const void *get_export, *info;
} nvtx_extension;

_Static_assert(sizeof(nvtx_payload) == 24 && sizeof(nvtx_schema_entry) == 64 &&
                   sizeof(nvtx_schema) == 80 && sizeof(nvtx_enum) == 56 &&
                   sizeof(nvtx_resource) == 32 && sizeof(nvtx_sync_user) == 16 &&
                   sizeof(nvtx_extension) == 40,
               "as the headers of version 3 have them");

enum { NVTX_TABLE_CALLBACKS = 1, NVTX_TABLE_VERSION = 3 };
enum {
    NVTX_MODULE_CORE = 1,
    NVTX_MODULE_CUDA = 2,
    NVTX_MODULE_OPENCL = 3,
    NVTX_MODULE_CUDART = 4,
    NVTX_MODULE_CORE2 = 5,
    NVTX_MODULE_SYNC = 6
};
enum { NVTX_EXTENSION_PAYLOAD = 2, NVTX_EXTENSION_COUNTERS = 4 };

typedef struct nvtx_version {
    size_t size_bytes;
    uint32_t version, reserved;
    void (*set)(uint32_t version);
} nvtx_version;

// Slot 0 is null; the others are addresses of the program's function pointers.
typedef struct nvtx_callbacks {
    size_t size_bytes;
    int (*get_module)(int module, void ***table, unsigned *size);
} nvtx_callbacks;

typedef const void *(*nvtx_get_table)(uint32_t id);

#endif
