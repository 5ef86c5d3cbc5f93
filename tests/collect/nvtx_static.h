// SPDX-License-Identifier: Apache-2.0
// The loader of a program that sends NVTX marks: it loads the injection library that
// NVTX_INJECTION64_PATH names and calls what that puts into its tables, as the public interface
// describes it. Knows nothing of mxprof.
#ifndef NVTX_STATIC_H
#define NVTX_STATIC_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

typedef struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
        int32_t i32;
        float f32;
        const void *extended;
    } payload;
    int32_t message_type;
    const void *message;
} attributes;

typedef struct resource {
    uint16_t version, size;
    int32_t identifier_type;
    uint64_t identifier;
    int32_t message_type;
    const void *message;
} resource;

typedef struct sync_user {
    uint16_t version, size;
    int32_t message_type;
    const void *message;
} sync_user;

typedef void (*function)(void);
static function core_slots[16], core2_slots[16], sync_slots[16];
static function *core_table[16], *core2_table[16], *sync_table[16];

static int get_module(int module, function ***table, unsigned *size)
{
    *size = module == 6 ? 7 : 16;
    *table = module == 1 ? core_table : module == 5 ? core2_table : sync_table;
    return module == 1 || module == 5 || module == 6;
}

static uint32_t told_version;

static void set_version(uint32_t version)
{
    told_version = version;
}

static const void *get_table(uint32_t id)
{
    static const struct {
        size_t size;
        int (*get)(int, function ***, unsigned *);
    } callbacks = {sizeof callbacks, get_module};
    static const struct {
        size_t size;
        uint32_t version, reserved;
        void (*set)(uint32_t);
    } version = {sizeof version, 3, 0, set_version};
    return id == 1 ? (const void *)&callbacks : id == 3 ? &version : NULL;
}

#define CORE(number, result, ...) ((result(*)(__VA_ARGS__))core_slots[number])
#define CORE2(number, result, ...) ((result(*)(__VA_ARGS__))core2_slots[number])
#define mark_a CORE(2, void, const char *)
#define start_ex CORE(4, uint64_t, const attributes *)
#define start_a CORE(5, uint64_t, const char *)
#define end_range CORE(7, void, uint64_t)
#define push_ex CORE(8, int, const attributes *)
#define push_a CORE(9, int, const char *)
#define push_w CORE(10, int, const wchar_t *)
#define pop CORE(11, int, void)
#define name_category CORE(12, void, uint32_t, const char *)
#define name_thread CORE(14, void, uint32_t, const char *)
#define domain_start_ex CORE2(2, uint64_t, void *, const attributes *)
#define domain_end CORE2(3, void, void *, uint64_t)
#define domain_push_ex CORE2(4, int, void *, const attributes *)
#define domain_pop CORE2(5, int, void *)
#define domain_name_category CORE2(8, void, void *, uint32_t, const char *)
#define register_string CORE2(10, void *, void *, const char *)
#define create_domain CORE2(12, void *, const char *)
#define create_domain_w CORE2(13, void *, const wchar_t *)

#define SYNC(number, result, ...) ((result(*)(__VA_ARGS__))sync_slots[number])
#define resource_create CORE2(6, void *, void *, const resource *)
#define resource_destroy CORE2(7, void, void *)
#define domain_mark_ex CORE2(1, void, void *, const attributes *)
#define sync_create SYNC(1, void *, void *, const sync_user *)
#define sync_destroy SYNC(2, void, void *)
#define acquire_start SYNC(3, void, void *)
#define acquire_failed SYNC(4, void, void *)
#define acquired SYNC(5, void, void *)
#define releasing SYNC(6, void, void *)

static void *library;

static int init_times(int times)
{
    library = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_LAZY);
    int (*init)(const void *(*)(uint32_t)) =
        library != NULL
            ? (int (*)(const void *(*)(uint32_t)))dlsym(library, "InitializeInjectionNvtx2")
            : NULL;
    if (init == NULL) {
        fprintf(stderr, "no injection library: %s\n", dlerror());
        exit(2);
    }
    for (int i = 1; i < 16; i++) {
        core_table[i] = &core_slots[i];
        core2_table[i] = &core2_slots[i];
        sync_table[i] = &sync_slots[i];
    }
    int good = 1;
    for (int i = 0; i < times; i++) {
        good &= init(get_table) != 0;
    }
    return good;
}

static attributes narrow(const char *text)
{
    return (attributes){
        .version = 3, .size = sizeof(attributes), .message_type = 1, .message = text};
}

#endif
